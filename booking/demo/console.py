"""The console as the demo starts it: a process of its own, told by standard input who signs in."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from booking.demo.child import end_process, exit_words, last_words, spawn
from booking.demo.progress import say, step
from booking.demo.stack import DemoFolders
from booking.domain.currencies import exponent_of

TOUR_TIMEOUT_S = 300.0
_STOP_S = 8.0


@dataclass(frozen=True, slots=True)
class ConsoleRun:
    """What a console needs to start. The password goes through a pipe: command lines and environments are readable."""

    api_url: str
    data: Path
    terminal: str
    name: str
    password: str = field(repr=False)

    async def start(
        self, log_file: Path, *more: str, environment: dict[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        """Start it, signed in; `more` are further arguments."""
        words = ["app", "--server", self.api_url, "--data", str(self.data), "--terminal", self.terminal]
        words += ["--parent-pid", str(os.getpid()), "--sign-in-from-stdin", *more]
        process = await spawn(words, log_file, stdin=asyncio.subprocess.PIPE, environment=environment)
        if process.stdin is None:
            raise OSError("the console has no standard input")
        process.stdin.write(json.dumps({"name": self.name, "password": self.password}).encode() + b"\n")
        try:
            await process.stdin.drain()
            process.stdin.close()
        except ConnectionError:
            pass  # it ended at once; its exit code says why
        return process


async def take_tour(run: ConsoleRun, folders: DemoFolders, pictures: Path, plan: str) -> int:
    """The whole sale in windows that nobody sees: real processes, real events, a picture of each step.

    Returns 0, or 1 when the tour did not end well.
    """
    words = _prepare_tour(folders, pictures, plan)
    log_file = folders.log("console")
    environment = {"QT_QPA_PLATFORM": "offscreen"}
    with step("tour", "ended"):
        process = await run.start(log_file, *words, environment=environment)
        try:
            async with asyncio.timeout(TOUR_TIMEOUT_S):
                code = await process.wait()
        except TimeoutError:
            say(f"the tour did not end within {TOUR_TIMEOUT_S:.0f} s")
            code = 1
        finally:
            await asyncio.shield(end_process(process, "console", _STOP_S))
    if code != 0:
        say(f"the tour failed ({exit_words(code)}). {last_words(log_file)}")
        return 1
    return 0


def _prepare_tour(folders: DemoFolders, pictures: Path, plan: str) -> list[str]:
    pictures.mkdir(parents=True, exist_ok=True)
    folders.tour_report.unlink(missing_ok=True)
    words = ["--tour", plan, "--pictures", str(pictures)]
    return [*words, "--report", str(folders.tour_report)]


def tour_words(report: Path, pictures: Path) -> str:
    """What was sold and where the pictures are, for standard output."""
    lines = []
    if report.exists():
        found = json.loads(report.read_text(encoding="utf-8"))
        lines = [_sale_words(sale) for sale in found.get("sales", [])]
        lines += [f"problem: {problem}" for problem in found.get("problems", [])]
    return "\n".join([*lines, f"pictures: {pictures}", f"report: {report}", ""])


def _sale_words(sale: Mapping[str, object]) -> str:
    seats = sale.get("seats")
    count = len(seats) if isinstance(seats, list) else 0
    amount = _amount_words(sale.get("amount_minor"), sale.get("currency"))
    return f"{sale.get('kind')}: {count} seats, {amount}, {sale.get('state')}, order {sale.get('order_number')}"


def _amount_words(amount_minor: object, currency: object) -> str:
    """195.00 EUR: for scripts and eyes alike, in no one's local form."""
    if not isinstance(amount_minor, int) or not isinstance(currency, str) or not currency:
        return "no amount"
    digits = exponent_of(currency)
    return f"{amount_minor / 10**digits:.{digits}f} {currency}"
