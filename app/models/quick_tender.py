"""Amounts that a buyer is likely to hand over for a total: the exact one, and the next notes."""

from __future__ import annotations

from app.i18n import exponent_of

_STEPS = (1, 5, 10, 20, 50, 100, 200, 500)
_NO_MINOR_UNIT_SCALE = 100
_MOST = 6


def quick_tenders(total_minor: int, currency: str) -> tuple[int, ...]:
    """The total first, then rising round amounts, six at most. 13.50 EUR → 13.50, 14, 15, 20, 50, 100."""
    exponent = exponent_of(currency)
    unit = 10**exponent if exponent else _NO_MINOR_UNIT_SCALE
    rounded = {-(-total_minor // (step * unit)) * step * unit for step in _STEPS}
    return (total_minor, *sorted(rounded - {total_minor})[: _MOST - 1])
