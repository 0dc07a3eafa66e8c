"""What the console knows: sale, prices, clock, seat map, store, roles."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import ConsoleError, IllegalTransitionError, NotAllowedError, TenderedTooLittleError
from app.core.hold_clock import ServerClock
from app.core.prices import PriceTable, change_minor, total_minor, whole_minor
from app.core.sale import (
    ENDED,
    TRANSITIONS,
    Pick,
    Sale,
    SaleId,
    SaleState,
    SaleStep,
    UnknownReason,
    next_state,
)
from app.core.seat_map import SeatMapState
from app.core.session import ALLOWED, CredentialStorage, Permission, Session, require
from app.core.settlement import unclear
from app.core.store import Change, Connection, ConsoleStore, Notice, NoticeCode
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import Delta, HolderKind, Layout, PublicState, Snapshot, StaffStatus, staff_state
from backend_client.testing_house import House
from backend_client.wire import DeviceId, EventId, Role

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def sale(state: SaleState = SaleState.PICKING, **changes: object) -> Sale:
    made = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR", state=state)
    return replace(made, **changes)  # type: ignore[arg-type]


# ---------------------------------------------------------------- the sale


def test_straight_way_through_a_sale() -> None:
    state = SaleState.PICKING
    for step in (
        SaleStep.HOLD_ASKED, SaleStep.HOLD_WON, SaleStep.PAYMENT_BEGUN, SaleStep.PAYMENT_CONFIRMED,
        SaleStep.PRINT_BEGUN, SaleStep.PRINT_CONFIRMED,
    ):  # fmt: skip
        state = next_state(state, step)
    assert state is SaleState.DONE


def test_nothing_leads_out_of_an_ended_sale_and_every_other_state_has_a_way_out() -> None:
    leaving = {state for state, _ in TRANSITIONS}
    assert leaving.isdisjoint(ENDED)
    assert leaving | ENDED == set(SaleState)
    reached = set(TRANSITIONS.values()) | {SaleState.PICKING}
    assert reached == set(SaleState)
    assert {step for _, step in TRANSITIONS} == set(SaleStep)


def test_unknown_leads_to_paid_held_or_expired_only() -> None:
    """R24: a lost answer is no failure, and a payment that may have happened is never begun again."""
    targets = {target for (state, _), target in TRANSITIONS.items() if state is SaleState.UNKNOWN}
    known = {SaleState.PAID, SaleState.HELD, SaleState.EXPIRED, SaleState.RETURNING}
    assert targets == {*known, SaleState.UNKNOWN, SaleState.PAYING}, "PAYING: cash is taken instead of the card"
    with pytest.raises(IllegalTransitionError):
        next_state(SaleState.UNKNOWN, SaleStep.PAYMENT_BEGUN)


def test_money_in_flight_cannot_be_given_up() -> None:
    for state in (SaleState.PAYING, SaleState.UNKNOWN, SaleState.PAID):
        with pytest.raises(IllegalTransitionError):
            next_state(state, SaleStep.ABANDONED)


def test_unknown_remembers_since_when() -> None:
    first = unclear(sale(SaleState.PAYING), UnknownReason.TERMINAL_SILENT, AT)
    later = unclear(first, UnknownReason.RECONCILING, AT + timedelta(minutes=5))
    assert later.unknown_since == AT
    assert later.after(SaleStep.PAYMENT_DECLINED).unknown_since is None


def test_sale_survives_the_journals_form() -> None:
    house = House()
    hold = house.hold_seats((1, 2))
    kept = sale(SaleState.HELD, hold=hold, picks=(Pick(1, 0, 1, 4500),), hold_key="k", lost_seats=hold.seats)
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Sale) == kept


def test_picking_a_seat_again_changes_its_price_type_in_place() -> None:
    picked = sale(picks=(Pick(1, 0, 1, 100), Pick(2, 0, 1, 100)))
    assert picked.with_pick(Pick(1, 0, 2, 50)).picks == (Pick(1, 0, 2, 50), Pick(2, 0, 1, 100))
    assert picked.without_seats(frozenset({1})).seats == {2}


def test_every_error_has_a_code_and_stands_in_the_tree() -> None:
    import app.core.errors as module

    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, ConsoleError)]
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes) > 10
    for kind in kinds:
        assert kind.__name__ in (module.__doc__ or "")


# ---------------------------------------------------------------- money


def test_shown_total_is_the_sum_of_the_lines_for_a_thousand_baskets() -> None:
    """P24: one function for the screen, the payment and the lines."""
    dice = random.Random(24)
    for _ in range(1000):
        amounts = [dice.randrange(0, 30_000) for _ in range(dice.randint(1, 6))]
        picks = tuple(Pick(seat, 0, 1, amount) for seat, amount in enumerate(amounts))
        assert sale(picks=picks).total_minor == total_minor(amounts) == sum(amounts)


@pytest.mark.parametrize("amount", [0.5, 1.0, True, "1", None])
def test_money_that_is_no_int_is_a_type_error(amount: object) -> None:
    """P23."""
    with pytest.raises(TypeError):
        whole_minor(amount)
    with pytest.raises(TypeError):
        total_minor([100, amount])  # type: ignore[list-item]


def test_change_is_what_was_handed_over_less_the_total() -> None:
    assert change_minor(4550, 5000) == 450
    assert change_minor(4550, 4550) == 0
    with pytest.raises(TenderedTooLittleError) as raised:
        change_minor(4550, 4000)
    assert raised.value.missing_minor == 550


def test_price_table_tells_what_a_category_is_sold_at() -> None:
    house = House()
    del house.prices[1, 1]
    table = PriceTable.of_event(house.event())
    assert table.amount_minor(0, 1) == 4500
    assert table.amount_minor(1, 1) is None
    assert [kind.price_type_id for kind in table.types_of(1)] == [2]
    assert table.usual_type(0) == 1
    assert table.usual_type(9) is None


# ---------------------------------------------------------------- the clock


class Steady:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    trips=st.lists(
        st.tuples(st.floats(0, 5), st.floats(0, 5), st.floats(0, 100)),  # way there, way back, pause before
        min_size=1, max_size=40,
    )
)  # fmt: skip
def test_countdown_never_shows_more_time_than_the_server_gives(trips: list[tuple[float, float, float]]) -> None:
    """R4: whatever the delays on the way there and back."""
    steady = Steady()
    clock = ServerClock(steady)
    true_offset = timedelta(hours=5)
    begin = datetime(2026, 1, 1, tzinfo=UTC)

    def true_now() -> datetime:
        return begin + timedelta(seconds=steady.now) + true_offset

    for there, back, pause in trips:
        steady.now += pause
        sent = steady.now
        steady.now += there
        stamped = true_now()
        steady.now += back
        clock.observe(stamped, sent, steady.now)
        deadline = true_now() + timedelta(seconds=120)
        left = clock.remaining_s(deadline)
        assert left is not None
        assert left <= 120 + 1e-3
        assert left >= 120 - min(t + b for t, b, _ in trips[: trips.index((there, back, pause)) + 1]) - 10 - 1e-3


def test_sample_with_the_shortest_round_trip_counts() -> None:
    steady = Steady()
    clock = ServerClock(steady)
    clock.observe(AT, 990.0, 1000.0)
    clock.observe(AT, 999.9, 1000.0)
    clock.observe(AT, 996.0, 1000.0)
    assert clock.remaining_s(AT + timedelta(seconds=60)) == pytest.approx(59.9)


def test_clock_that_was_set_is_believed_anew() -> None:
    steady = Steady()
    clock = ServerClock(steady)
    clock.observe(AT, 1000.0, 1000.01)
    clock.observe(AT + timedelta(minutes=10), 1001.0, 1001.5)
    steady.now = 1001.5
    assert clock.remaining_s(AT + timedelta(minutes=10, seconds=30)) == pytest.approx(29.5)


def test_expired_to_the_exact_instant_and_unknown_before_the_first_sample() -> None:
    """R4: `now >= expires_at`."""
    steady = Steady()
    clock = ServerClock(steady)
    assert clock.remaining_s(AT) is None
    assert not clock.is_past(AT)
    assert not clock.known
    clock.observe(AT, 1000.0, 1000.0)
    assert clock.is_past(AT)
    assert not clock.is_past(AT + timedelta(milliseconds=1))
    with pytest.raises(ValueError, match="aware"):
        clock.observe(AT.replace(tzinfo=None), 1.0, 2.0)
    with pytest.raises(ValueError, match="received"):
        clock.observe(AT, 2.0, 1.0)


# ---------------------------------------------------------------- the seat map


def snapshot(states: list[int], *, layout: Layout = Layout.STAFF, version: int = 5) -> Snapshot:
    return Snapshot(1, 1, 1, version, layout, np.array(states, np.uint8))


def delta(seats: list[int], states: list[int], last: int) -> Delta:
    return Delta(1, 1, last - 1, last, Layout.STAFF, np.array(seats, np.uint32), np.array(states, np.uint8))


def test_map_is_blocked_until_the_first_snapshot_and_counts_after() -> None:
    seats = SeatMapState(4)
    assert not seats.is_pickable(0)
    assert not seats.loaded
    till = staff_state(StaffStatus.SOLD, HolderKind.TILL, printed=True)
    seats.load(snapshot([0, 1, 2, till]))
    counts = seats.counts()
    assert (counts.available, counts.held, counts.paying, counts.sold, counts.blocked) == (1, 1, 1, 1, 0)
    assert seats.is_pickable(0)
    assert not seats.is_pickable(3)
    assert seats.status_of(4) is None
    assert seats.status_of(-1) is None


def test_views_get_what_changed_since_they_drew_or_are_told_to_draw_anew() -> None:
    seats = SeatMapState(4)
    seats.load(snapshot([0, 0, 0, 0]))
    drawn = seats.revision
    seats.apply(delta([1], [3], 6))
    seats.apply(delta([1, 2], [0, 3], 7))
    changes = seats.changes_since(drawn)
    assert changes is not None
    assert changes.seats.tolist() == [1, 1, 2]
    assert changes.states.tolist() == [3, 0, 3]
    after = seats.changes_since(seats.revision)
    assert after is not None
    assert after.seats.tolist() == []
    seats.load(snapshot([0, 0, 0, 0]))
    assert seats.changes_since(drawn) is None


def test_view_that_is_far_behind_draws_anew() -> None:
    seats = SeatMapState(1)
    seats.load(snapshot([0]))
    drawn = seats.revision
    for version in range(6, 6 + 600):
        seats.apply(delta([0], [version % 4], version))
    assert seats.changes_since(drawn) is None
    assert seats.changes_since(seats.revision - 3) is not None


def test_public_layout_becomes_staff_bytes() -> None:
    seats = SeatMapState(4)
    seats.load(snapshot([0, 1, 2, 3], layout=Layout.PUBLIC))
    kinds = [seats.status_of(seat) for seat in range(4)]
    assert kinds == [StaffStatus.AVAILABLE, StaffStatus.HELD, StaffStatus.SOLD, StaffStatus.BLOCKED]
    assert len(PublicState) == 4


def test_seats_beyond_the_plan_are_refused_and_nothing_is_applied() -> None:
    seats = SeatMapState(2)
    with pytest.raises(ValueError, match="plan"):
        seats.load(snapshot([0, 0, 0]))
    seats.load(snapshot([0, 0]))
    with pytest.raises(ValueError, match="beyond"):
        seats.apply(delta([0, 2], [3, 3], 6))
    assert seats.states.tolist() == [0, 0]


# ---------------------------------------------------------------- the store


def store() -> ConsoleStore:
    made = ConsoleStore(ServerClock(Steady()))
    house = House()
    made.open_event(house.event(), house.plan)
    return made


def test_changes_are_told_and_gathered() -> None:
    told: list[Change] = []
    kept = store()
    unsubscribe = kept.subscribe(told.append)
    kept.put_connection(Connection.ONLINE)
    kept.put_connection(Connection.ONLINE)
    assert told == [Change.CONNECTION]
    told.clear()
    with kept.batch():
        kept.put_sale(sale())
        with kept.batch():
            kept.put_feed_state(FeedState.LIVE)
    assert told == [Change.SALE | Change.SEATS | Change.FEED]
    unsubscribe()
    unsubscribe()
    kept.put_connection(Connection.AWAY)
    assert len(told) == 1


def test_seats_of_another_event_do_not_touch_the_map() -> None:
    """S7."""
    kept = store()
    count = kept.seat_map.seat_count if kept.seat_map is not None else 0
    kept.load_seats(Snapshot(2, 1, 1, 9, Layout.STAFF, np.zeros(count, np.uint8)))
    kept.apply_seats(Delta(2, 1, 1, 2, Layout.STAFF, np.array([0], np.uint32), np.array([0], np.uint8)))
    assert kept.seat_map is not None
    assert not kept.seat_map.loaded


def test_parked_sales_stay_marked_as_ours_until_they_end() -> None:
    kept = store()
    held = sale(SaleState.HELD, picks=(Pick(4, 0, 1, 100),))
    kept.put_parked(held)
    assert kept.seat_map is not None
    assert kept.seat_map.mine == {4}
    kept.put_parked(replace(held, state=SaleState.EXPIRED))
    assert kept.parked == ()
    assert kept.seat_map.mine == frozenset()
    assert kept.take_parked(held.sale_id) is None


def test_notices_are_kept_until_dismissed_and_the_oldest_go() -> None:
    kept = store()
    for _ in range(30):
        kept.post(Notice(NoticeCode.PRINT_FAILED))
    assert len(kept.notices) == 20
    kept.dismiss(kept.notices[0])
    assert len(kept.notices) == 19


# ---------------------------------------------------------------- roles


def person(role: Role) -> Session:
    return Session(UUID(int=1), "n", "N", role, DeviceId(UUID(int=2)), CredentialStorage.KEYRING)


def test_roles_are_mirrored_for_each_permission() -> None:
    """R35: who sells, who tunes, who resolves; as the API has it (`OPERATORS`)."""
    table = {role: {permission for permission in Permission if person(role).may(permission)} for role in Role}
    assert set(ALLOWED) == set(Role)
    assert {role for role in Role if Permission.SELL in table[role]} == {Role.CLERK, Role.SUPERVISOR, Role.ADMIN}
    assert {role for role in Role if Permission.TUNE_ADMISSION in table[role]} == {
        Role.OPS, Role.SUPERVISOR, Role.ADMIN,
    }  # fmt: skip
    assert {role for role in Role if Permission.SET_LIMITS in table[role]} == {Role.OPS, Role.SUPERVISOR, Role.ADMIN}
    assert {role for role in Role if Permission.RECONCILE in table[role]} == {Role.SUPERVISOR, Role.ADMIN}
    assert table[Role.FAN] == set()


@pytest.mark.parametrize("role", [Role.OPS, None])
def test_what_is_not_allowed_is_refused(role: Role | None) -> None:
    with pytest.raises(NotAllowedError):
        require(None if role is None else person(role), Permission.SELL)
    assert require(person(Role.CLERK), Permission.SELL).role is Role.CLERK
