"""The limit of an alarm in words: its numbers with their units, what is wrong with a typed one, what it would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.core.rule_draft import LARGEST_LEVEL, LONGEST_DELAY_S, MEMBERS, RuleDraft, RuleFault, is_share, read_rule
from app.core.rule_trial import Ringing, Trial
from app.i18n import _, current_language, figures, ngettext
from app.screens.ops_words import delay_words, exact_words, from_to, seconds_words, severity_words
from backend_client.wire import OpsAlarmLevels, OpsAlarmRule, OpsSeverity

_SHORT_S: Final = 30
"""Less than so much of a quarter of an hour says nothing about a limit."""


def member_name(rule: OpsAlarmRule, name: str) -> str:
    """What a setting of a limit is called; the levels by the side on which the figure is well."""
    names = {
        "raise_at": _("Alarm from"), "clear_at": _("Over above") if rule.below else _("Over below"),
        "severity": _("How loud"), "enabled": _("On"), "raise_after_s": _("for so long"),
        "clear_after_s": _("Over after"),
    }  # fmt: skip
    return names[name]


def unit_of(figure: str) -> str:
    """What stands behind the field of a level."""
    if is_share(figure):
        return "%"
    for ending, words in (
        ("_ms", _("ms")), ("_per_s", _("a second")), ("_per_min", _("a minute")), ("_s", _("seconds")),
        ("_mb", _("megabytes")),
    ):  # fmt: skip
        if figure.endswith(ending):
            return words
    return ""


def sign_of(rule: OpsAlarmRule, name: str) -> str:
    """≥ or ≤ before a level; where people read from the right it turns round with everything beside it."""
    sign = "≥" if (name == "raise_at") != rule.below else "≤"
    return f"\u200f{sign}" if current_language().right_to_left else sign


def member_words(rule: OpsAlarmRule, name: str, value: object) -> str:
    """One setting of a limit in a sentence: `300 ms`, `5 sec`, `Critical`, `yes`."""
    if isinstance(value, OpsSeverity):
        return severity_words(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name.endswith("_after_s"):
        return delay_words(int(str(value)))
    return exact_words(rule.figure, float(str(value)))


def levels_words(rule: OpsAlarmRule, levels: OpsAlarmRule | OpsAlarmLevels) -> str:
    """A whole limit in one line: `≥ 300 ms for 5 sec · over at ≤ 200 ms for 10 sec · Warning`."""
    over = _("over at {level}").format(level=level_words(rule, "clear_at", levels.clear_at, levels.clear_after_s))
    return figures().joined((
        level_words(rule, "raise_at", levels.raise_at, levels.raise_after_s), over,
        severity_words(levels.severity) if levels.enabled else _("Off"),
    ))  # fmt: skip


def level_words(rule: OpsAlarmRule, name: str, level: float, seconds: int) -> str:
    """A level and its time: `≥ 300 ms for 5 sec`."""
    shown = f"{sign_of(rule, name)} {exact_words(rule.figure, level)}"
    return _("{value} for {time}").format(value=shown, time=seconds_words(seconds)) if seconds else shown


def fault_words(rule: OpsAlarmRule, fault: RuleFault) -> str:
    """What is wrong with a field, as the booking system would say it."""
    if fault in {RuleFault.NOT_ABOVE, RuleFault.NOT_BELOW}:
        words = _("Has to be below “{level}”, or the alarm would flutter")
        if fault is RuleFault.NOT_ABOVE:
            words = _("Has to be above “{level}”, or the alarm would flutter")
        return words.format(level=member_name(rule, "raise_at"))
    if fault is RuleFault.DELAY_OUTSIDE:
        return _("A whole number of seconds from 0 to {most}").format(most=figures().number(LONGEST_DELAY_S))
    if fault is RuleFault.LEVEL_OUTSIDE:
        most = LARGEST_LEVEL * (100 if is_share(rule.figure) else 1)
        return _("A number from 0 to {most}").format(most=figures().number(most))
    return _("Type a value") if fault is RuleFault.EMPTY else _("This is not a number")


def ringing_words(rule: OpsAlarmRule, ringing: Ringing, *, is_open: bool) -> str:
    """What the alarm would do now."""
    if ringing is Ringing.OFF:
        return _("The open alarm would end: it is off") if is_open else _("It would never ring: it is off")
    if ringing is Ringing.RINGS:
        wait = rule.raise_after_s
        return _("It would ring after {time}").format(time=seconds_words(wait)) if wait else _("It would ring at once")
    if ringing is Ringing.ENDS:
        wait, at_once = rule.clear_after_s, _("The open alarm would end at once")
        return _("The open alarm would end after {time}").format(time=seconds_words(wait)) if wait else at_once
    return {
        Ringing.UNKNOWN: _("Not known now: nothing would begin, nothing end"), Ringing.QUIET: _("It would not ring"),
        Ringing.STAYS: _("The open alarm would go on"),
    }[ringing]  # fmt: skip


def trial_words(trial: Trial) -> str:
    """How often it would have rung, and for how long."""
    if trial.known_s < _SHORT_S:
        return _("Not measured")
    if not trial.rang:
        return _("Not once")
    words = ngettext("{count} alarm, {time} in all", "{count} alarms, {time} in all", trial.rang)
    return words.format(count=figures().number(trial.rang), time=seconds_words(round(trial.rang_s)))


def theirs_words(draft: RuleDraft, theirs: OpsAlarmRule) -> str:
    """What somebody else has set, and what is typed here instead: `Alarm from: 300 ms → 500 ms, here 400 ms`."""
    wished: Mapping[str, object] = read_rule(draft).values
    found = []
    for name in MEMBERS:
        before, now = getattr(draft.base, name), getattr(theirs, name)
        if before == now:
            continue
        words = from_to(member_words(theirs, name, before), member_words(theirs, name, now))
        mine = member_words(theirs, name, wished[name]) if name in wished else draft.texts.get(name, "")
        shown = f"{member_name(theirs, name)}: {words}"
        if mine and wished.get(name, None) != now:
            shown = _("{change}, here {mine}").format(change=shown, mine=mine)
        found.append(shown)
    return figures().joined(found)
