"""Seating plans, whatever format they came in: the model, its readers and writers, what is derived from it (R13).

`model` is the plan itself; `faults` is what a reader found; `formats` lists the readers and picks one; `document` is
the stored form that clients load. Nothing here does I/O or knows an event, a price or a seat's state.
"""
