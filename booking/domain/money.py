"""The arithmetic of money: one way to round, whole minor units in and out (P23–P25).

Whoever needs a part of an amount uses `rounded`, so that a sum is the same at the sale, at a change and at a reprint.
Floats are a TypeError: 70.07 is no float.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BASIS_POINTS = 10_000
"""Rates of tax are hundredths of a per cent: 7 % is 700."""


@dataclass(frozen=True, slots=True)
class TaxedAmount:
    """A gross amount and the two that it is made of: `net_minor + tax_minor == gross_minor`, always."""

    gross_minor: int
    net_minor: int
    tax_minor: int


def rounded(numerator: int, denominator: int) -> int:
    """`numerator / denominator` as a whole number, halves away from zero (commercial rounding). The only rounding here.

    Raises:
        TypeError: one of them is not an int (P23). ZeroDivisionError: the denominator is 0.
    """
    _check(numerator)
    _check(denominator)
    whole, rest = divmod(abs(numerator), abs(denominator))
    whole += 2 * rest >= abs(denominator)
    return whole if (numerator < 0) == (denominator < 0) else -whole


def tax_within(gross_minor: int, rate_bp: int) -> TaxedAmount:
    """What of a price that has its tax in it is tax: 70.07 at 7 % is 65.49 and 4.58 (P25).

    The net is rounded and the tax is what is left, so that both sum to the price. An amount that goes back is divided
    as it was when it came in: the same numbers, negative.

    Raises:
        TypeError: not an int. ValueError: the rate is negative.
    """
    _check(gross_minor)
    _check(rate_bp)
    if rate_bp < 0:
        raise ValueError(f"a rate of tax is not negative: {rate_bp}")
    net = rounded(gross_minor * BASIS_POINTS, BASIS_POINTS + rate_bp)
    return TaxedAmount(gross_minor, net, gross_minor - net)


def total(amounts: Iterable[int]) -> int:
    """The sum of lines; what is shown, what is authorized and what the lines say are this one (P24)."""
    summed = 0
    for amount in amounts:
        _check(amount)
        summed += amount
    return summed


def _check(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"an amount is a whole number of minor units, not {type(value).__name__}")
