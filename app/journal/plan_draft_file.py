"""The draft of a seating plan that is not saved yet, in the console's data folder: whole or not there, never half."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from app.whole_file import write_whole

FILE_NAME: Final = "plan-draft.json"


class PlanDraftFile:
    """One draft. Writes follow each other in the order in which they were asked for."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._turn = asyncio.Lock()

    async def read(self) -> bytes | None:
        """What is kept, None when nothing is."""
        async with self._turn:
            return await asyncio.to_thread(_read, self.path)

    async def write(self, data: bytes) -> None:
        """Keep this instead of what was kept. Once it returns, it is on the disk.

        Raises:
            OSError: it could not be written; what was kept before is still there.
        """
        async with self._turn:
            await asyncio.to_thread(write_whole, self.path, data)

    async def set_aside(self) -> None:
        """Keep what cannot be read under another name, for whoever may be able to."""
        async with self._turn:
            await asyncio.to_thread(self.path.replace, self.path.with_suffix(".damaged"))

    async def forget(self) -> None:
        """Keep nothing."""
        async with self._turn:
            await asyncio.to_thread(self.path.unlink, missing_ok=True)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
