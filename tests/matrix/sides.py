"""The other side as the matrix sees it: the sandbox in its own process, what is told to it, and its own ledger."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from booking.payments.sandbox_ledger import SandboxLedger
from tests.matrix.processes import Started

SECRET = b"secret of the matrix"


@dataclass
class SandboxSide:
    """A sandbox in a process of its own; it keeps its books in `folder` over restarts."""

    folder: Path
    anew: bool
    port: int = 0
    process: Started | None = None
    fired_before: dict[str, int] = field(default_factory=dict)
    """What fired in processes that were killed since."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, on the port it had before if it had one."""
        ready = self.folder / f"sandbox-{len(list(self.folder.iterdir()))}.json"
        secret = self.folder / "webhook-secret"
        secret.write_bytes(SECRET)
        self.process = Started(
            "sandbox", self.folder, anew=self.anew, ready_file=str(ready), ledger=str(self.folder / "ledger.jsonl"),
            parent=os.getpid(), port=self.port, secret_file=str(secret),
        )  # fmt: skip
        self.port = (await self.process.ready(ready))["port"]

    async def kill_and_restart(self) -> None:
        """SIGKILL it, and start it again on the same books."""
        assert self.process is not None
        self.fired_before = await self.fired()
        await self.process.kill()
        assert self.process.exit_code == -signal.SIGKILL
        await self.start()

    async def end(self) -> None:
        if self.process is not None and self.process.exit_code is None:
            await self.process.kill()

    async def tell(self, path: str, **body: object) -> dict[str, Any]:
        """One control call."""
        async with httpx.AsyncClient(base_url=self.url, verify=False) as http:
            answer = await http.post(f"/control/{path}", json=body)
        assert answer.status_code in {200, 402}, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def plan(self, on: str, fault: str) -> None:
        await self.tell("faults", on=on, fault=fault, times=1)

    async def fired(self) -> dict[str, int]:
        """What fired so far, by `on:fault`."""
        async with httpx.AsyncClient(base_url=self.url, verify=False) as http:
            now: dict[str, int] = (await http.get("/control/faults")).json()["fired"]
        return {name: now.get(name, 0) + self.fired_before.get(name, 0) for name in now | self.fired_before}

    def books(self) -> SandboxLedger:
        """Its own file, read."""
        return SandboxLedger(self.folder / "ledger.jsonl")
