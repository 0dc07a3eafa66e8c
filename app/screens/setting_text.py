"""Settings as people read and type them, against their values. What cannot be read without guessing is refused.

Flags are typed as `yes` and `no`, choices as their code, limits as an amount, `never`, or `others`: as for all others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.core.setting_specs import SettingKind, SettingSpec, SettingUnit, Value
from app.core.settings_desk import Subject
from app.i18n import MoneyTextError, figures
from app.settings import host_and_port

YES, NO = "yes", "no"
NEVER, OTHERS = "never", "others"
_WHOLE: Final = re.compile(r"[0-9]{1,13}")
_CHECKS: Final[Mapping[str, tuple[Callable[[str], object], str]]] = {
    "zone": (ZoneInfo, "setting-zone"),
    "terminal_address": (host_and_port, "setting-address"),
}
_LENGTH: Final = re.compile(r"[0-9]{1,4}([.,][0-9])?")


class SettingTextError(ValueError):
    """What was typed is no value of the setting; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class AsOthers(Exception):  # noqa: N818  # no fault: the limit is to have no value of its own
    """The limit of a currency follows the general one."""


def read_setting(spec: SettingSpec, text: str) -> Value:
    """Typed text → value.

    Raises:
        SettingTextError: `setting-empty`, `setting-unreadable`, `setting-outside` (of the bounds), or as of
            `app.i18n.money.parse_money`.
        AsOthers: the limit of a currency is to follow the general one.
    """
    if spec.kind is SettingKind.FLAG:
        return text == YES
    if spec.kind is SettingKind.CHOICE:
        return text
    if spec.kind is SettingKind.LIMIT and text == NEVER:
        return None
    if spec.kind is SettingKind.LIMIT and text == OTHERS:
        raise AsOthers
    if spec.kind is SettingKind.TEXT:
        return _text(spec, text)
    value = _number(spec, text)
    if not spec.low <= value <= spec.high:
        raise SettingTextError("setting-outside")
    return value


def write_setting(spec: SettingSpec, value: Value) -> str:
    """A value as one would type it."""
    if spec.kind is SettingKind.FLAG:
        return YES if value else NO
    if value is None:
        return NEVER
    if spec.currency and isinstance(value, int):
        return figures().amount(value, spec.currency)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text(spec: SettingSpec, text: str) -> str:
    plain = text.strip()
    if not spec.low <= len(plain) <= (spec.high or len(plain)):
        raise SettingTextError("setting-empty" if not plain else "setting-outside")
    check = _CHECKS.get(spec.key)
    if check is not None and plain:
        _call, code = check
        try:
            _call(plain)
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            raise SettingTextError(code) from error
    return plain


def _number(spec: SettingSpec, text: str) -> int | float:
    if spec.currency:
        try:
            return figures().parse_money(text, spec.currency)
        except MoneyTextError as error:
            raise SettingTextError(error.code) from error
    plain = unicodedata.normalize("NFKC", text).strip()
    plain = "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in plain)
    if not plain:
        raise SettingTextError("setting-empty")
    if spec.unit is SettingUnit.MILLIMETRES and _LENGTH.fullmatch(plain):
        return float(plain.replace(",", "."))
    if spec.kind is SettingKind.LENGTH or not _WHOLE.fullmatch(plain):
        raise SettingTextError("setting-unreadable")
    return int(plain)


@dataclass(frozen=True, slots=True)
class Typing:
    """What would be changed: `values`, limits that are to have no value of their own, and what is wrong, by key."""

    values: Mapping[str, Value] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[str]:
        """Everything that would be changed."""
        return frozenset(self.values) | self.dropped


def read_typed(subject: Subject) -> Typing:
    """What was typed over the settings of a subject; what says what stands there already is no change."""
    values: dict[str, Value] = {}
    dropped: set[str] = set()
    faults = dict(subject.faults)
    for spec in () if subject.seen is None else subject.seen.specs:
        stands = subject.seen.values if subject.seen is not None else {}
        if spec.key not in subject.typed:
            continue
        try:
            value = read_setting(spec, subject.typed[spec.key])
        except SettingTextError as error:
            faults[spec.key] = error.code
        except AsOthers:
            if spec.key in stands:
                dropped.add(spec.key)
        else:
            if spec.key not in stands or stands[spec.key] != value:
                values[spec.key] = value
    return Typing(values, frozenset(dropped), faults)


def standing_text(subject: Subject, spec: SettingSpec) -> str:
    """What the field of a setting says: what was typed, else what stands there."""
    typed = subject.typed.get(spec.key)
    if typed is not None:
        return typed
    values = {} if subject.seen is None else subject.seen.values
    return write_setting(spec, values[spec.key]) if spec.key in values else OTHERS
