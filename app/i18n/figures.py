"""The one formatter: money, numbers, dates, times in the venue's zone, durations. Digits are Latin in every language,
as seats, order numbers and bank notes carry Latin digits too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time, get_timezone_gmt, get_timezone_name
from babel.lists import format_list
from babel.numbers import format_currency, format_decimal, format_percent, get_currency_symbol, get_decimal_symbol
from babel.units import format_unit

from app.i18n.catalogue import current_language
from app.i18n.money import EXPONENTS, exponent_of, parse_money

_ALL_DIGITS = "#,##0.#########"
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_PAUSES = {"ar": "\u060c ", "ja": "\u3001"}


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures as one locale writes them."""

    locale: Locale

    def money(self, amount_minor: int, currency: str) -> str:
        """`1250, "EUR"` → `€12.50`; all digits of the minor unit are shown, whatever CLDR would drop."""
        exponent = exponent_of(currency)
        amount = Decimal(amount_minor).scaleb(-exponent)
        pattern = _with_decimals(self.locale.currency_formats["standard"].pattern, exponent)
        if get_currency_symbol(currency, self.locale)[-1].isalpha():
            pattern = pattern.replace("¤#", "¤\u00a0#")  # CLDR sets letters off from digits; Babel does not
        text = str(format_currency(amount, currency, locale=self.locale, format=pattern, currency_digits=False))
        return text if self.locale.text_direction != "rtl" else _kept_in_order(text, currency, self.locale)

    def told_money(self, amount_minor: int, currency: str) -> str:
        """What somebody else tells of: as `money`, and the bare count of the smallest coin beside a currency that is
        not known here, or not told. It is never divided on a guess.
        """
        if currency in EXPONENTS:
            return self.money(amount_minor, currency)
        return self.joined(part for part in (self.number(amount_minor), currency) if part)

    def amount(self, amount_minor: int, currency: str) -> str:
        """The bare amount as a person would type it: `12.50`, `12,50`, no grouping."""
        exponent = exponent_of(currency)
        text = f"{Decimal(amount_minor).scaleb(-exponent):.{exponent}f}"
        mark: str = get_decimal_symbol(self.locale)
        return text.replace(".", mark)

    def parse_money(self, text: str, currency: str) -> int:
        """Typed text → minor units; see `app.i18n.money.parse_money`."""
        return parse_money(text, currency, self.locale)

    def number(self, value: int) -> str:
        """`60000` → `60,000`."""
        return str(format_decimal(value, locale=self.locale))

    def decimal(self, value: float) -> str:
        """A number with a part after its mark, to a thousandth: `22.5`, `22,5`."""
        return str(format_decimal(round(value, 3), locale=self.locale))

    def date(self, at: datetime, zone: str) -> str:
        """The venue's calendar day: `Fri, Dec 4, 2026`."""
        return str(format_skeleton("yMMMEd", at.astimezone(zone_of(zone)), locale=self.locale))

    def day(self, at: datetime, zone: str) -> str:
        """Day and month at the venue, for an axis: `Dec 4`."""
        return str(format_skeleton("MMMd", at.astimezone(zone_of(zone)), locale=self.locale))

    def long_date(self, at: datetime, zone: str) -> str:
        """The venue's calendar day in words: `Friday, December 4, 2026`."""
        return str(format_date(at.astimezone(zone_of(zone)), "full", locale=self.locale))

    def time(self, at: datetime, zone: str) -> str:
        """The time of day at the venue: `7:30 PM`, `19:30`."""
        return str(format_time(at.astimezone(zone_of(zone)), "short", locale=self.locale))

    def clock(self, at: datetime, zone: str) -> str:
        """Time of day to the second, for what is being waited for: `19:30:05`."""
        return str(format_time(at.astimezone(zone_of(zone)), "HH:mm:ss", locale=self.locale))

    def date_time(self, at: datetime, zone: str) -> str:
        """Day and time at the venue."""
        pattern = str(self.locale.datetime_formats["medium"]).replace("'", "")
        return pattern.format(self.time(at, zone), self.date(at, zone))

    def zone(self, at: datetime, zone: str) -> str:
        """The venue's zone in words, for people who sit in another one: `Singapore Standard Time`."""
        return str(get_timezone_name(at.astimezone(zone_of(zone)), locale=self.locale))

    def zone_offset(self, at: datetime, zone: str) -> str:
        """The same where there is little room: `GMT+08:00`."""
        words = str(get_timezone_gmt(at.astimezone(zone_of(zone)), "long", locale=self.locale))
        if self.locale.text_direction == "ltr":
            return words
        return _OFFSET.sub("\u2066\\g<0>\u2069", words)  # else the sign would stand behind its number

    def duration(self, seconds: int) -> str:
        """Seconds → `4:59`, `1:00:00`; never below zero."""
        minutes, rest = divmod(max(seconds, 0), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

    def age(self, seconds: float) -> str:
        """How long ago, in one or two units as people say it: `45 sec`, `7 min`, `2 hr 10 min`, `3 days 4 hr`."""
        whole = max(int(seconds), 0)
        days, rest = divmod(whole, 86_400)
        hours, minutes = divmod(rest // 60, 60)
        if days:
            return _units(self.locale, (days, "day"), (hours, "hour"))
        if hours:
            return _units(self.locale, (hours, "hour"), (minutes, "minute"))
        return _units(self.locale, (minutes, "minute")) if minutes else _units(self.locale, (whole, "second"))

    def seconds(self, seconds: int) -> str:
        """A span as it is set, in seconds alone: `300 seconds`."""
        return str(format_unit(seconds, "duration-second", length="long", locale=self.locale))

    def millimetres(self, length: float) -> str:
        """`82.5 mm`."""
        return str(format_unit(length, "length-millimeter", length="short", locale=self.locale))

    def rough(self, value: float) -> str:
        """A measured number as far as it means something: `1,234`, `12`, `3.4`; a nought stays a nought."""
        places = "0.#" if abs(value) < 9.95 else "0"
        return str(format_decimal(value, format=f"#,##{places}", locale=self.locale))

    def share(self, share: float) -> str:
        """0.042 → `4.2%`."""
        return str(format_percent(share, format="#,##0.#%" if share < 0.0995 else "#,##0%", locale=self.locale))

    def exact(self, value: float, unit: str = "") -> str:
        """A number as it was set, with all its digits: `1,200`, `0.05`; `unit` is `percent`, of a share, or of CLDR."""
        whole = Decimal(repr(float(value)))
        if unit == "percent":
            return str(format_percent(whole, format=f"{_ALL_DIGITS}%", locale=self.locale))
        if unit:
            return str(format_unit(whole, unit, length="short", format=_ALL_DIGITS, locale=self.locale))
        return str(format_decimal(whole, format=_ALL_DIGITS, locale=self.locale))

    def milliseconds(self, milliseconds: float) -> str:
        """`480 ms`; from ten seconds on in seconds."""
        if milliseconds >= 10_000:
            return self.age(milliseconds / 1_000)
        return str(format_unit(round(milliseconds), "duration-millisecond", length="short", locale=self.locale))

    def joined(self, parts: Iterable[str]) -> str:
        """`Stalls · Row A`; parts in letters of the other direction keep together and in their place."""
        kept = [part for part in parts if part]
        if self.locale.text_direction != "rtl" or not kept:
            return " · ".join(kept)
        return "\u200f" + " · ".join(f"\u2068{part}\u2069" for part in kept)

    def spoken(self, parts: Iterable[str]) -> str:
        """`Stalls, Row A`: parts for the ear, with the comma of the language as the pause between them."""
        return _PAUSES.get(self.locale.language, ", ").join(part for part in parts if part)

    def listed(self, parts: Iterable[str]) -> str:
        """`3, 4`: things of one kind for the eye, with the comma of the language between them."""
        return self.spoken(parts)

    def names(self, names: list[str]) -> str:
        """A list of names in one sentence: `A 1, A 2, and A 3`."""
        return str(format_list(names, locale=self.locale))


def _kept_in_order(text: str, currency: str, locale: Locale) -> str:
    """`JP¥` beside digits in a line from right to left: without a mark its sign would go before its letters."""
    symbol = get_currency_symbol(currency, locale)
    mixed = symbol[0].isalpha() and not symbol[-1].isalpha()
    return text.replace(symbol, f"{symbol}\u200e") if mixed else text


def _with_decimals(pattern: str, exponent: int) -> str:
    """The locale's currency pattern with exactly `exponent` decimals, in each of its halves."""
    decimals = "." + "0" * exponent if exponent else ""
    return ";".join(half.replace(".00", decimals) for half in pattern.split(";"))


@lru_cache(maxsize=4096)
def _units(locale: Locale, first: tuple[int, str], second: tuple[int, str] = (0, "minute")) -> str:
    parts = [first, *([second] if second[0] else [])]
    return " ".join(str(format_unit(count, f"duration-{unit}", "short", locale=locale)) for count, unit in parts)


@lru_cache(maxsize=64)
def zone_of(zone: str) -> ZoneInfo:
    """The venue's time zone; UTC for a name that this machine's tables do not know, which is still an exact instant."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


@lru_cache(maxsize=8)
def _figures(code: str) -> Figures:
    return Figures(Locale.parse(code))


def figures() -> Figures:
    """Figures in the language in use."""
    return _figures(current_language().code)
