"""One owner for a folder at a time: an advisory file lock that the kernel drops when its holder dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self


class FolderLock:
    """A lock on the file at `path`, taken by `acquire` and held until `release` or the process' end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """True when it is ours now; False when a live process holds it. The file then names that process."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return True

    def holder(self) -> int | None:
        """The process that took the lock last, by its own word."""
        try:
            return int(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def release(self) -> None:
        """Let go. The file stays: removing it would let two processes lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
