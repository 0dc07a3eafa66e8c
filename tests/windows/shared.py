"""One console on the real stack for all tests of a module: starting one for each test costs more than most tests.

Each test gets an event of its own, an empty counter, both lines whole, and the person
it names. A test that leaves something open fails the next one by name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from PySide6.QtWidgets import QApplication

from app.actions.finish_sale import finish_sale
from app.bridge.loop import close
from booking.store.database import Database
from tests.end2end.processes import StackFacts
from tests.gui.conftest import QLoop, until
from tests.server.box_office import make_event
from tests.windows.stage import Till, database_of, open_event, till_on

Scene = Callable[[Till], Coroutine[Any, Any, None]]
SEATS: Final = 40


class House:
    """See the module. `db` is the stack's own database, for what no screen can do."""

    def __init__(self, running: QLoop, stack: StackFacts, till: Till, db: Database) -> None:
        self._running = running
        self.stack = stack
        self.till = till
        self.db = db

    def play(self, scene: Scene, timeout_s: float = 90.0, *, name: str = "carla", **event: object) -> None:
        """Run a scene at the till, with `name` signed in; `event` are columns of its event."""

        async def whole() -> None:
            await self._make_ready(name, event)
            await scene(self.till)
            assert QApplication.activeModalWidget() is None
            await self.till.rest()

        self._run(asyncio.wait_for(whole(), timeout_s))

    def _run(self, scene: Coroutine[Any, Any, None]) -> None:
        """Between tests Qt's events are looked at by others, and what the console awaits goes on in the same loop.

        `run_until_complete` would look at them once more itself when no loop counts as running any more.
        """
        loop = self._running.loop
        asyncio._set_running_loop(None)
        task = loop.create_task(scene, name="scene")
        task.add_done_callback(lambda _task: loop.stop())
        try:
            loop.run_forever()
        finally:
            asyncio._set_running_loop(loop)
        task.result()

    async def _make_ready(self, name: str, event: dict[str, object]) -> None:
        till = self.till
        till.find_api()
        till.find_terminal()
        session = till.store.session
        if session is not None and session.name != name:
            await till.sign_out()
        if till.store.session is None:
            await till.sign_in(name)
        await until(lambda: not till.store.unknown_sales and not till.store.parked, "the test before to be settled")
        if till.store.sale is not None:
            await finish_sale(till.desk)
        assert till.store.sale is None, "the test before has left a sale open"
        till.booked_before = len(await till.simulator.transactions())
        await open_event(till, await make_event(self.db, SEATS, **event), SEATS)
        await till.rest()


@contextmanager
def house_on(stack: StackFacts, application: QApplication, folder: Path) -> Iterator[House]:
    """A house for a module."""
    running = QLoop(application)
    parts = AsyncExitStack()

    async def begin() -> House:
        till = await parts.enter_async_context(till_on(stack, folder))
        return House(running, stack, till, await parts.enter_async_context(database_of(stack)))

    house = running.run(begin(), 60)
    try:
        yield house
    finally:
        asyncio._set_running_loop(None)
        running.run(parts.aclose(), 60)
        left = running.leftovers()
        close(running.loop)
    assert left == [], f"tasks outlive the tests: {left}"
    assert running.errors == [], running.errors
