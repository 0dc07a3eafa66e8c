"""Money is whole minor units and rounded in one way (P23–P25)."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.currencies import minor_amount
from booking.domain.money import TaxedAmount, rounded, tax_within, total

AMOUNTS = st.integers(-(10**12), 10**12)


def test_p25_7007_at_seven_per_cent() -> None:
    """At the sale, at a change, at a reprint: one function, the same numbers; and back again, negative."""
    assert tax_within(7_007, 700) == TaxedAmount(7_007, 6_549, 458)
    assert tax_within(-7_007, 700) == TaxedAmount(-7_007, -6_549, -458)
    assert tax_within(7_007, 0) == TaxedAmount(7_007, 7_007, 0)


@given(AMOUNTS, st.integers(0, 10_000))
def test_p25_net_and_tax_are_the_price_and_the_net_is_the_nearest(gross: int, rate: int) -> None:
    taxed = tax_within(gross, rate)
    assert taxed.net_minor + taxed.tax_minor == gross
    exact = Decimal(gross) * 10_000 / (10_000 + rate)
    assert abs(taxed.net_minor - exact) <= Decimal("0.5")
    back = tax_within(-gross, rate)
    assert (back.net_minor, back.tax_minor) == (-taxed.net_minor, -taxed.tax_minor)


@given(AMOUNTS, st.integers(1, 10**9))
def test_rounding_is_commercial(numerator: int, denominator: int) -> None:
    doubled = 2 * abs(numerator) + denominator
    expected = doubled // (2 * denominator) * (1 if numerator >= 0 else -1)
    assert rounded(numerator, denominator) == rounded(-numerator, -denominator) == expected
    assert rounded(-numerator, denominator) == -rounded(numerator, denominator)


def test_halves_go_away_from_zero() -> None:
    assert [rounded(n, 2) for n in (-3, -1, 0, 1, 3)] == [-2, -1, 0, 1, 2]
    assert Decimal("0.5").quantize(Decimal(1), ROUND_HALF_UP) == rounded(1, 2)
    with pytest.raises(ZeroDivisionError):
        rounded(1, 0)


def test_p23_every_price_up_to_a_hundred_is_exact() -> None:
    for minor in range(1, 10_001):
        assert minor_amount(f"{minor // 100}.{minor % 100:02}", "EUR") == minor


@pytest.mark.parametrize("wrong", [70.07, "70.07", Decimal("70.07"), True, None])
def test_p23_what_is_no_int_is_a_type_error(wrong: Any) -> None:
    calls = (
        lambda: rounded(wrong, 1), lambda: rounded(1, wrong), lambda: tax_within(wrong, 700),
        lambda: tax_within(1, wrong),
        lambda: total([1, wrong]),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_p24_a_thousand_baskets_sum_to_what_was_shown() -> None:
    """Shown, authorized, and the sum of the lines; and what goes back line by line is what was paid."""
    draw = random.Random(24)
    for _ in range(1_000):
        lines = [draw.randrange(0, 50_000) for _ in range(draw.randint(1, 6))]
        shown = total(lines)
        assert total(reversed(lines)) == shown == sum(lines)
        taxed = [tax_within(line, 700) for line in lines]
        assert total(one.net_minor for one in taxed) + total(one.tax_minor for one in taxed) == shown


def test_a_rate_is_not_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        tax_within(1, -1)
