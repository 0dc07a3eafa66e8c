"""Prices as people type them become whole minor units, or are refused (cases P20, P21, P23)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from booking.domain.currencies import EXPONENTS, check_price, exponent_of, minor_amount
from booking.domain.errors import InvalidRequestError


@pytest.mark.parametrize(
    ("major", "currency", "minor"),
    [
        ("80", "JPY", 80),
        ("80", "KRW", 80),
        ("80", "VND", 80),
        ("80", "CLP", 80),
        ("80", "XAF", 80),
        ("7.500", "KWD", 7_500),
        ("7.5", "KWD", 7_500),
        ("0.29", "EUR", 29),
        (Decimal("19.90"), "EUR", 1_990),
        (12, "EUR", 1_200),
        ("0", "EUR", 0),
    ],
)
def test_p20_p21_amounts_follow_the_exponent_of_the_currency(
    major: str | int | Decimal, currency: str, minor: int
) -> None:
    assert minor_amount(major, currency) == minor


def test_p21_a_kuwaiti_price_that_no_card_can_be_charged_is_refused_at_entry() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        minor_amount("5.124", "KWD")
    assert "last decimal of 0" in refused.value.fields[0].message


def test_p23_every_price_from_a_cent_to_a_hundred_is_exact() -> None:
    for minor in range(1, 10_001):
        assert minor_amount(f"{minor // 100}.{minor % 100:02d}", "EUR") == minor


@pytest.mark.parametrize("value", [0.1, 1.0, True, None])
def test_p23_a_float_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        minor_amount(value, "EUR")
    with pytest.raises(TypeError):
        check_price(value, "EUR", pointer="/prices")


@pytest.mark.parametrize("text", ["1.005", "abc", "", "NaN", "Infinity", "-1", "1e30", "10000000001"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        minor_amount(text, "EUR")


def test_an_unknown_currency_is_refused_not_guessed() -> None:
    with pytest.raises(InvalidRequestError):
        exponent_of("XXX")


def test_the_exponents_are_those_of_iso_4217() -> None:
    assert {EXPONENTS[code] for code in ("JPY", "KRW", "VND", "CLP", "XAF", "UGX", "ISK")} == {0}
    assert {EXPONENTS[code] for code in ("KWD", "BHD", "OMR", "JOD", "TND")} == {3}
    assert {EXPONENTS[code] for code in ("EUR", "USD", "GBP", "BRL", "INR")} == {2}
