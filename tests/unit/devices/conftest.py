"""A simulated terminal in the test's own event loop, and a driver that talks to it over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import pytest

from app.devices.card_terminal import Progress, TerminalResult, Verdict
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import Delays, Scene, SceneName, Script
from app.devices.zvt.simulator.server import SimulatedTerminal

FAST = ZvtSettings("127.0.0.1", connect_s=2, t3_s=1.2, t4_s=1.2, busy_limit_s=8, verdict_s=1)


@dataclass
class Till:
    """What the console would be: it answers approvals and keeps what it was told."""

    verdict: Verdict = Verdict.ACCEPT
    progress: list[Progress] = field(default_factory=list)
    heard: list[TerminalResult] = field(default_factory=list)

    async def decide(self, result: TerminalResult) -> Verdict:
        self.heard.append(result)
        return self.verdict


@dataclass
class Counter:
    """A driver, the terminal it talks to, and the till behind it."""

    simulated: SimulatedTerminal
    till: Till = field(default_factory=Till)
    settings: ZvtSettings = FAST

    @property
    def machine(self) -> Machine:
        return self.simulated.machine

    def driver(self, **changes: float) -> ZvtTerminal:
        return ZvtTerminal(replace(self.settings, port=self.simulated.port, **changes))  # type: ignore[arg-type]

    def plays(self, name: SceneName, **options: object) -> None:
        self.machine.script.queue(Scene(name, **options), 1)  # type: ignore[arg-type]

    async def pay(self, amount_minor: int = 1250, currency: str = "EUR") -> TerminalResult:
        return await self.driver().pay(
            amount_minor, currency, on_progress=self.till.progress.append, on_result=self.till.decide
        )


@pytest.fixture
async def counter() -> AsyncIterator[Counter]:
    simulated = SimulatedTerminal(Machine(delays=Delays(0, 0, 0), script=Script(Scene())))
    await simulated.start()
    yield Counter(simulated)
    await simulated.close()


async def eventually(true: Callable[[], bool], within_s: float = 3) -> None:
    """Wait for a condition; fails when it does not come true in time."""
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.002)
