"""Amounts that a buyer is likely to hand over for a total: the exact one, and what real notes and coins round up to."""

from __future__ import annotations

from typing import Final

from app.i18n import exponent_of

_MOST = 6
_TENS = (10, 20, 50, 100)
DENOMINATIONS: Final[dict[str, tuple[int, ...]]] = {
    "AED": (5, 10, 20, 50, 100, 200, 500, 1000), "AUD": (1, 2, 5, *_TENS), "BHD": (1, 5, 10, 20),
    "BRL": (1, 2, 5, 10, 20, 50, 100, 200), "CAD": (1, 2, 5, *_TENS), "CHF": (1, 2, 5, 10, 20, 50, 100, 200, 1000),
    "CZK": (10, 20, 50, 100, 200, 500, 1000, 2000, 5000), "DKK": (10, 20, 50, 100, 200, 500),
    "EGP": (1, 5, 10, 20, 50, 100, 200), "EUR": (1, 2, 5, 10, 20, 50, 100, 200), "GBP": (1, 2, 5, 10, 20, 50),
    "HUF": (200, 500, 1000, 2000, 5000, 10000, 20000), "ILS": (1, 5, 10, 20, 50, 100, 200),
    "INR": (1, 2, 5, 10, 20, 50, 100, 200, 500), "ISK": (100, 500, 1000, 5000, 10000), "JOD": (1, 5, 10, 20, 50),
    "JPY": (1000, 2000, 5000, 10000), "KRW": (1000, 5000, 10000, 50000), "KWD": (1, 5, 10, 20),
    "MAD": (10, 20, 50, 100, 200), "MXN": (10, 20, 50, 100, 200, 500, 1000), "NOK": (10, 20, 50, 100, 200, 500, 1000),
    "NZD": (1, 2, 5, *_TENS), "OMR": (1, 5, 10, 20, 50), "PLN": (1, 2, 5, 10, 20, 50, 100, 200, 500),
    "QAR": (1, 5, 10, 50, 100, 200, 500), "RON": (1, 5, 10, 20, 50, 100, 200, 500),
    "SAR": (1, 5, 10, 20, 50, 100, 200, 500), "SEK": (10, 20, 50, 100, 200, 500, 1000),
    "SGD": (1, 2, 5, 10, 50, 100), "TND": (1, 5, 10, 20, 50), "TRY": (1, 5, 10, 20, 50, 100, 200),
    "UGX": (1000, 2000, 5000, 10000, 20000, 50000), "USD": (1, 5, *_TENS),
    "VND": (10000, 20000, 50000, 100000, 200000, 500000), "XAF": (500, 1000, 2000, 5000, 10000),
    "ZAR": (5, 10, 20, 50, 100, 200),
}  # fmt: skip
"""Notes and large coins in everyday use, in whole units of the currency (yen, not minor units)."""


def quick_tenders(total_minor: int, currency: str) -> tuple[int, ...]:
    """The total first, then rising amounts, six at most. 13.50 EUR → 13.50, 14, 15, 20, 50, 100.

    Each is a number of equal notes or coins. A currency that is not in the table has the exact total alone.
    """
    unit = 10 ** exponent_of(currency)
    pieces = [unit * piece for piece in DENOMINATIONS.get(currency, ())]
    rounded = {-(-total_minor // piece) * piece for piece in pieces}
    return (total_minor, *sorted(rounded - {total_minor})[: _MOST - 1])
