"""A picture of every screen, offscreen, with a booking system and a terminal in memory: for the README and for eyes."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.bridge.crash import CrashReporter
from app.bridge.loop import run
from app.core.plan_draft import Selection
from app.core.plan_edits import number_seat
from app.core.plan_work import PlanOrigin
from app.core.sale import SaleState
from app.devices.fake_terminal import AwaitAbort, Decline, LoseLine
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketSheet
from app.i18n import _
from app.main import Options, make_application
from app.screens.part_dialog import PartDialog
from app.screenshot_dialogs import DialogScenes
from app.settings import Settings
from app.showcase import give_past, make_showcase, small_hall
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import PRINTED_BIT, HolderKind, StaffStatus, staff_state
from backend_client.testing import Fault
from backend_client.wire import OrphanRule


def take_screenshots(folder: Path, *, language: str, theme: str, size: tuple[int, int]) -> list[Path]:
    """Take all pictures into `folder`; returns their paths in order.

    Raises:
        ScreenshotError: a screen did not come.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings()
    options = Options(data=folder, language=language, theme=theme, size=size)
    application = make_application(settings, options)
    crash = CrashReporter()
    photographer = Photographer(folder, settings, size)
    run(application, photographer.work, crash.on_loop_error)
    return photographer.taken


class LosingPrinter:
    """A printer whose line dies in the middle of a job."""

    @property
    def name(self) -> str:
        return "BOCA"

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        """Nobody knows how it ended."""
        del sheet
        return PrintOutcome(PrintState.UNKNOWN)


@dataclass(slots=True)
class Photographer(DialogScenes):
    """Walks through the console and takes a picture of each thing it can show."""

    async def work(self) -> int:
        """All pictures, each console in a folder of its own that is gone afterwards."""
        scenes = (
            ("carla", self._clerk), ("omar", self._watching), ("sofia", self._troubles), ("carla", self._picking),
            ("sofia", self._drawing), ("sofia", self._money), ("carla", self._order_desk), ("ada", self._operations),
            ("ada", self._settings),
        )  # fmt: skip
        for name, scene in scenes:
            with tempfile.TemporaryDirectory(prefix="taquilla-") as data:
                self._showcase = make_showcase(Path(data), self.settings, size=self.size)
                try:
                    self._showcase.console.window.show()
                    await scene(name)
                finally:
                    await self._showcase.close()
        return 0

    # ------------------------------------------------------------ scenes

    async def _clerk(self, name: str) -> None:
        await self._sign_in_wrongly(name)
        await self._open_event()
        self.take("counter")
        self._pick(3)
        self._store.put_sale(self._with_child())
        await self._turn()
        self.take("seats-picked")
        await self._hold()
        self.take("seats-held")
        self._press(self._panel.sale_page.cash)
        await self._until(lambda: QApplication.activeModalWidget() is not None, "the cash dialog")
        dialog = QApplication.activeModalWidget()
        self._press_quick(dialog)
        self.take("cash-with-change", dialog)
        if dialog is not None:
            dialog.accept()  # type: ignore[attr-defined]  # it is the CashDialog
        await self._until(lambda: self._state is SaleState.DONE, "the tickets")
        await self._rest()
        self.take("sale-done")
        await self._card_scenes()

    async def _card_scenes(self) -> None:
        showcase = self._open
        await self._next()
        showcase.terminal.play(AwaitAbort(), Decline("insufficient-funds"), LoseLine(booked=False))
        self._pick(2, row_no=30)
        await self._hold()
        self._press(self._panel.sale_page.card)
        await self._until(lambda: bool(self._store.terminal_progress), "the terminal")
        await self._turn()
        self.take("card-payment")
        self._press(self._panel.paying_page.stop)
        await self._until(lambda: self._state is SaleState.DECLINED, "the payment to stop")
        await self._rest()
        self._press(self._panel.sale_page.card)
        await self._until(
            lambda: self._store.sale is not None and self._store.sale.decline_code == "insufficient-funds", "a decline"
        )
        await self._rest()
        self.take("card-declined")
        showcase.server.pass_time(self._seconds_until_warning())
        await self._store_time()
        self.take("hold-ends-soon")
        self._press(self._panel.sale_page.card)
        await self._until(lambda: self._state is SaleState.UNKNOWN, "an unclear payment")
        await self._turn()
        self.take("payment-unclear")
        await self._rest()
        self._press(self._panel.unknown_page.park)
        await self._until(lambda: self._store.sale is None, "the sale to be parked")
        await self._turn()
        self.take("payment-parked")
        await self._parts_scenes()
        self.take("keys", await self._open_keys())
        await self._close_dialog()

    async def _parts_scenes(self) -> None:
        """A sale paid in parts, the dialog for it, and what goes back when the buyer leaves."""
        showcase = self._open
        self._pick(2, row_no=32)
        await self._hold()
        self._press(self._panel.sale_page.part)
        await self._until(lambda: QApplication.activeModalWidget() is not None, "the dialog of a part")
        dialog = QApplication.activeModalWidget()
        await self._turn()
        self.take("pay-a-part", dialog)
        if isinstance(dialog, PartDialog):
            dialog.reject()
        await self._rest()
        for part in (3000, 2500):
            sale = self._store.sale
            paid = 0 if sale is None else sale.paid_minor
            await (pay_cash(showcase.console.desk, 5000, part_minor=part) if not paid else pay_card(
                showcase.console.desk, part_minor=part
            ))  # fmt: skip
        await self._rest()
        self.take("part-paid")
        await leave_paid_parts(showcase.console.desk)
        await self._rest()
        self.take("money-back")
        self._press(self._panel.returning_page.park)
        await self._until(lambda: self._store.sale is None, "the money to be parked")
        await self._turn()

    async def _drawing(self, name: str) -> None:
        """The plan editor: a whole hall, a row of it, seats with something wrong."""
        await self._sign_in(name)
        console = self._open.console
        console.window.plans_requested.emit()
        editor, work = console.window.screens.plans, self._store.plan_work
        await self._until(lambda: console.window.screens.current is editor, "the plan editor")
        words = {"stalls": _("Stalls"), "balcony": _("Balcony"), "stage": _("Stage"), "bar": _("Bar")}
        venue = self._open.server.plans.venues[0]
        work.begin(small_hall(words), PlanOrigin(venue.venue_id, venue.name), saved=False)
        editor.canvas.fit()
        await self._until(editor.save.isEnabled, "a hall without faults")
        await self._turn()
        self.take("plan-editor")
        work.choose(Selection(frozenset({work.draft.rows[3].row_id})))
        await self._turn()
        self.take("plan-row")
        seats = [seat.guid for seat in work.draft.rows[1].seats[6:9]]
        wrong = number_seat(work.draft, seats[0], work.draft.rows[1].seats[7].number)
        work.edit(wrong, Selection(seats=frozenset(seats)))
        await self._until(lambda: editor.side.faults.count() == 1, "a fault")
        await self._turn()
        self.take("plan-faults")
        await self._rest()
        await self._plan_dialogs()

    async def _watching(self, name: str) -> None:
        await self._sign_in(name)
        await self._open_event()
        self.take("watching")
        await self._print_dialog()
        await self._seat_details()

    async def _seat_details(self) -> None:
        """Who has a seat, in the middle of the map; then a seat that nobody can be asked about."""
        house = self._theatre
        printed = staff_state(StaffStatus.SOLD, HolderKind.TILL) | PRINTED_BIT
        sold = next(seat for seat in range(len(house.states) // 3, len(house.states)) if house.states[seat] == printed)
        give_past(house, sold)
        counter = self._open.console.window.screens.counter
        counter.map.focus_seat(sold)
        self._open.console.bindings.sale.details.show(sold)
        await self._until(counter.details.history.isVisible, "the details of a seat")
        await self._turn()
        self.take("seat-details")
        self._open.server.fail(Fault.UNREACHABLE, "/seats/", times=50)
        counter.map.focus_seat(sold + 1)
        await self._until(counter.details.banner.isVisible, "the details to fail")
        await self._turn()
        self.take("seat-details-unknown")
        self._open.server.heal()
        counter.details.dismiss()

    async def _picking(self, name: str) -> None:
        """A party under the keyboard, the next best, a seat found, a seat left single."""
        await self._sign_in(name)
        await self._open_event()
        counter, house = self._open.console.window.screens.counter, self._theatre
        seat_map, bar = counter.map, counter.picking.bar
        bar.counts[3].click()
        counter.focus_map()
        seat_map.focus_seat(house.free_run(4, 26)[1])
        await self._turn()
        self.take("party-of-four")
        for _press in range(2):
            bar.best.click()
        await self._turn()
        self.take("next-best")
        bar.search.begin()
        bar.search.insert("k 5")
        await self._turn()
        self.take("finding-a-seat")
        bar.search.found.emit(1)
        bar.search.close_list()
        await self._turn()
        self.take("seat-found")
        house.orphan_rule = OrphanRule.STRICT
        self._store.put_event(await self._open.console.desk.client.event(house.event_id))
        bar.undo.click()
        bar.undo.click()
        bar.counts[0].click()
        for seat_no in house.free_run(5, 22)[1:3]:
            counter.seat_chosen.emit(seat_no)
        await self._until(lambda: not seat_map.spot, "the spotlight to go out")
        seat_map.fit()
        await self._turn()
        self.take("seat-left-single")

    async def _troubles(self, name: str) -> None:
        showcase = self._open
        await self._sign_in(name)
        await self._open_event()
        house = showcase.server.house
        seats = self._pick(3, row_no=24)
        house.set_seats((seats[0],), 0b0000_1011)  # somebody else buys one, and the feed has not told it yet
        await self._turn()
        before = len(self._store.notices)
        self._press(self._panel.sale_page.hold)
        await self._until(lambda: len(self._store.notices) > before, "the loss")
        await self._rest()
        self.take("seats-lost")
        showcase.server.feed_reachable = False
        showcase.server.cut_feeds()
        await self._until(lambda: self._store.feed_state is FeedState.STALE, "the feed to be away")
        await self._turn()
        self.take("map-out-of-date")
        showcase.server.feed_reachable = True
        await self._until(lambda: self._store.feed_state is FeedState.LIVE, "the feed to come back")
        await self._hold()
        self.take("close-with-open-sale", await self._ask_to_close())
        await self._close_dialog()
        showcase.console.desk.printer = LosingPrinter()
        self._press(self._panel.sale_page.exact_cash)
        await self._until(lambda: self._store.sale is not None and self._store.sale.print_unclear, "an unclear print")
        await self._rest()
        self.take("print-unclear")
        self._press(self._panel.outcome_page.came_out)
        await self._until(lambda: self._state is SaleState.DONE, "the tickets to be seen")
        await self._next()
        self._pick(2, row_no=34)
        await self._hold()
        showcase.server.pass_time(400)
        await self._store_time()
        await self._until(lambda: self._state is SaleState.EXPIRED, "the hold to end")
        await self._rest()
        self.take("hold-ended")
