"""An evening at the booking system as operators see it: calm, then a session that holds locks, then calm again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from msgspec.structs import replace

from backend_client.testing import FakeBookingServer
from backend_client.testing_ops import Minutes, plain_control
from backend_client.testing_rules import delivered
from backend_client.wire import (
    AdmissionReason,
    Cause,
    CauseCode,
    OpsAlarm,
    OpsAlarmRule,
    OpsFigure,
    OpsLockWait,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    OpsSession,
    OpsSeverity,
    OpsUnknownPayments,
)

F = OpsFigure
_WAITED = 12_400
RULES = (
    OpsAlarmRule(rule="holds-slow", figure=F.HOLD_P99_MS, severity=OpsSeverity.CRITICAL, raise_at=300, clear_at=200,
                 raise_after_s=5, clear_after_s=15),
    OpsAlarmRule(rule="locks-waiting", figure=F.LOCK_WAITS, severity=OpsSeverity.CRITICAL, raise_at=8, clear_at=2,
                 raise_after_s=3, clear_after_s=10),
    OpsAlarmRule(rule="tickets-late", figure=F.TICKETING_LAG_S, severity=OpsSeverity.WARNING, raise_at=15, clear_at=5,
                 raise_after_s=10, clear_after_s=30),
    OpsAlarmRule(rule="outbox-late", figure=F.OUTBOX_OLDEST_S, severity=OpsSeverity.WARNING, raise_at=10, clear_at=3,
                 raise_after_s=10, clear_after_s=30),
    OpsAlarmRule(rule="payments-fail", figure=F.PAYMENT_ERROR_SHARE, severity=OpsSeverity.WARNING, raise_at=0.1,
                 clear_at=0.05, raise_after_s=30, clear_after_s=60),
    OpsAlarmRule(rule="payments-unknown", figure=F.PAYMENTS_UNKNOWN, severity=OpsSeverity.WARNING, raise_at=25,
                 clear_at=10, raise_after_s=30, clear_after_s=60),
    OpsAlarmRule(rule="expiry-late", figure=F.EXPIRY_BACKLOG, severity=OpsSeverity.WARNING, raise_at=500, clear_at=100,
                 raise_after_s=30, clear_after_s=30),
    OpsAlarmRule(rule="conflicts", figure=F.HOLD_CONFLICT_SHARE, severity=OpsSeverity.WARNING, raise_at=0.5,
                 clear_at=0.3, raise_after_s=60, clear_after_s=60, enabled=False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Second:
    house: dict[str, float]
    event: dict[str, float]
    trouble: float


def play_evening(server: FakeBookingServer, *, seconds: int = 900, trouble_at: int | None = None) -> None:
    """Tell the last `seconds`, ending now. From `trouble_at` seconds before now on somebody holds locks.

    A hole of a minute lies eight minutes back: the feed was away.
    """
    ops, now = server.ops, server.house.now().replace(microsecond=0)
    ops.told, ops.rules = [], tuple(delivered(rule) for rule in RULES)
    ops.names = {"omar": "Omar Haddad", "sofia": "Sofia Lindqvist", "ada": "Ada Moreira"}
    control = plain_control(server.house)
    ops.control = replace(control, settings=replace(control.settings, changed_by="Omar Haddad"))
    send, ops.send = ops.send, lambda _text: None  # the past is read from the history
    last = None
    for second in _seconds(seconds, trouble_at):
        ago = seconds - 1 - second[0]
        if 460 < ago < 530:
            continue
        last = second[1]
        ops.tell(last.house, last.event, at=now - timedelta(seconds=ago), lock_waits=_waits(now, ago, last.trouble),
                 unknown=_unknown(last.house))  # fmt: skip
    ops.send = send
    if last is not None and last.trouble > 0:
        _raise(server, now, last)


def _seconds(count: int, trouble_at: int | None) -> Iterator[tuple[int, _Second]]:
    chance = np.random.default_rng(3)
    waiting, sold, rate, backlog = float(_WAITED), 20_000.0, 1_200.0, 6.0
    for number in range(count):
        ago = count - 1 - number
        trouble = 0.0 if trouble_at is None or ago > trouble_at else min((trouble_at - ago) / 12, 1.0)
        rate = max(rate * 0.75, 90.0) if trouble > 0.25 else min(rate * 1.04 + 4, 1_200.0)
        noise = chance.normal(0, 1, 12)
        waiting = max(waiting - rate / 60 + 7 + 3 * math.sin(number / 90), 0.0)
        sold += 8 * (1 - 0.9 * trouble)
        backlog = max(backlog + (6.0 * trouble - 0.4) + noise[5] * 0.6, 0.0)
        attempts = max(38 + 6 * noise[0] - 8 * trouble, 0.0)
        p99 = 62 + 9 * abs(noise[1]) + 900 * trouble * (1 + 0.2 * noise[2])
        house = {
            F.HOLD_ATTEMPTS_PER_S: round(attempts, 1), F.SHED_PER_S: round(max(9 * trouble + noise[3] * trouble, 0), 1),
            F.HOLD_CONFLICT_SHARE: min(max(0.11 + 0.02 * noise[4] + 0.12 * trouble, 0), 1),
            F.HOLD_P50_MS: 11 + abs(noise[6]) + 260 * trouble, F.HOLD_P99_MS: p99,
            F.QUEUE_AGE_MS: 8 + 3 * abs(noise[7]) + 140 * trouble, F.LOCK_WAITS: float(round(11 * trouble)),
            F.LOCK_WAIT_OLDEST_S: (trouble_at or 0) - ago if trouble else 0.0, F.EXPIRY_BACKLOG: float(round(backlog)),
            F.EXPIRY_OLDEST_S: 0.4 + 20 * trouble, F.PAYMENTS_UNKNOWN: float(round(3 + abs(noise[8]) + 16 * trouble)),
            F.PAYMENTS_UNKNOWN_OLDEST_S: 40.0 + 300 * trouble,
            F.PAYMENT_ERROR_SHARE: min(max(0.012 + 0.004 * noise[9] + 0.05 * trouble, 0), 1), F.OUTBOX_LAG: 4.0,
            F.OUTBOX_OLDEST_S: 0.3 + 0.1 * abs(noise[10]) + 5 * trouble,
            F.TICKETING_LAG_S: 1.4 + 0.3 * abs(noise[11]) + 7 * trouble, F.FEED_CLIENTS: 1_840 + round(6 * noise[0]),
            F.FEED_LAG_P99_MS: 120.0, F.POOL_USE_SHARE: 0.4, F.TICKET_DIFFERENCES: 0.0,
        }  # fmt: skip
        event = {
            F.ROOM_WAITING: round(waiting), F.ROOM_WAIT_S: round(waiting / max(rate, 1) * 60),
            F.ROOM_INSIDE: 900 - round(500 * trouble), F.ADMISSION_SET_PER_MIN: round(rate),
            F.ADMISSION_MEASURED_PER_MIN: max(round(rate + 26 * noise[2]), 0),
            F.SHOPPERS_ACTIVE: max(round(910 + 25 * math.sin(number / 40) - 480 * trouble), 0),
            F.ORDERS_CONFIRMED_PER_MIN: max(round(470 + 18 * noise[1] - 430 * trouble), 0),
            F.COMPLETION_SHARE: 0.52, F.SEATS_FREE: 60_000 - round(sold) - 2_600, F.SEATS_HELD: 2_600,
            F.SEATS_SOLD: round(sold),
        }  # fmt: skip
        yield number, _Second(_plain(house), _plain(event), trouble)


def _plain(figures: dict[OpsFigure, float]) -> dict[str, float]:
    return {str(name): float(value) for name, value in figures.items()}


def _unknown(house: dict[str, float]) -> tuple[OpsUnknownPayments, ...]:
    count = int(house[F.PAYMENTS_UNKNOWN])
    old = max(count - 12, 0)
    return tuple(
        OpsUnknownPayments(currency="EUR", from_s=since, up_to_s=until, count=number, amount_minor=number * 8_900)
        for since, until, number in ((0, 300, count - old), (300, None, old))
    )


def _session(pid: int, application: str, statement: str, state: str, began: datetime) -> OpsSession:
    return OpsSession(
        pid=pid, backend_started_at=began - timedelta(minutes=pid % 40 + 3), application=application, state=state,
        statement=statement, transaction_started_at=began, may_be_ended=True,
    )  # fmt: skip


def _waits(now: datetime, ago: int, trouble: float) -> tuple[OpsLockWait, ...]:
    if trouble <= 0:
        return ()
    began = now - timedelta(seconds=ago) - timedelta(seconds=22 * trouble)
    root = _session(4_712, "psql", "other", "idle in transaction", began)
    first = _session(4_801, "taquilla serve sales", "hold", "active", began + timedelta(seconds=3))
    waits = []
    for number in range(round(11 * trouble)):
        waiting = first if number == 0 else _session(
            4_801 + 7 * number, "taquilla serve sales", ("hold", "checkout", "result")[number % 3], "active",
            began + timedelta(seconds=3 + number),
        )  # fmt: skip
        blocker = root if number < 7 else first
        waits.append(OpsLockWait(
            waiting=waiting, since=began + timedelta(seconds=3 + number), waited_s=max(22 * trouble - 3 - number, 0.1),
            lock="tuple" if number % 2 else "transactionid", blocked_by=(blocker,), roots=(root.pid,), event_id=None,
            sections=("Stalls centre",) if number % 3 else ("Stalls left", "Balcony"),
        ))  # fmt: skip
    return tuple(waits)


def _raise(server: FakeBookingServer, now: datetime, last: _Second) -> None:
    """Alarms that are open, one of them known; one that ended an hour ago. Admission as the controller has set it."""
    ops, event = server.ops, server.house.event_id
    raised = ((F.HOLD_P99_MS, OpsSeverity.CRITICAL, 300.0, 34, 1_180.0, "holds-slow", 1),
              (F.LOCK_WAITS, OpsSeverity.CRITICAL, 8.0, 31, 11.0, "locks-waiting", 2))  # fmt: skip
    ops.alarms = (
        *(
            OpsAlarm(alarm_id=UUID(int=number), rule=rule, figure=name, severity=severity, value=last.house[name],
                     raised_at=now - timedelta(seconds=ago), worst=worst, raise_at=limit, clear_at=limit * 0.6)
            for name, severity, limit, ago, worst, rule, number in raised
        ),
        OpsAlarm(alarm_id=UUID(int=3), rule="payments-unknown", figure=F.PAYMENTS_UNKNOWN,
                 severity=OpsSeverity.WARNING, value=6.0, raised_at=now - timedelta(minutes=74), worst=41.0,
                 raise_at=25.0, clear_at=10.0, cleared_at=now - timedelta(minutes=66),
                 acknowledged_at=now - timedelta(minutes=72), acknowledged_by="Omar Haddad", note="Bank is slow"),
    )  # fmt: skip
    rate = last.event[F.ADMISSION_SET_PER_MIN]
    if ops.control is not None and ops.control.room is not None:
        room = replace(ops.control.room, waiting=int(last.event[F.ROOM_WAITING]), active=420,
                       let_in_per_minute=last.event[F.ADMISSION_MEASURED_PER_MIN])  # fmt: skip
        ops.control = replace(ops.control, per_minute=rate, reason=AdmissionReason.STRAIN, room=room,
                              cause=_over_limit(last.house[F.HOLD_P99_MS]))  # fmt: skip
    newest = ops.told[-1]
    ops.told[-1] = replace(newest, alarms=ops.alarms[:2])
    ops.log = list(_log(now, event))


def _log(now: datetime, event: int) -> Iterator[OpsLogEntry]:
    told = (
        (22, OpsLogKind.ADMISSION, "admission-steered", "controller", "", "hold_p99_ms is 940, its limit 300",
         (("per_minute", "1200", "780"),)),
        (20, OpsLogKind.ADMISSION, "admission-steered", "controller", "", "hold_p99_ms is 1180, its limit 300",
         (("per_minute", "780", "310"),)),
        (31, OpsLogKind.ALARM, "alarm-raised", "alarms", "locks-waiting", "",
         (("state", "calm", "critical"), ("value", "", "11"))),
        (34, OpsLogKind.ALARM, "alarm-raised", "alarms", "holds-slow", "",
         (("state", "calm", "critical"), ("value", "", "980"))),
        (1_900, OpsLogKind.ADMISSION, "admission-settings-changed", "Omar Haddad", "", "The derby begins at eight",
         (("cap_per_minute", "900", "1200"), ("total_active_users", "1500", "2000"))),
        (3_970, OpsLogKind.ALARM, "alarm-cleared", "alarms", "payments-unknown", "", ()),
        (4_320, OpsLogKind.ALARM, "alarm-acknowledged", "Omar Haddad", "payments-unknown", "Bank is slow", ()),
        (4_440, OpsLogKind.ALARM, "alarm-raised", "alarms", "payments-unknown", "",
         (("state", "calm", "warning"), ("value", "", "41"))),
        (7_300, OpsLogKind.STATUS, "event-status-changed", "Sofia Lindqvist", "La Traviata", "The plan is right again",
         (("status", "PAUSED", "ON_SALE"),)),
        (7_900, OpsLogKind.STATUS, "event-status-changed", "Sofia Lindqvist", "La Traviata", "Row C was numbered twice",
         (("status", "ON_SALE", "PAUSED"),)),
        (12_000, OpsLogKind.SESSION, "session-end-asked", "Ada Moreira", "psql", "A report that nobody waits for", ()),
    )  # fmt: skip
    for number, (ago, kind, action, who, subject, reason, changes) in enumerate(told):
        yield OpsLogEntry(
            entry_id=f"audit:{900 - number}", at=now - timedelta(seconds=ago), kind=kind, action=action, who=who,
            subject=subject, reason=reason, event_id=event,  # type: ignore[arg-type]  # an EventId
            changes=tuple(OpsLogChange(name=name, was=was, now=then) for name, was, then in changes),
            cause=_over_limit(940.0 if ago == 22 else 1_180.0) if action == "admission-steered" else None,
        )  # fmt: skip


def _over_limit(value: float) -> Cause:
    """Why the controller lets fewer in."""
    numbers = {"value": value, "limit": 300.0, "strain": value / 300.0}
    return Cause(code=CauseCode.OVER_LIMIT, figure=F.HOLD_P99_MS, numbers=numbers)


def give_minutes(server: FakeBookingServer, minutes: int = 360) -> None:
    """The event's past, minute by minute, with a quarter of an hour in which nothing was measured."""
    now = server.house.now().replace(second=0, microsecond=0)
    seconds = [second for _number, second in _seconds(minutes, 40)]
    kept = [place for place in range(minutes) if not 150 <= place < 165]
    at = tuple(now - timedelta(minutes=minutes - place) for place in kept)
    shape = [0.25 + 0.75 * math.sin(place / minutes * math.pi) for place in range(minutes)]

    def columns(of: str) -> dict[str, tuple[float | None, ...]]:
        names = getattr(seconds[0], of)
        return {name: tuple(getattr(seconds[place], of)[name] * shape[place] for place in kept) for name in names}

    server.ops.minutes = Minutes(at, columns("house"), columns("event"))
