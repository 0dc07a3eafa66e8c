"""Items as the database has them, and what people do with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.item_actions import ItemAction
from booking.domain.item_words import words_of
from booking.domain.items import (
    AllowedAction,
    ItemFilter,
    ItemId,
    ItemState,
    ItemWish,
    ReconciliationItem,
    StateFilter,
    Till,
)
from booking.domain.model import SeatRef
from booking.domain.money_back import RefundWay
from booking.sql import query
from booking.store.connection import Limits, Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer

# People wait for it, and it may have to wait for a sale.
ACT_LIMITS = Limits(lock_ms=2_000, statement_ms=5_000, idle_in_transaction_ms=5_000, transaction_ms=8_000)
SPARE_IDS = 2 + 8
"""An act makes an operation, what follows from it, and an item; who takes an order back makes an act, perhaps a house
hold, and an operation for each part that it was paid in."""

Place = tuple[datetime, UUID]
"""Where a list goes on: after the item of this time and id."""


async def list_items(db: Database, wanted: ItemFilter, after: Place | None, limit: int) -> list[Record]:
    """Rows as `item_of` reads them, oldest first."""
    is_open = wanted.state in (StateFilter.UNSETTLED, StateFilter.OPEN, StateFilter.AWAITING_APPROVAL)
    state = "" if wanted.state is StateFilter.ALL else wanted.state.value
    at, item_id = after or (None, None)
    return await db.fetch(
        query("list_open_items" if is_open else "list_all_items"),
        wanted.kind, wanted.event_id, wanted.provider, wanted.min_minor, wanted.q, at, item_id, limit, state,
    )  # fmt: skip


async def read_item(db: Database, item_id: UUID) -> Record | None:
    """Row as `item_of` reads it."""
    return await db.fetchrow(query("read_item"), item_id)


async def count_open_items(db: Database) -> tuple[int, datetime]:
    """How many items are not resolved, and the time."""
    row = (await db.fetch(query("count_open_items")))[0]
    return row["open_count"], row["now"]


async def item_of(db: Database, row: Record) -> ReconciliationItem:
    """A row of `shown_items`, its seats with their labels, general-admission places by the name of their tier."""
    seats: tuple[SeatRef, ...] = ()
    if row["seats"]:
        seats = await db.seat_labels.refs(row["plan_id"], row["plan_version"], row["seats"])
    if row["tiers"]:
        names = await db.tier_names.of(row["event_id"], row["tiers"])
        seats += tuple(SeatRef(-1, tier.name) for tier in names)
    waits = row["approval_id"] is not None
    return ReconciliationItem(
        item_id=ItemId(row["item_id"]),
        kind=row["kind"],
        state=ItemState.RESOLVED if row["resolved_at"] else ItemState.AWAITING_APPROVAL if waits else ItemState.OPEN,
        version=row["version"],
        opened_at=row["opened_at"],
        event_id=row["event_id"],
        event_name=row["event_name"],
        order_id=row["order_id"],
        order_number=row["order_number"],
        operation_id=row["operation_id"],
        provider=row["provider"],
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        seats=seats,
        words=words_of(row["kind"], msgspec.json.decode(row["detail_json"]), row["currency"]),
        asked_by=row["asked_name"] or "",
        resolved_at=row["resolved_at"],
        resolved_by=row["resolved_name"],
        resolution=row["resolution"],
    )


async def read_actions(db: Database, item_id: UUID) -> tuple[AllowedAction, ...]:
    """What may be done with the item now."""
    rows = await db.fetch(query("read_item_actions"), item_id)
    return tuple(
        AllowedAction(
            ItemAction(row["action"]),
            row["second_person"],
            row["most_minor"],
            row["why_not"],
            row["outcome_needed"],
            tuple(RefundWay(way) for way in row["ways"]),
        )
        for row in rows
    )


async def read_approval(db: Database, item_id: UUID) -> Record | None:
    """Row of the act that waits for a second person."""
    return await db.fetchrow(query("read_item_approval"), item_id)


async def list_open_tills(db: Database) -> tuple[Till, ...]:
    """Tills with somebody at work who may give money back, by name."""
    rows = await db.fetch(query("list_open_tills"))
    return tuple(Till(row["device_id"], row["name"], row["staff_name"], row["since"]) for row in rows)


async def act_on_item(db: Database, caller: Caller, item_id: UUID, wish: ItemWish, use: KeyUse) -> SaleAnswer:
    """Do, or ask a second person for, what is wanted; the database decides whether the item allows it."""
    return await _patient(
        db, "act_on_item", caller.principal, caller.staff_id, item_id, wish.action, wish.version, wish.reason,
        wish.amount_minor, wish.reference, wish.order_id, wish.outcome or "", wish.seats_to_sale, wish.device_id,
        wish.way or "", [uuid7() for _ in range(SPARE_IDS)], use.key, use.digest,
    )  # fmt: skip


async def decide_item(
    db: Database, caller: Caller, item_id: UUID, version: int, reason: str, use: KeyUse, *, approve: bool
) -> SaleAnswer:
    """A second person's word on what was asked."""
    return await _patient(
        db, "decide_item", caller.principal, caller.staff_id, item_id, approve, version, reason,
        [uuid7() for _ in range(SPARE_IDS)], use.key, use.digest,
    )  # fmt: skip


async def read_timeline(db: Database, item_id: UUID, limit: int) -> list[Record]:
    """Rows (at, kind, title, source, operation_id, amount_minor, currency, body), by time."""
    return await db.fetch(query("read_item_timeline"), item_id, limit)


async def read_settings(db: Database) -> Record:
    """The one row of settings; `limits` is JSON."""
    return (await db.fetch(query("read_reconciliation_settings")))[0]


async def change_settings(
    db: Database, caller: Caller, expected: int, settings: dict[str, object], reason: str, use: KeyUse
) -> SaleAnswer:
    """New settings by column name, made from version `expected`."""
    return await _patient(
        db, "change_reconciliation_settings", caller.principal, caller.staff_id, expected,
        msgspec.json.encode(settings).decode(), reason, use.key, use.digest,
    )  # fmt: skip


async def end_settled_items(db: Database, after: UUID | None, limit: int) -> tuple[int, UUID | None]:
    """End open items whose cause is gone: how many, and the item to go on after; None at the end."""
    row = (await db.call(query("end_settled_items"), after, limit))[0]
    return row["ended"], row["last"]


async def end_settled_item(db: Database, item_id: UUID) -> bool:
    """End one open item whose cause is gone. False: it is not, or somebody acts on it just now."""
    ended: bool = (await db.call(query("end_settled_item"), item_id))[0]["ended"]
    return ended


async def note_unknown_operations(db: Database, limit: int) -> int:
    """An item for each operation that its provider leaves open for too long. Returns how many are new."""
    noted: int = (await db.call(query("note_unknown_operations"), _ids(limit)))[0]["noted"]
    return noted


async def note_missing_tickets(db: Database, limit: int, age: timedelta, within: timedelta) -> int:
    """An item for each order that lacks tickets `age` after it was confirmed. Returns how many are new."""
    async with db.transaction() as connection:
        noted: int = await connection.fetchval(query("note_missing_tickets"), _ids(limit), age, within)
    return noted


async def list_unsent_operations(db: Database, limit: int) -> list[UUID]:
    """Authorizations that nobody has sent within their buyer's time."""
    return [row["operation_id"] for row in await db.fetch(query("list_unsent_operations"), limit)]


async def note_reconfirmed(db: Database, operation_id: UUID, outcome: str, amount_minor: int) -> None:
    """A provider was asked again about an operation that has its answer: what it said now."""
    await db.call(query("note_reconfirmed"), operation_id, outcome, amount_minor)


async def is_asked_again(db: Database, operation_ids: Sequence[UUID]) -> bool:
    """Whether an operation that has its answer waits to be asked about again (`note_reconfirmed` ends that)."""
    asked: bool = (await db.fetch(query("is_asked_again"), list(operation_ids)))[0]["is_asked"]
    return asked


async def _patient(db: Database, statement: str, *args: object) -> SaleAnswer:
    """One statement as a transaction of its own, under `ACT_LIMITS`; its key makes it safe to repeat."""
    return SaleAnswer.of(await db.call_patiently(ACT_LIMITS, query(statement), *args))


def _ids(count: int) -> Sequence[UUID]:
    return [uuid7() for _ in range(count)]
