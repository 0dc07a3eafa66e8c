"""The simulator as a process: ready file, control port, a ledger that survives a kill, a clean end."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.devices.card_terminal import TerminalOutcome, TerminalResult, Verdict
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal

ROOT = Path(__file__).parents[3]


@dataclass
class RunningSimulator:
    process: asyncio.subprocess.Process
    port: int
    control_port: int

    async def control(self, **request: object) -> dict[str, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.control_port)
        writer.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(await reader.readline())
        writer.close()
        await writer.wait_closed()
        return answer

    async def pay(self, amount_minor: int) -> TerminalResult:
        async def accept(_result: TerminalResult) -> Verdict:
            return Verdict.ACCEPT

        driver = ZvtTerminal(ZvtSettings("127.0.0.1", self.port))
        return await driver.pay(amount_minor, "EUR", on_progress=lambda _: None, on_result=accept)


class Starter:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[asyncio.subprocess.Process] = []

    async def start(self, *options: str) -> RunningSimulator:
        ready = self.folder / f"ready-{len(self.started)}.json"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.devices.zvt.simulator", "--delay", "0", "--ready-file", str(ready)),
            *options,
            cwd=ROOT,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self.started.append(process)
        async with asyncio.timeout(20):
            while not ready.exists():
                assert process.returncode is None, "the simulator ended before it was ready"
                await asyncio.sleep(0.01)
        facts = json.loads(ready.read_text())
        assert facts["pid"] == process.pid
        return RunningSimulator(process, facts["port"], facts["control_port"])


@pytest.fixture
async def starter(tmp_path: Path) -> AsyncIterator[Starter]:
    starter = Starter(tmp_path)
    yield starter
    for process in starter.started:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_scenarios_are_set_over_the_control_port(starter: Starter) -> None:
    simulator = await starter.start()
    assert await simulator.control(do="scenario", name="decline", times=1, result_code=0x33) == {"ok": True}
    declined = await simulator.pay(500)
    approved = await simulator.pay(500)
    assert (declined.outcome, declined.decline_code) == (TerminalOutcome.DECLINED, "host-code-51")
    assert approved.outcome is TerminalOutcome.APPROVED
    status = await simulator.control(do="status")
    assert (status["payments_asked"], status["queued"], status["phase"]) == (2, 0, "idle")
    stored = await simulator.control(do="transactions")
    assert [row["amount_minor"] for row in stored["transactions"]] == [500]


@pytest.mark.parametrize(
    "request_", [{"do": "dance"}, {"do": "scenario", "name": "explode"}, {"do": "frames", "mode": "odd"}, {}]
)
async def test_a_wrong_request_is_answered_and_the_port_stays_open(starter: Starter, request_: dict[str, str]) -> None:
    simulator = await starter.start()
    answer = await simulator.control(**request_)
    assert answer["ok"] is False
    assert answer["error"]
    assert (await simulator.control(do="status"))["ok"] is True


async def test_t4_a_stored_transaction_survives_a_power_cut(starter: Starter, tmp_path: Path) -> None:
    state = tmp_path / "terminal.json"
    simulator = await starter.start("--state", str(state), "--scenario", "line-lost-after-approval")
    assert (await simulator.pay(1250)).outcome is TerminalOutcome.UNKNOWN
    simulator.process.kill()
    await simulator.process.wait()
    again = await starter.start("--state", str(state))
    last = await ZvtTerminal(ZvtSettings("127.0.0.1", again.port)).last_transaction()
    assert last is not None
    assert (last.outcome, last.amount_minor, last.trace) == (TerminalOutcome.APPROVED, 1250, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_clean_even_in_a_payment(starter: Starter, number: signal.Signals) -> None:
    simulator = await starter.start("--scenario", "hang")
    paying = asyncio.create_task(simulator.pay(100))
    async with asyncio.timeout(60):
        while (await simulator.control(do="status"))["payments_asked"] == 0:
            await asyncio.sleep(0.01)
    simulator.process.send_signal(number)
    async with asyncio.timeout(60):
        assert await simulator.process.wait() == 0
    assert (await paying).outcome is TerminalOutcome.UNKNOWN


async def test_it_ends_when_its_parent_is_gone(starter: Starter) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    simulator = await starter.start("--parent-pid", str(parent.pid))
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(60):
        assert await simulator.process.wait() == 0


async def test_a_taken_port_is_exit_code_3(starter: Starter) -> None:
    simulator = await starter.start()
    second = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app.devices.zvt.simulator", "--port", str(simulator.port)),
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    _, words = await second.communicate()
    assert second.returncode == 3
    assert b"terminal-simulator:" in words
