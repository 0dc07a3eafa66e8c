"""Typed amounts: read exactly, or refused; never a guess (D6)."""

from __future__ import annotations

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st

from app.i18n.figures import Figures
from app.i18n.money import EXPONENTS, MoneyTextError, exponent_of, parse_money

ENGLISH, PORTUGUESE, ARABIC, JAPANESE = (Locale.parse(code) for code in ("en", "pt", "ar", "ja"))
LOCALES = (ENGLISH, PORTUGUESE, ARABIC, JAPANESE)


def fault(text: str, currency: str = "EUR", locale: Locale = ENGLISH) -> str:
    with pytest.raises(MoneyTextError) as caught:
        parse_money(text, currency, locale)
    return caught.value.code


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("text", ["12,50", "12.50", " 12,5 ", "€12.50", "12.50 €", "١٢٫٥٠", "１２．５０", "EUR 12.50"])
def test_twelve_fifty_is_never_read_as_1250_d6(text: str, locale: Locale) -> None:
    assert parse_money(text, "EUR", locale) == 1250


@pytest.mark.parametrize(
    ("text", "locale", "minor"),
    [
        ("1,250", ENGLISH, 125_000), ("1.250", PORTUGUESE, 125_000), ("1,250.00", PORTUGUESE, 125_000),
        ("1.250,00", ENGLISH, 125_000), ("1 250,5", ENGLISH, 125_050), ("1'250.50", ENGLISH, 125_050),
        ("1,234,567.89", ENGLISH, 123_456_789), ("0.05", ENGLISH, 5), (".5", ENGLISH, 50), ("7", JAPANESE, 700),
    ],
)  # fmt: skip
def test_groups_are_read_as_the_locale_writes_them(text: str, locale: Locale, minor: int) -> None:
    assert parse_money(text, "EUR", locale) == minor


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "amount-empty"), ("  ", "amount-empty"), ("€", "amount-empty"), ("abc", "amount-unreadable"),
        ("-5", "amount-unreadable"), ("1,2,3", "amount-unreadable"), ("1.2.3", "amount-unreadable"),
        ("12.505", "amount-too-fine"), ("0,500", "amount-too-fine"), ("1e3", "amount-unreadable"),
        ("1,25.00", "amount-unreadable"), ("99999999999999", "amount-too-large"),
    ],
)  # fmt: skip
def test_what_is_no_plain_amount_is_refused(text: str, code: str) -> None:
    assert fault(text) == code


def test_currencies_without_minor_unit_take_no_decimals_p20() -> None:
    assert parse_money("80", "JPY", JAPANESE) == 80
    assert parse_money("1,000", "JPY", JAPANESE) == 1000
    assert fault("80.50", "JPY", JAPANESE) == "amount-too-fine"


def test_three_decimals_that_could_be_a_group_are_refused_p21() -> None:
    assert parse_money("7.500", "KWD", ENGLISH) == 7500
    assert fault("7,500", "KWD", ENGLISH) == "amount-ambiguous"
    assert fault("7.500", "KWD", PORTUGUESE) == "amount-ambiguous"


def test_an_unknown_currency_is_refused_not_given_two_digits_p22() -> None:
    assert fault("1", "XYZ") == "currency-unknown"
    assert (exponent_of("ISK"), exponent_of("UGX"), exponent_of("IQD"), exponent_of("EUR")) == (0, 0, 3, 2)


@given(
    amount=st.integers(0, 10**11), currency=st.sampled_from(["EUR", "JPY", "KWD", "USD"]),
    locale=st.sampled_from(LOCALES),
)  # fmt: skip
def test_what_the_formatter_writes_reads_back_the_same(amount: int, currency: str, locale: Locale) -> None:
    assert parse_money(Figures(locale).amount(amount, currency), currency, locale) == amount


@given(amount=st.integers(0, 10**10), locale=st.sampled_from(LOCALES))
def test_shown_euros_read_back_the_same(amount: int, locale: Locale) -> None:
    assert parse_money(Figures(locale).money(amount, "EUR"), "EUR", locale) == amount


def test_every_exponent_is_that_of_iso_4217_where_cldr_differs() -> None:
    assert EXPONENTS["RSD"] == 2
    assert Figures(ENGLISH).money(5, "RSD").endswith("0.05")
