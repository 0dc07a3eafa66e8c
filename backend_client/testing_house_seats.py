"""One event in one hall, in memory: what is on offer, and the state of its seats (see `testing_house`)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from msgspec.structs import replace

from backend_client.plan_names import seat_ref
from backend_client.seat_frames import Delta, HolderKind, Layout, Snapshot, StaffStatus, States, staff_state
from backend_client.testing_house_rows import CATEGORIES, HoldRow, OrderRow, RefusalError, keeps_seats, small_hall
from backend_client.wire import (
    ErrorCode,
    EventDetail,
    EventId,
    EventSettings,
    EventStatus,
    HoldStatus,
    OperationId,
    OrderStatus,
    OrphanRule,
    Price,
    PriceType,
    PrintJob,
    ResultReport,
    SeatHistoryItem,
    SeatHouseHold,
    SeatRef,
    TerminalTotalsReport,
    Tier,
    TierQuantity,
)

GRACE_S = 120


class HouseSeats:
    """One event in one hall. `now` is the house's clock: set `offset` to move it. `version` counts seat changes."""

    def __init__(self, *, rows: int = 6, seats_per_row: int = 10, event_id: int = 1, hold_ttl_s: int = 300) -> None:
        self.event_id = EventId(event_id)
        self.plan = small_hall(rows, seats_per_row)
        self.hold_ttl_s = hold_ttl_s
        self.offset = timedelta(0)
        self.epoch, self.version = 1, 1
        self.price_version = 1
        self.prices = {(0, 1): 4500, (0, 2): 2250, (1, 1): 3000, (1, 2): 1500}
        self.tickets_complete = True
        self.status, self.settings_version = EventStatus.ON_SALE, 1
        self.orphan_rule = OrphanRule.OFF
        self.access_codes: frozenset[str] = frozenset()
        self.tiers: tuple[Tier, ...] = ()
        self.states: States = np.zeros(rows * seats_per_row, np.uint8)
        self.deltas: list[Delta] = []
        self.holds: dict[UUID, HoldRow] = {}
        self.orders: dict[UUID, OrderRow] = {}
        self.print_jobs: dict[UUID, PrintJob] = {}
        self.reversals: list[OperationId] = []
        self.terminal_totals: list[TerminalTotalsReport] = []
        self.reports: list[ResultReport] = []
        self.seat_past: dict[int, tuple[SeatHistoryItem, ...]] = {}
        self.seat_house_holds: dict[int, SeatHouseHold] = {}

    def now(self) -> datetime:
        """The house's clock."""
        return datetime.now(UTC) + self.offset

    # ------------------------------------------------------------ what is on offer

    def event(self) -> EventDetail:
        """The event with its prices."""
        return EventDetail(
            event_id=self.event_id,
            name="An evening",
            venue_name="Test hall",
            starts_at=datetime(2027, 3, 1, 19, 30, tzinfo=UTC),
            zone="Europe/Lisbon",
            currency="EUR",
            status=self.status,
            settings_version=self.settings_version,
            sale_opens_at=datetime(2026, 1, 1, tzinfo=UTC),
            plan_id=self.plan.plan_id,
            plan_version=self.plan.version,
            seat_count=len(self.states),
            hold_ttl_s=self.hold_ttl_s,
            grace_s=GRACE_S,
            max_per_account=6,
            price_version=self.price_version,
            categories=CATEGORIES,
            price_types=(PriceType(price_type_id=1, name="Adult"), PriceType(price_type_id=2, name="Child")),
            prices=tuple(
                Price(category_no=category, price_type_id=kind, amount_minor=amount)
                for (category, kind), amount in self.prices.items()
            ),
            server_time=self.now(),
            tiers=self.tiers,
            orphan_rule=self.orphan_rule,
        )

    def settings(self) -> EventSettings:
        """What operators have set."""
        return EventSettings(
            event_id=self.event_id, version=1, hold_ttl_s=self.hold_ttl_s, grace_s=GRACE_S, max_per_account=6,
            max_per_card=6, max_open_holds_till=20, paying_cap=1000, orphan_rule=self.orphan_rule,
        )  # fmt: skip

    def snapshot(self) -> Snapshot:
        """All seats now."""
        self._sweep()
        return Snapshot(self.event_id, self.plan.version, self.epoch, self.version, Layout.STAFF, self.states.copy())

    def set_seats(self, seats: tuple[int, ...], state: int) -> Delta:
        """Change seats as if anybody had; the delta is what feeds send."""
        self.states[list(seats)] = state
        delta = Delta(
            self.event_id, self.epoch, self.version, self.version + 1, Layout.STAFF,
            np.array(seats, np.uint32), np.full(len(seats), state, np.uint8),
        )  # fmt: skip
        self.version += 1
        self.deltas.append(delta)
        return delta

    def seat(self, seat_no: int) -> SeatRef:
        """A seat as people name it."""
        return seat_ref(self.plan, seat_no)

    def _sweep(self) -> None:
        for hold in self.holds.values():
            if self.now() < hold.expires_at or hold.status not in (HoldStatus.HELD, HoldStatus.PAYMENT_PENDING):
                continue
            order = None if hold.order_id is None else self.orders[hold.order_id]
            if hold.status is HoldStatus.PAYMENT_PENDING and order is not None and keeps_seats(order):
                continue
            self._end(hold, HoldStatus.EXPIRED)
            if order is not None and order.status is OrderStatus.PENDING:
                order.status = OrderStatus.EXPIRED
                self._open_returns(order)

    def _open_returns(self, order: OrderRow) -> None:
        """What parts have paid of an order that came to nothing goes back (see `testing_house_returns`)."""

    def _end(self, hold: HoldRow, status: HoldStatus) -> None:
        hold.status = status
        self.set_places(hold.places, available=1, in_holds=-1)
        if hold.seats:
            self.set_seats(hold.seats, staff_state(StaffStatus.AVAILABLE, HolderKind.NONE))

    def set_places(
        self, places: Iterable[TierQuantity], *, available: int = 0, in_holds: int = 0, sold: int = 0
    ) -> None:
        """Move places between the counts of their tiers; each factor says how the count goes."""
        for wish in places:
            self.tiers = tuple(
                replace(
                    tier,
                    available=tier.available + available * wish.quantity,
                    in_holds=tier.in_holds + in_holds * wish.quantity,
                    sold=tier.sold + sold * wish.quantity,
                )
                if tier.tier_id == wish.tier_id
                else tier
                for tier in self.tiers
            )

    def tier(self, tier_id: int) -> Tier:
        """A tier of the house.

        Raises:
            RefusalError: there is none.
        """
        for tier in self.tiers:
            if tier.tier_id == tier_id:
                return tier
        raise RefusalError(ErrorCode.TIER_UNKNOWN)

    def lose_holds(self) -> None:
        """End every open hold, whatever is being paid, and sell its seats to a fan."""
        for hold in self.holds.values():
            if hold.status in (HoldStatus.HELD, HoldStatus.PAYMENT_PENDING):
                hold.status = HoldStatus.EXPIRED
                self.set_places(hold.places, in_holds=-1, sold=1)
                if hold.seats:
                    self.set_seats(hold.seats, staff_state(StaffStatus.SOLD, HolderKind.FAN))
