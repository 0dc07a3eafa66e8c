"""The order number that people read out: eight letters and digits without look-alikes, as in `K7Q4-2MXA`."""

from __future__ import annotations

import secrets

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BITS = 40


def new_order_number() -> str:
    """A new random number. Unique within the event by `order_number_once`; whoever hits a used one draws again."""
    value = secrets.randbits(_BITS)
    letters = "".join(ALPHABET[value >> shift & 31] for shift in range(_BITS - 5, -5, -5))
    return f"{letters[:4]}-{letters[4:]}"
