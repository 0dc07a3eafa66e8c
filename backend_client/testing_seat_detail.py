"""The details of one seat of a `testing_house.House`: what its holds and orders say, on top of a past of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from backend_client.seat_frames import HOLDER_MASK, HOLDER_SHIFT, PRINTED_BIT, STATUS_MASK, USED_BIT
from backend_client.wire import (
    HoldStatus,
    OrderStatus,
    SeatActor,
    SeatActorKind,
    SeatDetail,
    SeatHistoryItem,
    SeatPrice,
    SeatStatus,
    TicketStatus,
)

if TYPE_CHECKING:
    from backend_client.testing_house import House

HERE = SeatActor(kind=SeatActorKind.TILL, name="Carla", till="Counter 1")
_ACTORS = {
    1: HERE,
    2: SeatActor(kind=SeatActorKind.FAN, short_id="a41f07"),
    3: SeatActor(kind=SeatActorKind.HOUSE, name="Sofia"),
}


def seat_detail(house: House, seat_no: int) -> SeatDetail:
    """One seat as it stands; the caller has ended what is due and knows that the seat is there."""
    plan, event = house.plan, house.event()
    byte, category_no = int(house.states[seat_no]), plan.seats.category_no[seat_no]
    status = tuple(SeatStatus)[byte & STATUS_MASK]
    hold = next((row for row in reversed(house.holds.values()) if seat_no in row.seats), None)
    order = None if hold is None or hold.order_id is None else house.orders[hold.order_id]
    line = None if order is None else next(line for line in order.lines if line.seat.seat_no == seat_no)
    history = (*house.seat_past.get(seat_no, ()), *_made_here(house, seat_no))
    names = {kind.price_type_id: kind.name for kind in event.price_types}
    taken = status is not SeatStatus.AVAILABLE
    since = [item.at for item in history if item.kind in {"held", "paying", "sold", "kept-back"}]
    return SeatDetail(
        event_id=house.event_id,
        seat=house.seat(seat_no),
        category_no=category_no,
        category_name=next((one.name for one in event.categories if one.category_no == category_no), ""),
        currency=event.currency,
        prices=tuple(
            SeatPrice(price_type_id=kind, name=names[kind], amount_minor=amount)
            for (category, kind), amount in house.prices.items()
            if category == category_no
        ),
        flags=plan.seats.flags[seat_no],
        status=status,
        printed=bool(byte & PRINTED_BIT),
        used=bool(byte & USED_BIT),
        held_by=_ACTORS.get((byte & HOLDER_MASK) >> HOLDER_SHIFT) if taken else None,
        since=since[-1] if taken and since else None,
        until=hold.expires_at if hold is not None and status in (SeatStatus.HELD, SeatStatus.PAYING) else None,
        hold_id=hold.hold_id if hold is not None and taken else None,
        order_id=order.order_id if order is not None and taken else None,
        order_number=order.number if order is not None and taken else "",
        order_status=order.status if order is not None and taken else None,
        amount_minor=line.amount_minor if line is not None and taken else None,
        price_type_name=line.price_type_name if line is not None and taken else "",
        ticket_status=(TicketStatus.PRINTED if byte & PRINTED_BIT else TicketStatus.ISSUED)
        if status is SeatStatus.SOLD and order is not None
        else None,
        house_hold=house.seat_house_holds.get(seat_no) if status is SeatStatus.BLOCKED else None,
        history=history,
        server_time=house.now(),
    )


def _made_here(house: House, seat_no: int) -> list[SeatHistoryItem]:
    """What the holds and orders of this house have done to a seat, in order."""
    items: list[SeatHistoryItem] = []
    for hold in house.holds.values():
        if seat_no not in hold.seats:
            continue
        held = SeatHistoryItem(at=hold.created_at, kind="held", by=HERE, hold_id=hold.hold_id)
        items.append(held)
        order = None if hold.order_id is None else house.orders[hold.order_id]
        if order is not None:
            line = next(line for line in order.lines if line.seat.seat_no == seat_no)
            paying = replace(
                held, at=order.created_at, kind="paying", order_id=order.order_id, order_number=order.number,
                amount_minor=line.amount_minor, price_type_name=line.price_type_name,
            )  # fmt: skip
            items.append(paying)
            if order.status is OrderStatus.CONFIRMED:
                items.append(replace(paying, at=house.now(), kind="sold"))
        if hold.status in (HoldStatus.RELEASED, HoldStatus.EXPIRED):
            ended = min(hold.expires_at, house.now())
            items.append(SeatHistoryItem(at=ended, kind=hold.status.value.lower(), hold_id=hold.hold_id))
    return items
