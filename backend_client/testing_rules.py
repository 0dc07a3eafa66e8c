"""The limits of alarms at `FakeBookingServer`, set as the booking system sets them: its checks, its words.

`tests/server/test_ops_limits_agree.py` puts the same calls to both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from backend_client.testing_house import RefusalError
from backend_client.wire import (
    ErrorCode,
    FieldProblem,
    OpsAlarmLevels,
    OpsAlarmRule,
    OpsAlarmRuleChange,
    OpsLogChange,
)

MEMBERS: Final = ("raise_at", "clear_at", "raise_after_s", "clear_after_s", "severity", "enabled")
_AT_PATH: Final = re.compile(r"^(?P<message>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_NAMED: Final = re.compile(r"(?:unknown field|missing required field) `(?P<name>[^`]*)`")


def delivered(rule: OpsAlarmRule) -> OpsAlarmRule:
    """A rule as it comes with the program: its own levels are its standard."""
    standard = OpsAlarmLevels(**{name: getattr(rule, name) for name in MEMBERS})
    return msgspec.structs.replace(rule, version=1, standard=standard)


def find_rule(rules: Iterable[OpsAlarmRule], name: str) -> OpsAlarmRule:
    """A rule by its name. Raises RefusalError: there is none."""
    found = next((rule for rule in rules if rule.rule == name), None)
    if found is None:
        raise RefusalError(ErrorCode.ALARM_NOT_FOUND)
    return found


def changed(before: OpsAlarmRule, change: OpsAlarmRuleChange) -> OpsAlarmRule:
    """The rule as it is wished. Raises RefusalError: another version, nothing wished, or levels the wrong way round."""
    if change.expected_version != before.version:
        raise RefusalError(ErrorCode.SETTINGS_CHANGED)
    given = {name: value for name in MEMBERS if (value := getattr(change, name)) is not None}
    if not given:
        raise _wrong("", "name one setting at least")
    after = msgspec.structs.replace(before, version=before.version + 1, **given)
    if not (after.raise_at < after.clear_at if after.below else after.clear_at < after.raise_at):
        side = "above" if after.below else "below"
        raise _wrong("/clear_at", f"has to be {side} raise_at, or the alarm would flutter")
    return after


def differences(before: OpsAlarmRule, after: OpsAlarmRule) -> tuple[OpsLogChange, ...]:
    """What the log has of a change: each member that is another one now, in the order of its names, by length first."""
    names = sorted(MEMBERS, key=lambda name: (len(name), name))
    return tuple(
        OpsLogChange(name=name, was=_text(getattr(before, name)), now=_text(getattr(after, name)))
        for name in names
        if getattr(before, name) != getattr(after, name)
    )


def field_of(error: msgspec.ValidationError) -> FieldProblem:
    """The field that a body was refused for, as the booking system names it."""
    found = _AT_PATH.match(str(error))
    message, path = (found["message"], found["path"] or "") if found else (str(error), "")
    named = _NAMED.search(message)
    parts = [part for part in re.split(r"[.\[\]]+", path) if part] + ([named["name"]] if named else [])
    return FieldProblem(pointer="".join(f"/{part}" for part in parts), message=message)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _wrong(pointer: str, message: str) -> RefusalError:
    problem = FieldProblem(pointer=pointer, message=message)
    return RefusalError(ErrorCode.INVALID_REQUEST, fields=(problem,))
