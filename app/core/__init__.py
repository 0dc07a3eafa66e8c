"""What the console knows: the sale, the seat map, prices, clocks, the session. No Qt, no I/O, no asyncio, no prose."""
