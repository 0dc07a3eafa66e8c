"""The sandbox's own events: signed, tried again until taken, with faults on command; a page for buyers; its list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.payments import sandbox_events
from booking.payments.events import NoEventError
from booking.payments.provider import MovementStatus, ProviderAwayError
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.sandbox_server import Sandbox
from booking.payments.signatures import BadSignatureError, sign, verify
from tests.unit.payments.conftest import operation

SECRET = b"of the tests"


@dataclass
class Ear:
    """A house that hears events; it refuses the first `deaf` deliveries."""

    sandbox: Sandbox
    provider: SandboxProvider
    url: str
    heard: list[dict[str, Any]] = field(default_factory=list)
    tries: int = 0
    deaf: int = 0

    async def hear(self, call: Call) -> Reply:
        self.tries += 1
        if self.tries <= self.deaf:
            return Reply(503)
        verify(call.body, call.headers["taquilla-signature"], [b"another", SECRET], datetime.now(UTC))
        self.heard.append(call.json())
        return Reply(200)

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(60):
            while len(self.heard) < count:
                await asyncio.sleep(0.01)
        return [str(event["type"]) for event in self.heard]

    async def control(self, method: str, path: str, body: object = None) -> httpx.Response:
        async with httpx.AsyncClient() as client:
            return await client.request(method, f"{self.url}/control/{path}", json=body)


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    sandbox = Sandbox(slow_s=0.3, webhook_secret=SECRET)
    sandbox.webhooks._first_pause_s = 0.05
    server = LoopbackServer(sandbox.handle)
    await server.start()
    sandbox.url = f"http://127.0.0.1:{server.port}"
    ear = Ear(sandbox, SandboxProvider(sandbox.url), sandbox.url)
    house = LoopbackServer(ear.hear)
    await house.start()
    await ear.control("POST", "webhooks", {"url": f"http://127.0.0.1:{house.port}/v1/webhooks/sandbox"})
    yield ear
    await sandbox.webhooks.close()
    await ear.provider.close()
    await house.close()
    await server.close()


async def test_each_decision_is_told_and_read_as_the_answer_was(ear: Ear) -> None:
    asked = operation(payment_method="card-approve:anna", currency="KWD")
    told = await ear.provider.authorize(asked)
    await ear.provider.authorize(operation(payment_method="card-no-funds"))
    assert sorted(await ear.until(2)) == ["authorize.declined", "authorize.succeeded"]
    facts = {event.outcome: event for event in (sandbox_events.parse(json.dumps(body).encode()) for body in ear.heard)}
    granted, refused = facts[ResultOutcome.SUCCEEDED], facts[ResultOutcome.DECLINED]
    assert (granted.key, granted.provider_ref, granted.amount_minor) == (
        asked.idempotency_key, told.provider_ref, asked.amount_minor,
    )  # fmt: skip
    assert (granted.card_fingerprint, refused.decline_code) == (told.card_fingerprint, "insufficient-funds")


async def test_p12_an_event_that_is_not_taken_comes_again(ear: Ear) -> None:
    ear.deaf = 3
    await ear.provider.authorize(operation())
    assert await ear.until(1) == ["authorize.succeeded"]
    assert ear.tries == 4


@pytest.mark.parametrize("fault", ["webhook-duplicate", "webhook-reorder", "webhook-slow", "webhook-lost"])
async def test_faults_of_events_strike_once(ear: Ear, fault: str) -> None:
    answered = await ear.control("POST", "faults", {"on": "webhook", "fault": fault, "times": 1})
    assert answered.status_code == 200
    asked = operation()
    reference = (await ear.provider.authorize(asked)).provider_ref
    await ear.provider.capture(operation(OperationKind.CAPTURE, provider_ref=reference))
    types = await ear.until({"webhook-duplicate": 3, "webhook-lost": 1}.get(fault, 2))
    assert (
        types
        == {
            "webhook-duplicate": types,
            "webhook-reorder": ["capture.succeeded", "authorize.succeeded"],
            "webhook-slow": ["capture.succeeded", "authorize.succeeded"],
            "webhook-lost": ["capture.succeeded"],
        }[fault]
    )
    if fault == "webhook-duplicate":
        assert sorted(types) == ["authorize.succeeded", "authorize.succeeded", "capture.succeeded"]
        assert len({event["id"] for event in ear.heard}) == 2
    told = (await ear.control("GET", "faults")).json()
    assert told == {"planned": [], "fired": {f"webhook:{fault}": 1}}


async def test_an_event_that_nothing_follows_is_late_and_not_lost(ear: Ear) -> None:
    await ear.control("POST", "faults", {"on": "webhook", "fault": "webhook-reorder"})
    await ear.provider.authorize(operation())
    assert await ear.until(1) == ["authorize.succeeded"]


@pytest.mark.parametrize(
    "asked",
    [
        {"on": "webhook", "fault": "hang-before"}, {"on": "capture", "fault": "webhook-lost"}, {"fault": "webhook-odd"},
        {"on": "nothing", "fault": "slow"}, {"on": "any", "fault": "slow", "times": 0},
    ],
)  # fmt: skip
async def test_a_fault_that_cannot_strike_is_refused(ear: Ear, asked: dict[str, Any]) -> None:
    assert (await ear.control("POST", "faults", asked)).status_code == 400
    assert (await ear.control("GET", "faults")).json()["planned"] == []


async def test_what_is_done_by_hand_is_told_and_listed_without_a_key(ear: Ear) -> None:
    reference = (await ear.provider.authorize(operation())).provider_ref
    done = await ear.control("POST", "by-hand", {"kind": "capture", "charge": reference})
    assert (done.status_code, done.json()["operation_id"]) == (200, "")
    assert (await ear.control("POST", "by-hand", {"kind": "refund", "charge": "ch_999999"})).status_code == 400
    refused = await ear.control("POST", "by-hand", {"kind": "refund", "charge": reference, "amount": 10_000_000})
    assert refused.status_code == 402
    await ear.until(3)
    event = next(each for each in ear.heard if each["type"] == "capture.succeeded")
    page = await ear.provider.list_movements(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
    by_hand = next(each for each in page.movements if each.kind is OperationKind.CAPTURE)
    assert (by_hand.idempotency_key, by_hand.provider_ref) == ("", reference)
    assert sandbox_events.parse(json.dumps(event).encode()).movement_ref == by_hand.movement_ref


async def test_movements_are_listed_in_pages_each_once_and_within_their_span(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("booking.payments.sandbox_client.PAGE", 2)
    keys = []
    for day in range(5):
        asked = operation(payment_method="card-decline" if day == 4 else "card-approve")
        keys.append(asked.idempotency_key)
        await ear.provider.authorize(asked)
        await ear.control("POST", "clock", {"days": 1})
    begin = datetime.now(UTC) - timedelta(minutes=10)

    async def listed(since: datetime, until: datetime) -> list[tuple[str, MovementStatus]]:
        found, cursor = [], ""
        while True:
            page = await ear.provider.list_movements(since, until, cursor)
            found += [(movement.idempotency_key, movement.status) for movement in page.movements]
            cursor = page.cursor
            if not cursor:
                return found

    everything = await listed(begin, begin + timedelta(days=9))
    assert [key for key, _ in everything] == keys
    assert [status for _, status in everything] == [MovementStatus.SUCCEEDED] * 4 + [MovementStatus.DECLINED]
    assert [key for key, _ in await listed(begin + timedelta(days=1), begin + timedelta(days=3))] == keys[1:3]


async def test_no_list_is_no_empty_list(ear: Ear) -> None:
    for fault in ("status-500", "drop-before", "broken-answer"):
        await ear.control("POST", "faults", {"on": "list", "fault": fault})
        with pytest.raises(ProviderAwayError):
            await ear.provider.list_movements(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


async def test_a_buyer_refuses_a_challenge_on_its_page(ear: Ear) -> None:
    asked = operation(payment_method="card-3ds")
    page = (await ear.provider.authorize(asked)).next_action.removeprefix("redirect:")
    async with httpx.AsyncClient() as browser:
        assert (await browser.get(f"{page}x")).status_code == 404
        refused = await browser.post(page, content=b"answer=refuse")
        again = await browser.post(page, content=b"answer=approve")
    assert "Refused" in refused.text
    assert "Refused" in again.text
    told = await ear.provider.enquire(asked)
    assert told is not None
    assert (told.outcome, told.decline_code) == (ResultOutcome.DECLINED, "authentication-failed")


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"id": "", "data": {}}', b'{"id": "e", "data": {"kind": "gift"}}']
)
def test_what_is_no_event_is_refused(body: bytes) -> None:
    with pytest.raises(NoEventError):
        sandbox_events.parse(body)


def test_p31_a_signature_is_good_for_300_seconds_each_way() -> None:
    at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    header = sign(b"{}", SECRET, at)
    for seconds in (-300, 0, 300):
        assert verify(b"{}", header, [SECRET], at + timedelta(seconds=seconds)) == at
    for seconds in (-301, 301):
        with pytest.raises(BadSignatureError):
            verify(b"{}", header, [SECRET], at + timedelta(seconds=seconds))
    with pytest.raises(BadSignatureError):
        verify(b"{}", sign(b"{}", b"", at), [b""], at)
