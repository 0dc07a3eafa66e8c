"""Alarms: when one is raised, who has seen it, what ops set (R32)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from backend_client.wire.base import EventId, Message, RequestMessage, ShortText

AlarmLevel = Annotated[float, Meta(ge=0, le=1e12)]
AlarmDelay = Annotated[int, Meta(ge=0, le=3_600)]


class OpsSeverity(StrEnum):
    """How loud an alarm is."""

    WARNING = "warning"
    CRITICAL = "critical"


class OpsAlarm(Message, frozen=True, kw_only=True):
    """One raising of a rule. Open until `cleared_at`; acknowledging says that somebody knows, and clears nothing."""

    alarm_id: UUID
    rule: str
    figure: str
    severity: OpsSeverity
    raised_at: datetime
    value: float
    worst: float
    raise_at: float
    clear_at: float
    event_id: EventId | None = None
    cleared_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str = ""
    note: str = ""


class OpsAlarmList(Message, frozen=True, kw_only=True):
    """`GET /v1/ops/alarms`: the open ones first, then those that ended, the newest first, 200 at most."""

    alarms: tuple[OpsAlarm, ...] = ()


class OpsAlarmAcknowledgement(RequestMessage, frozen=True, kw_only=True):
    """`POST /v1/ops/alarms/{alarm_id}/acknowledge`."""

    note: Annotated[str, Meta(max_length=500)] = ""


class OpsAlarmLevels(Message, frozen=True, kw_only=True):
    """A rule as the program has it by itself, whatever operators have set: what "back to default" sets again."""

    raise_at: float
    clear_at: float
    raise_after_s: int
    clear_after_s: int
    severity: OpsSeverity
    enabled: bool = True


class OpsAlarmRule(Message, frozen=True, kw_only=True):
    """When `figure` makes an alarm: at `raise_at` or worse for `raise_after_s`, until at `clear_at` or better for
    `clear_after_s`. `below`: small is bad. `version` rises with each change. `standard`: the program's own; None from
    a server that does not tell it yet.
    """

    rule: str
    figure: str
    severity: OpsSeverity
    raise_at: float
    clear_at: float
    raise_after_s: int
    clear_after_s: int
    below: bool = False
    enabled: bool = True
    version: int = 1
    standard: OpsAlarmLevels | None = None


class OpsAlarmRuleList(Message, frozen=True, kw_only=True):
    """`GET /v1/ops/alarm-rules`."""

    rules: tuple[OpsAlarmRule, ...]


class OpsAlarmRuleChange(RequestMessage, frozen=True, kw_only=True):
    """`PUT /v1/ops/alarm-rules/{rule}`: members left out stay as they are."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    raise_at: AlarmLevel | None = None
    clear_at: AlarmLevel | None = None
    raise_after_s: AlarmDelay | None = None
    clear_after_s: AlarmDelay | None = None
    severity: OpsSeverity | None = None
    enabled: bool | None = None
