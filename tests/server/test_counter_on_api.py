"""The console's own actions on the real authority: what the fake booking server promises, PostgreSQL keeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from app.actions.desk import Desk
from app.actions.finish_sale import finish_sale
from app.actions.hold_seats import hold_picked, release_hold
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_places import pick_places
from app.actions.pick_seats import clear_picks, pick_seats, set_price_type, toggle_seat
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.propose_seats import set_together, show_best, take_offer
from app.actions.read_seat import read_seat
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.actions.show_event import open_event
from app.actions.sign_in import sign_in
from app.core.errors import PlacesNotPickableError
from app.core.picking import OfferKind, SeatOffer
from app.core.sale import Sale, SaleState
from app.devices.fake_terminal import AwaitAbort, Decline, FakeCardTerminal, LoseLine
from app.devices.ticket_printer import PrintState
from app.journal.async_journal import AsyncJournal
from app.screens.seat_detail_words import full_face
from backend_client.errors import AnswerUnknownError, BookingRefusedError, SeatOrphanedError
from backend_client.seat_frames import StaffStatus
from backend_client.wire import (
    BestAvailable,
    ErrorCode,
    EventId,
    OrderStatus,
    PrintJobStatus,
    ResultOutcome,
    ResultReport,
    TicketStatus,
)
from booking.domain.caller import Role
from booking.services import issue_tickets
from booking.services.hold_seats import hold_seats
from booking.services.sign_in import create_staff
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, CHILD, CHILD_PRICE, count, digest_of, fan, make_event
from tests.server.general_admission import FLOOR, make_tier, tier
from tests.server.general_admission import Counter as PlacesBuyer
from tests.server.web_api import PASSWORD, api_over
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until

PATIENCE = replace(FAST, report_s=20.0)
"""A terminal's approval is told to a real API here, which answers when the machine lets it."""


class LossyTransport(httpx.AsyncBaseTransport):
    """The API in this process; `lose` lets the answers of calls to a path vanish after they took effect."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.losing = ""
        self.step: Callable[[str], None] = lambda _: None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.step(f"sending {request.url.path}")
        answer = await self.inner.handle_async_request(request)
        await answer.aread()
        self.step(f"answered {request.url.path}")
        if self.losing and request.url.path.endswith(self.losing):
            raise httpx.ReadTimeout("lost", request=request)
        return answer


@dataclass(slots=True)
class Till:
    """A counter on the real API. `issue` is the ticket issuer, one round."""

    counter: Counter
    transport: LossyTransport
    db: Database
    event_id: EventId
    journal: AsyncJournal
    terminal: FakeCardTerminal = field(default_factory=FakeCardTerminal)

    async def issue(self) -> None:
        await issue_tickets.issue_new(self.db)

    async def hold(self, *seats: int) -> Sale:
        for seat in seats:
            toggle_seat(self.counter.desk, seat)
        return await hold_picked(self.counter.desk)

    async def restart(self) -> Counter:
        """The console again, after it died."""
        again = make_counter(self.journal, terminal=self.terminal, transport=self.transport, patience=PATIENCE)
        await sign_in(again.desk, "carla", PASSWORD)
        await open_event(again.desk, self.event_id)
        await resume_open_sales(again.desk)
        return again


@pytest.fixture
async def till(sound_database: Database, tmp_path: Path) -> AsyncIterator[Till]:
    db = sound_database
    event_id = EventId(await make_event(db))
    await create_staff(db, "carla", "Carla", Role.CLERK, PASSWORD)
    await issue_tickets.prepare(db)
    journal = open_journal(tmp_path)
    async with api_over(db) as api:
        transport = LossyTransport(httpx.ASGITransport(api.app))
        terminal = FakeCardTerminal()
        counter = make_counter(journal, terminal=terminal, transport=transport, patience=PATIENCE)
        await sign_in(counter.desk, "carla", PASSWORD)
        await open_event(counter.desk, event_id)
        yield Till(counter, transport, db, event_id, journal, terminal)
        await counter.desk.client.close()
    await journal.close()


async def test_card_sale_from_pick_to_print(till: Till) -> None:
    await till.hold(0, 1)
    await set_price_type(till.counter.desk, 1, CHILD)
    paid = await pay_card(till.counter.desk)
    assert paid.state is SaleState.PAID
    assert till.counter.charged_minor == ADULT_PRICE + CHILD_PRICE
    await till.issue()
    done = await print_tickets(till.counter.desk)
    assert done.state is SaleState.DONE
    assert len(till.counter.printer.sheets[0].tickets) == 2
    assert await count(till.db, "SELECT count(*) FROM seats WHERE status = 3 AND printed") == 2


async def test_places_without_numbers_and_a_seat_in_one_sale(till: Till) -> None:
    """R11: counted, held, priced, paid and printed with the seat beside them; what is not left is refused by name."""
    await make_tier(till.db, till.event_id, capacity=5)
    await open_event(till.counter.desk, till.event_id)
    pick_places(till.counter.desk, FLOOR, 3)
    with pytest.raises(PlacesNotPickableError):
        pick_places(till.counter.desk, FLOOR, 3)
    await till.hold(7)
    await set_price_type(till.counter.desk, till.counter.sale.place_picks[0].seat_no, CHILD)
    assert (await tier(till.db, till.event_id)).in_holds == 3
    paid = await pay_card(till.counter.desk)
    assert paid.state is SaleState.PAID
    assert till.counter.charged_minor == 3 * ADULT_PRICE + CHILD_PRICE
    await till.issue()
    assert (await print_tickets(till.counter.desk)).state is SaleState.DONE
    faces = till.counter.printer.sheets[0].tickets
    assert sorted((face.section, face.number != "") for face in faces) == [("Floor", False)] * 3 + [("Stalls", True)]
    assert (await tier(till.db, till.event_id)).sold == 3


async def test_places_that_another_till_holds_are_refused_and_the_pick_stays(till: Till) -> None:
    await make_tier(till.db, till.event_id, capacity=5)
    await open_event(till.counter.desk, till.event_id)
    pick_places(till.counter.desk, FLOOR, 4)
    await PlacesBuyer(till.db, fan(), till.event_id).hold(3)
    with pytest.raises(BookingRefusedError) as refused:
        await hold_picked(till.counter.desk)
    assert refused.value.problem.code is ErrorCode.TIER_IN_HOLDS
    assert len(till.counter.sale.place_picks) == 4
    await release_hold(till.counter.desk)


async def test_released_places_of_a_till_are_free_at_once(till: Till) -> None:
    await make_tier(till.db, till.event_id, capacity=5)
    await open_event(till.counter.desk, till.event_id)
    pick_places(till.counter.desk, FLOOR, 2)
    await hold_picked(till.counter.desk)
    assert (await tier(till.db, till.event_id)).available == 3
    await release_hold(till.counter.desk)
    assert (await tier(till.db, till.event_id)).available == 5


async def test_decline_then_another_price_type_then_cash(till: Till) -> None:
    await till.hold(0)
    till.terminal.play(Decline("insufficient-funds"))
    assert (await pay_card(till.counter.desk)).state is SaleState.DECLINED
    changed = await set_price_type(till.counter.desk, 0, CHILD)
    assert changed.state is SaleState.HELD
    paid = await pay_cash(till.counter.desk, 2000)
    assert paid.state is SaleState.PAID
    assert paid.payment is not None
    assert paid.payment.change_minor == 2000 - CHILD_PRICE


async def test_decline_then_the_same_order_by_card(till: Till) -> None:
    await till.hold(0)
    till.terminal.play(Decline())
    await pay_card(till.counter.desk)
    assert (await pay_card(till.counter.desk)).state is SaleState.PAID
    assert len(till.terminal.booked) == 1
    assert await count(till.db, "SELECT count(*) FROM orders") == 1


async def test_the_counter_reads_who_sold_a_seat_and_all_that_happened_to_it(till: Till) -> None:
    await till.hold(0)
    till.terminal.play(Decline("insufficient-funds"))
    await pay_card(till.counter.desk)
    await pay_cash(till.counter.desk, ADULT_PRICE)
    await till.issue()
    await print_tickets(till.counter.desk)
    detail = await read_seat(till.counter.desk, 0)
    assert [item.kind for item in detail.history] == [
        "held", "paying", "payment-declined", "sold", "ticket-issued", "printed",
    ]  # fmt: skip
    assert detail.held_by is not None
    assert (detail.held_by.name, detail.ticket_status) == ("Carla", TicketStatus.PRINTED)
    face = full_face(detail, "Europe/Madrid")
    assert face.standing == "Sold · ticket printed"
    assert [one.what for one in face.history][:2] == ["Ticket printed", "Ticket issued"]


@pytest.mark.parametrize("booked", [True, False])
async def test_lost_line_is_resolved_by_asking(till: Till, *, booked: bool) -> None:
    """T3, R31."""
    await till.hold(10)
    await pay_card(till.counter.desk)
    await finish_sale(till.counter.desk)
    await till.hold(0)
    till.terminal.play(LoseLine(booked=booked))
    assert (await pay_card(till.counter.desk)).state is SaleState.UNKNOWN
    first = await resolve_unknown(till.counter.desk)
    assert first.state is (SaleState.PAID if booked else SaleState.HELD)
    if not booked:
        assert (await pay_card(till.counter.desk)).state is SaleState.PAID
    assert len(till.terminal.booked) == 2


@pytest.mark.parametrize("path", ["/holds", "/checkout", "/payments", "/result"])
async def test_answers_that_are_lost_are_found_again_by_their_keys(till: Till, path: str) -> None:
    """R6, G5, C6."""
    till.transport.losing = path
    sale: Sale | None = None
    try:
        await till.hold(0)
        sale = await pay_card(till.counter.desk)
    except AnswerUnknownError:
        pass
    till.transport.losing = ""
    if till.counter.sale.state is SaleState.HOLDING:
        await hold_picked(till.counter.desk)
    if till.counter.sale.state is SaleState.UNKNOWN:
        sale = await resolve_unknown(till.counter.desk)
    elif till.counter.sale.payable:
        sale = await pay_card(till.counter.desk)
    assert sale is not None
    assert sale.state is SaleState.PAID
    assert len(till.terminal.booked) == 1
    assert await count(till.db, "SELECT count(*) FROM orders") == 1
    assert await count(till.db, "SELECT count(*) FROM holds") == 1


async def test_cash_after_a_card_operation_that_was_opened_for_nothing(till: Till) -> None:
    await till.hold(0)
    till.transport.losing = "/payments"
    with pytest.raises(AnswerUnknownError):
        await pay_card(till.counter.desk)
    till.transport.losing = ""
    assert (await pay_cash(till.counter.desk, ADULT_PRICE)).state is SaleState.PAID
    assert till.terminal.payments_asked == 0


async def test_approval_after_the_operation_was_declined_is_taken_back(till: Till) -> None:
    """R25: somebody settled the operation as declined while the terminal was still busy; the late charge goes back."""
    await till.hold(0)
    till.terminal.play(AwaitAbort(approve_anyway=True))
    desk = till.counter.desk
    paying = asyncio.create_task(pay_card(desk), name="pay")
    await until(lambda: desk.store.terminal_progress == "present-card")
    sale = till.counter.sale
    assert sale.payment is not None
    assert sale.payment.operation_id is not None
    declined = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code="by-supervisor")
    await desk.client.report_result(sale.payment.operation_id, declined, key="settled-by-hand")
    await till.terminal.abort()
    after = await paying
    assert after.state is SaleState.DECLINED
    assert till.counter.charged_minor == 0
    assert (await pay_cash(desk, ADULT_PRICE)).state is SaleState.PAID


async def test_given_up_sales_free_their_seats(till: Till) -> None:
    await till.hold(0)
    await release_hold(till.counter.desk)
    await till.hold(1)
    till.terminal.play(Decline())
    await pay_card(till.counter.desk)
    await release_hold(till.counter.desk)
    assert await count(till.db, f"SELECT count(*) FROM seats WHERE status <> {StaffStatus.AVAILABLE}") == 0


async def test_unclear_print_is_confirmed_by_a_person(till: Till) -> None:
    """K7."""
    await till.hold(0)
    await pay_cash(till.counter.desk, ADULT_PRICE)
    await till.issue()
    till.counter.printer.state = PrintState.UNKNOWN
    assert (await print_tickets(till.counter.desk)).print_unclear
    assert await count(till.db, f"SELECT count(*) FROM print_jobs WHERE status = '{PrintJobStatus.UNKNOWN}'") == 1
    assert (await confirm_print(till.counter.desk, printed=True)).state is SaleState.DONE
    assert await count(till.db, f"SELECT count(*) FROM print_jobs WHERE status = '{PrintJobStatus.CONFIRMED}'") == 1


async def test_a_lost_race_is_offered_the_block_that_the_database_can_hold(till: Till) -> None:
    """R14: what the console shows and what the authority offers are one thing, and one step takes it."""
    desk = till.counter.desk
    set_together(desk, 2)
    shown = show_best(desk).block
    await hold_seats(till.db, fan(), till.event_id, (shown[0],), key="faster", digest=digest_of("faster"))
    sale = await hold_picked(desk)
    assert sale.state is SaleState.PICKING
    assert [seat.seat_no for seat in sale.lost_seats] == [shown[0]]
    offer = desk.store.picking.offer
    assert offer is not None
    assert (offer.kind, offer.about, len(offer.instead)) == (OfferKind.LOST, (shown[0],), 2)
    take_offer(desk)
    held = await hold_picked(desk)
    assert held.state is SaleState.HELD
    assert held.seats == frozenset(offer.instead)


async def test_a_seat_left_single_is_warned_of_as_the_database_would_refuse_it(till: Till) -> None:
    desk = till.counter.desk
    async with till.db.transaction() as connection:
        await connection.execute("UPDATE events SET orphan_rule = 'strict' WHERE event_id = $1", till.event_id)
    pick_seats(desk, [1, 2])
    assert offer_of(desk) is None  # this console read the event before
    with pytest.raises(SeatOrphanedError):
        await hold_picked(desk)
    offer = offer_of(desk)
    assert offer is not None
    assert (offer.kind, offer.about, offer.instead) == (OfferKind.ORPHAN, (0,), (0, 1))
    desk.store.put_event(await desk.client.event(till.event_id))
    clear_picks(desk)
    pick_seats(desk, [1, 2])
    warning = offer_of(desk)
    assert warning is not None
    assert (warning.about, warning.instead, warning.refused) == ((0,), (0, 1), False)
    take_offer(desk)
    assert (await hold_picked(desk)).state is SaleState.HELD


async def test_the_best_that_the_console_shows_is_the_best_that_the_api_would_give(till: Till) -> None:
    desk = till.counter.desk
    set_together(desk, 4)
    shown = show_best(desk).block
    clear_picks(desk)
    hold = await desk.client.hold_seats(till.event_id, key="best", best_available=BestAvailable(count=4))
    assert tuple(seat.seat_no for seat in hold.seats) == shown


def offer_of(desk: Desk) -> SeatOffer | None:
    return desk.store.picking.offer


class PowerCutError(BaseException):
    """The console is gone."""


async def test_console_that_dies_at_any_call_charges_once(till: Till) -> None:
    """R31, T4: the console dies as each call of a card sale is sent and as it is answered; the authority is real."""
    await till.hold(39)
    await pay_card(till.counter.desk)
    await finish_sale(till.counter.desk)
    deaths = 0
    for at in range(40):
        counter = await till.restart()
        seat = deaths
        left = at

        def burn(_what: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCutError

        till.transport.step = burn
        cut = False
        try:
            toggle_seat(counter.desk, seat)
            await hold_picked(counter.desk)
            await pay_card(counter.desk)
        except PowerCutError:
            cut = True
        till.transport.step = lambda _: None
        again = await till.restart()
        sale = again.desk.store.sale
        assert sale is not None
        if sale.payable:
            sale = await pay_card(again.desk)
        assert sale.state is SaleState.PAID, f"died at call step {at}: {sale.state}"
        await finish_sale(again.desk)
        deaths += 1
        if not cut:
            break
    assert deaths > 8
    confirmed = await count(till.db, f"SELECT count(*) FROM orders WHERE status = '{OrderStatus.CONFIRMED}'")
    assert confirmed == len(till.terminal.booked) == deaths + 1
