"""Field 60 of an end of day (06 50): receipts from and to, then a count and an amount for each of seven schemes.

    receipts 2 + 2 packed digits, then 7 × (count 1 byte binary, amount 6 packed bytes)

The layout is that of libraries in use (ecrterm); a terminal that tells another length is read as having told its total
alone. A count above 255 does not fit: such a terminal tells 255.
"""

from __future__ import annotations

from app.devices.card_terminal import DayTotals, SchemeTotal
from app.devices.zvt import fields
from app.devices.zvt.codec import decode_bcd, encode_bcd

SCHEMES = ("girocard", "JCB", "Mastercard", "American Express", "Visa", "Diners", "other")
_HEAD = 4
_EACH = 7
_SIZE = _HEAD + _EACH * len(SCHEMES)
MOST_COUNTED = 0xFF


def read_totals(told: fields.Fields) -> DayTotals | None:
    """The totals of a 04 0F; None when it has no field 60, so that it is a payment's.

    Raises `ZvtFormatError` when its figures are no figures.
    """
    raw = told.get(fields.TOTALS)
    if raw is None:
        return None
    amount = told.get(fields.AMOUNT)
    total = 0 if amount is None else decode_bcd(amount)
    if len(raw) != _SIZE:
        return DayTotals(total)
    schemes = []
    for place, scheme in enumerate(SCHEMES):
        at = _HEAD + place * _EACH
        figures = SchemeTotal(scheme, raw[at], decode_bcd(raw[at + 1 : at + _EACH]))
        if figures.count or figures.amount_minor:
            schemes.append(figures)
    if amount is None:
        total = sum(figures.amount_minor for figures in schemes)
    return DayTotals(total, tuple(schemes), decode_bcd(raw[:2]) or None, decode_bcd(raw[2:4]) or None)


def write_totals(totals: DayTotals) -> bytes:
    """The value of field 60 as a terminal sends it; a scheme that is not in the table counts as `other`."""
    counted = dict.fromkeys(SCHEMES, (0, 0))
    for figures in totals.schemes:
        name = figures.scheme if figures.scheme in counted else SCHEMES[-1]
        count, amount = counted[name]
        counted[name] = (count + figures.count, amount + figures.amount_minor)
    head = encode_bcd(totals.first_receipt or 0, 2) + encode_bcd(totals.last_receipt or 0, 2)
    return head + b"".join(
        bytes([min(count, MOST_COUNTED)]) + encode_bcd(amount, 6) for count, amount in counted.values()
    )
