"""The inbox as it is shown, written to a file (I5). Also while the booking system is away: it is what was read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from app.core.inbox_csv import inbox_csv
from app.core.inbox_filter import InboxRow


async def export_inbox(path: Path, heads: Sequence[str], rows: Sequence[InboxRow], as_of: datetime | None) -> None:
    """Write the rows as CSV: the whole file or none, and the interface goes on meanwhile.

    Raises:
        OSError: it could not be written; a file that was there is as it was.
    """
    await asyncio.to_thread(_write, path, tuple(heads), tuple(rows), as_of)


def _write(path: Path, heads: Sequence[str], rows: Sequence[InboxRow], as_of: datetime | None) -> None:
    body = inbox_csv(heads, rows, as_of)
    fresh = path.with_name(f"{path.name}.part")
    try:
        with fresh.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
