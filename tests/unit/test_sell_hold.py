"""From the map to held seats at the counter, and back: holds, limits, deadlines, giving up (R3–R7)."""

from __future__ import annotations

import asyncio

import pytest

from app.actions.finish_sale import park_sale, resume_parked
from app.actions.hold_seats import expire_due, hold_picked, release_hold
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import clear_picks, pick_seats, set_price_type, toggle_seat
from app.core.errors import (
    NotAllowedError,
    NothingPickedError,
    SaleNotReadyError,
    SeatNotPickableError,
    TooManySeatsError,
)
from app.core.sale import EndReason, Sale, SaleState
from app.core.store import Connection, NoticeCode
from app.devices.fake_terminal import Decline
from backend_client.errors import AnswerUnknownError, BookingRefusedError, ServiceUnavailableError
from backend_client.seat_frames import StaffStatus
from backend_client.testing import Fault
from backend_client.wire import Role
from tests.unit.counter import Counter, until


def statuses(counter: Counter, *seats: int) -> list[int]:
    return [int(counter.server.house.states[seat]) & 7 for seat in seats]


async def test_lost_seats_leave_the_picks_and_are_named(counter: Counter) -> None:
    """B9, R14: one seat of three was sold elsewhere; nothing is held, and the clerk reads which."""
    for seat in (3, 4, 5):
        toggle_seat(counter.desk, seat)
    counter.server.sell_elsewhere(4)
    sale = await hold_picked(counter.desk)
    assert sale.state is SaleState.PICKING
    assert sale.seats == {3, 5}
    assert [seat.number for seat in sale.lost_seats] == ["5"]
    assert NoticeCode.SEATS_LOST in counter.notices
    assert statuses(counter, 3, 5) == [StaffStatus.AVAILABLE, StaffStatus.AVAILABLE]


async def test_hold_key_is_the_same_after_a_lost_answer_and_new_for_new_picks(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    assert counter.sale.state is SaleState.HOLDING
    sale = await hold_picked(counter.desk)
    assert sale.state is SaleState.HELD
    keys = {call.key for call in counter.server.calls if call.path.endswith("/holds")}
    assert len(keys) == 1
    assert len(counter.server.house.holds) == 1


@pytest.mark.parametrize("late", ["another seat", "the same seat", "all of them"])
async def test_no_pick_is_lost_in_a_hold_that_is_being_asked_for(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """The disk is slow: the screen still shows the picks, and what the hold asks for is decided already (P1)."""
    desk, written = counter.desk, asyncio.Event()
    save = desk.journal.save_sale

    async def save_late(sale: Sale) -> None:
        await written.wait()
        await save(sale)

    for seat in (0, 1):
        toggle_seat(desk, seat)
    monkeypatch.setattr(desk.journal, "save_sale", save_late)
    holding = asyncio.create_task(hold_picked(desk))
    await until(lambda: "hold" in desk.running, within_s=60.0)
    assert counter.sale.state is SaleState.PICKING
    if late == "all of them":
        clear_picks(desk)
    else:
        with pytest.raises(SaleNotReadyError):
            toggle_seat(desk, 2 if late == "another seat" else 1)
    assert counter.sale.seats == {0, 1}
    written.set()
    held = await holding
    assert (held.state, held.seats) == (SaleState.HELD, frozenset({0, 1}))


async def test_hold_is_refused_while_the_authority_is_away(counter: Counter) -> None:
    """R2: stock is never guessed."""
    counter.server.fail(Fault.UNREACHABLE, "/holds", times=9)
    with pytest.raises(ServiceUnavailableError):
        await counter.hold(0)
    assert counter.sale.state is SaleState.PICKING
    assert counter.desk.store.connection is Connection.AWAY


async def test_picking_follows_the_map_and_the_limit(counter: Counter) -> None:
    counter.server.sell_elsewhere(9)
    assert counter.desk.store.seat_map is not None
    counter.desk.store.load_seats(counter.server.house.snapshot())
    with pytest.raises(SeatNotPickableError):
        toggle_seat(counter.desk, 9)
    with pytest.raises(SeatNotPickableError):
        toggle_seat(counter.desk, 10_000)
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 0)
    with pytest.raises(NothingPickedError):
        await hold_picked(counter.desk)
    assert pick_seats(counter.desk, list(range(12))).seats == {0, 1, 2, 3, 4, 5}
    with pytest.raises(TooManySeatsError):
        toggle_seat(counter.desk, 6)
    assert counter.desk.store.seat_map.mine == {0, 1, 2, 3, 4, 5}
    clear_picks(counter.desk)
    assert counter.desk.store.seat_map.mine == frozenset()


async def test_ops_may_not_sell(counter: Counter) -> None:
    """R35: the console mirrors the API's table."""
    assert counter.desk.store.session is not None
    session = counter.desk.store.session
    counter.desk.store.put_session(type(session)(
        session.staff_id, session.name, session.display_name, Role.OPS, session.device_id, session.storage
    ))  # fmt: skip
    with pytest.raises(NotAllowedError):
        toggle_seat(counter.desk, 0)


async def test_price_type_after_a_decline_makes_a_new_order_and_keeps_the_seats(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(Decline())
    await pay_card(counter.desk)
    sale = await set_price_type(counter.desk, 0, 2)
    assert sale.state is SaleState.HELD
    assert sale.order is None
    paid = await pay_cash(counter.desk, 2250)
    assert paid.state is SaleState.PAID
    assert paid.total_minor == 2250


async def test_hold_ends_by_the_server_clock(counter: Counter) -> None:
    """R4: the countdown reads the server's clock; nothing that runs is ended by it."""
    await counter.hold(0)
    assert not await expire_due(counter.desk)
    counter.server.pass_time(301)
    await counter.desk.client.me()
    assert counter.desk.store.remaining_s == 0
    assert await expire_due(counter.desk)
    assert counter.sale.end_reason is EndReason.HOLD_ENDED
    assert NoticeCode.HOLD_EXPIRED in counter.notices


async def test_hold_ends_by_the_server_word(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.pass_time(301)
    with pytest.raises(BookingRefusedError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.EXPIRED
    assert counter.terminal.payments_asked == 0


async def test_given_up_sale_frees_its_seats(counter: Counter) -> None:
    await counter.hold(0, 1)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert statuses(counter, 0, 1) == [StaffStatus.AVAILABLE, StaffStatus.AVAILABLE]
    await counter.hold(2)
    counter.terminal.play(Decline())
    await pay_card(counter.desk)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert statuses(counter, 2) == [StaffStatus.AVAILABLE]


async def test_hold_whose_answer_was_lost_is_given_back_too(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    await release_hold(counter.desk)
    assert statuses(counter, 0) == [StaffStatus.AVAILABLE]


async def test_parked_held_sale_comes_back_with_its_hold(counter: Counter) -> None:
    held = await counter.hold(0)
    await park_sale(counter.desk)
    assert counter.desk.store.seat_map is not None
    assert 0 in counter.desk.store.seat_map.mine
    await counter.hold(1)
    back = await resume_parked(counter.desk, held.sale_id)
    assert back == held
    assert [sale.seats for sale in counter.desk.store.parked] == [{1}]
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID
