"""Real processes of the booking system for tests: start, wait for the ready file, stop, and look at how it ended."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 60.0


@dataclass
class Running:
    """A process of ours and what its ready file says."""

    process: subprocess.Popen[bytes]
    ready: dict[str, Any]

    @property
    def url(self) -> str:
        url: str = self.ready["url"]
        return url

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end. Returns the exit code."""
        self.process.send_signal(number)
        return await asyncio.to_thread(self.process.wait, ENDS_WITHIN_S)


@asynccontextmanager
async def running(verb: str, *arguments: str, folder: Path) -> AsyncIterator[Running]:
    """`python -m booking VERB …`, ready; killed at the end if it still runs."""
    ready_file = folder / f"{verb}-{len(list(folder.iterdir()))}.json"
    log_file = ready_file.with_suffix(".log")
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "booking", verb, *arguments, "--ready-file", str(ready_file)], stderr=log, stdout=log
        )
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not ready_file.exists():
                    assert process.poll() is None, log_file.read_text()
                    await asyncio.sleep(0.02)
            yield Running(process, json.loads(ready_file.read_text()))
        finally:
            process.kill()
            process.wait()
