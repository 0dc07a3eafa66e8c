"""A console as a process of its own: driven along a tour, watched through its report, killed, started again."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
import zxingcpp

from tests.end2end.processes import Process, ready

TOUR_TIMEOUT_S = 120.0


@dataclass
class Counter:
    """One counter: its data folder (journal, identity, tickets), who sits there, and what it is connected to."""

    folder: Path
    api_url: str
    terminal: str
    name: str
    password: str

    def start(self, plan: str) -> ConsoleProcess:
        """Start the console on this counter's data, driven along `plan`."""
        mark = time.monotonic_ns()
        report = self.folder / f"report-{mark}.json"
        words = ["app", "--server", self.api_url, "--terminal", self.terminal, "--data", str(self.folder / "console")]
        words += ["--tour", plan, "--pictures", str(self.folder / f"pictures-{mark}"), "--report", str(report)]
        words += ["--sign-in-from-stdin", "--parent-pid", str(os.getpid())]
        line = json.dumps({"name": self.name, "password": self.password})
        return ConsoleProcess(words, self.folder / f"console-{mark}.txt", report, line + "\n")


class ConsoleProcess(Process):
    """A running console and the report of its tour."""

    def __init__(self, words: list[str], log: Path, report: Path, stdin: str) -> None:
        self._report = report
        super().__init__(words, log, stdin=stdin)

    @property
    def report(self) -> dict[str, Any]:
        """What it reported last; empty before the first report."""
        if not self._report.exists():
            return {}
        found: dict[str, Any] = json.loads(self._report.read_text(encoding="utf-8"))
        return found

    async def finished(self) -> dict[str, Any]:
        """Wait for a good end, and return the last report."""
        code = await self.ended(TOUR_TIMEOUT_S)
        assert code == 0, f"{self.report.get('problems')}\n{self.words()[-3000:]}"
        assert self.report["done"]
        return self.report


@dataclass(frozen=True)
class Terminal:
    """A card-terminal simulator of our own."""

    port: int
    control_port: int

    async def ask(self, **request: Any) -> dict[str, Any]:
        """One request to its control port."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.control_port)
        try:
            writer.write(json.dumps(request).encode() + b"\n")
            answer: dict[str, Any] = json.loads(await reader.readline())
        finally:
            writer.close()
        assert answer["ok"], answer
        return answer

    async def payments_asked(self) -> int:
        """How many payments a till has asked for."""
        return int((await self.ask(do="status"))["payments_asked"])

    async def transactions(self) -> list[dict[str, Any]]:
        """All that it stored."""
        found: list[dict[str, Any]] = (await self.ask(do="transactions"))["transactions"]
        return found


@asynccontextmanager
async def terminal_process(folder: Path, *words: str) -> AsyncIterator[Terminal]:
    """Start a terminal simulator that answers quickly."""
    mark = time.monotonic_ns()
    ready_file = folder / f"terminal-{mark}.json"
    command = ["app.devices.zvt.simulator", "--delay", "0.2", "--state", str(folder / "terminal-state.json")]
    command += ["--ready-file", str(ready_file), "--parent-pid", str(os.getpid()), *words]
    process = Process(command, folder / f"terminal-{mark}.txt")
    try:
        facts = await ready(ready_file, process)
        yield Terminal(facts["port"], facts["control_port"])
    finally:
        await process.end()


def codes_in(pdf: Path) -> list[str]:
    """The QR codes of a PDF as a scanner at the gate reads them, page by page."""
    codes = []
    document = pypdfium2.PdfDocument(pdf)
    try:
        for page in document:
            image = page.render(scale=3).to_pil()
            codes += [found.text for found in zxingcpp.read_barcodes(image) if "QR" in str(found.format)]
            page.close()
    finally:
        document.close()
    return codes
