"""The log of operations as a CSV file: texts that a spreadsheet would run are made harmless (I5)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from app.core.inbox_csv import harmless
from backend_client.wire import OpsLogEntry

COLUMN_COUNT = 10


def ops_log_csv(heads: Sequence[str], rows: Iterable[tuple[OpsLogEntry, str]]) -> bytes:
    """UTF-8 with a byte order mark; instants in UTC. `rows` are entries with what people read for their action.

    `heads` are the words over the columns: entry, at, kind, action, what happened, who, subject, event, from and to,
    reason.
    """
    if len(heads) != COLUMN_COUNT:
        raise ValueError(f"{len(heads)} heads for {COLUMN_COUNT} columns")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([harmless(head) for head in heads])
    for entry, words in rows:
        changes = "; ".join(f"{change.name}: {change.was} → {change.now}" for change in entry.changes)
        writer.writerow([harmless(str(cell)) for cell in (
            entry.entry_id, entry.at.isoformat(), entry.kind.value, entry.action, words, entry.who, entry.subject,
            "" if entry.event_id is None else entry.event_id, changes, entry.reason,
        )])  # fmt: skip
    return b"\xef\xbb\xbf" + out.getvalue().encode()
