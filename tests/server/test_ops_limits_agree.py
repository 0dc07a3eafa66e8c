"""The booking system and the one in memory answer calls about limits alike: consoles are tested against the latter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import msgspec
import pytest

from backend_client import wire
from backend_client.testing import FakeBookingServer
from backend_client.testing_rules import MEMBERS
from booking.domain.alarms import RULES
from booking.domain.caller import Role
from booking.store.database import Database
from tests.server.box_office import Clock
from tests.server.ops_house import OpsHouse, ops_house

RULE = "payments-fail"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
KEYS = {number: str(uuid4()) for number in range(40)}


@dataclass(frozen=True)
class Put:
    """One change as it is sent; calls of one key are the same call."""

    body: dict[str, object]
    key: int
    rule: str = RULE
    role: Role | None = Role.OPS


SCRIPT = (
    Put({"expected_version": 1, "reason": "why", "raise_at": 0.01}, 1),
    Put({"expected_version": 1, "reason": "why", "clear_at": 0.1}, 2),
    Put({"expected_version": 1, "reason": "why"}, 3),
    Put({"expected_version": 1, "reason": "why", "raise_at": -0.5}, 4),
    Put({"expected_version": 1, "reason": "why", "raise_at": 2e12}, 5),
    Put({"expected_version": 1, "reason": "why", "raise_at": "high"}, 6),
    Put({"expected_version": 1, "reason": "why", "raise_after_s": 3_601}, 7),
    Put({"expected_version": 1, "reason": "why", "clear_after_s": 1.5}, 8),
    Put({"expected_version": 1, "reason": "why", "severity": "loud"}, 9),
    Put({"expected_version": 1, "reason": ""}, 10),
    Put({"expected_version": 0, "reason": "why", "raise_at": 0.5}, 11),
    Put({"expected_version": 1, "raise_at": 0.5}, 12),
    Put({"expected_version": 1, "reason": "why", "loudness": 3}, 13),
    Put({"expected_version": 2, "reason": "why", "raise_at": 0.5}, 14),
    Put({"expected_version": 1, "reason": "why", "raise_at": 0.5}, 15, rule="none-such"),
    Put({"expected_version": 1, "reason": "why", "raise_at": 0.5}, 16, role=Role.CLERK),
    Put({"expected_version": 1, "reason": "why", "raise_at": 0.5}, 17, role=None),
    Put({"expected_version": 1, "reason": "The bank is slow", "raise_at": 0.5, "raise_after_s": 20}, 18),
    Put({"expected_version": 1, "reason": "The bank is slow", "raise_at": 0.5, "raise_after_s": 20}, 18),
    Put({"expected_version": 1, "reason": "The bank is slow", "raise_at": 0.6, "raise_after_s": 20}, 18),
    Put({"expected_version": 1, "reason": "too late", "raise_at": 0.7}, 19, role=Role.SUPERVISOR),
    Put({"expected_version": 1, "reason": "too late", "raise_at": 0.02}, 20, role=Role.SUPERVISOR),
    Put({"expected_version": 2, "reason": "louder", "severity": "warning", "clear_at": 0.25}, 21, role=Role.ADMIN),
    Put({"expected_version": 1, "reason": "The bank is slow", "raise_at": 0.5, "raise_after_s": 20}, 18),
    Put({"expected_version": 3, "reason": "off for today", "enabled": False}, 22, role=Role.SUPERVISOR),
    Put({"expected_version": 1, "reason": "few", "raise_at": 0.2}, 23, rule="few-buy"),
    Put({"expected_version": 1, "reason": "few", "raise_at": 0.2, "clear_at": 0.3}, 24, rule="few-buy"),
)


@pytest.fixture
async def house(sound_database: Database, clock: Clock) -> AsyncIterator[OpsHouse]:
    await clock.stand_at(await clock.now())
    async with ops_house(sound_database, clock) as house:
        yield house


async def test_both_answer_the_same_calls_alike_and_write_the_same_log(house: OpsHouse) -> None:
    tokens = {role: await house.staff(role) for role in (Role.CLERK, Role.OPS, Role.SUPERVISOR, Role.ADMIN)}
    fake = FakeBookingServer(staff={role: ("secret", wire.Role(role)) for role in tokens})
    async with httpx.AsyncClient(transport=fake.transport, base_url="http://fake") as client:
        fakes = {role: await sign_in(client, role) for role in tokens}
        fake.ops.rules = await rules_of(house.api.client, tokens[Role.OPS])
        assert {rule.rule for rule in fake.ops.rules} == set(RULES)
        for number, put in enumerate(SCRIPT):
            await house.clock.move(seconds=1)
            real = await send(house.api.client, put, None if put.role is None else tokens[put.role])
            other = await send(client, put, None if put.role is None else fakes[put.role])
            assert seen(other) == seen(real), (number, put)
        assert await rules_of(client, fakes[Role.OPS]) == await rules_of(house.api.client, tokens[Role.OPS])
        entries = await log_of(house.api.client, tokens[Role.OPS])
        assert await log_of(client, fakes[Role.OPS]) == entries
        assert [entry.reason for entry in entries] == ["few", "off for today", "louder", "The bank is slow"]


async def test_each_rule_tells_what_the_program_has_whatever_was_set(house: OpsHouse) -> None:
    token, own = await house.staff(), RULES[RULE]
    change = Put({"expected_version": 1, "reason": "why", "raise_at": 0.5, "severity": "warning"}, 30)
    assert (await send(house.api.client, change, token)).status_code == 200
    rule = next(rule for rule in await rules_of(house.api.client, token) if rule.rule == RULE)
    assert (rule.version, rule.raise_at, rule.severity) == (2, 0.5, wire.OpsSeverity.WARNING)
    assert rule.standard is not None
    assert {name: getattr(rule.standard, name) for name in MEMBERS} == {name: getattr(own, name) for name in MEMBERS}


async def sign_in(client: httpx.AsyncClient, name: str) -> str:
    body = wire.LoginRequest(name=name, password="secret", device_id=wire.DeviceId(uuid4()), device_name="till")
    answer = await client.post("/v1/staff/login", content=msgspec.json.encode(body))
    return msgspec.json.decode(answer.content, type=wire.StaffSession).access_token


async def send(client: httpx.AsyncClient, put: Put, token: str | None) -> httpx.Response:
    headers = {wire.IDEMPOTENCY_KEY_HEADER: KEYS[put.key], "Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    path = f"/v1/ops/alarm-rules/{put.rule}"
    return await client.put(path, content=msgspec.json.encode(put.body), headers=headers)


def seen(answer: httpx.Response) -> tuple[object, ...]:
    """What a client goes by."""
    replayed = answer.headers.get(wire.REPLAYED_HEADER, "")
    if answer.status_code == 200:
        return 200, replayed, msgspec.json.decode(answer.content, type=wire.OpsAlarmRule)
    problem = msgspec.json.decode(answer.content, type=wire.Problem)
    return answer.status_code, problem.code, problem.fields


async def rules_of(client: httpx.AsyncClient, token: str) -> tuple[wire.OpsAlarmRule, ...]:
    answer = await client.get("/v1/ops/alarm-rules", headers={"Authorization": f"Bearer {token}"})
    return msgspec.json.decode(answer.content, type=wire.OpsAlarmRuleList).rules


async def log_of(client: httpx.AsyncClient, token: str) -> list[wire.OpsLogEntry]:
    """The changes of limits, newest first, without what names the house: number, instant, person."""
    answer = await client.get("/v1/ops/log?kind=alarm", headers={"Authorization": f"Bearer {token}"})
    page = msgspec.json.decode(answer.content, type=wire.OpsLog)
    assert all(entry.who for entry in page.entries)
    same = {"entry_id": "", "at": NOW, "who": ""}
    kept = [entry for entry in page.entries if entry.action == "alarm-rule-changed"]
    return [msgspec.structs.replace(entry, **same) for entry in kept]
