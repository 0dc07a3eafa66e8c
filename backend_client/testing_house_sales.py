"""Holds and orders of a booking system in memory (see `testing_house`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing_house_rows import HoldRow, OrderRow, RefusalError, live_payment
from backend_client.testing_house_seats import GRACE_S, HouseSeats
from backend_client.testing_seats import best_block, nearest_block, orphans
from backend_client.wire import (
    CheckoutPlaces,
    CheckoutRequest,
    ErrorCode,
    HeldPlaces,
    Hold,
    HoldId,
    HoldRequest,
    HoldStatus,
    Order,
    OrderId,
    OrderLine,
    OrderPlaces,
    OrderStatus,
    SeatRef,
    TierQuantity,
)

PRICE_TYPES = {1: "Adult", 2: "Child"}


class HouseSales(HouseSeats):
    """All or nothing; expiry by the house's own clock."""

    def hold(self, request: HoldRequest) -> Hold:
        """The seats of the request, or the best available ones."""
        if request.access_code and request.access_code not in self.access_codes:
            raise RefusalError(ErrorCode.ACCESS_CODE_REFUSED)
        if request.best_available is None:
            return self.hold_seats(request.seats, request.tiers)
        self._sweep()
        block = best_block(self.plan, self.states, request.best_available)
        if not block:
            raise RefusalError(ErrorCode.NO_BLOCK_LEFT)
        return self.hold_seats(block)

    def hold_seats(self, seats: tuple[int, ...], places: tuple[TierQuantity, ...] = ()) -> Hold:
        """All or nothing."""
        self._sweep()
        if any(seat >= len(self.states) for seat in seats):
            raise RefusalError(ErrorCode.SEAT_UNKNOWN)
        lost = tuple(self.seat(seat) for seat in seats if self.states[seat] & 7 != StaffStatus.AVAILABLE)
        if lost:
            raise RefusalError(ErrorCode.SEATS_TAKEN, lost, self._offer(seats))
        left = orphans(self.plan, self.states, seats, self.orphan_rule)
        if left:
            raise RefusalError(ErrorCode.SEAT_ORPHANED, tuple(self.seat(seat) for seat in left), self._offer(seats))
        for wish in places:
            tier = self.tier(wish.tier_id)
            if tier.available < wish.quantity:
                back = tier.available + tier.in_holds >= wish.quantity
                raise RefusalError(ErrorCode.TIER_IN_HOLDS if back else ErrorCode.TIER_SOLD_OUT)
        until = self.now() + timedelta(seconds=self.hold_ttl_s)
        row = HoldRow(HoldId(uuid7()), tuple(sorted(seats)), until, self.now(), places=places)
        self.holds[row.hold_id] = row
        self.set_places(places, available=-1, in_holds=1)
        self._set_row(row, StaffStatus.HELD)
        return self._hold(row)

    def _set_row(self, row: HoldRow, status: StaffStatus) -> None:
        if row.seats:
            self.set_seats(row.seats, staff_state(status, HolderKind.TILL))

    def _offer(self, seats: tuple[int, ...]) -> tuple[SeatRef, ...]:
        return tuple(self.seat(seat) for seat in nearest_block(self.plan, self.states, seats))

    def read_hold(self, hold_id: UUID) -> Hold:
        """A hold as it stands."""
        return self._hold(self._find_hold(hold_id))

    def release_hold(self, hold_id: UUID) -> Hold:
        """Again is the same."""
        row = self._find_hold(hold_id)
        if row.status is HoldStatus.HELD:
            self._end(row, HoldStatus.RELEASED)
        elif row.status in (HoldStatus.PAYMENT_PENDING, HoldStatus.SOLD):
            raise RefusalError(ErrorCode.HOLD_NOT_OPEN)
        return self._hold(row)

    def _find_hold(self, hold_id: UUID) -> HoldRow:
        self._sweep()
        if hold_id not in self.holds:
            raise RefusalError(ErrorCode.HOLD_NOT_FOUND)
        return self.holds[hold_id]

    def _hold(self, row: HoldRow) -> Hold:
        return Hold(
            hold_id=row.hold_id,
            event_id=self.event_id,
            status=row.status,
            seats=tuple(self.seat(seat) for seat in row.seats),
            expires_at=row.expires_at,
            grace_used=row.grace_used,
            order_id=row.order_id,
            created_at=row.created_at,
            server_time=self.now(),
            places=tuple(self._held(wish) for wish in row.places),
        )

    def _held(self, wish: TierQuantity) -> HeldPlaces:
        tier = self.tier(wish.tier_id)
        return HeldPlaces(tier_id=tier.tier_id, name=tier.name, category_no=tier.category_no, quantity=wish.quantity)

    # ------------------------------------------------------------ orders

    def check_out(self, hold_id: UUID, request: CheckoutRequest) -> Order:
        """An order at the house's own total."""
        row = self._find_hold(hold_id)
        if row.status is not HoldStatus.HELD:
            gone = row.status is HoldStatus.EXPIRED
            raise RefusalError(ErrorCode.HOLD_EXPIRED if gone else ErrorCode.HOLD_NOT_OPEN)
        if row.expires_at - self.now() < timedelta(seconds=10):
            raise RefusalError(ErrorCode.TOO_LITTLE_TIME)
        lines = tuple(
            OrderLine(
                seat=self.seat(line.seat_no),
                price_type_id=line.price_type_id,
                price_type_name=PRICE_TYPES[line.price_type_id],
                amount_minor=self.prices[self.plan.seats.category_no[line.seat_no], line.price_type_id],
            )
            for line in request.lines
        )
        order = OrderRow(
            OrderId(uuid7()), f"T-{len(self.orders) + 1:04}", row, lines, self.now(),
            places=tuple(self._priced(places) for places in request.places),
        )  # fmt: skip
        if Counter({wish.tier_id: wish.quantity for wish in row.places}) != _counted(request.places):
            raise RefusalError(ErrorCode.INVALID_REQUEST)
        if order.amount_minor != request.shown_total_minor:
            raise RefusalError(ErrorCode.PRICE_CHANGED)
        self.orders[order.order_id] = order
        row.order_id = order.order_id
        if not row.grace_used:
            row.grace_used = True
            row.expires_at = max(row.expires_at, self.now() + timedelta(seconds=GRACE_S))
        self._set_paying(row)
        return self._order(order)

    def _priced(self, places: CheckoutPlaces) -> OrderPlaces:
        tier = self.tier(places.tier_id)
        return OrderPlaces(
            tier_id=tier.tier_id, tier_name=tier.name, price_type_id=places.price_type_id,
            price_type_name=PRICE_TYPES[places.price_type_id], quantity=places.quantity,
            amount_minor=places.quantity * self.prices[tier.category_no, places.price_type_id],
        )  # fmt: skip

    def _set_paying(self, row: HoldRow) -> None:
        row.status = HoldStatus.PAYMENT_PENDING
        self._set_row(row, StaffStatus.PAYING)

    def _back_to_held(self, row: HoldRow) -> None:
        row.status = HoldStatus.HELD
        self._set_row(row, StaffStatus.HELD)

    def read_order(self, order_id: UUID) -> Order:
        """An order as it stands."""
        return self._order(self._find_order(order_id))

    def cancel_order(self, order_id: UUID, *, keep_seats: bool) -> Order:
        """An unpaid order without a live payment."""
        order = self._find_order(order_id)
        if order.status is not OrderStatus.PENDING or live_payment(order) is not None:
            raise RefusalError(ErrorCode.ORDER_NOT_CANCELLABLE)
        order.status = OrderStatus.CANCELLED
        order.hold.order_id = None
        if keep_seats:
            self._back_to_held(order.hold)
        else:
            self._end(order.hold, HoldStatus.RELEASED)
        return self._order(order)

    def _find_order(self, order_id: UUID) -> OrderRow:
        self._sweep()
        if order_id not in self.orders:
            raise RefusalError(ErrorCode.ORDER_NOT_FOUND)
        return self.orders[order_id]

    def _order(self, row: OrderRow) -> Order:
        return Order(
            order_id=row.order_id,
            event_id=self.event_id,
            number=row.number,
            status=row.status,
            amount_minor=row.amount_minor,
            currency="EUR",
            price_version=self.price_version,
            lines=row.lines,
            hold_ids=(row.hold.hold_id,),
            operations=tuple(row.operations),
            pay_until=row.hold.expires_at if row.status is OrderStatus.PENDING else None,
            created_at=row.created_at,
            server_time=self.now(),
            paid_minor=row.paid_minor,
            places=row.places,
        )


def _counted(places: Iterable[CheckoutPlaces]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for priced in places:
        counts[priced.tier_id] += priced.quantity
    return counts
