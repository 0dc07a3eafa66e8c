"""What a provider can count, told to the database once for each payment: nothing is stored that it could not charge.

The tables are those of `booking.payments.exponents`; the database knows the order's currency (P21, P22).
"""

from __future__ import annotations

from functools import cache
from math import gcd

from booking.domain.currencies import EXPONENTS
from booking.payments.exponents import PROVIDER_EXPONENTS, PROVIDER_STEPS, PROVIDERS


@cache
def countable(provider: str) -> str | None:
    """What a provider counts: `EUR0001KWD0010…`. None: nobody but us counts this money.

    Three letters for each currency and, in four digits, of how many ISO minor units an amount has to be a multiple to
    have an exact form there.
    """
    if provider not in PROVIDERS:
        return None
    taken = sorted(currency for name, currency in PROVIDER_EXPONENTS if name == provider and currency in EXPONENTS)
    return "".join(f"{currency}{_multiple(provider, currency):04d}" for currency in taken)


def _multiple(provider: str, currency: str) -> int:
    step = PROVIDER_STEPS.get((provider, currency), 1)
    more_decimals = PROVIDER_EXPONENTS[provider, currency] - EXPONENTS[currency]
    if more_decimals >= 0:
        return step // gcd(step, 10**more_decimals)
    fewer: int = 10**-more_decimals
    return fewer * step
