"""What a photographer of screens does between two pictures: signing in, pressing, waiting; and taking the picture."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from PySide6.QtWidgets import QApplication, QWidget

from app.bridge.pictures import all_drawn, picture_of
from app.core.sale import Sale, SaleState
from app.core.store import ConsoleStore
from app.screens.bindings import Credentials
from app.screens.sale_panel import SalePanel
from app.settings import Settings
from app.showcase import PASSWORD, Showcase, TheatreHouse, programme
from backend_client.feed_protocol import FeedState
from widgets.async_button import AsyncButton

_WAIT_S = 15.0


class ScreenshotError(Exception):
    """A screen did not come to show what its picture is of."""

    code = "screenshot-failed"


@dataclass(slots=True)
class Steps:
    """Steps in the console that is open; whoever knows the scenes builds on it."""

    folder: Path
    settings: Settings
    size: tuple[int, int]
    taken: list[Path] = field(default_factory=list)
    _showcase: Showcase | None = None

    # ------------------------------------------------------------ steps

    async def _sign_in_wrongly(self, name: str) -> None:
        console = self._open.console
        console.bindings.start()
        await self._until(lambda: "start" not in console.deeds.running, "the sign-in screen")
        screen = console.window.screens.sign_in
        screen.name.setText(name)
        await self._turn()
        self.take("sign-in")
        screen.password.setText("not this one")
        self._press(screen.sign_in)
        await self._rest()
        self.take("sign-in-refused")
        screen.password.setText(PASSWORD)
        self._press(screen.sign_in)
        await self._until(lambda: self._store.session is not None, "the session")
        await self._rest()
        self._store.put_events(programme(self._store.events[0]))
        await self._turn()
        self.take("events")

    async def _sign_in(self, name: str) -> None:
        self._open.console.bindings.start(Credentials(name, PASSWORD))
        await self._until(lambda: bool(self._store.events), "the events")

    async def _open_event(self) -> None:
        console = self._open.console
        console.window.screens.events.event_chosen.emit(1)
        await self._until(lambda: self._store.feed_state is FeedState.LIVE, "the map")
        await self._turn()

    @property
    def _theatre(self) -> TheatreHouse:
        house = self._open.server.house
        if not isinstance(house, TheatreHouse):
            raise ScreenshotError("the showcase has another house")
        return house

    def _pick(self, count: int, row_no: int = 20) -> list[int]:
        seats = self._theatre.free_run(count, row_no)
        for seat_no in seats:
            self._open.console.window.screens.counter.seat_chosen.emit(seat_no)
        return seats

    def _with_child(self) -> Sale:
        sale, prices = self._store.sale, self._store.prices
        if sale is None or prices is None:
            raise ScreenshotError("no sale")
        pick = sale.picks[-1]
        child = prices.price_types[-1].price_type_id
        amount = prices.amount_minor(pick.category_no, child) or 0
        return sale.with_pick(replace(pick, price_type_id=child, amount_minor=amount))

    async def _hold(self) -> None:
        await self._turn()
        self._press(self._panel.sale_page.hold)
        await self._until(lambda: self._state is SaleState.HELD, "the hold")
        await self._rest()

    async def _next(self) -> None:
        self._press(self._panel.outcome_page.next)
        await self._until(lambda: self._store.sale is None, "the next customer")
        await self._rest()

    def _seconds_until_warning(self) -> float:
        left = self._store.remaining_s or 0.0
        return max(left - 42, 0.0)

    async def _store_time(self) -> None:
        """Let the console hear the server's clock again."""
        sale = self._store.sale
        if sale is not None and sale.hold is not None:
            await self._open.console.desk.client.hold(sale.hold.hold_id)
        self._panel.show_time()
        await self._turn()

    async def _open_keys(self) -> QWidget | None:
        self._open.console.window.keys_requested.emit()
        await self._until(lambda: QApplication.activeModalWidget() is not None, "the keys")
        return QApplication.activeModalWidget()

    async def _ask_to_close(self) -> QWidget | None:
        self._open.console.window.close()
        await self._until(lambda: QApplication.activeModalWidget() is not None, "the question")
        return QApplication.activeModalWidget()

    async def _close_dialog(self) -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is not None:
            dialog.close()
        await self._until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")
        await self._rest()

    @staticmethod
    def _press_quick(dialog: QWidget | None) -> None:
        quick = getattr(dialog, "quick", [])
        if len(quick) > 2:
            quick[-2].click()

    # ------------------------------------------------------------ camera

    def take(self, name: str, dialog: QWidget | None = None) -> None:
        """Grab the window, or a dialog over it."""
        path = self.folder / f"{len(self.taken) + 1:02}-{name}.png"
        if not picture_of(self._open.console.window, dialog).save(str(path)):
            raise ScreenshotError(f"cannot write {path}")
        self.taken.append(path)

    @property
    def _open(self) -> Showcase:
        if self._showcase is None:
            raise ScreenshotError("no console is open")
        return self._showcase

    @property
    def _store(self) -> ConsoleStore:
        return self._open.console.desk.store

    @property
    def _panel(self) -> SalePanel:
        return self._open.console.window.screens.counter.panel

    @property
    def _state(self) -> SaleState | None:
        return None if self._store.sale is None else self._store.sale.state

    @staticmethod
    def _press(button: AsyncButton) -> None:
        if not button.isVisible() or not button.isEnabled():
            raise ScreenshotError(f"{button.accessibleName()!r} cannot be pressed")
        button.click()

    async def _rest(self) -> None:
        """Until nothing runs but what always runs."""
        always = {"follow-seats", "follow-inbox", "settle", "driver", "follow-ops", "follow-admission", "watch-alarms",
                  "follow-limits"}  # fmt: skip
        await self._until(lambda: not self._open.console.deeds.running - always, "rest")
        await self._turn()

    async def _turn(self) -> None:
        """Let everything that is due be drawn, and all labels of the map, which take some frames."""
        await all_drawn()
        seat_map = self._open.console.window.screens.counter.map
        await self._until(lambda: not (seat_map.isVisible() and seat_map.scene.behind), "the labels of the map")

    async def _until(self, condition: Callable[[], object], what: str) -> None:
        end = monotonic() + _WAIT_S
        while not condition():
            if monotonic() > end:
                raise ScreenshotError(f"waited {_WAIT_S:.0f} s for {what}")
            await asyncio.sleep(0.005)
