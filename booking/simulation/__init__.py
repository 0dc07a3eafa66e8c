"""Simulations: the law of admission against a model of the hold lane, and an opening of two million visitors.

Nothing here does I/O but `command` and `reports`; time is a number, chance comes from one seeded generator, so that the
same seed gives the same result.
"""
