"""Dates, times, numbers and money as the venue and the language write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from babel import Locale

from app.i18n import LANGUAGES, use_language
from app.i18n.catalogue import language_of
from app.i18n.figures import Figures, figures

OPENING = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def of(code: str) -> Figures:
    return Figures(Locale.parse(code))


def test_times_are_the_venues_wherever_the_console_stands_w9(monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("America/New_York", "Asia/Tokyo", "UTC"):
        monkeypatch.setenv("TZ", zone)
        assert of("pt").time(OPENING, "Asia/Singapore") == "10:00"
        assert "1 de mar. de 2026" in of("pt").date(OPENING, "Asia/Singapore")


def test_the_day_is_the_venues_day_not_utcs() -> None:
    assert "28" in of("en").date(OPENING, "America/New_York")
    assert "Feb" in of("en").date(OPENING, "America/New_York")


def test_an_unknown_zone_is_shown_in_utc() -> None:
    assert of("pt").time(OPENING, "Nowhere/Else") == "02:00"


@pytest.mark.parametrize(
    ("code", "shown"),
    [("en", "GMT-03:30"), ("pt", "-03:30 GMT"), ("ja", "GMT-03:30"), ("ar", "غرينتش\u2066-03:30\u2069")],
)
def test_the_sign_of_an_offset_stays_before_its_number(code: str, shown: str) -> None:
    assert of(code).zone_offset(OPENING, "America/St_Johns") == shown


@pytest.mark.parametrize(
    ("code", "shown"), [("en", "€1,234.50"), ("pt", "€\u00a01.234,50"), ("ja", "€1,234.50"), ("ar", "1,234.50")]
)
def test_money_is_written_as_the_language_does(code: str, shown: str) -> None:
    assert shown in of(code).money(123_450, "EUR")


def test_letters_of_a_currency_stand_off_from_its_digits() -> None:
    assert of("en").money(7500, "KWD") == "KWD\u00a07.500"
    assert of("en").money(80, "JPY") == "¥80"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(299, "4:59"), (60, "1:00"), (5, "0:05"), (0, "0:00"), (-3, "0:00"), (3600, "1:00:00")]
)
def test_a_countdown_never_goes_below_zero(seconds: int, shown: str) -> None:
    assert of("en").duration(seconds) == shown


def test_names_are_listed_as_the_language_lists_them() -> None:
    assert of("en").names(["A 1", "A 2", "A 3"]) == "A 1, A 2, and A 3"
    assert of("ja").names(["A", "B"]) == "A、B"


@pytest.mark.parametrize(
    ("code", "language"), [("pt_BR", "pt"), ("ja-JP", "ja"), ("fr", "en"), ("AR", "ar"), ("", "en")]
)
def test_a_language_without_catalogue_is_english(code: str, language: str) -> None:
    assert language_of(code).code == language


def test_only_arabic_runs_from_right_to_left() -> None:
    assert [language.code for language in LANGUAGES if language.right_to_left] == ["ar"]


def test_figures_follow_the_language_in_use() -> None:
    try:
        use_language("pt")
        assert figures().money(1250, "EUR") == "€\u00a012,50"
    finally:
        use_language("en")
    assert figures().money(1250, "EUR") == "€12.50"


@pytest.mark.parametrize(("currency", "told"), [("EUR", "€50.00"), ("", "5,000"), ("XQX", "5,000 · XQX")])
def test_an_amount_that_is_told_without_a_known_currency_is_never_divided_on_a_guess(currency: str, told: str) -> None:
    """A provider, or an old entry, may tell of an amount alone: the screen goes on and says what was told."""
    assert of("en").told_money(5_000, currency) == told
