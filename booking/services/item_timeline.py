"""Everything that happened around an item, in one line of time: the sale, the operations, what each side said, people.

Evidence is masked once more on its way out (R43): it was before it was stored, but names of providers and terminals
come from outside as well.
"""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

import msgspec

from booking.domain.card_data import mask_card_data
from booking.domain.items import TimelineEntry, TimelineKind
from booking.store import reconciliation_queries
from booking.store.connection import Record
from booking.store.database import Database

MOST_ENTRIES: Final = 2_000
LONGEST_BODY: Final = 4_000
_LONG: Final = 20_000


async def timeline_of(db: Database, item_id: UUID) -> tuple[TimelineEntry, ...]:
    """The newest `MOST_ENTRIES` entries, oldest first; none for an item that is not there."""
    rows = await reconciliation_queries.read_timeline(db, item_id, MOST_ENTRIES)
    if sum(len(row["body"] or "") for row in rows) > _LONG:
        return await asyncio.to_thread(_entries, rows)  # masking long evidence takes a while: nobody else waits for it
    return _entries(rows)


def _entries(rows: list[Record]) -> tuple[TimelineEntry, ...]:
    return tuple(
        TimelineEntry(
            at=row["at"],
            kind=TimelineKind(row["kind"]),
            title=row["title"],
            source=_source_of(row["source"] or ""),
            operation_id=row["operation_id"],
            amount_minor=row["amount_minor"],
            currency=row["currency"],
            body=mask_card_data((row["body"] or "")[:LONGEST_BODY]),
        )
        for row in rows
    )


def _source_of(source: str) -> str:
    """A till by the person and its name, a buyer by his mark; anything else as it is."""
    if not source.startswith("{"):
        return source
    actor = msgspec.json.decode(source, type=dict[str, str])
    if actor["kind"] == "fan":
        return f"fan {actor['short_id']}"
    return " · ".join(part for part in (actor["name"], actor["till"]) if part) or "till"
