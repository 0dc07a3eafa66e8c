"""Payment providers: the sandbox's books, its faults, and the client that turns every doubt into UNKNOWN."""
