"""Tickets by card (R8): counted at the confirmation under the card's own row; what is over is given back (R22, R25)."""

from __future__ import annotations

import asyncio
from uuid import UUID

from booking.domain.model import OperationResult, Order, PaymentStep, ResultOutcome, SettledStep
from booking.domain.states import OperationKind, OrderStatus
from booking.services.take_payment import record_result
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, fan, make_event, reported, seat_states, till


async def order_of(db: Database, event: int, *seats: int) -> tuple[Order, UUID]:
    """Another fan's order, and the authorization that was opened for it."""
    desk = Desk(db, fan(), event)
    order = await desk.check_out(await desk.hold(*seats))
    step: PaymentStep = await desk.pay(order, OperationKind.AUTHORIZE)
    return order, step.operation.operation_id


async def granted(db: Database, order: Order, operation: UUID, card: str) -> SettledStep:
    """The provider grants an authorization and says which card it was."""
    told = OperationResult(
        ResultOutcome.SUCCEEDED, order.amount_minor, provider_ref=f"auth {operation}", card_fingerprint=card
    )
    return await record_result(db, operation, told, source="provider:sandbox")


async def sold_to(db: Database, card: str) -> int:
    return await count(db, "SELECT coalesce(max(sold), 0) FROM card_limits WHERE fingerprint = $1", f"sandbox:{card}")


async def test_a_card_over_its_limit_is_not_confirmed_and_its_money_is_let_go(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_card=3)
    order, operation = await order_of(sound_database, event, 1, 2)
    assert (await granted(sound_database, order, operation, "fp_ana")).order.status == OrderStatus.CONFIRMED

    over, attempt = await order_of(sound_database, event, 3, 4)
    step = await granted(sound_database, over, attempt, "fp_ana")
    assert step.order.status == OrderStatus.CANCELLED
    assert step.advice == "reverse"
    told = {op.kind: op for op in step.order.operations}
    assert told[OperationKind.AUTHORIZE].decline_code == "card-limit"
    assert told[OperationKind.AUTHORIZE].status == "SUCCEEDED"
    assert told[OperationKind.VOID].amount_minor == over.amount_minor
    assert OperationKind.CAPTURE not in told
    states = await seat_states(sound_database, event)
    assert [states[seat][0] for seat in (1, 2, 3, 4)] == [3, 3, 0, 0]
    assert await sold_to(sound_database, "fp_ana") == 2
    items = await sound_database.fetch("SELECT kind, detail FROM reconciliation_items")
    assert [(item["kind"], item["detail"]) for item in items] == [("paid-not-confirmed", '{"why": "card-limit"}')]

    fits, last = await order_of(sound_database, event, 3)
    assert (await granted(sound_database, fits, last, "fp_ana")).order.status == OrderStatus.CONFIRMED
    assert await sold_to(sound_database, "fp_ana") == 3


async def test_a_refused_card_is_refused_again_by_the_same_words(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_card=1)
    order, operation = await order_of(sound_database, event, 1, 2)
    first = await granted(sound_database, order, operation, "fp_ana")
    again = await granted(sound_database, order, operation, "fp_ana")
    assert (first.advice, again.advice) == ("reverse", "reverse")
    assert await sold_to(sound_database, "fp_ana") == 0
    assert await count(sound_database, "SELECT count(*) FROM payment_operations WHERE kind = 'void'") == 1


async def test_other_cards_other_events_and_unnamed_cards_are_free(sound_database: Database) -> None:
    event, other = [await make_event(sound_database, max_per_card=2) for _ in range(2)]
    for where, seats, card in (
        (event, (1, 2), "fp_ana"), (event, (3, 4), "fp_ben"), (other, (1, 2), "fp_ana"),
        (event, (5, 6), ""), (event, (7, 8), ""),
    ):  # fmt: skip
        order, operation = await order_of(sound_database, where, *seats)
        assert (await granted(sound_database, order, operation, card)).order.status == OrderStatus.CONFIRMED
    assert await count(sound_database, "SELECT count(*) FROM card_limits") == 3


async def test_a_tills_sale_names_no_card_and_is_not_bound(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_card=1)
    counter = till()
    step = await Desk(sound_database, counter, event).sell(1, 2, kind=OperationKind.SALE)
    told = OperationResult(ResultOutcome.SUCCEEDED, 2 * ADULT_PRICE, "trace 1", card_brand="girocard")
    settled = await reported(sound_database, counter, step.operation.operation_id, told)
    assert settled.order.status == OrderStatus.CONFIRMED


async def test_b1_one_card_in_many_hands_confirms_as_many_as_it_may(
    sound_database: Database, other_database: Database
) -> None:
    """Twelve orders of two by as many accounts, all granted at once on one card that may pay for five."""
    event = await make_event(sound_database, max_per_card=5)
    opened = [await order_of(sound_database, event, 2 * n, 2 * n + 1) for n in range(12)]
    databases = (sound_database, other_database)
    steps = await asyncio.gather(
        *(granted(databases[n % 2], order, operation, "fp_one") for n, (order, operation) in enumerate(opened))
    )
    statuses = [step.order.status for step in steps]
    assert statuses.count(OrderStatus.CONFIRMED) == 2
    assert statuses.count(OrderStatus.CANCELLED) == 10
    assert await sold_to(sound_database, "fp_one") == 4
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 3") == 4


async def test_many_cards_confirmed_in_one_batch_meet_in_one_order(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database, seats=80, max_per_card=20)
    opened = [await order_of(sound_database, event, seat) for seat in range(40)]
    databases = (sound_database, other_database)
    steps = await asyncio.gather(
        *(
            granted(databases[n % 2], order, operation, f"fp_{(n * 7) % 5}")
            for n, (order, operation) in enumerate(opened)
        )
    )
    assert {step.order.status for step in steps} == {OrderStatus.CONFIRMED}
    assert await count(sound_database, "SELECT sum(sold) FROM card_limits") == 40
