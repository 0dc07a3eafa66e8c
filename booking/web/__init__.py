"""The HTTP and WebSocket face of the booking system: one table of routes, one table of problems, live seat feeds."""
