"""Money as people type and read it, against money as the program keeps it: integer minor units and a currency.

Exponents are those of ISO 4217, not of CLDR: CLDR drops the minor unit of some currencies for display (RSD, IQD), and a
till that did so would take the wrong amount.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from babel import Locale
from babel.numbers import get_decimal_symbol, get_group_symbol, list_currencies

_NO_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
_TEN_THOUSANDTHS = "CLF UYW"

EXPONENTS: Final[dict[str, int]] = {
    **dict.fromkeys(list_currencies(), 2),
    **dict.fromkeys(_NO_MINOR_UNIT.split(), 0),
    **dict.fromkeys(_THOUSANDTHS.split(), 3),
    **dict.fromkeys(_TEN_THOUSANDTHS.split(), 4),
}

MAX_MINOR: Final = 10**12
_GROUP_MARKS = " '’\u00a0\u202f٬"
_INVISIBLE = re.compile("[\u200e\u200f\u061c\u2066-\u2069\ufeff]")


class MoneyTextError(ValueError):
    """What was typed is no amount that can be taken without guessing. `code` says why; the screen has the words."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def exponent_of(currency: str) -> int:
    """Digits of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD.

    Raises:
        MoneyTextError: `currency-unknown`; a wrong exponent is a wrong amount by a factor of a hundred.
    """
    try:
        return int(EXPONENTS[currency])
    except KeyError:
        raise MoneyTextError("currency-unknown") from None


def parse_money(text: str, currency: str, locale: Locale) -> int:
    """Typed text → minor units; refuses what could mean two amounts (D6).

    `12,50` and `12.50` are both 12.50 in every locale, as no grouping has two digits. `1,250` is a grouped number only
    where the comma groups; for a currency of three decimals it could mean both and is refused. Digits of any script
    and full-width forms are read.

    Raises:
        MoneyTextError: `amount-empty`, `amount-unreadable`, `amount-ambiguous`, `amount-too-fine` (more decimals than
            the currency has), `amount-too-large`, `currency-unknown`.
    """
    exponent = exponent_of(currency)
    plain = _strip(text, currency)
    if not plain:
        raise MoneyTextError("amount-empty")
    whole, decimals = _split(plain, exponent, locale)
    if len(decimals) > exponent:
        raise MoneyTextError("amount-too-fine")
    amount = int(whole + decimals.ljust(exponent, "0") or "0")
    if amount > MAX_MINOR:
        raise MoneyTextError("amount-too-large")
    return amount


def _strip(text: str, currency: str) -> str:
    """Digits in ASCII, without the currency's code or symbol, direction marks and outer blanks."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).strip()
    text = text.removeprefix(currency).removesuffix(currency)
    kept = [_ascii_digit(letter) for letter in text if unicodedata.category(letter) != "Sc"]
    return "".join(kept).strip().replace("٫", ".").replace("،", ",").replace("、", ",")


def _ascii_digit(letter: str) -> str:
    return str(unicodedata.decimal(letter)) if letter.isdecimal() else letter


def _split(plain: str, exponent: int, locale: Locale) -> tuple[str, str]:
    """Whole and decimal digits of a text that holds digits and separators only."""
    for mark in _GROUP_MARKS:
        plain = _drop_groups(plain, mark)
    if not re.fullmatch(r"[0-9.,]*[0-9][0-9.,]*", plain):
        raise MoneyTextError("amount-unreadable")
    marks = [mark for mark in plain if mark in ".,"]
    if not marks:
        return plain, ""
    if len(set(marks)) == 2:
        return _split_with_both(plain, marks)
    if len(marks) > 1:
        return _drop_groups(plain, marks[0]), ""
    return _split_at_one(plain, marks[0], exponent, locale)


def _split_with_both(plain: str, marks: list[str]) -> tuple[str, str]:
    """`1,250.00` or `1.250,00`: the last mark is the decimal one and stands once."""
    decimal_mark = marks[-1]
    if marks.count(decimal_mark) != 1:
        raise MoneyTextError("amount-unreadable")
    whole, decimals = plain.split(decimal_mark)
    return _drop_groups(whole, marks[0]), decimals


def _split_at_one(plain: str, mark: str, exponent: int, locale: Locale) -> tuple[str, str]:
    """One separator, once: decimal unless it stands before three digits, where the locale decides or nobody can."""
    whole, after = plain.split(mark)
    if len(after) != 3 or not whole or len(whole) > 3 or whole.startswith("0"):
        return whole, after
    is_group = get_group_symbol(locale) == mark
    is_decimal = get_decimal_symbol(locale) == mark
    if exponent == 3 and not is_decimal:
        raise MoneyTextError("amount-ambiguous")
    return (whole + after, "") if is_group else (whole, after)


def _drop_groups(digits: str, mark: str) -> str:
    """Take the grouping marks out; each group must have three digits, or it was no grouping."""
    if mark not in digits:
        return digits
    grouped, dot, rest = digits, "", ""
    for decimal_mark in ".,":
        if decimal_mark != mark and decimal_mark in digits:
            grouped, dot, rest = digits.partition(decimal_mark)
            break
    first, *groups = grouped.split(mark)
    if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
        raise MoneyTextError("amount-unreadable")
    return first + "".join(groups) + dot + rest
