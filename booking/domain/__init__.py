"""Rules of the box office without I/O: states as tables, errors, callers, limits, pricing."""
