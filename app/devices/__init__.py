"""Devices at the counter: one small interface each, drivers beside it. No Qt, and nothing here decides about a sale.

`card_terminal` and `ticket_printer` are the interfaces; `zvt` drives card terminals over TCP; `fake_terminal` is the
double for tests of callers.
"""
