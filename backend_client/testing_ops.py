"""What operators watch of `FakeBookingServer`: figures that a test tells, and the acts with the wire's promises.

server.ops.tell(lock_waits=9.0)          # one more second, sent to every open feed
server.ops.control = …                   # admission of the event
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
from msgspec.structs import replace

from backend_client import testing_rules
from backend_client.testing_house import House, RefusalError
from backend_client.testing_items import AreaCall
from backend_client.wire import (
    AdmissionControl,
    AdmissionFigures,
    AdmissionMode,
    AdmissionPreview,
    AdmissionPreviewPoint,
    AdmissionPreviewRequest,
    AdmissionReason,
    AdmissionRoom,
    AdmissionSettings,
    AdmissionSettingsChange,
    AdmissionTargets,
    ErrorCode,
    EventDetail,
    EventId,
    EventStatus,
    EventStatusChange,
    OpsAlarm,
    OpsAlarmAcknowledgement,
    OpsAlarmList,
    OpsAlarmRule,
    OpsAlarmRuleChange,
    OpsAlarmRuleList,
    OpsEventFigures,
    OpsFigures,
    OpsHello,
    OpsHistory,
    OpsLockWait,
    OpsLog,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    OpsSessionEnd,
    OpsSessionEnded,
    OpsSessionOutcome,
    OpsUnknownPayments,
    Role,
)

_OPERATORS = frozenset({Role.OPS, Role.SUPERVISOR, Role.ADMIN})
_ADMINS = frozenset({Role.ADMIN})
_RULE = "/v1/ops/alarm-rules/([a-z-]+)"
_EVENT_ADMISSION = r"/v1/events/(\d+)/admission"
_MOST_POINTS = 3_000
"""Of a longer history the oldest minutes are answered."""
_NUMBERS = ("mode", "cap_per_minute", "manual_per_minute", "least_per_minute", "total_active_users")
_TARGETS = AdmissionTargets(
    queue_age_ms=75.0, hold_p99_ms=300.0, lock_waits=8.0, ticketing_lag_s=15.0, payment_error_share=0.1,
    payments_unknown=25.0, completion_share=0.05,
)  # fmt: skip


@dataclass(slots=True)
class Minutes:
    """Minutes of the history: instants and columns, of the house and of the event."""

    at: tuple[datetime, ...] = ()
    house: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    event: dict[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class OpsDesk:
    """`house` knows the time and the event. `send` is given each text for the open feeds."""

    house: House
    send: Callable[[str], None] = lambda _text: None
    names: dict[str, str] = field(default_factory=dict)
    """People by the name that they sign in with."""
    told: list[OpsFigures] = field(default_factory=list)
    minutes: Minutes = field(default_factory=Minutes)
    alarms: tuple[OpsAlarm, ...] = ()
    rules: tuple[OpsAlarmRule, ...] = ()
    control: AdmissionControl | None = None
    log: list[OpsLogEntry] = field(default_factory=list)
    ended: list[tuple[int, str]] = field(default_factory=list)
    """Sessions that were told to end, and why."""
    outcome: OpsSessionOutcome = OpsSessionOutcome.ENDED

    # ------------------------------------------------------------ the feed

    def hello(self) -> str:
        """The first frame of a feed."""
        return _text(OpsHello(process_id=UUID(int=1), server_time=self.house.now()))

    def greet(self) -> list[str]:
        """What a feed that is opened now is told at once."""
        return [self.hello(), *([_text(self.told[-1])] if self.told else [])]

    def tell(
        self, house: dict[str, float], event: dict[str, float] | None = None, *, at: datetime | None = None,
        lock_waits: Iterable[OpsLockWait] = (), unknown: Iterable[OpsUnknownPayments] = (),
        authority_away: bool = False,
    ) -> OpsFigures:  # fmt: skip
        """One more second: kept, and sent to every open feed."""
        measured_at = at or self.house.now()
        detail = self.house.event()
        made = OpsFigures(
            second=int(measured_at.timestamp()), measured_at=measured_at, server_time=self.house.now(),
            authority_heard_at=measured_at, authority_away=authority_away, house=house,
            events=() if event is None else (
                OpsEventFigures(event_id=detail.event_id, name=detail.name, status=detail.status, figures=event),
            ),
            lock_waits=tuple(lock_waits), unknown_payments=tuple(unknown),
            alarms=tuple(alarm for alarm in self.alarms if alarm.cleared_at is None),
        )  # fmt: skip
        self.told = [*self.told[-1_200:], made]
        self.send(_text(made))
        return made

    # ------------------------------------------------------------ HTTP

    def answer(self, call: AreaCall) -> object | None:
        """The answer to a call of this area; None for any other."""
        for method, pattern, roles, handler in _ROUTES:
            match = re.fullmatch(pattern, call.path)
            if method != call.method or match is None:
                continue
            if call.role not in roles:
                raise RefusalError(ErrorCode.FORBIDDEN if call.name else ErrorCode.NOT_SIGNED_IN)
            return handler(self, call, match)
        return None

    def figures(self, _call: AreaCall, _match: re.Match[str]) -> OpsFigures:
        """The newest second."""
        if not self.told:
            raise RefusalError(ErrorCode.NOT_FOUND)
        return self.told[-1]

    def history(self, call: AreaCall, _match: re.Match[str]) -> OpsHistory:
        """Seconds that were told, or the minutes."""
        event_id = call.query.get("event_id", "")
        wanted = [name for name in call.query.get("names", "").split(",") if name]
        if call.query["step"] == "minute":
            return self._minutes(call, wanted, of_event=bool(event_id))
        since = self.house.now() - timedelta(seconds=900)
        told = [one for one in self.told if one.measured_at >= since]
        parts = [_part(one, of_event=bool(event_id)) for one in told]
        return OpsHistory(
            step_s=1, at=tuple(one.measured_at for one in told), event_id=EventId(int(event_id)) if event_id else None,
            series={name: tuple(part.get(name) for part in parts) for name in wanted}, peaks={},
        )  # fmt: skip

    def _minutes(self, call: AreaCall, wanted: list[str], *, of_event: bool) -> OpsHistory:
        start, end = (datetime.fromisoformat(call.query[name]) for name in ("from", "until"))
        kept = [place for place, at in enumerate(self.minutes.at) if start < at <= end][:_MOST_POINTS]
        columns = self.minutes.event if of_event else self.minutes.house
        series = {
            name: tuple(columns[name][place] for place in kept) if name in columns else (None,) * len(kept)
            for name in wanted
        }
        at = tuple(self.minutes.at[place] for place in kept)
        return OpsHistory(step_s=60, at=at, series=series, peaks=series)

    def list_alarms(self, _call: AreaCall, _match: re.Match[str]) -> OpsAlarmList:
        """The open ones first."""
        return OpsAlarmList(alarms=tuple(sorted(self.alarms, key=lambda alarm: alarm.cleared_at is not None)))

    def acknowledge(self, call: AreaCall, match: re.Match[str]) -> OpsAlarm:
        """Somebody knows; the first who said so stays."""
        body = msgspec.json.decode(call.content, type=OpsAlarmAcknowledgement)
        alarm = next((one for one in self.alarms if str(one.alarm_id) == match.group(1)), None)
        if alarm is None:
            raise RefusalError(ErrorCode.ALARM_NOT_FOUND)
        if alarm.acknowledged_at is None:
            alarm = replace(alarm, acknowledged_at=self.house.now(), acknowledged_by=self._who(call), note=body.note)
            self.alarms = tuple(alarm if one.alarm_id == alarm.alarm_id else one for one in self.alarms)
            self._note(call, OpsLogKind.ALARM, "alarm-acknowledged", alarm.rule, body.note)
        return alarm

    def list_rules(self, _call: AreaCall, _match: re.Match[str]) -> OpsAlarmRuleList:
        """When alarms are raised."""
        return OpsAlarmRuleList(rules=self.rules)

    def change_rule(self, call: AreaCall, match: re.Match[str]) -> OpsAlarmRule:
        """Set the limit of an alarm, from the version that was seen."""
        change = msgspec.json.decode(call.content, type=OpsAlarmRuleChange)
        before = testing_rules.find_rule(self.rules, match.group(1))
        after = testing_rules.changed(before, change)
        self.put_rule(after)
        changes = testing_rules.differences(before, after)
        self._note(call, OpsLogKind.ALARM, "alarm-rule-changed", after.rule, change.reason, changes, of_event=False)
        return after

    def put_rule(self, rule: OpsAlarmRule) -> None:
        """Set a limit as somebody did."""
        self.rules = tuple(rule if kept.rule == rule.rule else kept for kept in self.rules)

    def read_again(self, method: str, path: str) -> OpsAlarmRule | None:
        """What the answer to a repeated call is now, where it is not the first one once more."""
        match = re.fullmatch(_RULE, path)
        return testing_rules.find_rule(self.rules, match.group(1)) if match and method == "PUT" else None

    def end_session(self, call: AreaCall, match: re.Match[str]) -> OpsSessionEnded:
        """End the session of that number and beginning; another beginning is another session."""
        body = msgspec.json.decode(call.content, type=OpsSessionEnd)
        pid = int(match.group(1))
        known = [
            session
            for wait in (self.told[-1].lock_waits if self.told else ())
            for session in (wait.waiting, *wait.blocked_by)
            if session.pid == pid
            and session.backend_started_at == body.backend_started_at
            and body.transaction_started_at in {None, session.transaction_started_at}
        ]
        if not known:
            return OpsSessionEnded(
                pid=pid, backend_started_at=body.backend_started_at, application="", statement="",
                outcome=OpsSessionOutcome.GONE,
            )  # fmt: skip
        if not known[0].may_be_ended:
            raise RefusalError(ErrorCode.FORBIDDEN)
        self.ended.append((pid, body.reason))
        self._note(call, OpsLogKind.SESSION, "session-end-asked", known[0].application, body.reason)
        return OpsSessionEnded(
            pid=pid, backend_started_at=body.backend_started_at, application=known[0].application,
            statement=known[0].statement, outcome=self.outcome,
        )  # fmt: skip

    def read_log(self, call: AreaCall, _match: re.Match[str]) -> OpsLog:
        """What was changed, newest first."""
        kind, event = call.query.get("kind", ""), call.query.get("event_id", "")
        before, limit = call.query.get("before", ""), int(call.query.get("limit", "100"))
        found = [
            entry
            for entry in sorted(self.log, key=lambda entry: entry.at, reverse=True)
            if (not kind or entry.kind.value == kind)
            and (not event or str(entry.event_id) == event)
            and (not before or entry.at < datetime.fromisoformat(before))
        ]
        page = tuple(found[:limit])
        return OpsLog(entries=page, next_before=page[-1].at if len(found) > limit else None)

    # ------------------------------------------------------------ admission and the event

    def read_admission(self, _call: AreaCall, match: re.Match[str]) -> AdmissionControl:
        """How admission stands."""
        if int(match.group(1)) != self.house.event_id:
            raise RefusalError(ErrorCode.EVENT_NOT_FOUND)
        if self.control is None:
            self.control = plain_control(self.house)
        return replace(self.control, server_time=self.house.now())

    def set_admission(self, call: AreaCall, match: re.Match[str]) -> AdmissionControl:
        """Set what is given, from the version that was seen."""
        change = msgspec.json.decode(call.content, type=AdmissionSettingsChange)
        control = self.read_admission(call, match)
        settings = control.settings
        if change.expected_version != settings.version:
            raise RefusalError(ErrorCode.SETTINGS_CHANGED)
        given = {name: value for name in _NUMBERS if (value := getattr(change, name)) is not None}
        pauses = change.mode is AdmissionMode.PAUSED and settings.mode is not AdmissionMode.PAUSED
        if pauses and control.room is None:
            raise RefusalError(ErrorCode.EVENT_HAS_NO_ROOM)
        changes = tuple(OpsLogChange(name=name, was=str(getattr(settings, name)), now=str(value))
                        for name, value in given.items())  # fmt: skip
        if settings.mode is not AdmissionMode.PAUSED:
            given["mode_before_pause"] = settings.mode
        self.put_settings(changed_by=self._who(call), **given)
        self._note(call, OpsLogKind.ADMISSION, "admission-settings-changed", "", change.reason, changes)
        return self.read_admission(call, match)

    def put_settings(self, **given: object) -> None:
        """Set admission as somebody did; the version rises."""
        control = self.control or plain_control(self.house)
        version = control.settings.version + 1
        settings = replace(control.settings, version=version, changed_at=self.house.now(), **given)
        paused = settings.mode is AdmissionMode.PAUSED
        rate = 0.0 if paused else float(_goal(settings))
        reason = AdmissionReason.PAUSED if paused else AdmissionReason.SET_BY_OPS
        self.control = replace(control, settings=settings, per_minute=rate, reason=reason)

    def preview(self, call: AreaCall, match: re.Match[str]) -> AdmissionPreview:
        """To the wished rate, a quarter more each second."""
        wish = msgspec.json.decode(call.content, type=AdmissionPreviewRequest)
        control = self.read_admission(call, match)
        given = {name: value for name in _NUMBERS if (value := getattr(wish, name)) is not None}
        settings = replace(control.settings, **given)
        goal, waiting = float(_goal(settings)), 0 if control.room is None else control.room.waiting
        rates, rate = [], control.per_minute
        for after in range(5, 61, 5):
            rate = min(goal, max(rate, 6.0) * 1.5) if rate < goal else goal
            rates.append(AdmissionPreviewPoint(after_s=after, per_minute=rate))
        return AdmissionPreview(
            per_minute=control.per_minute, at_most_per_minute=goal, waiting=waiting,
            reason=AdmissionReason.PAUSED if settings.mode is AdmissionMode.PAUSED else AdmissionReason.CAP,
            rates=tuple(rates), all_in_after_s=round(waiting / goal * 60) if goal else None,
            shoppers_inside=min(goal * 1.1, float(settings.total_active_users)),
        )  # fmt: skip

    def change_status(self, call: AreaCall, match: re.Match[str]) -> EventDetail:
        """Pause or resume the event."""
        body = msgspec.json.decode(call.content, type=EventStatusChange)
        house, pause = self.house, match.group(2) == "pause"
        if body.expected_version != house.settings_version:
            raise RefusalError(ErrorCode.SETTINGS_CHANGED)
        was, house.status = house.status, EventStatus.PAUSED if pause else EventStatus.ON_SALE
        house.settings_version += 1
        change = OpsLogChange(name="status", was=was.value, now=house.status.value)
        self._note(call, OpsLogKind.STATUS, "event-status-changed", house.event().name, body.reason, (change,))
        return house.event()

    def _who(self, call: AreaCall) -> str:
        return self.names.get(call.name, call.name)

    def _note(
        self, call: AreaCall, kind: OpsLogKind, action: str, subject: str, reason: str,
        changes: tuple[OpsLogChange, ...] = (), *, of_event: bool = True,
    ) -> None:  # fmt: skip
        self.log.append(
            OpsLogEntry(
                entry_id=f"audit:{len(self.log) + 1}", at=self.house.now(), kind=kind, action=action,
                who=self._who(call), subject=subject, reason=reason,
                event_id=self.house.event_id if of_event else None, changes=changes,
            )
        )  # fmt: skip


def plain_control(house: House) -> AdmissionControl:
    """Admission of an event whose room is there, at its cap."""
    now = house.now()
    settings = AdmissionSettings(
        version=1, mode=AdmissionMode.AUTOMATIC, mode_before_pause=AdmissionMode.AUTOMATIC, cap_per_minute=1_200,
        manual_per_minute=600, least_per_minute=6, total_active_users=2_000, targets=_TARGETS,
        changed_at=datetime(2026, 11, 30, 8, 0, tzinfo=UTC), changed_by="",
    )  # fmt: skip
    room = AdmissionRoom(
        url="http://127.0.0.1:2", is_there=True, heard_at=now, waiting=12_400, active=900, new_users_per_minute=1_200,
        total_active_users=2_000, let_in_per_minute=1_180.0, is_letting_in=True,
    )  # fmt: skip
    return AdmissionControl(
        event_id=house.event_id, settings=settings, per_minute=1_200.0, good_per_minute=1_200.0,
        reason=AdmissionReason.CAP, words="", is_steered=True, server_time=now, decided_at=now,
        figures=AdmissionFigures(measured_at=now, strains={}), room=room,
    )  # fmt: skip


def _goal(settings: AdmissionSettings) -> int:
    if settings.mode is AdmissionMode.PAUSED:
        return 0
    return settings.manual_per_minute if settings.mode is AdmissionMode.MANUAL else settings.cap_per_minute


def _part(told: OpsFigures, *, of_event: bool) -> dict[str, float]:
    if not of_event:
        return told.house
    return told.events[0].figures if told.events else {}


def _text(message: msgspec.Struct) -> str:
    return msgspec.json.encode(message).decode()


_Handler = Callable[[OpsDesk, AreaCall, re.Match[str]], object]
_ROUTES: tuple[tuple[str, str, frozenset[Role], _Handler], ...] = (
    ("GET", "/v1/ops/figures", _OPERATORS, OpsDesk.figures),
    ("GET", "/v1/ops/history", _OPERATORS, OpsDesk.history),
    ("GET", "/v1/ops/alarms", _OPERATORS, OpsDesk.list_alarms),
    ("POST", "/v1/ops/alarms/([0-9a-f-]{36})/acknowledge", _OPERATORS, OpsDesk.acknowledge),
    ("GET", "/v1/ops/alarm-rules", _OPERATORS, OpsDesk.list_rules),
    ("PUT", _RULE, _OPERATORS, OpsDesk.change_rule),
    ("POST", r"/v1/ops/sessions/(\d+)/end", _ADMINS, OpsDesk.end_session),
    ("GET", "/v1/ops/log", _OPERATORS, OpsDesk.read_log),
    ("GET", _EVENT_ADMISSION, _OPERATORS, OpsDesk.read_admission),
    ("PUT", _EVENT_ADMISSION, _OPERATORS, OpsDesk.set_admission),
    ("POST", f"{_EVENT_ADMISSION}/preview", _OPERATORS, OpsDesk.preview),
    ("POST", r"/v1/events/(\d+)/(pause|resume)", _OPERATORS, OpsDesk.change_status),
)
