"""Qt item models over what the console knows; they hold no asyncio and decide nothing."""
