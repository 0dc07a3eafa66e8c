"""A tour: the real windows, driven by real mouse and key events along a plan, with a picture of each step.

The plan is read by `tour_plan`. The report (JSON) is replaced as a whole at each step, so that somebody outside can
follow; nothing sleeps, every wait is for a condition and has a deadline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app import hands, tour_money
from app.bridge.pictures import all_drawn, picture_of
from app.core.sale import Sale, SaleState
from app.hands import HandsError
from app.i18n import figures
from app.main import DONE, FOUND_WRONG, Console
from app.screens.bindings import Credentials
from app.screens.counter import CounterScreen
from app.tour_plan import ALONE, Report, SoldLine, TourStep
from backend_client.feed_protocol import FeedState
from backend_client.plan_names import seat_ref
from backend_client.wire import TicketStatus

_ENDS: Final = {SaleState.HELD, SaleState.PAID, SaleState.DONE, SaleState.EXPIRED, SaleState.UNKNOWN}


class TourError(HandsError):
    """The console did not do what the plan expects."""

    code = "tour-failed"


@dataclass(slots=True)
class Tour:
    """Drives one console along a plan."""

    plan: tuple[TourStep, ...]
    credentials: Credentials | None
    pictures: Path
    report_path: Path
    report: Report = field(default_factory=Report)
    _console: Console | None = None

    async def drive(self, console: Console) -> int:
        """Walk the plan; 0 only when all went as planned."""
        self._console = console
        self.pictures.mkdir(parents=True, exist_ok=True)
        self._write()
        try:
            await self._walk()
        except HandsError as error:
            await self._fail(str(error))
        except Exception as error:
            await self._fail(f"{type(error).__name__}: {error}")
            raise
        for failure in console.crash.seen:
            self.report.problems.append(f"unexpected failure: {failure}")
        self.report.done = True
        self.reach("end")
        return FOUND_WRONG if self.report.problems else DONE

    @property
    def console(self) -> Console:
        """The console that is driven."""
        if self._console is None:
            raise TourError("the tour has not begun")
        return self._console

    @property
    def counter(self) -> CounterScreen:
        """The counter as it is built now."""
        return self.console.window.screens.counter

    @property
    def sale(self) -> Sale | None:
        """The sale at the counter."""
        return self.console.desk.store.sale

    # ------------------------------------------------------------ the walk

    async def _walk(self) -> None:
        await self._sign_in()
        if self.plan[0].kind in ALONE:
            if self.plan[0].kind == "settle":
                await tour_money.settle(self)
            await self._look_at_resumed()
            return
        await self._open_first_event()
        steps: dict[str, Callable[[TourStep], Coroutine[Any, Any, None]]] = {
            "card": self._sell, "cash": self._sell, "decline": self._decline, "unknown": self._leave_unclear,
            "split": partial(tour_money.split, self), "leave": partial(tour_money.leave, self),
            "day": partial(tour_money.close_day, self),
        }  # fmt: skip
        for step in self.plan:
            await steps[step.kind](step)

    async def _sign_in(self) -> None:
        await self.until(lambda: "start" not in self.console.deeds.running, "the console to start")
        if self.console.desk.store.session is None:
            if self.credentials is None:
                raise TourError("nobody is signed in, and no name was given")
            await self.take_picture("sign-in")
            await hands.sign_in(self.console, self.credentials)
        await self.until(lambda: not {"start", "sign-in"} & self.console.deeds.running, "the events to be loaded")
        self.reach("signed-in")

    async def _open_first_event(self) -> None:
        screens, store = self.console.window.screens, self.console.desk.store
        events = screens.events
        await self.until(events.model.rowCount, "an event to be listed")
        await self.take_picture("events")
        hands.click_line(events.list, events.model.index(0))
        await self.until(lambda: screens.current is screens.counter, "the event to open")
        await self.until(lambda: store.feed_state is FeedState.LIVE, "the map to be live")
        self.report.event_id = store.event.event_id if store.event is not None else None
        await self.take_picture("counter")
        self.reach("event-open")

    async def _sell(self, step: TourStep) -> None:
        line = await self.hold(step)
        page = self.counter.panel.sale_page
        if step.kind == "cash":
            await self._pay_cash_with_change(line)
        else:
            await self.press(page.card)
            paying = self.counter.panel.paying_page
            await self.until(
                lambda: paying.isVisible() or "card" not in self.console.deeds.running, "the payment to begin"
            )
            if paying.isVisible():  # a terminal that answers at once is past it already
                await self.take_picture(f"{line.kind}-paying", at_once=True)
            self.note(line, "paying")
        await self.until_paid_and_printed(line)

    async def _decline(self, step: TourStep) -> None:
        line = await self.hold(step)
        before = self.sale.picks if self.sale is not None else ()
        await self.press(self.counter.panel.sale_page.card)
        await self.until(lambda: self.state() in {SaleState.DECLINED, *_ENDS} - {SaleState.HELD}, "an answer")
        if self.state() is not SaleState.DECLINED:
            raise TourError(f"the card should have been declined, the sale is {self.state()}")
        await self.until(lambda: self.counter.panel.sale_page.decline.isVisible() and self._is_listed(), "the reason")
        await self.take_picture("declined")
        self.note(line, "declined")
        if self.sale is None or self.sale.picks != before:
            raise TourError("a decline changed the seats or their price types")
        await self.until(lambda: not self.counter.panel.sale_page.card.busy, "the buttons to come back")
        await self._pay_cash_with_change(line)
        await self.until_paid_and_printed(line)

    async def _leave_unclear(self, step: TourStep) -> None:
        line = await self.hold(step)
        await self.press(self.counter.panel.sale_page.card)
        await self.until(lambda: self.state() in _ENDS - {SaleState.HELD}, "an answer")
        if self.state() is not SaleState.UNKNOWN:
            raise TourError(f"the payment should be unclear, the sale is {self.state()}")
        await self.until(self.counter.panel.unknown_page.isVisible, "the unclear payment to be shown")
        await self.take_picture("unknown")
        self.note(line, "unknown")
        await self.until(lambda: not {"card", "resolve"} & self.console.deeds.running, "the payment to be set down")
        await self.press(self.counter.panel.unknown_page.park)
        await self.until(lambda: self.sale is None or self.sale.ended, "the sale to be parked")
        await self.take_picture("parked")

    async def _look_at_resumed(self) -> None:
        """What the journal held, once everything that can be cleared up is."""
        store, desk = self.console.desk.store, self.console.desk
        await self.until(lambda: "start" not in self.console.deeds.running, "the open sales to be resumed")
        await self.until(lambda: not desk.resolving, "the open sales to be asked about")
        sale = store.sale
        if sale is not None and sale.state in {SaleState.PAID, SaleState.PRINTING} and not sale.print_unclear:
            await self.until(lambda: self.state() is SaleState.DONE, "the tickets to be printed")
        await self.take_picture("resumed")
        shown = (*store.parked, *(() if store.sale is None else (store.sale,)))
        for found in shown:
            line = SoldLine("resumed")
            self.report.resumed.append(line)
            await self._describe(line, found)
        self.reach("resumed")

    # ------------------------------------------------------------ parts of a sale

    async def hold(self, step: TourStep) -> SoldLine:
        line = SoldLine(step.kind)
        self.report.sales.append(line)
        for seat_no in self._free_seats(step.seats):
            await self._pick(seat_no)
        await self.until(self._is_listed, "the panel to list the seats with their total")
        await self.take_picture(f"{step.kind}-picked")
        self.note(line, "picked")
        hold = self.counter.panel.sale_page.hold
        await self.until(lambda: hold.isVisible() and hold.isEnabled(), "the panel to offer the hold")
        await self.press(hold)
        await self.until(lambda: self.state() in {SaleState.HELD, SaleState.PICKING, SaleState.EXPIRED}
                          and "hold" not in self.console.deeds.running, "the hold to be answered")  # fmt: skip
        if self.state() is not SaleState.HELD:
            raise TourError(f"the seats were not held, the sale is {self.state()}")
        await self.until(lambda: self.counter.panel.sale_page.card.isVisible() and self._is_listed(), "the held seats")
        await self.take_picture(f"{step.kind}-held")
        self.note(line, "held")
        return line

    def _is_listed(self) -> bool:
        """Whether the panel shows every seat of the sale and what they cost together."""
        page, sale = self.counter.panel.sale_page, self.sale
        return (
            sale is not None
            and tuple(line.seat_no for line in page.lines) == tuple(pick.seat_no for pick in sale.picks)
            and all(line.isVisible() for line in page.lines)
            and page.total.text() == figures().money(sale.left_minor, sale.currency)
        )

    async def _pick(self, seat_no: int) -> None:
        """Click a seat where the map shows it."""
        await hands.click_seat(self.counter.map, seat_no)
        await self.until(lambda: self.sale is not None and seat_no in self.sale.seats, f"seat {seat_no} to be picked")

    def _free_seats(self, count: int) -> list[int]:
        """Free seats beside each other, the first such run of the plan."""
        store = self.console.desk.store
        if store.plan is None or store.seat_map is None:
            raise TourError("no plan is shown")
        for row in store.plan.rows:
            run: list[int] = []
            for seat_no in range(row.first_seat, row.first_seat + row.seat_count):
                run = [*run, seat_no] if store.seat_map.is_pickable(seat_no) else []
                if len(run) == count:
                    return run
        raise TourError(f"no row has {count} free seats beside each other")

    async def _pay_cash_with_change(self, line: SoldLine) -> None:
        """Through the dialog, with the next larger note where there is one."""
        await self.press(self.counter.panel.sale_page.cash)
        await self.until(lambda: QApplication.activeModalWidget() is not None, "the cash dialog")
        dialog: Any = QApplication.activeModalWidget()
        if len(dialog.quick) > 1:
            await self.press(dialog.quick[1])
        await self.take_picture("cash-dialog", dialog)
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await self.until(lambda: QApplication.activeModalWidget() is None, "the cash dialog to close")
        self.note(line, "paying")

    async def until_paid_and_printed(self, line: SoldLine) -> None:
        paying = {"card", "cash"}
        await self.until(
            lambda: self.state() in _ENDS - {SaleState.HELD} or not paying & self.console.deeds.running,
            "the payment to end",
        )
        if self.state() not in {SaleState.PAID, SaleState.DONE}:
            self.note(line, "not-paid")
            raise TourError(f"the sale should be paid, it is {self.state()}")
        self.note(line, "paid")
        await self.until(lambda: self.state() is SaleState.DONE, "the tickets to be printed")
        outcome = self.counter.panel.outcome_page
        await self.until(lambda: outcome.isVisible() and outcome.next.isVisible(), "the outcome to be shown")
        await self.take_picture(f"{line.kind}-done")
        if self.sale is not None:
            await self._describe(line, self.sale)
        self.note(line, "done")
        await self.until(lambda: not self.console.deeds.running & {"card", "cash", "print"}, "the counter to be free")
        await self.press(self.counter.panel.outcome_page.next)
        await self.until(lambda: self.sale is None, "the next customer")

    # ------------------------------------------------------------ hands and eyes

    def state(self) -> SaleState | None:
        return None if self.sale is None else self.sale.state

    async def press(self, button: QWidget) -> None:
        await hands.press(button)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await hands.until(condition, what)

    async def take_picture(self, name: str, dialog: QWidget | None = None, *, at_once: bool = False) -> None:
        """A picture of the window with the dialog over it, once what is due has been drawn (or of what soon passes)."""
        if not at_once:
            await all_drawn()
        path = self.pictures / f"{len(self.report.pictures) + 1:02}-{name}.png"
        if not picture_of(self.console.window, dialog).save(str(path)):
            raise TourError(f"cannot write {path}")
        self.report.pictures.append(path.name)
        self._write()

    # ------------------------------------------------------------ the report

    def note(self, line: SoldLine, step: str) -> None:
        if self.sale is not None:
            self._copy(line, self.sale)
        self.reach(f"{line.kind}-{step}")

    async def _describe(self, line: SoldLine, sale: Sale) -> None:
        """The sale, and its tickets as the booking system has them."""
        self._copy(line, sale)
        if sale.order is not None and sale.state in {SaleState.PAID, SaleState.DONE, SaleState.PRINTING}:
            answer = await self.console.desk.client.tickets(sale.order.order_id)
            valid = [ticket for ticket in answer.tickets if ticket.status is not TicketStatus.VOID]
            line.tickets, line.codes = len(valid), [ticket.code for ticket in valid]

    def _copy(self, line: SoldLine, sale: Sale) -> None:
        plan = self.console.desk.store.plan
        named = {seat.seat_no: seat for seat in (sale.hold.seats if sale.hold is not None else ())}
        line.seats = []
        for pick in sale.picks:
            seat = named.get(pick.seat_no) or (seat_ref(plan, pick.seat_no) if plan is not None else None)
            names = {"section": seat.section, "row": seat.row, "number": seat.number} if seat is not None else {}
            line.seats.append({"seat_no": pick.seat_no, **names})
        line.state, line.sale_id = sale.state.value, str(sale.sale_id)
        line.amount_minor, line.currency = sale.total_minor, sale.currency
        if sale.hold is not None:
            line.hold_id = str(sale.hold.hold_id)
        if sale.order is not None:
            line.order_id, line.order_number = str(sale.order.order_id), sale.order.number
        if sale.payment is not None:
            line.change_minor = sale.payment.change_minor
            line.operation_id = "" if sale.payment.operation_id is None else str(sale.payment.operation_id)
        if sale.print_job is not None:
            line.pdf = sale.print_job.location

    async def _fail(self, problem: str) -> None:
        self.report.problems.append(problem)
        try:
            await self.take_picture("problem")
        except HandsError as error:
            self.report.problems.append(str(error))

    def reach(self, step: str) -> None:
        self.report.step = step
        self._write()

    def _write(self) -> None:
        """Replace the report as a whole: whoever reads it sees the old one or the new one."""
        self.report_path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.report_path.with_suffix(".part")
        fresh.write_text(json.dumps(asdict(self.report), indent=2, ensure_ascii=False), encoding="utf-8")
        fresh.replace(self.report_path)
