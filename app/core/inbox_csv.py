"""The inbox as a CSV file: texts that a spreadsheet would run are made harmless, amounts stay numbers (I5)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from app.core.inbox_filter import InboxRow

_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMN_COUNT = 16


def inbox_csv(heads: Sequence[str], rows: Iterable[InboxRow], as_of: datetime | None) -> bytes:
    """UTF-8 with a byte order mark, so that spreadsheets read it as such; instants in UTC, amounts in whole units.

    `heads` are the words over the columns: item, kind, what happened, state, opened, waits (s), event, order, provider,
    operation, amount, currency, seats, asked by, settled, resolution.
    """
    if len(heads) != COLUMN_COUNT:
        raise ValueError(f"{len(heads)} heads for {COLUMN_COUNT} columns")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([harmless(head) for head in heads])
    for row in rows:
        writer.writerow([cell if isinstance(cell, Decimal | int) else harmless(cell) for cell in _cells(row, as_of)])
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def _cells(row: InboxRow, as_of: datetime | None) -> tuple[str | Decimal | int, ...]:
    item = row.item
    until = item.resolved_at or as_of or item.opened_at
    seats = "; ".join(" ".join(part for part in (seat.section, seat.row, seat.number) if part) for seat in item.seats)
    settled = "" if item.resolved_at is None else f"{item.resolved_at.isoformat()} {item.resolved_by}".strip()
    return (
        str(item.item_id), item.kind, row.kind_words, item.state.value, item.opened_at.isoformat(),
        int((until - item.opened_at).total_seconds()), item.event_name, item.order_number, item.provider,
        str(item.operation_id or ""), row.amount, item.currency, seats, item.asked_by, settled, item.resolution,
    )  # fmt: skip


def harmless(text: str) -> str:
    """A text that begins as a formula does gets an apostrophe before it; nothing else changes."""
    return f"'{text}" if text.startswith(_RUNS) else text
