"""The inbox as it is shown, written to a file (I5). Also while the booking system is away: it is what was read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from app.core.inbox_csv import inbox_csv
from app.core.inbox_filter import InboxRow
from app.whole_file import write_whole


async def export_inbox(path: Path, heads: Sequence[str], rows: Sequence[InboxRow], as_of: datetime | None) -> None:
    """Write the rows as CSV: the whole file or none, and the interface goes on meanwhile.

    Raises:
        OSError: it could not be written; a file that was there is as it was.
    """
    await asyncio.to_thread(_write, path, tuple(heads), tuple(rows), as_of)


def _write(path: Path, heads: Sequence[str], rows: Sequence[InboxRow], as_of: datetime | None) -> None:
    write_whole(path, inbox_csv(heads, rows, as_of))
