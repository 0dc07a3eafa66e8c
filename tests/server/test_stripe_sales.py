"""Sales by Stripe on a real database: at once, by the worker, by events, and at card readers (R24–R26)."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from booking.domain.model import PaymentStep
from booking.domain.states import OperationStatus
from booking.services.orders import order_as_it_stands
from tests.server.box_office import Desk, till
from tests.server.stripe_lab import PATIENCE_S, House, house, lab, running

__all__ = ["house", "lab", "running"]


async def test_a_sale_is_authorized_confirmed_and_captured(house: House) -> None:
    step = await house.open("stripe", "pm_card_visa")
    await house.desk.take(step.operation)
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


@pytest.mark.parametrize("dies_at", ["create", "confirm", "capture"])
async def test_p5_a_sale_whose_driver_died_is_finished_by_the_worker_with_one_charge(
    house: House, dies_at: str
) -> None:
    step = await house.open("stripe", "pm_card_visa")
    house.under.fault(dies_at, "hang_after")
    house.under.calls._timeout_s = PATIENCE_S
    before = house.under.fired(f"{dies_at}:hang_after")
    taking = asyncio.create_task(house.desk.take(step.operation))
    async with asyncio.timeout(60):
        while house.under.fired(f"{dies_at}:hang_after") == before:
            await asyncio.sleep(0.02)
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    await house.work(rounds=3)
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


@pytest.mark.parametrize("fault", ["", "duplicate", "delay"])
async def test_p10_p11_an_event_of_stripe_settles_a_capture_whose_answer_was_lost(house: House, fault: str) -> None:
    step = await house.open("stripe", "pm_card_visa")
    house.under.fault("capture", "drop_after")
    if fault:
        # Of all events that come now: one of the test before, told late, would otherwise take the fault with it.
        house.under.fault("webhook", fault, times=20, seconds=0.3)
    lost = house.under.fired("capture:drop_after")
    await house.desk.take(step.operation)
    assert house.under.fired("capture:drop_after") == lost + 1
    await house.until(step, "SUCCEEDED", "capture")
    (intent,) = house.under.intents(step.operation)
    expected = 2 if fault == "duplicate" else 1
    async with asyncio.timeout(60):
        while len(house.became_of(intent["id"])) < expected:
            await asyncio.sleep(0.05)
    assert set(house.became_of(intent["id"])) <= {"applied", "seen"}
    # The referee tells late, also of payments of the test before: those are strays here.
    evidence = await house.db.fetch(
        "SELECT body FROM operation_evidence WHERE source = 'webhook:stripe' AND strpos(body, $1) > 0", intent["id"]
    )
    assert len(evidence) == 1
    assert evidence[0]["body"].startswith(f"payment_intent.succeeded {intent['id']}")


async def at_till(house: House, reader: str) -> PaymentStep:
    return await house.open("stripe-terminal", reader, Desk(house.db, till(), house.event_id))


@pytest.mark.parametrize(
    ("mode", "code"),
    [("approve", ""), ("decline", "card-declined"), ("timeout", "reader-timeout"), ("offline", "reader-offline"),
     ("busy", "reader-busy"), ("uncertain", "")],
)  # fmt: skip
async def test_a_reader_that_is_watched_ends_as_its_customer_does(house: House, mode: str, code: str) -> None:
    reader = f"tmr_{mode}{uuid4().hex[:8]}"
    house.under.lab.reader(reader, mode, 0.2)
    step = await at_till(house, reader)
    taken = await house.desk.take(step.operation)
    assert taken is not None
    if mode in ("approve", "decline", "timeout"):
        assert (taken.operation.status, taken.operation.next_action) == ("ACTION_REQUIRED", f"reader:{reader}")
    ended = "DECLINED" if code else "SUCCEEDED"
    await (house.work_until if mode == "uncertain" else house.until)(step, ended, "authorize")
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert order.operations[0].decline_code == code
    assert len(house.under.intents(step.operation)) == 1
    if not code:
        await house.until(step, "SUCCEEDED", "capture")
        assert order.status == "CONFIRMED"


async def test_a_reader_that_does_not_exist_is_a_decline(house: House) -> None:
    step = await at_till(house, "tmr_nowhere")
    taken = await house.desk.take(step.operation)
    assert taken is not None
    assert (taken.operation.status, taken.operation.decline_code) == (OperationStatus.DECLINED, "reader-unknown")


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "status_500_after", "hang_after"])
async def test_after_a_lost_answer_there_is_never_a_second_intent(house: House, fault: str) -> None:
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader)
    step = await at_till(house, reader)
    house.under.fault("process", fault)
    await house.desk.take(step.operation)
    house.under.calls._timeout_s = PATIENCE_S
    assert (await house.statuses(step))["authorize"] == "UNKNOWN"
    await house.work_until(step, "SUCCEEDED", "capture")
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


async def test_a_customer_without_a_card_is_called_off_and_the_next_one_pays(house: House) -> None:
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader, "no_card")
    step = await at_till(house, reader)
    await house.desk.take(step.operation)
    closed = await house.desk.withdraw(step.operation)
    assert closed is not None
    assert (closed.operation.status, closed.operation.decline_code) == (OperationStatus.DECLINED, "withdrawn")
    assert [each["status"] for each in house.under.intents(step.operation)] == ["canceled"]
    house.under.lab.reader(reader)
    following = await at_till(house, reader)
    await house.desk.take(following.operation)
    await house.until(following, "CONFIRMED")


async def test_an_approval_that_crosses_the_cancellation_never_leaves_a_charge(house: House) -> None:
    """Either the sale stands, or its authorization is closed: nothing between."""
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader, "slow_cancel", 0.1)
    step = await at_till(house, reader)
    await house.desk.take(step.operation)
    await house.desk.withdraw(step.operation)
    statuses = await house.statuses(step)
    async with asyncio.timeout(60):
        while (statuses["order"], statuses["authorize"]) != ("CONFIRMED", "SUCCEEDED") and (
            statuses["authorize"] != "DECLINED"
        ):
            await house.work(rounds=3)
            statuses = await house.statuses(step)
    (intent,) = house.under.intents(step.operation)
    if statuses["authorize"] == "SUCCEEDED":
        assert (statuses["order"], intent["status"]) == ("CONFIRMED", "succeeded")
    else:
        assert (statuses["authorize"], intent["status"]) == ("DECLINED", "canceled")
