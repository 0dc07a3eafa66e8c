"""How providers count money (P20–P23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.currencies import EXPONENTS
from booking.payments import exponents
from booking.payments.exponents import (
    PROVIDER_EXPONENTS,
    PROVIDER_STEPS,
    InexactAmountError,
    UnknownExponentError,
    ledger_amount,
    provider_amount,
)


@pytest.mark.parametrize(
    ("currency", "amount_minor", "asked"),
    [
        ("JPY", 80, 80),
        ("KRW", 900, 900),
        ("VND", 50_000, 50_000),
        ("CLP", 70, 70),
        ("XAF", 655, 655),
        ("KWD", 7500, 7500),
        ("EUR", 7007, 7007),
        ("BRL", 1, 1),
    ],
)
def test_p20_p21_the_provider_receives_minor_units_of_its_own(currency: str, amount_minor: int, asked: int) -> None:
    assert provider_amount("sandbox", currency, amount_minor) == asked


@pytest.mark.parametrize(("provider", "currency"), [("sandbox", "XTS"), ("sandbox", "eur"), ("paypal", "EUR")])
def test_p22_an_unknown_pair_is_refused(provider: str, currency: str) -> None:
    with pytest.raises(UnknownExponentError):
        provider_amount(provider, currency, 100)
    with pytest.raises(UnknownExponentError):
        ledger_amount(provider, currency, 100)


def test_p22_a_provider_may_count_a_currency_in_its_own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {("other", "ISK"): 2, ("other", "KWD"): 2}
    monkeypatch.setattr(exponents, "PROVIDER_EXPONENTS", table)
    assert provider_amount("other", "ISK", 500) == 50_000
    assert ledger_amount("other", "ISK", 50_000) == 500
    assert provider_amount("other", "KWD", 5120) == 512
    with pytest.raises(InexactAmountError):
        provider_amount("other", "KWD", 5124)
    with pytest.raises(InexactAmountError):
        ledger_amount("other", "ISK", 50_050)


@pytest.mark.parametrize("amount", [1.0, True, "100"])
def test_p23_only_whole_numbers_are_amounts(amount: object) -> None:
    with pytest.raises(TypeError):
        provider_amount("sandbox", "EUR", amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", ["stripe", "stripe-terminal"])
@pytest.mark.parametrize(
    ("currency", "amount_minor", "asked"),
    [
        ("JPY", 80, 80),
        ("KRW", 900, 900),
        ("VND", 50_000, 50_000),
        ("CLP", 70, 70),
        ("XAF", 655, 655),
        ("KWD", 7500, 7500),
        ("EUR", 7007, 7007),
        ("ISK", 40, 4000),
        ("UGX", 5, 500),
    ],
)
def test_p20_p21_p22_stripe_counts_as_its_documentation_says(
    provider: str, currency: str, amount_minor: int, asked: int
) -> None:
    assert provider_amount(provider, currency, amount_minor) == asked
    assert ledger_amount(provider, currency, asked) == amount_minor


def test_p21_stripe_takes_three_decimals_in_tens_only() -> None:
    with pytest.raises(InexactAmountError):
        provider_amount("stripe", "KWD", 5124)
    assert provider_amount("stripe", "KWD", 5120) == 5120


@given(st.sampled_from(sorted(PROVIDER_EXPONENTS)), st.integers(0, 10**12))
def test_amounts_come_back_as_they_went(pair: tuple[str, str], amount: int) -> None:
    amount *= PROVIDER_STEPS.get(pair, 1)
    assert ledger_amount(*pair, provider_amount(*pair, amount)) == amount


def test_every_currency_of_the_table_can_be_sold_in() -> None:
    assert {currency for _, currency in PROVIDER_EXPONENTS} <= EXPONENTS.keys()
