"""For GUI tests: a loop inside Qt's that fails on what was left behind, and a themed application."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bridge.loop import close, new_loop
from app.core.sale import Sale, SaleState
from app.i18n import use_language
from app.screens.bindings import Credentials
from app.screens.looks import apply_direction
from app.screens.sale_panel import SalePanel
from app.settings import Settings
from app.showcase import PASSWORD, Showcase, TheatreHouse, make_showcase
from backend_client.feed_protocol import FeedState
from backend_client.testing_house import House
from widgets.async_button import AsyncButton
from widgets.key_gate import keyboard
from widgets.theme import Theme, apply_theme

Answer = TypeVar("Answer")
DEADLINE_S = 60.0
ALWAYS = frozenset(
    {"follow-seats", "follow-inbox", "settle", "follow-ops", "follow-admission", "watch-alarms", "follow-limits"}
)
"""Deeds that go on for as long as a person is there."""


class QLoop:
    """Runs coroutines in Qt's loop; knows what went wrong in it."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        self.errors: list[str] = []
        self.loop = new_loop(application)
        self.loop.set_exception_handler(self._take_error)
        asyncio.set_event_loop(self.loop)

    def run(self, coroutine: Coroutine[Any, Any, Answer], timeout_s: float = 200.0) -> Answer:
        """Run `coroutine` to its end."""
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, timeout_s))

    def leftovers(self) -> list[str]:
        """Names of tasks that still run."""
        return sorted(task.get_name() for task in asyncio.all_tasks(self.loop))

    def _take_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")


@pytest.fixture
def qloop(qapp: QApplication) -> Iterator[QLoop]:
    """A loop for one test; fails on tasks that outlive it and on errors that only the loop saw."""
    running = QLoop(qapp)
    yield running
    left = running.leftovers()
    close(running.loop)
    assert left == [], f"tasks outlive the test: {left}"
    assert running.errors == [], running.errors


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """The light theme, applied."""
    made = Theme.light()
    apply_theme(qapp, made)
    return made


@pytest.fixture(autouse=True)
def english(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test begins in English, left to right, with no key held down, whatever the one before did."""
    keyboard.forget()
    yield
    use_language("en")
    if QApplication.instance() is not None:
        apply_direction()


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """What was imported is no garbage: nobody looks through it after every test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def tidy() -> Iterator[None]:
    """Windows of a test die with it: what waits to be deleted is deleted, what is garbage is collected."""
    yield
    if QApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


def unhurried_clock(step_s: float = 0.01) -> Callable[[], float]:
    """A clock for keys that are held down: only looking at it takes time, however slow the machine is."""
    begin, looks = monotonic(), count()
    return lambda: begin + step_s * next(looks)


@contextmanager
def key_held_down() -> Iterator[None]:
    """Within this, Enter and Space come as fast as a held key repeats them."""
    own, keyboard._now = keyboard._now, unhurried_clock()
    try:
        yield
    finally:
        keyboard._now = own


async def until(condition: Callable[[], object], what: str = "", deadline_s: float = DEADLINE_S) -> None:
    """Wait for a condition while Qt and asyncio go on; fails at the deadline."""
    end = monotonic() + deadline_s
    while not condition():
        if monotonic() > end:
            pytest.fail(f"did not happen within {deadline_s:.0f} s: {what or condition}")
        await asyncio.sleep(0.005)


@asynccontextmanager
async def counter_of(
    folder: Path, name: str = "carla", *, house: House | None = None, open_event: bool = True
) -> AsyncIterator[Showcase]:
    """A console in memory, signed in as `name`, with the event open."""
    showcase = make_showcase(folder, Settings(), house=house)
    console = showcase.console
    try:
        console.window.show()
        console.bindings.start(Credentials(name, PASSWORD))
        await until(lambda: console.desk.store.events and "start" not in console.deeds.running, "events")
        if open_event:
            console.window.screens.events.event_chosen.emit(1)
            await until(lambda: console.desk.store.feed_state is FeedState.LIVE, "a live map")
        yield showcase
    finally:
        await showcase.close()


async def rest(showcase: Showcase) -> None:
    """Until nothing runs but what always runs, and everything that is due has been drawn."""
    await until(lambda: not showcase.console.deeds.running - ALWAYS, "rest")
    for _turn in range(4):
        await asyncio.sleep(0.002)


async def pick(showcase: Showcase, count: int = 2, row_no: int = 20) -> list[int]:
    """Pick free seats beside each other by clicks on the map."""
    house = showcase.server.house
    assert isinstance(house, TheatreHouse)
    seat_map = showcase.console.window.screens.counter.map
    seats = house.free_run(count, row_no)
    for seat_no in seats:
        seat_map.ensure_visible(seat_no)
        await asyncio.sleep(0)
        QTest.mouseClick(
            seat_map, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, seat_map.seat_rect(seat_no).center()
        )
    await until(lambda: showcase.console.desk.store.sale is not None, "picks")
    await rest(showcase)
    return seats


async def hold(showcase: Showcase, count: int = 2, row_no: int = 20) -> list[int]:
    """Pick and hold seats."""
    seats = await pick(showcase, count, row_no)
    showcase.console.window.screens.counter.panel.sale_page.hold.click()
    await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
    await rest(showcase)
    return seats


async def release(showcase: Showcase) -> None:
    """Release the held seats as a clerk does who means it."""
    button = panel_of(showcase).sale_page.release
    button.click()
    await until(lambda: button.means_it, "the question to be answered")
    button.click()
    await until(lambda: state_of(showcase) is SaleState.ABANDONED, "the release")


async def calm(button: AsyncButton) -> None:
    """Until a button that has just come up listens to the mouse."""
    await until(lambda: button.isVisible() and button.listens, f"{button.text()} to listen")


def state_of(showcase: Showcase) -> SaleState | None:
    """Where the sale at the counter stands."""
    sale = showcase.console.desk.store.sale
    return None if sale is None else sale.state


def sale_of(showcase: Showcase) -> Sale:
    """The sale at the counter."""
    sale = showcase.console.desk.store.sale
    assert sale is not None
    return sale


def panel_of(showcase: Showcase) -> SalePanel:
    """The sale panel as it is built now."""
    return showcase.console.window.screens.counter.panel
