"""One console at a time on a data folder. The lock dies with its process, so a crash leaves nothing to clear away."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.core.errors import JournalInUseError

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_LOCKED_BYTE = 1 << 20
"""Far behind the text: a locked byte cannot be read by others on some systems."""
_LONGEST_TEXT = 4096


class InstanceLock:
    """Holds `path` locked until `release`. Its text remembers which journal was made beside it.

    Raises:
        JournalInUseError: another console holds it.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            raise JournalInUseError(f"another console works on {path.parent}") from error

    def read(self) -> str:
        """The text kept in the lock file."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.read(self._descriptor, _LONGEST_TEXT).decode()

    def write(self, text: str) -> None:
        """Keep a text, safe on the disk."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.truncate(self._descriptor, 0)
        os.write(self._descriptor, text.encode())
        os.fsync(self._descriptor)

    def release(self) -> None:
        """Let another console in."""
        os.close(self._descriptor)
