"""Choosing an event and showing its plan, prices and seats."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from app.actions.desk import Desk
from app.core.sale import Sale, SaleState
from app.core.store import Notice, NoticeCode
from backend_client.errors import BookingClientError
from backend_client.seat_frames import Snapshot
from backend_client.wire import EventDetail, EventId, Plan


async def load_events(desk: Desk) -> None:
    """Read the events on offer into the store."""
    answer = await desk.client.events()
    desk.store.put_events(answer.events)


async def open_event(desk: Desk, event_id: EventId) -> None:
    """Show an event: its prices, its plan and a first snapshot of its seats. `follow_seats` keeps the map live.

    Picks in another event go: nobody has them yet, and they cannot be held beside this one's map.

    Raises:
        BookingClientError: it cannot be read; the event shown before stays.
    """
    detail, plan, snapshot = await _read(desk, event_id)
    if isinstance(snapshot, Snapshot) and snapshot.plan_version != plan.version:
        detail, plan, snapshot = await _read(desk, event_id)  # the plan was changed in between
    sale = desk.store.sale
    with desk.store.batch():
        if sale is not None and sale.state is SaleState.PICKING and sale.event_id != event_id:
            desk.store.put_sale(None)
        desk.store.open_event(detail, plan)
        if isinstance(snapshot, Snapshot) and snapshot.plan_version == plan.version:
            desk.store.load_seats(snapshot)


async def _read(desk: Desk, event_id: EventId) -> tuple[EventDetail, Plan, Snapshot | BookingClientError]:
    """The event, its plan, and its seats or why they cannot be read: a map without states is better than none."""
    detail = await desk.client.event(event_id)
    plan, snapshot = await asyncio.gather(
        desk.client.plan(event_id, detail.plan_id, detail.plan_version),
        desk.client.seat_snapshot(event_id),
        return_exceptions=True,
    )
    if isinstance(plan, BaseException):
        raise plan
    if isinstance(snapshot, BaseException) and not isinstance(snapshot, BookingClientError):
        raise snapshot
    return detail, plan, snapshot


async def reprice(desk: Desk, sale: Sale) -> Sale:
    """The sale at the prices that count now, with a notice; the caller keeps it."""
    detail = await desk.client.event(sale.event_id)
    if desk.store.event is not None and desk.store.event.event_id == sale.event_id:
        desk.store.put_event(detail)
    amounts = {(price.category_no, price.price_type_id): price.amount_minor for price in detail.prices}
    picks = tuple(
        replace(pick, amount_minor=amounts.get((pick.category_no, pick.price_type_id), pick.amount_minor))
        for pick in sale.picks
    )
    desk.store.post(Notice(NoticeCode.PRICES_CHANGED, sale_id=sale.sale_id))
    return replace(sale, picks=picks)
