"""Events of providers, references of charges, and which provider and reader belong where, as the database has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer


@dataclass(frozen=True, slots=True)
class AboutOperation:
    """What an event is about: the operation, and the charge that it belongs to; None for what is not here."""

    operation_id: UUID | None
    charge_id: UUID | None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event that waits to be applied; `facts` is the JSON that was stored of it."""

    provider: str
    event_ref: str
    facts: str


async def note_event(
    db: Database, provider: str, event_ref: str, signed_at: datetime, tolerance_s: float, facts: str
) -> str:
    """Store an event: `new`, `again` (not applied yet), `seen`, or `late` (then nothing is stored)."""
    rows = await db.call(query("note_provider_event"), provider, event_ref, signed_at, tolerance_s, facts)
    told: str = rows[0]["told"]
    return told


async def find_operation(
    db: Database, providers: Sequence[str], kind: str, *, key: str, charge_key: str, reference: str
) -> AboutOperation:
    """The operation of that kind that an event names."""
    rows = await db.fetch(query("find_event_operation"), list(providers), kind, key, charge_key, reference)
    return AboutOperation(rows[0]["operation_id"], rows[0]["charge_id"])


async def settle_event(
    db: Database, provider: str, event_ref: str, state: str, operation_id: UUID | None, evidence: str
) -> bool:
    """Done with an event, and its evidence kept beside the operation. False: somebody else was first."""
    rows = await db.call(query("settle_provider_event"), provider, event_ref, state, operation_id, evidence)
    settled: bool = rows[0]["settled"]
    return settled


async def park_event(db: Database, provider: str, event_ref: str, days: int) -> None:
    """Keep an event until what it is about is here, for so many days."""
    await db.call(query("park_provider_event"), provider, event_ref, days)


async def wake_events(db: Database, provider: str, reference: str) -> int:
    """Have the worker apply the parked events of a charge now. Returns how many there are."""
    rows = await db.call(query("wake_provider_events"), provider, reference)
    woken: int = rows[0]["woken"]
    return woken


async def claim_events(db: Database, limit: int) -> list[StoredEvent]:
    """Events that are due to be applied, each claimed for a while by this call."""
    async with db.transaction() as connection:
        rows = await connection.fetch(query("claim_provider_events"), limit)
    return [StoredEvent(row["provider"], row["event_ref"], row["body"]) for row in rows]


async def ask_now(db: Database, operation_id: UUID) -> bool:
    """Have the worker ask the provider about an operation at once. False: its answer is known."""
    rows = await db.call(query("ask_provider_now"), operation_id)
    asked: bool = rows[0]["asked"]
    return asked


async def remember_reference(db: Database, operation_id: UUID, reference: str) -> bool:
    """Keep the provider's reference of a charge. False: the operation has its answer, or another reference."""
    rows = await db.call(query("remember_reference"), operation_id, reference)
    remembered: bool = rows[0]["remembered"]
    return remembered


async def note_refund_by_hand(
    db: Database, charge_id: UUID, movement_ref: str, amount_minor: int, currency: str, detail: str
) -> None:
    """An item: money of this charge went back at the provider without us. Once for each movement of the provider."""
    await db.call(query("note_refund_by_hand"), uuid7(), charge_id, movement_ref, amount_minor, currency, detail)


async def set_channel_providers(
    db: Database, caller: Caller, event_id: int | None, channel: str, providers: Sequence[str], reason: str, use: KeyUse
) -> SaleAnswer:
    """The providers of a channel, for one event or for all others."""
    return SaleAnswer.of(
        await db.call(
            query("set_channel_providers"), caller.principal, event_id, channel, list(providers), reason, use.key,
            use.digest,
        )
    )  # fmt: skip


async def set_device_reader(
    db: Database, caller: Caller, device_id: UUID, provider: str, reader_ref: str, reason: str, use: KeyUse
) -> SaleAnswer:
    """The card reader of a till; '' takes it away."""
    return SaleAnswer.of(
        await db.call(
            query("set_device_reader"), caller.principal, device_id, provider, reader_ref, reason, use.key, use.digest
        )
    )


async def read_channel_providers(db: Database) -> list[Record]:
    """(event_id, channel, providers, changed_at, changed_by); the rows for all events first."""
    return await db.fetch(query("read_channel_providers"))


async def list_device_readers(db: Database) -> list[Record]:
    """(device_id, device_name, provider, reader_ref, changed_at, changed_by)."""
    return await db.fetch(query("list_device_readers"))


async def read_device_reader(db: Database, device_id: UUID, provider: str) -> str:
    """The provider's name of the till's reader; '' when it has none."""
    row = await db.fetchrow(query("read_device_reader"), device_id, provider)
    return "" if row is None else str(row["reader_ref"])


async def read_time(db: Database) -> datetime:
    """The database's time."""
    now: datetime = (await db.fetch(query("read_time")))[0][0]
    return now


async def read_sale_prices(db: Database, event_id: int | None) -> list[Record]:
    """(event_id, currency, amounts) of one event, or of all that are not cancelled."""
    return await db.fetch(query("read_sale_prices"), event_id)
