"""The inbox of what only a person can settle: lists, one item with its evidence, and the list as a file (R33, I5)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

import msgspec

from booking.domain.caller import Caller
from booking.domain.csv_text import BOM, csv_line
from booking.domain.errors import FieldFault, InvalidRequestError, ItemNotFoundError
from booking.domain.item_actions import ItemAction
from booking.domain.item_words import major
from booking.domain.items import (
    ApprovalAsked,
    ItemDetail,
    ItemFilter,
    ItemList,
    ReconciliationItem,
    Till,
)
from booking.domain.model import MAX_AMOUNT_MINOR, ResultOutcome, SeatRef
from booking.domain.money_back import RefundWay
from booking.domain.text import refuse_unstorable
from booking.services.item_timeline import timeline_of
from booking.services.orders import order_as_it_stands
from booking.services.read_events import MAX_EVENT_ID
from booking.store import reconciliation_queries
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.reconciliation_queries import Place

PAGE: Final = 50
MOST: Final = 200
MAX_TEXT: Final = 200
_COLUMNS: Final = (
    "opened_at", "kind", "state", "event", "order", "provider", "amount", "currency", "seats", "words", "asked_by",
    "resolved_at", "resolved_by", "resolution", "item_id",
)  # fmt: skip


async def list_items(db: Database, wanted: ItemFilter, *, after: str = "", limit: int = PAGE) -> ItemList:
    """Items, oldest first. `after` is `next` of the page before.

    Raises:
        InvalidRequestError: naming the member of the query that is wrong.
    """
    check_filter(wanted, limit)
    rows = await reconciliation_queries.list_items(db, wanted, _place_of(after), limit + 1)
    open_count, now = await reconciliation_queries.count_open_items(db)
    items = tuple([await reconciliation_queries.item_of(db, row) for row in rows[:limit]])
    return ItemList(items, _next_of(rows, limit), open_count, now)


async def read_item(db: Database, caller: Caller, item_id: UUID) -> ItemDetail:
    """One item: what happened around it, and what may be done with it now.

    Raises:
        ItemNotFoundError: there is none.
    """
    row = await reconciliation_queries.read_item(db, item_id)
    if row is None:
        raise ItemNotFoundError("There is no such item.")
    order = None if row["order_id"] is None else await order_as_it_stands(db, row["order_id"])
    asked = await reconciliation_queries.read_approval(db, item_id)
    return ItemDetail(
        item=await reconciliation_queries.item_of(db, row),
        timeline=await timeline_of(db, item_id),
        actions=await reconciliation_queries.read_actions(db, item_id),
        operations=() if order is None else order.operations,
        order=order,
        approval=None if asked is None else _approval_of(asked, caller),
        server_time=(await reconciliation_queries.count_open_items(db))[1],
    )


async def csv_of_items(db: Database, wanted: ItemFilter) -> AsyncIterator[bytes]:
    """The list as comma-separated values, page by page; what a spreadsheet would run is made harmless (I5).

    Check the filter first (`check_filter`): once the first piece is sent there is no way to refuse.
    """
    yield (BOM + csv_line(_COLUMNS)).encode()
    place: Place | None = None
    while True:
        rows = await reconciliation_queries.list_items(db, wanted, place, MOST)
        lines = [_csv_of(await reconciliation_queries.item_of(db, row)) for row in rows]
        if lines:
            yield "".join(lines).encode()
        if len(rows) < MOST:
            return
        place = (rows[-1]["opened_at"], rows[-1]["item_id"])


async def open_tills(db: Database) -> tuple[Till, ...]:
    """Tills to which money that is owed can be handed: somebody who may give it back is at work there (R33)."""
    return await reconciliation_queries.list_open_tills(db)


def check_filter(wanted: ItemFilter, limit: int = MOST) -> None:
    """Refuse a filter that no item can be asked for with.

    Raises:
        InvalidRequestError: naming the member of the query that is wrong.
    """
    texts = {"query:kind": wanted.kind, "query:provider": wanted.provider, "query:q": wanted.q}
    refuse_unstorable(texts)
    faults = [FieldFault(at, f"has more than {MAX_TEXT} characters") for at, it in texts.items() if len(it) > MAX_TEXT]
    if wanted.event_id is not None and not 0 < wanted.event_id <= MAX_EVENT_ID:
        faults.append(FieldFault("query:event", "must be the number of an event"))
    if wanted.min_minor is not None and not 0 <= wanted.min_minor <= MAX_AMOUNT_MINOR:
        faults.append(FieldFault("query:min_minor", f"must be an integer from 0 to {MAX_AMOUNT_MINOR}"))
    if not 1 <= limit <= MOST:
        faults.append(FieldFault("query:limit", f"must be an integer from 1 to {MOST}"))
    if faults:
        raise InvalidRequestError("The items cannot be listed like this.", fields=tuple(faults))


def _approval_of(row: Record, caller: Caller) -> ApprovalAsked:
    return ApprovalAsked(
        action=ItemAction(row["action"]),
        asked_by=row["asked_name"],
        asked_at=row["asked_at"],
        reason=row["reason"],
        amount_minor=row["amount_minor"],
        reference=row["reference"],
        order_id=row["order_id"],
        may_decide=caller.acts_for_all and caller.staff_id != row["asked_by"],
        outcome=ResultOutcome(row["outcome"]) if row["outcome"] else None,
        seats_to_sale=row["seats_to_sale"],
        device_id=row["device_id"],
        way=RefundWay(row["way"]) if row["way"] else None,
    )


def _next_of(rows: list[Record], limit: int) -> str:
    if len(rows) <= limit:
        return ""
    last = rows[limit - 1]
    return base64.urlsafe_b64encode(msgspec.json.encode([last["opened_at"], last["item_id"]])).decode().rstrip("=")


def _place_of(after: str) -> Place | None:
    if not after:
        return None
    try:
        raw = base64.urlsafe_b64decode(after + "=" * (-len(after) % 4))
        at, item_id = msgspec.json.decode(raw, type=tuple[datetime, UUID])
        if at.utcoffset() is None:
            raise _bad_place()
        return at.astimezone(UTC), item_id
    except (ValueError, OverflowError, binascii.Error):  # an instant at the edge of the calendar has no UTC
        raise _bad_place() from None


def _bad_place() -> InvalidRequestError:
    fault = FieldFault("query:after", "must be `next` of an earlier page")
    return InvalidRequestError("The items cannot be listed like this.", fields=(fault,))


def _csv_of(item: ReconciliationItem) -> str:
    return csv_line(
        (
            item.opened_at.isoformat(), item.kind, item.state, item.event_name, item.order_number, item.provider,
            Decimal(major(item.amount_minor, item.currency)), item.currency, "; ".join(map(_seat_words, item.seats)),
            item.words, item.asked_by, None if item.resolved_at is None else item.resolved_at.isoformat(),
            item.resolved_by, item.resolution, str(item.item_id),
        )
    )  # fmt: skip


def _seat_words(seat: SeatRef) -> str:
    return " ".join(part for part in (seat.section, seat.row, seat.number) if part) or str(seat.seat_no)
