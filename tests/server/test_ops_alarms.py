"""Alarms: raised, cleared, acknowledged, set otherwise; and the log of what was changed (R20, R32)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from backend_client import wire
from booking.domain.alarms import IDLE_AFTER_S, RULES
from booking.domain.caller import Role
from booking.domain.figures import Figure
from booking.figures import alarm_keeper
from booking.figures.meter import RequestEnd, RequestKind
from booking.figures.model import AlarmPart, Second
from booking.store import admission_queries
from booking.store.database import Database
from tests.server.box_office import Clock, make_event
from tests.server.ops_house import OpsHouse, ops_house
from tests.server.web_api import problem, read

RULE = RULES["payments-fail"]


@pytest.fixture
async def house(sound_database: Database, clock: Clock) -> AsyncIterator[OpsHouse]:
    await clock.stand_at(await clock.now())
    async with ops_house(sound_database, clock) as house:
        await house.second()
        yield house


def fail_payments(house: OpsHouse, count: int) -> None:
    for _ in range(count):
        house.api.app.services.meter.provider_answered(is_error=True)


async def raised(house: OpsHouse) -> AlarmPart:
    """The alarm about payments, after its time."""
    fail_payments(house, 5)
    for second in range(RULE.raise_after_s):
        assert payments_alarm((await house.second()).alarms) is None, second
    alarm = payments_alarm((await house.second()).alarms)
    assert alarm is not None
    return alarm


def payments_alarm(alarms: tuple[AlarmPart, ...]) -> AlarmPart | None:
    return next((alarm for alarm in alarms if alarm.rule == RULE.rule), None)


async def test_an_alarm_is_raised_after_its_time_and_cleared_after_its_time(house: OpsHouse) -> None:
    alarm = await raised(house)
    assert (alarm.value, alarm.severity, alarm.figure) == (1.0, "critical", "payment_error_share")
    await house.clock.move(seconds=60)  # a minute in which nobody was asked: not known, so nothing is well yet
    assert payments_alarm((await house.second()).alarms) is not None
    house.api.app.services.meter.provider_answered(is_error=False)
    for _ in range(RULE.clear_after_s):
        assert payments_alarm((await house.second()).alarms) is not None
    assert payments_alarm((await house.second()).alarms) is None
    listed = read(await house.api.call("GET", "/v1/ops/alarms", token=await house.staff()), wire.OpsAlarmList)
    ended = next(one for one in listed.alarms if one.alarm_id == alarm.alarm_id)
    assert (ended.worst, ended.cleared_at is not None, ended.raise_at, ended.clear_at) == (1.0, True, 0.1, 0.03)


async def test_an_alarm_about_slow_holds_ends_when_nobody_asks_for_any_more(house: OpsHouse) -> None:
    """Else it would stand all night, and the next real one would not be heard."""
    meter, rule = house.api.app.services.meter, RULES["holds-slow"]

    def is_open(second: Second) -> bool:
        return any(alarm.rule == rule.rule for alarm in second.alarms)

    for _ in range(rule.raise_after_s):
        meter.request(RequestKind.HOLD, RequestEnd.DONE, 0.9)
        assert not is_open(await house.second())
    meter.request(RequestKind.HOLD, RequestEnd.DONE, 0.9)
    assert is_open(await house.second())
    for _ in range(IDLE_AFTER_S):
        assert is_open(await house.second())
        meter.request(
            RequestKind.HOLD, RequestEnd.SHED, 0.0
        )  # has no latency: holds are asked for, and none is answered
    for _ in range(IDLE_AFTER_S + 1):
        assert is_open(await house.second())
    await house.second()
    assert not is_open(await house.second())


async def test_an_alarm_of_a_rule_that_there_is_no_more_ends(house: OpsHouse, database: Database) -> None:
    """Nobody could clear it: there is no figure that could be well again, and people only say that they know."""
    await database.fetch(
        "INSERT INTO alarms (alarm_id, rule, figure, severity, raised_at, value, worst, raise_at, clear_at)"
        " VALUES (gen_random_uuid(), 'of-old', 'gone_ms', 'critical', booking_now(), 9, 12, 8, 2)"
    )
    assert [alarm.rule for alarm in (await house.second()).alarms] == []
    (row,) = await database.fetch("SELECT worst, cleared_at FROM alarms WHERE rule = 'of-old'")
    assert (row["worst"], row["cleared_at"] is not None) == (12, True)


async def test_another_watcher_goes_on_with_what_is_open(house: OpsHouse, database: Database, clock: Clock) -> None:
    alarm = await raised(house)
    async with ops_house(database, clock) as other:
        second = await other.second(after_s=5)
        assert payments_alarm(second.alarms) == alarm
        assert second.watcher == other.watch.standing.process_id != house.watch.standing.process_id
    rows = await database.fetch("SELECT FROM alarms WHERE rule = $1", RULE.rule)
    assert len(rows) == 1


async def test_another_watcher_knows_how_bad_it_has_been(house: OpsHouse, database: Database, clock: Clock) -> None:
    meter = house.api.app.services.meter
    for is_error in (True, *(False,) * 4):
        meter.provider_answered(is_error)
    await house.seconds(RULE.raise_after_s)
    alarm = payments_alarm((await house.second()).alarms)
    assert alarm is not None
    fail_payments(house, 45)
    worst = payments_alarm((await house.second()).alarms)
    assert worst is not None
    assert (alarm.worst, worst.worst) == (0.2, 0.92)
    async with ops_house(database, clock) as other:
        shown = payments_alarm((await other.second(after_s=5)).alarms)
        assert shown is not None
        assert shown.worst == 0.92
        other.api.app.services.meter.provider_answered(is_error=False)
        await other.second(after_s=70)
        other.api.app.services.meter.provider_answered(is_error=False)
        await other.seconds(RULE.clear_after_s + 1)
    (row,) = await database.fetch("SELECT worst, cleared_at FROM alarms WHERE rule = $1", RULE.rule)
    assert (row["worst"], row["cleared_at"] is not None) == (0.92, True)


async def test_alarms_that_cannot_be_asked_for_take_no_second_with_them(house: OpsHouse, database: Database) -> None:
    alarm = await raised(house)
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE alarms IN ACCESS EXCLUSIVE MODE")
        first, second = await house.second(), await house.second()
    assert second.second == first.second + 1
    assert payments_alarm(second.alarms) == alarm
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE figures_seconds IN ACCESS EXCLUSIVE MODE")
        third = await house.second()
    assert third.second == second.second + 1, "a second that cannot be kept is told all the same"
    assert payments_alarm((await house.second()).alarms) == alarm


class Steering:
    """An event whose admission operators have set, and a controller that decides when the test says so."""

    def __init__(self, house: OpsHouse, event_id: int, token: str) -> None:
        self.house, self.event_id, self._token, self._holder = house, event_id, token, uuid4()

    async def set(self, expected: int, **change: object) -> None:
        body = {"expected_version": expected, "reason": "test", **change}
        answer = await self.house.api.call("PUT", f"/v1/events/{self.event_id}/admission", body, token=self._token)
        assert answer.status_code == 200, answer.text

    async def decide(self, reason: str = "manual") -> None:
        now, leads = await admission_queries.lead(self.house.api.db, self._holder, 3)
        assert leads
        state = {"per_minute": 60.0, "law": {}, "reason": reason, "words": "", "decided_at": now, "measured_at": now,
                 "figures": {"measured_at": now, "strains": {}}, "room": {"url": "http://127.0.0.1:1"}}  # fmt: skip
        assert await admission_queries.keep_state(self.house.api.db, self._holder, self.event_id, state, [])

    async def second(self) -> tuple[float, float | None, bool]:
        """What the house has, what the event has, whether there is an alarm."""
        second = await self.house.second()
        own = second.events[self.event_id].figures.get(Figure.ADMISSION_UNSTEERED_S)
        return (
            second.house[Figure.ADMISSION_UNSTEERED_S], own, any(one.rule == "nobody-steers" for one in second.alarms)
        )  # fmt: skip


@pytest.fixture
async def steering(sound_database: Database, clock: Clock) -> AsyncIterator[Steering]:
    await clock.stand_at(await clock.now())
    event_id = await make_event(sound_database)
    await admission_queries.announce_rooms(sound_database, [event_id], "http://127.0.0.1:1")
    async with ops_house(sound_database, clock) as house:
        yield Steering(house, event_id, await house.staff())


async def test_a_room_that_nobody_steers_is_an_alarm_until_somebody_does(steering: Steering) -> None:
    rule = RULES["nobody-steers"]
    assert await steering.second() == (0, None, False), "nobody has set anything: it is looked at and left alone"
    await steering.set(0, mode="manual", manual_per_minute=60)
    for passed_s in range(1, int(rule.raise_at) + rule.raise_after_s):
        assert await steering.second() == (passed_s, passed_s, False)
    assert (await steering.second())[2]
    await steering.set(1, mode="automatic")
    assert (await steering.second())[0] > rule.raise_at, "who sets it anew steers nothing"
    for _ in range(rule.clear_after_s):
        await steering.decide()
        assert await steering.second() == (1, 1, True)
    await steering.decide()
    assert await steering.second() == (1, 1, False)


async def test_a_pause_needs_somebody_to_carry_it_out_and_then_nobody(steering: Steering) -> None:
    await steering.set(0, mode="paused")
    assert await steering.second() == (1, 1, False)
    assert await steering.second() == (2, 2, False)
    await steering.decide("paused")
    assert await steering.second() == (0, None, False)
    await steering.set(1, mode="manual", manual_per_minute=30)
    assert (await steering.second())[:2] == (2, 2), "since the last one decided"


async def test_an_event_that_is_over_and_one_without_a_room_need_nobody(steering: Steering) -> None:
    house = steering.house
    other = await make_event(house.api.db)
    answer = await house.api.call(
        "PUT", f"/v1/events/{other}/admission", {"expected_version": 0, "reason": "no room yet", "mode": "automatic"},
        token=await house.staff(),
    )  # fmt: skip
    assert answer.status_code == 200
    assert await steering.second() == (0, None, False)
    await steering.set(0, mode="automatic")
    assert await steering.second() == (1, 1, False)
    await house.api.db.fetch("UPDATE events SET starts_at = booking_now() WHERE event_id = $1", steering.event_id)
    assert await steering.second() == (0, None, False)


async def test_the_first_who_acknowledges_is_shown_and_the_alarm_stays_open(house: OpsHouse) -> None:
    alarm = await raised(house)
    path, key, token = f"/v1/ops/alarms/{alarm.alarm_id}/acknowledge", str(uuid4()), await house.staff()
    first = await house.api.call(
        "POST", path, wire.OpsAlarmAcknowledgement(note="calling the bank"), token=token, key=key
    )
    assert read(first, wire.OpsAlarm).acknowledged_by == "Some ops"
    replay = await house.api.call(
        "POST", path, wire.OpsAlarmAcknowledgement(note="calling the bank"), token=token, key=key
    )
    assert replay.headers[wire.REPLAYED_HEADER] == "true"
    second = await house.api.call("POST", path, {"note": "me too"}, token=await house.staff(Role.SUPERVISOR))
    assert (read(second, wire.OpsAlarm).acknowledged_by, read(second, wire.OpsAlarm).note) == (
        "Some ops", "calling the bank",
    )  # fmt: skip
    shown = payments_alarm((await house.second()).alarms)
    assert shown is not None
    assert (shown.acknowledged_by, shown.cleared_at) == ("Some ops", None)


async def test_an_alarm_that_there_never_was(house: OpsHouse) -> None:
    answer = await house.api.call("POST", f"/v1/ops/alarms/{uuid4()}/acknowledge", {}, token=await house.staff())
    problem(answer, wire.ErrorCode.ALARM_NOT_FOUND)
    change = wire.OpsAlarmRuleChange(expected_version=1, reason="?", raise_at=1.0)
    answer = await house.api.call("PUT", "/v1/ops/alarm-rules/none-such", change, token=await house.staff())
    problem(answer, wire.ErrorCode.ALARM_NOT_FOUND)


async def test_a_rule_is_set_from_the_version_seen_and_holds_from_then_on(
    house: OpsHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm_keeper, "RULES_EVERY_S", 0.0)
    token, path = await house.staff(), f"/v1/ops/alarm-rules/{RULE.rule}"
    change = wire.OpsAlarmRuleChange(expected_version=1, reason="the bank is slow today", raise_after_s=0, raise_at=0.9)
    rule = read(await house.api.call("PUT", path, change, token=token), wire.OpsAlarmRule)
    assert (rule.version, rule.raise_at, rule.clear_at, rule.raise_after_s) == (2, 0.9, 0.03, 0)
    stale = await house.api.call("PUT", path, change, token=await house.staff(Role.SUPERVISOR))
    problem(stale, wire.ErrorCode.SETTINGS_CHANGED)
    rules = read(await house.api.call("GET", "/v1/ops/alarm-rules", token=token), wire.OpsAlarmRuleList)
    assert {one.rule for one in rules.rules} == set(RULES)
    fail_payments(house, 3)
    assert payments_alarm((await house.second()).alarms) is not None
    off = wire.OpsAlarmRuleChange(expected_version=2, reason="not today", enabled=False)
    assert read(await house.api.call("PUT", path, off, token=token), wire.OpsAlarmRule).enabled is False
    assert payments_alarm((await house.second()).alarms) is None, "a rule that is off ends its alarm"


async def test_a_rule_that_was_set_again_meanwhile_answers_by_its_key_and_by_its_version(house: OpsHouse) -> None:
    """What the wish would make of the newer levels is not looked at: it was not made from them."""
    token, path, key = await house.staff(), f"/v1/ops/alarm-rules/{RULE.rule}", str(uuid4())
    first = wire.OpsAlarmRuleChange(expected_version=1, reason="too loud", raise_at=1.0)
    assert (await house.api.call("PUT", path, first, token=token, key=key)).status_code == 200
    newer = wire.OpsAlarmRuleChange(expected_version=2, reason="louder still", raise_at=3.0, clear_at=2.0)
    assert (await house.api.call("PUT", path, newer, token=await house.staff(Role.SUPERVISOR))).status_code == 200
    replay = await house.api.call("PUT", path, first, token=token, key=key)
    assert replay.headers[wire.REPLAYED_HEADER] == "true"
    assert read(replay, wire.OpsAlarmRule).version == 3
    problem(await house.api.call("PUT", path, first, token=token), wire.ErrorCode.SETTINGS_CHANGED)


async def test_rules_are_set_one_after_the_other_under_the_lock_of_their_table(
    house: OpsHouse, database: Database
) -> None:
    """As settings of channels and readers: who writes one is waited for; of two from one version one is told."""
    path, key = f"/v1/ops/alarm-rules/{RULE.rule}", str(uuid4())
    change = wire.OpsAlarmRuleChange(expected_version=1, reason="too loud", raise_at=0.5)
    tokens = [await house.staff(), await house.staff(Role.SUPERVISOR)]
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE alarm_rules IN ROW EXCLUSIVE MODE")
        problem(await house.api.call("PUT", path, change, token=tokens[0], key=key), wire.ErrorCode.BUSY)
    answers = await asyncio.gather(
        house.api.call("PUT", path, change, token=tokens[0], key=key),
        house.api.call("PUT", path, change, token=tokens[1]),
    )
    assert sorted(one.status_code for one in answers) == [200, 409]


WRONG_RULES: tuple[tuple[dict[str, object], str], ...] = (
    ({"raise_at": 0.01}, "/clear_at"),
    ({"clear_at": 0.5}, "/clear_at"),
    ({}, ""),
    ({"raise_at": -1.0}, "/raise_at"),
    ({"raise_after_s": 3601}, "/raise_after_s"),
    ({"severity": "loud"}, "/severity"),
    ({"reason": ""}, "/reason"),
)


async def test_a_rule_that_would_flutter_is_refused_by_its_field(house: OpsHouse) -> None:
    token = await house.staff()
    for change, pointer in WRONG_RULES:
        body = {"expected_version": 1, "reason": "why not", **change}
        answer = await house.api.call("PUT", f"/v1/ops/alarm-rules/{RULE.rule}", body, token=token)
        assert [field.pointer for field in problem(answer, wire.ErrorCode.INVALID_REQUEST).fields] == [pointer], change


async def test_the_log_has_every_change_with_who_when_from_to_and_why(house: OpsHouse) -> None:
    event_id = await make_event(house.api.db)
    token = await house.staff()
    await house.api.call(
        "PUT", f"/v1/events/{event_id}/settings",
        wire.EventSettingsChange(expected_version=1, reason="a long queue", hold_ttl_s=240), token=token,
    )  # fmt: skip
    await house.api.call(
        "POST", f"/v1/events/{event_id}/pause", wire.EventStatusChange(expected_version=2, reason="wet stage"),
        token=token,
    )  # fmt: skip
    await house.clock.move(seconds=1)
    await house.api.db.fetch(
        "INSERT INTO admission_changes VALUES ($1, 1, booking_now(), 'controller', '', 'automatic', 120, 60, 'strain',"
        " 'holds are slow', '{}')",
        event_id,
    )  # fmt: skip
    await raised(house)
    page = read(await house.api.call("GET", "/v1/ops/log?limit=1", token=token), wire.OpsLog)
    assert page.next_before is not None
    (newest,) = page.entries
    assert (newest.kind, newest.who, newest.subject, newest.action) == ("alarm", "alarms", RULE.rule, "alarm-raised")
    before = page.next_before.isoformat().replace("+00:00", "Z")
    rest = read(await house.api.call("GET", f"/v1/ops/log?before={before}", token=token), wire.OpsLog)
    assert rest.next_before is None
    steered, *others = rest.entries
    assert (steered.kind, steered.who, steered.reason, steered.event_id) == (
        "admission", "controller", "holds are slow", event_id,
    )  # fmt: skip
    assert steered.changes == (wire.OpsLogChange(name="per_minute", was="120", now="60"),)
    assert [(one.kind, one.who, one.reason, one.event_id) for one in others] == [
        ("status", "Some ops", "wet stage", event_id), ("settings", "Some ops", "a long queue", event_id),
    ]  # fmt: skip
    assert others[0].changes == (wire.OpsLogChange(name="", was="ON_SALE", now="PAUSED"),)
    assert others[1].changes == (wire.OpsLogChange(name="hold_ttl_s", was="300", now="240"),)
    only = read(await house.api.call("GET", f"/v1/ops/log?kind=status&event_id={event_id}", token=token), wire.OpsLog)
    assert [one.kind for one in only.entries] == ["status"]


WRONG_QUERIES = {
    "log?kind=gossip": "query:kind",
    "log?limit=0": "query:limit",
    "log?limit=501": "query:limit",
    "log?before=yesterday": "query:before",
    "log?event_id=-1": "query:event_id",
    "history?names=queue_age_ms,gossip": "query:names",
    "history?step=hour": "query:step",
    "history?from=2026-01-01T00:00:00": "query:from",
    "history?event_id=1.5": "query:event_id",
    "history?until=9999-01-01T00:00:00Z": "query:until",
}


async def test_a_query_that_cannot_be_is_refused_by_its_name(house: OpsHouse) -> None:
    token = await house.staff()
    for query, pointer in WRONG_QUERIES.items():
        answer = await house.api.call("GET", f"/v1/ops/{query}", token=token)
        assert [field.pointer for field in problem(answer, wire.ErrorCode.INVALID_REQUEST).fields] == [pointer], query


async def test_the_whole_system_is_shown_to_operators_alone(house: OpsHouse) -> None:
    for role in (None, Role.FAN, Role.CLERK):
        token = await house.api.token_of(role)
        for path in ("figures", "history", "lock-waits", "alarms", "alarm-rules", "log"):
            answer = await house.api.call("GET", f"/v1/ops/{path}", token=token)
            problem(answer, wire.ErrorCode.NOT_SIGNED_IN if role is None else wire.ErrorCode.FORBIDDEN)
