"""A file that is written whole or not at all: what a full disk or a power cut leaves is the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, body: bytes, check: Callable[[Path], None] | None = None) -> None:
    """Replace `path` by a file with this content; it takes as long as the disk does, so call it from a worker thread.

    `check` looks at what is on the disk before it gets its name, and raises OSError when it is not right.

    Raises:
        OSError: it could not be written; a file that was there is as it was, and no half of one is left.
    """
    fresh = path.with_name(f"{path.name}.part")
    try:
        with fresh.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        if check is not None:
            check(fresh)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The new name survives a power cut too, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
