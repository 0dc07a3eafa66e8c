"""Events of providers on a real database: signed, once, in any order, early and late (R26)."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from booking.domain.caller import Role
from booking.domain.errors import AuthorityAwayError, WebhookRefusedError
from booking.domain.model import OperationResult
from booking.domain.states import OperationKind
from booking.payments.sandbox_ledger import Kind
from booking.payments.signatures import sign
from booking.services import daily_reconciliation, drive_operation, take_payment, webhooks
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, till
from tests.server.provider_house import SECRET, ProviderHouse, provider_house


@pytest.fixture
async def house(database: Database) -> AsyncIterator[ProviderHouse]:
    async with provider_house(database) as house:
        yield house


async def test_an_event_settles_what_no_answer_told_and_is_kept_as_evidence(house: ProviderHouse) -> None:
    step = await house.open_payment("card-approve:anna")
    await house.send(step.operation)
    assert await house.deliver(house.events[0]) == "applied"
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    evidence = await house.db.fetch(
        "SELECT source, direction, body FROM operation_evidence WHERE source LIKE 'webhook:%'"
    )
    assert [(row["source"], row["direction"]) for row in evidence] == [("webhook:sandbox", "received")]
    assert step.operation.idempotency_key in evidence[0]["body"]
    rows = await house.db.fetch("SELECT decided_by, card_fingerprint FROM payment_operations WHERE kind = 'authorize'")
    assert rows[0]["decided_by"] == "provider:sandbox"
    assert rows[0]["card_fingerprint"].startswith("fp_")
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"


async def test_p11_one_event_five_times_two_in_parallel_is_one_row(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    event = house.events[0]
    told = list(await asyncio.gather(house.deliver(event), house.deliver(event)))
    told += [await house.deliver(event) for _ in range(3)]
    assert set(told) <= {"applied", "seen"}
    assert await count(house.db, "SELECT count(*) FROM provider_events") == 1
    assert await count(house.db, "SELECT count(*) FROM operation_evidence WHERE source LIKE 'webhook:%'") == 1
    assert await count(house.db, "SELECT count(*) FROM payment_operations") == 2
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


@pytest.mark.parametrize("ago_s", [301.5, -302.0, 86_400.0])
async def test_p31_an_event_that_was_signed_too_long_ago_is_refused_and_not_stored(
    house: ProviderHouse, ago_s: float
) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    with pytest.raises(WebhookRefusedError):
        await house.deliver(house.events[0], ago_s=ago_s)
    assert await house.stored() == {}
    assert house.webhooks.figures.refused == 1
    assert await house.deliver(house.events[0], ago_s=295.0) == "applied"


async def test_p31_it_is_checked_at_receipt_not_at_processing(house: ProviderHouse, clock: Clock) -> None:
    early = {
        "id": "evt_early", "type": "authorize.succeeded", "created": 0,
        "data": house_data(str(uuid4()), "authorize", "succeeded", "ch_000900", 100),
    }  # fmt: skip
    assert await house.deliver(early) == "parked"
    await clock.move(seconds=3_600)
    await house.work()
    assert await house.stored() == {"evt_early": "parked"}


async def test_p12_raw_bytes_are_verified_and_each_refusal_is_counted(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    body = json.dumps(house.events[0]).encode()
    good = sign(body, SECRET, datetime.now(UTC))
    rewritten = json.dumps(house.events[0], separators=(",", ":")).encode()
    refused = [
        (rewritten, good), (body, ""), (body, "t=1,v1="), (body, good.replace("v1=", "v0=")),
        (body, sign(body, b"another secret", datetime.now(UTC))), (body, f"{good[:-1]}é"),
        (b"", sign(b"", SECRET, datetime.now(UTC))), (b"[]", sign(b"[]", SECRET, datetime.now(UTC))),
    ]  # fmt: skip
    for raw, signature in refused:
        with pytest.raises(WebhookRefusedError):
            await house.webhooks.receive("sandbox", raw, signature)
    with pytest.raises(WebhookRefusedError):
        await house.webhooks.receive("stripe", body, good)
    assert house.webhooks.figures.refused == len(refused) + 1
    assert await house.stored() == {}
    assert await house.webhooks.receive("sandbox", body, good) == "applied"


async def test_p12_with_the_database_away_the_provider_is_told_to_come_again(
    house: ProviderHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = await house.open_payment()
    await house.send(step.operation)

    async def away(*_: object, source: str) -> object:
        raise AuthorityAwayError(source)

    with monkeypatch.context() as patch:
        patch.setattr(take_payment, "record_result", away)
        with pytest.raises(AuthorityAwayError):
            await house.deliver(house.events[0])
    assert set((await house.stored()).values()) == {"received"}, "stored, not done: neither lost nor settled"
    assert await house.deliver(house.events[0]) == "applied"
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


async def test_an_event_whose_process_died_on_the_way_is_applied_by_the_worker(
    house: ProviderHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = await house.open_payment()
    await house.send(step.operation)

    async def dies(*_: object) -> str:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(webhooks, "apply_event", dies)
        with pytest.raises(asyncio.CancelledError):
            await house.deliver(house.events[0])
    await house.work()
    assert set((await house.stored()).values()) == {"applied"}
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


async def test_p8_an_event_for_what_is_not_here_yet_is_parked_and_applied_when_it_appears(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    await house.db.fetch("UPDATE payment_operations SET idempotency_key = 'elsewhere'")
    assert await house.deliver(house.events[0]) == "parked"
    assert await house.deliver(house.events[0]) == "parked"
    await house.db.fetch("UPDATE provider_events SET next_attempt_at = booking_now()")
    assert await webhooks.apply_waiting(house.db) == 1
    assert set((await house.stored()).values()) == {"parked"}
    await house.db.fetch("UPDATE payment_operations SET idempotency_key = operation_id::text")
    await house.db.fetch("UPDATE provider_events SET next_attempt_at = booking_now()")
    await webhooks.apply_waiting(house.db)
    assert set((await house.stored()).values()) == {"applied"}
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


async def test_an_event_that_is_nobodys_for_days_is_a_stray(house: ProviderHouse, clock: Clock) -> None:
    lost = {
        "id": "evt_lost", "type": "authorize.succeeded", "created": 0,
        "data": house_data(str(uuid4()), "authorize", "succeeded", "ch_000900", 100),
    }  # fmt: skip
    assert await house.deliver(lost) == "parked"
    await clock.move(seconds=3 * 86_400 + 60)
    await house.work()
    assert await house.stored() == {"evt_lost": "stray"}


@pytest.mark.parametrize(("age_s", "most_s"), [(3_000, 300), (7_200, 1_800)])
async def test_an_event_that_waits_is_looked_at_more_often_while_it_is_young(
    house: ProviderHouse, clock: Clock, age_s: int, most_s: int
) -> None:
    """A charge that a till reports wakes no event: what is waited for at a counter is not left for half an hour."""
    early = {
        "id": "evt_early", "type": "authorize.succeeded", "created": 0,
        "data": house_data(str(uuid4()), "authorize", "succeeded", "ch_000900", 100),
    }  # fmt: skip
    assert await house.deliver(early) == "parked"
    await clock.stand_at(await clock.now())
    await clock.move(seconds=age_s)
    await house.db.fetch("UPDATE provider_events SET attempts = 20, next_attempt_at = booking_now()")
    assert await webhooks.apply_waiting(house.db) == 1
    (row,) = await house.db.fetch(
        "SELECT extract(epoch FROM next_attempt_at - booking_now())::float8 AS pause_s FROM provider_events"
    )
    assert 0.8 * most_s <= row["pause_s"] <= 1.2 * most_s


async def test_p10_a_refused_and_an_accepted_attempt_in_any_order_and_twice(house: ProviderHouse) -> None:
    for n, order in enumerate(itertools.permutations(range(4))):
        house.events.clear()
        desk = Desk(house.db, fan(), house.event_id)
        made = await desk.check_out(await desk.hold(2 * n, 2 * n + 1))
        first = await house.pay(desk, made.order_id, made.amount_minor, "card-decline")
        await drive_operation.authorize(house.db, house.provider, first.operation)
        second = await house.pay(desk, made.order_id, made.amount_minor, "card-approve")
        await house.send(second.operation)
        events = house.events * 2
        for index in order:
            await house.deliver(events[index])
        await house.work(rounds=2)
        assert await house.statuses(made.order_id) == {
            "order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED",
        }, order  # fmt: skip
        assert await house.items() == [], order


async def test_p14_every_order_of_a_charges_events_ends_the_same(house: ProviderHouse) -> None:
    names = ["action", "authorized", "captured", "refunded"]
    for n, order in enumerate(itertools.permutations(names), start=1):
        house.events.clear()
        step = await house.open_payment("card-3ds")
        await house.send(step.operation)
        house.sandbox.ledger.complete_action(step.operation.idempotency_key, approve=True)
        charge = next(reversed(house.sandbox.ledger.charges.values()))
        house.by_hand(Kind.CAPTURE, charge.charge)
        house.by_hand(Kind.REFUND, charge.charge)
        for name in order:
            await house.deliver(house.events[names.index(name)])
        await house.work(rounds=3)
        assert await house.statuses(step.order.order_id) == {
            "order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED",
        }, order  # fmt: skip
        assert await house.items() == ["refund-provider-only"] * n, order
        assert set((await house.stored()).values()) == {"applied"}, order


async def test_p15_completed_again_after_everything_changes_nothing(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    capture = await house.operation(step.order.order_id, OperationKind.CAPTURE)
    house.by_hand(Kind.REFUND, capture.provider_ref)
    for event in [*house.events, *reversed(house.events)]:
        await house.deliver(event)
    before = await house.statuses(step.order.order_id)
    again = house.events[0] | {"id": "evt_again"}
    assert await house.deliver(again) == "applied"
    assert await house.statuses(step.order.order_id) == before
    assert await count(house.db, "SELECT count(*) FROM payment_operations") == 2
    assert await house.items() == ["refund-provider-only"]


async def test_a_refund_by_hand_is_an_item_once_however_often_it_is_told(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    capture = await house.operation(step.order.order_id, OperationKind.CAPTURE)
    house.by_hand(Kind.REFUND, capture.provider_ref, 1_000)
    told = house.events[-1]
    for name in ("a", "b"):
        assert await house.deliver(told | {"id": f"evt_{name}"}) == "applied"
    rows = await house.db.fetch("SELECT kind, amount_minor, currency, provider FROM reconciliation_items")
    assert [tuple(row) for row in rows] == [("refund-provider-only", 1_000, "EUR", "sandbox")]


async def test_a_refund_by_hand_that_is_told_and_listed_is_one_item(house: ProviderHouse) -> None:
    """R27: recorded twice it would stand for twice the money."""
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    capture = await house.operation(step.order.order_id, OperationKind.CAPTURE)
    house.by_hand(Kind.REFUND, capture.provider_ref, 1_000)
    assert await house.deliver(house.events[-1] | {"id": "evt_hand"}) == "applied"
    today = datetime.now(UTC).date()
    run = await daily_reconciliation.start_run(
        house.db, till(Role.SUPERVISOR), "sandbox", today, key=str(uuid4()), digest=b""
    )
    await daily_reconciliation.drive_run(house.db, {"sandbox": house.provider}, run.value.run_id)
    assert await house.items() == ["refund-provider-only"]


@pytest.mark.parametrize("amount", [2**63, 2**70, -1])
async def test_an_amount_that_is_none_is_a_hint_and_never_a_fact(house: ProviderHouse, amount: int) -> None:
    """P32: what PostgreSQL cannot count would come back for ever; what is less than nothing cannot be attached."""
    step = await house.open_payment()
    await house.send(step.operation)
    strange = house.events[0] | {"data": house.events[0]["data"] | {"amount": amount}}
    assert await house.deliver(strange) == "applied"
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"
    capture = await house.operation(step.order.order_id, OperationKind.CAPTURE)
    house.by_hand(Kind.REFUND, capture.provider_ref, 1_000)
    told = house.events[-1] | {"id": "evt_hand"}
    assert await house.deliver(told | {"data": told["data"] | {"amount": amount}}) == "applied"
    assert await house.items() == []


async def test_p30_a_hint_has_the_provider_asked_and_says_nothing_itself(house: ProviderHouse) -> None:
    step = await house.open_payment("card-3ds")
    await house.send(step.operation)
    await house.db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() + interval '1 hour'")
    assert await house.deliver(house.events[0]) == "applied"
    assert (await house.statuses(step.order.order_id))["authorize"] == "SENT"
    assert await house.worker.work_once() == 1
    assert (await house.statuses(step.order.order_id))["authorize"] == "ACTION_REQUIRED"


async def test_money_in_another_currency_is_not_believed(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    strange = house.events[0] | {"data": house.events[0]["data"] | {"currency": "USD"}}
    assert await house.deliver(strange) == "applied"
    assert (await house.statuses(step.order.order_id))["authorize"] == "SENT"
    assert await house.worker.work_once() == 1
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


async def test_another_amount_is_an_item_and_no_confirmation(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    strange = house.events[0] | {"data": house.events[0]["data"] | {"amount": 1}}
    assert await house.deliver(strange) == "applied"
    assert (await house.statuses(step.order.order_id))["authorize"] == "UNKNOWN"
    assert await house.items() == ["amount-mismatch"]


async def test_a_contradiction_is_an_item_and_changes_nothing(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    refused = house.events[0] | {"data": house.events[0]["data"] | {"status": "declined", "decline_code": "stolen"}}
    assert await house.deliver(refused) == "applied"
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    assert await house.items() == ["result-conflict"]


async def test_p32_an_event_that_cannot_be_applied_never_stops_the_others_nor_comes_for_ever(
    house: ProviderHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [await house.open_payment() for _ in range(2)]
    for step in steps:
        await house.send(step.operation)
    await house.db.fetch("UPDATE payment_operations SET idempotency_key = 'x' || idempotency_key")
    for event in house.events:
        assert await house.deliver(event) == "parked"
    await house.db.fetch("UPDATE payment_operations SET idempotency_key = operation_id::text")
    record = take_payment.record_result

    async def sometimes(db: Database, operation_id: object, result: OperationResult, *, source: str) -> object:
        if operation_id == steps[0].operation.operation_id:
            raise RuntimeError("a bad row")
        return await record(db, steps[1].operation.operation_id, result, source=source)

    with monkeypatch.context() as patch:
        patch.setattr(take_payment, "record_result", sometimes)
        await house.db.fetch("UPDATE provider_events SET next_attempt_at = booking_now()")
        assert await webhooks.apply_waiting(house.db) == 2
        assert sorted((await house.stored()).values()) == ["applied", "parked"]
        await house.db.fetch(
            "UPDATE provider_events SET received_at = received_at - interval '73 hours',"
            " next_attempt_at = booking_now() WHERE state = 'parked'"
        )
        assert await webhooks.apply_waiting(house.db) == 1
    assert sorted((await house.stored()).values()) == ["applied", "stray"]
    assert await webhooks.apply_waiting(house.db) == 0


async def test_card_data_in_an_event_is_not_kept(house: ProviderHouse) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    data = house.events[0]["data"] | {"note": "4242 4242 4242 4242"}
    await house.deliver(house.events[0] | {"data": data})
    kept = await house.db.fetch("SELECT body FROM operation_evidence UNION ALL SELECT body::text FROM provider_events")
    assert len(kept) >= 2
    assert not any("4242 4242 4242 4242" in row["body"] for row in kept)


def house_data(key: str, kind: str, status: str, charge: str, amount: int) -> dict[str, object]:
    return {
        "operation_id": key, "movement": key or charge, "kind": kind, "status": status, "charge": charge,
        "amount": amount, "currency": "EUR", "decline_code": "",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [Kind.CAPTURE, Kind.VOID])
async def test_what_was_tried_by_hand_in_vain_says_nothing_of_ours(house: ProviderHouse, kind: Kind) -> None:
    """A capture or void of a captured charge, made by hand and declined: no contradiction, and no item."""
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    capture = await house.operation(step.order.order_id, OperationKind.CAPTURE)
    assert capture.status == "SUCCEEDED"
    house.events.clear()
    tried = house.by_hand(kind, capture.provider_ref)
    assert tried.status.value == "declined"
    assert [await house.deliver(event) for event in house.events] == ["applied"]
    assert await house.items() == []
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"
