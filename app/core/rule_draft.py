"""What an operator types about the limit of an alarm and has not sent, read by the rules that the booking system has.

A share is typed in hundredths, everything else in the unit of its figure. Texts are kept as typed: they outlive another
operator's change and a lost answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

import msgspec
from babel.numbers import get_decimal_symbol, get_group_symbol

from app.i18n import figures
from backend_client.wire import OpsAlarmRule, OpsAlarmRuleChange, OpsSeverity

LARGEST_LEVEL: Final = 10**12
LONGEST_DELAY_S: Final = 3_600
LEVELS: Final = ("raise_at", "clear_at")
DELAYS: Final = ("raise_after_s", "clear_after_s")
MEMBERS: Final = ("raise_at", "raise_after_s", "clear_at", "clear_after_s", "severity", "enabled")
_ARABIC: Final = str.maketrans({"\u066b": ".", "\u066c": "", "\u060c": ","})


class RuleFault(StrEnum):
    """Why a field cannot be sent. The last two: the levels are the wrong way round, and the alarm would flutter."""

    EMPTY = "limit-empty"
    UNREADABLE = "limit-unreadable"
    LEVEL_OUTSIDE = "limit-level-outside"
    DELAY_OUTSIDE = "limit-delay-outside"
    NOT_BELOW = "limit-not-below"
    NOT_ABOVE = "limit-not-above"


class RuleTextError(ValueError):
    """What was typed cannot be read."""

    def __init__(self, fault: RuleFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """`base` is the rule that it was typed over; texts of numbers as typed, the rest None where it stays."""

    base: OpsAlarmRule
    texts: Mapping[str, str] = field(default_factory=dict)
    severity: OpsSeverity | None = None
    enabled: bool | None = None

    def with_text(self, name: str, text: str) -> RuleDraft:
        """Another text in the field of a number."""
        return replace(self, texts={**self.texts, name: text})

    def over(self, rule: OpsAlarmRule) -> RuleDraft:
        """The same wish over what is set now; a field in which nothing is wished shows what is set now."""
        wished = read_rule(self)
        texts = {name: text for name, text in self.texts.items() if name in wished.values or name in wished.faults}
        severity = self.severity if "severity" in wished.values else None
        return replace(self, base=rule, texts=texts, severity=severity,
                       enabled=self.enabled if "enabled" in wished.values else None)  # fmt: skip

    def text(self, name: str) -> str:
        """What the field of a number says."""
        typed = self.texts.get(name)
        return number_text(self.base, name, getattr(self.base, name)) if typed is None else typed

    def to_standard(self) -> RuleDraft:
        """Everything as the program has it by itself; as it is where that is not told."""
        standard = self.base.standard
        if standard is None:
            return self
        texts = {name: number_text(self.base, name, getattr(standard, name)) for name in (*LEVELS, *DELAYS)}
        return replace(self, texts=texts, severity=standard.severity, enabled=standard.enabled)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """`values`: what would be another one; `faults` by member; `wished`: the rule as it would be, None with faults."""

    values: Mapping[str, object]
    faults: Mapping[str, RuleFault]
    wished: OpsAlarmRule | None

    @property
    def is_empty(self) -> bool:
        """Nothing would change."""
        return not self.values and not self.faults


def read_rule(draft: RuleDraft) -> RuleReading:
    """What is typed, read as the booking system would: bounds of each number, then the levels beside each other."""
    base, values, faults = draft.base, dict[str, object](), dict[str, RuleFault]()
    for name, text in draft.texts.items():
        try:
            value = read_number(base, name, text)
        except RuleTextError as error:
            faults[name] = error.fault
            continue
        if value != getattr(base, name):
            values[name] = value
    if draft.severity is not None and draft.severity is not base.severity:
        values["severity"] = draft.severity
    if draft.enabled is not None and draft.enabled is not base.enabled:
        values["enabled"] = draft.enabled
    if not faults:
        wished = msgspec.structs.replace(base, **values)
        if keeps_apart(wished):
            return RuleReading(values, faults, wished)
        faults["clear_at"] = RuleFault.NOT_ABOVE if base.below else RuleFault.NOT_BELOW
    return RuleReading(values, faults, None)


def keeps_apart(rule: OpsAlarmRule) -> bool:
    """Whether the level that ends an alarm is on the good side of the one that raises it."""
    return rule.raise_at < rule.clear_at if rule.below else rule.clear_at < rule.raise_at


def change_of(draft: RuleDraft, reason: str) -> OpsAlarmRuleChange | None:
    """The change to be sent, from the version that it was typed over; None when nothing changes or a field is wrong."""
    reading = read_rule(draft)
    if not reading.values or reading.faults:
        return None
    return OpsAlarmRuleChange(expected_version=draft.base.version, reason=reason.strip(), **reading.values)  # type: ignore[arg-type]  # members of the change


def is_share(figure: str) -> bool:
    """Whether a figure is typed and read in hundredths."""
    return figure.endswith("_share")


def number_text(rule: OpsAlarmRule, name: str, value: float) -> str:
    """A number as one would type it: `300`, `0.5`, `5` for a share of 0.05."""
    if name in DELAYS:
        return str(int(value))
    exact = Decimal(repr(float(value))) * (100 if is_share(rule.figure) else 1)
    mark: str = get_decimal_symbol(figures().locale)
    text = f"{exact:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(".", mark)


def read_number(rule: OpsAlarmRule, name: str, text: str) -> float:
    """Typed text → value. Nothing is guessed: `1.5` is never 15 where the dot stands between groups (D6).

    Raises:
        RuleTextError: it is no number, or outside of what may be set.
    """
    exact = _exact(text)
    if name in DELAYS:
        if exact != exact.to_integral_value() or not 0 <= exact <= LONGEST_DELAY_S:
            raise RuleTextError(RuleFault.DELAY_OUTSIDE)
        return int(exact)
    value = exact / 100 if is_share(rule.figure) else exact
    if not 0 <= value <= LARGEST_LEVEL:
        raise RuleTextError(RuleFault.LEVEL_OUTSIDE)
    return float(value)


def _exact(text: str) -> Decimal:
    plain = unicodedata.normalize("NFKC", text.translate(_ARABIC)).strip()
    plain = "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in plain)
    if not plain:
        raise RuleTextError(RuleFault.EMPTY)
    locale = figures().locale
    mark, group = re.escape(str(get_decimal_symbol(locale))), re.escape(str(get_group_symbol(locale)))
    found = re.fullmatch(rf"(\d{{1,16}}|\d{{1,3}}(?:(?:{group}|[ \u00a0\u202f])\d{{3}})+)(?:{mark}(\d{{1,9}}))?", plain)
    if found is None:
        raise RuleTextError(RuleFault.UNREADABLE)
    whole = "".join(letter for letter in found[1] if letter.isdigit())
    return Decimal(f"{whole}.{found[2] or '0'}")
