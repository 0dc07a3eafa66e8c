"""A file that is written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, body: bytes) -> None:
    """Replace `path` by a file with this content; call it from a worker thread.

    Raises:
        OSError: it could not be written; a file that was there is as it was.
    """
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
