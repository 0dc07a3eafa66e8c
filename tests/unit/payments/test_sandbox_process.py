"""The sandbox as a process: `python -m booking sandbox`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from booking.domain.model import ResultOutcome
from booking.payments.sandbox_client import SandboxProvider
from tests.unit.payments.conftest import operation

ROOT = Path(__file__).parents[3]


async def start(ready: Path, *options: str) -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "booking", "sandbox", "--ready-file", str(ready), *options),
        cwd=ROOT,
        stderr=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(60):
        while not ready.exists():
            assert process.returncode is None, "the sandbox ended before it was ready"
            await asyncio.sleep(0.01)
    return process, json.loads(ready.read_text())["url"]


async def test_its_books_survive_a_kill_and_it_ends_clean_on_sigterm(tmp_path: Path) -> None:
    books = str(tmp_path / "books.jsonl")
    asked = operation(payment_method="card-hang-after")
    process, url = await start(tmp_path / "1.json", "--ledger", books)
    provider = SandboxProvider(url, answer_timeout_s=1.0)
    assert (await provider.authorize(asked)).outcome is ResultOutcome.UNKNOWN
    process.kill()
    await process.wait()
    assert (await provider.authorize(asked)).outcome is ResultOutcome.UNKNOWN
    await provider.close()

    process, url = await start(tmp_path / "2.json", "--ledger", books)
    provider = SandboxProvider(url)
    enquired = await provider.enquire(asked)
    await provider.close()
    assert enquired is not None
    assert enquired.outcome is ResultOutcome.SUCCEEDED
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        assert await process.wait() == 0


async def test_a_scenario_holds_for_every_payment(tmp_path: Path) -> None:
    process, url = await start(tmp_path / "ready.json", "--scenario", "decline")
    provider = SandboxProvider(url)
    outcomes = [(await provider.authorize(operation())).outcome for _ in range(2)]
    await provider.close()
    process.kill()
    await process.wait()
    assert outcomes == [ResultOutcome.DECLINED] * 2
