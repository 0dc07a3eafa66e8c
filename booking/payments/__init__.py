"""Payment providers behind one interface; the sandbox is a provider in a process of its own.

Nothing here opens a transaction or knows an order: `booking.services.drive_operation` asks a provider and records what
it said (R22–R24).
"""
