"""A console in this process on the stack's own API, with a terminal simulator of its own, and the hands of a clerk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.actions.desk import Desk
from app.bridge.collector import GuiThreadCollector
from app.bridge.crash import CrashReporter
from app.bridge.device_thread import DeviceThread
from app.core.sale import Sale, SaleState
from app.core.store import ConsoleStore
from app.device_identity import FILE_NAME, device_of
from app.journal.async_journal import AsyncJournal
from app.journal.journal import Journal
from app.main import Console, Options, close_console, make_console, make_desk
from app.screens.bindings import Credentials
from app.screens.dialogs import AskDialog
from app.screens.main_window import Screens
from app.screens.orders_screen import OrdersScreen
from app.screens.sale_panel import SalePanel
from app.settings import Settings
from backend_client.feed_protocol import FeedState
from booking.store.database import Database
from tests.end2end.console import Terminal, terminal_process
from tests.end2end.processes import StackFacts
from tests.end2end.proxies import Address, FaultProxy
from tests.gui.conftest import until
from tests.server.box_office import make_event

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
NOWHERE = Address(port=9)
_ALWAYS = {"follow-seats", "follow-inbox", "settle", "follow-refund", "follow-runs", "follow-ops", "follow-admission",
           "watch-alarms"}  # fmt: skip


@dataclass
class Till:
    """A signed-in console and what it is connected to."""

    console: Console
    stack: StackFacts
    event_id: int
    terminal: Terminal | None = None
    free: list[int] = field(default_factory=list)
    booked_before: int = 0
    """Lines of the terminal's journal that are of earlier tests."""
    api_line: FaultProxy = field(default_factory=lambda: FaultProxy(NOWHERE))
    terminal_line: FaultProxy = field(default_factory=lambda: FaultProxy(NOWHERE))

    @property
    def desk(self) -> Desk:
        return self.console.desk

    @property
    def store(self) -> ConsoleStore:
        return self.console.desk.store

    @property
    def screens(self) -> Screens:
        return self.console.window.screens

    @property
    def panel(self) -> SalePanel:
        return self.screens.counter.panel

    @property
    def orders(self) -> OrdersScreen:
        return self.screens.orders

    @property
    def state(self) -> SaleState | None:
        sale = self.store.sale
        return None if sale is None else sale.state

    @property
    def sale(self) -> Sale:
        assert self.store.sale is not None
        return self.store.sale

    @property
    def simulator(self) -> Terminal:
        assert self.terminal is not None
        return self.terminal

    async def rest(self) -> None:
        """Until nothing runs but what always runs."""
        await until(lambda: not self.console.deeds.running - _ALWAYS, f"rest, but {self.console.deeds.running}", 40)
        await asyncio.sleep(0.01)

    async def reach(self, *states: SaleState, within_s: float = 30.0) -> None:
        """Until the sale at the counter is in one of the states, and everything rests."""
        await until(lambda: self.state in states, f"{states}, not {self.state}: {self.said}", within_s)
        await self.rest()

    @property
    def said(self) -> str:
        """What the counter says in its banner."""
        banner = self.panel.banner
        return f"{banner.title} {banner.detail}" if banner.isVisible() else ""

    async def lose(self, line: FaultProxy) -> None:
        """The other end is away: connections end, new ones are refused."""
        line.point_at(NOWHERE)
        await line.cut()

    def find_terminal(self) -> None:
        """The terminal is there again."""
        self.terminal_line.point_at(Address(port=self.simulator.port))

    def find_api(self) -> None:
        """The API is there again."""
        self.api_line.point_at(Address(port=httpx.URL(self.stack.api_url).port))

    def go(self, code: str) -> None:
        self.console.window.screen_requested.emit(code)

    async def pick(self, count: int = 2) -> list[int]:
        """Click free seats on the map that nobody else in this test takes."""
        seats, self.free = self.free[:count], self.free[count:]
        seat_map = self.screens.counter.map
        for seat_no in seats:
            seat_map.ensure_visible(seat_no)
            await asyncio.sleep(0)
            QTest.mouseClick(seat_map, LEFT, NONE, seat_map.seat_rect(seat_no).center())
        await until(lambda: self.state is SaleState.PICKING and len(self.sale.picks) == count, "the picks")
        await self.rest()
        return seats

    async def hold(self, count: int = 2) -> list[int]:
        seats = await self.pick(count)
        self.panel.sale_page.hold.click()
        await self.reach(SaleState.HELD)
        return seats

    async def next_customer(self) -> None:
        await until(lambda: self.panel.outcome_page.next.listens, "the next customer")
        self.panel.outcome_page.next.click()
        await until(lambda: self.store.sale is None, "an empty counter")
        await self.rest()

    async def sell_cash(self, count: int = 1) -> Sale:
        await self.hold(count)
        self.panel.sale_page.exact_cash.click()
        await self.reach(SaleState.DONE)
        return self.sale

    async def sell_card(self, count: int = 1) -> Sale:
        await self.hold(count)
        self.panel.sale_page.card.click()
        await self.reach(SaleState.DONE)
        return self.sale

    async def sign_out(self) -> None:
        self.console.window.sign_out_requested.emit()
        await until(lambda: self.store.session is None, "nobody signed in")
        await self.rest()

    async def sign_out_for_sure(self) -> None:
        """Also where it is asked whether one means it."""
        self.console.window.sign_out_requested.emit()
        await until(lambda: self.store.session is None or QApplication.activeModalWidget() is not None, "the question")
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, AskDialog):
            dialog.yes.click()
        await until(lambda: self.store.session is None, "nobody signed in")
        await self.rest()

    async def sign_in(self, name: str) -> None:
        screen = self.screens.sign_in
        screen.name.setText(name)
        screen.password.setText(self.stack.passwords[name])
        screen.sign_in.click()
        await until(lambda: self.store.session is not None, f"{name} signed in")
        await self.rest()


@asynccontextmanager
async def database_of(stack: StackFacts) -> AsyncIterator[Database]:
    """The stack's own database, for what no screen can do."""
    db = await Database.open(stack.dsn, lanes=False, general_size=2, sale_size=1)
    try:
        yield db
    finally:
        await db.close()


async def new_event(stack: StackFacts, seats: int = 40) -> int:
    """An event of its own for a test, so that tests do not meet."""
    async with database_of(stack) as db:
        return await make_event(db, seats)


@asynccontextmanager
async def console_on(
    stack: StackFacts, folder: Path, name: str = "carla", *, server: str = "", terminal: Terminal | None = None,
    settings: Settings | None = None, size: tuple[int, int] = (1280, 800), faster: bool = True,
    port: int | None = None,
) -> AsyncIterator[Till]:  # fmt: skip
    """A console over its own journal, signed in as `name`; no event is open yet."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)  # as the console's own loop: another window may follow
    folder.mkdir(parents=True, exist_ok=True)
    address = "" if terminal is None else f"127.0.0.1:{port or terminal.port}"
    url = server or stack.api_url
    options = Options(data=folder, server=url, terminal=address, size=size)
    devices = DeviceThread()
    devices.start()
    journal = AsyncJournal(await devices.call(Journal.open, folder), devices.call)
    identity = device_of(folder / FILE_NAME, may_make=not await journal.has_history())
    chosen = settings or Settings()
    desk = make_desk(options, chosen, url, identity, journal, devices)
    if faster:
        desk.patience = replace(desk.patience, ask_first_s=0.2, ask_longest_s=0.5, inbox_s=0.3, inbox_idle_s=0.5,
                                settle_s=0.3, reconnect_window_s=1.0)  # fmt: skip
    crash = CrashReporter()
    collector = GuiThreadCollector()  # as in the console's own process
    collector.start()
    console = make_console(desk, chosen, crash, url, options)
    till = Till(console, stack, 0, terminal)
    try:
        console.window.show()
        console.bindings.start(Credentials(name, stack.passwords[name]))
        await until(lambda: "start" not in console.deeds.running, "the start")
        assert till.store.session is not None, till.screens.sign_in.banner.title
        yield till
        assert not crash.seen, crash.seen
    finally:
        await close_console(console)
        for close in ([] if desk.terminal is None else [desk.terminal.close]) + [desk.client.close, journal.close]:
            await close()
        devices.stop()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        collector.stop()


async def open_event(till: Till, event_id: int, seats: int = 40) -> None:
    """Choose the event from the list."""
    till.go("counter")
    till.screens.events.event_chosen.emit(event_id)
    await until(lambda: till.store.feed_state is FeedState.LIVE and till.screens.current is till.screens.counter, "map")
    till.event_id = event_id
    till.free = list(range(seats))


@asynccontextmanager
async def till_on(
    stack: StackFacts, folder: Path, name: str = "carla", *, delay_s: float = 0.2, port: int | None = None
) -> AsyncIterator[Till]:
    """A console with a terminal of its own at an event of its own; both lines can be lost.

    `port` is of another API process than the stack's.
    """
    event_id = await new_event(stack)
    async with AsyncExitStack() as parts:
        folder.mkdir(parents=True, exist_ok=True)
        terminal = await parts.enter_async_context(terminal_process(folder, "--delay", str(delay_s)))
        api = Address(port=port or httpx.URL(stack.api_url).port)
        api_line = await parts.enter_async_context(FaultProxy(api))
        terminal_line = await parts.enter_async_context(FaultProxy(Address(port=terminal.port)))
        till = await parts.enter_async_context(
            console_on(
                stack, folder / "console", name, terminal=terminal, port=terminal_line.port,
                server=f"http://127.0.0.1:{api_line.port}",
            )
        )  # fmt: skip
        till.api_line, till.terminal_line = api_line, terminal_line
        await open_event(till, event_id)
        yield till
