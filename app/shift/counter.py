"""A clerk's shift: buyer after buyer, cash, as hands do it; no refusal ends it.

Every second buyer wants seats that the clerk clicks on the map, from the back; the others take the best available,
where everybody else looks too. What was refused is offered again, let go, or put aside, as the screen proposes.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, time
from typing import Final

from PySide6.QtWidgets import QPushButton

from app import hands
from app.core.sale import Sale, SaleState
from app.hands import HandsError
from app.screens.counter import CounterScreen
from app.shift.joining import JoinFile, Joining
from app.shift.reports import CounterSale
from app.shift.shift import Shift
from backend_client.feed_protocol import FeedState
from widgets.twice_button import TwiceButton

BUYER_EVERY_S: Final = 1.5
_ANSWER_S: Final = 60.0
_PICK_S: Final = 10.0
_PAUSE_S: Final = 0.5
_MOST_TRIES: Final = 4
_HOLD_TRIES: Final = 2
"""A buyer whose seats cannot be had gives way to the next one, who may want others."""
_MOST_STUCK: Final = 3
_SEATS: Final = 2
_PAYING: Final = frozenset({"exact-cash", "print"})


class ClerkShift(Shift):
    """See the module."""

    def __init__(self, join: JoinFile, report: Path) -> None:
        super().__init__(join, report)
        self._last_code = ""
        self._back: int | None = None
        self._stuck = 0

    @property
    def counter(self) -> CounterScreen:
        """The counter as it is built now."""
        return self.console.window.screens.counter

    @property
    def sale(self) -> Sale | None:
        """The sale at the counter; one that was given up is none."""
        sale = self.console.desk.store.sale
        return None if sale is None or sale.state is SaleState.ABANDONED else sale

    @property
    def state(self) -> SaleState | None:
        return None if self.sale is None else self.sale.state

    async def _prepare(self, joining: Joining) -> None:
        screens, store = self.console.window.screens, self.console.desk.store
        events = screens.events
        await hands.until(events.model.rowCount, "an event to be listed")
        row = events.model.row_of(joining.event_id)
        if row is None:
            raise HandsError(f"event {joining.event_id} is not listed")
        hands.click_line(events.list, events.model.index(row))
        await hands.until(lambda: screens.current is screens.counter, "the event to open")
        await hands.until(lambda: store.feed_state is FeedState.LIVE, "the map to be live", _ANSWER_S)
        self.console.deeds.refused.connect(self._on_refused)

    def _on_refused(self, _deed: str, error: object) -> None:
        self._last_code = str(getattr(error, "code", type(error).__name__))

    async def _work(self) -> None:
        for number in count():
            if self.join.now() is None:
                return
            next_at = monotonic() + BUYER_EVERY_S
            await self._serve("map" if number % 2 == 0 else "best")
            await self._fetch_parked()
            await asyncio.sleep(max(0.0, next_at - monotonic()))

    async def _finish(self) -> None:
        """Payments that were put aside come to their end first."""
        store = self.console.desk.store
        await hands.until(lambda: not store.unknown_sales, "unclear payments to be cleared up", _ANSWER_S)
        await self._fetch_parked()

    # ------------------------------------------------------------ one buyer

    async def _serve(self, how: str) -> None:
        """Sell to one buyer, whatever it comes to. Windows that are stuck again and again are a problem, not a no."""
        sold = CounterSale(how, time())
        self.file.report.sales.append(sold)
        try:
            await self._pick(sold)
            if await self._hold(sold):
                await self._take_money(sold)
            else:
                await self._let_go(sold)
            self._stuck = 0
        except HandsError as error:
            sold.state = sold.state or "STUCK"
            sold.refusals.append("stuck")
            self._stuck += 1
            self.file.report.problems.append(f"buyer {len(self.file.report.sales)}: {error}")
            if self._stuck >= _MOST_STUCK:
                raise
        finally:
            self.file.keep()

    async def _pick(self, sold: CounterSale) -> None:
        """Two seats beside each other; none when the screen says that there are none."""
        bar, page = self.counter.picking.bar, self.counter.panel.sale_page
        await hands.press(bar.counts[_SEATS - 1])
        if sold.how == "best":
            await hands.press(bar.best)
        else:
            await hands.click_seat(self.counter.map, self._seat_at_the_back())
        await hands.until(
            lambda: (self._has_picks() and page.hold.isVisible() and page.hold.isEnabled()) or self._said_no(),
            "seats to be picked", _PICK_S,
        )  # fmt: skip

    def _has_picks(self) -> bool:
        sale = self.sale
        return sale is not None and sale.state is SaleState.PICKING and bool(sale.picks)

    def _said_no(self) -> bool:
        return not self._has_picks() and self.counter.panel.banner.isVisible()

    def _seat_at_the_back(self) -> int:
        """The second of two free neighbours, the last such in the plan."""
        store = self.console.desk.store
        if store.plan is None or store.seat_map is None:
            raise HandsError("no plan is shown")
        first = self._back if self._back is not None else store.seat_map.seat_count - 1
        free = store.seat_map.pickable()
        rows = store.plan.seats.row_no
        for seat_no in range(first, 0, -1):
            if free[seat_no] and free[seat_no - 1] and rows[seat_no] == rows[seat_no - 1]:
                self._back = seat_no
                return seat_no
        raise HandsError("no two seats are free beside each other")

    async def _hold(self, sold: CounterSale) -> bool:
        """Ask for the hold, as often as the screen proposes to. False: this buyer goes without seats."""
        began = monotonic()
        try:
            for _ in range(_HOLD_TRIES):
                if self.sale is None or len(self.sale.picks) < _SEATS:
                    break
                self._last_code = ""
                await hands.press(self.counter.panel.sale_page.hold, _ANSWER_S)
                await self._until_answered()
                if self._is_held():
                    return True
                self._note_refusal(sold)
                if not await self._may_go_on():
                    return False
                if self._is_held():
                    return True
        finally:
            sold.hold_ms = round(1000 * (monotonic() - began), 1)
        if not sold.refusals:
            self._note_refusal(sold)
        return False

    async def _may_go_on(self) -> bool:
        """After a no: other seats where some are offered, else the same ones a moment later; lost seats are lost."""
        if self.state is SaleState.EXPIRED:
            return False
        if self._last_code:
            await asyncio.sleep(_PAUSE_S)
            return True
        callout = self.counter.picking.callout
        if not callout.isVisible() or not callout.take.isVisible():
            return False
        await hands.press(callout.take)
        await self._until_answered()
        return True

    def _is_held(self) -> bool:
        return self.state is SaleState.HELD

    async def _until_answered(self) -> None:
        await hands.until(lambda: "hold" not in self.console.deeds.running, "the hold to be answered", _ANSWER_S)

    def _note_refusal(self, sold: CounterSale) -> None:
        """Seats that somebody else has are no error of the deed: the sale itself says that they are lost."""
        lost = self.sale is not None and self.sale.lost_seats
        sold.refusals.append(self._last_code or ("seats-taken" if lost else "nothing-left"))

    async def _let_go(self, sold: CounterSale) -> None:
        """The buyer goes: whatever is picked or held is let go."""
        page = self.counter.panel.sale_page
        if self.state in {SaleState.HELD, SaleState.HOLDING}:
            await self._mean(page.release)
            await hands.until(lambda: "release" not in self.console.deeds.running, "the seats to go back", _ANSWER_S)
        if self.state is SaleState.EXPIRED:
            await self._next_buyer()
        while self._has_picks() and page.lines:
            left = len(page.lines)
            await hands.press(page.lines[-1].drop)
            await hands.until(partial(self._fewer_than, left), "the seat to leave the sale", _PICK_S)
        sold.state = sold.state or "REFUSED"

    def _fewer_than(self, count: int) -> bool:
        return len(self.counter.panel.sale_page.lines) < count

    async def _mean(self, button: TwiceButton) -> None:
        await hands.press(button)
        await hands.until(lambda: button.means_it, "the button to ask again", _PICK_S)
        await hands.press(button)

    # ------------------------------------------------------------ money and tickets

    async def _take_money(self, sold: CounterSale) -> None:
        """Exact cash, until the tickets are printed; a payment that stays unclear is put aside."""
        panel = self.counter.panel
        waited_s = 0.0
        for _ in range(_MOST_TRIES):
            await hands.until(lambda: panel.sale_page.exact_cash.listens, "the buttons to listen", _PICK_S)
            self._last_code = ""
            began = monotonic()
            await hands.press(panel.sale_page.exact_cash)
            await self._until_rest()
            waited_s += monotonic() - began
            if self.state is not SaleState.HELD:
                break
            sold.refusals.append(self._last_code or "not-paid")
        sold.ticket_ms = round(sold.hold_ms + 1000 * waited_s, 1)
        if self.state is SaleState.UNKNOWN:
            sold.state, sold.was_parked = "UNKNOWN", True
            self._copy(sold)
            await hands.press(panel.unknown_page.park)
            await hands.until(lambda: self.sale is None, "the sale to be put aside", _ANSWER_S)
        elif self.state is SaleState.HELD:
            await self._let_go(sold)
        else:
            await self._conclude(sold)

    async def _until_rest(self) -> None:
        """Until the payment has ended one way or another, and the tickets are printed if it ended well."""
        await hands.until(
            lambda: not _PAYING & self.console.deeds.running and self.state is not SaleState.PAYING,
            "the payment to end", _ANSWER_S,
        )  # fmt: skip

    async def _conclude(self, sold: CounterSale) -> None:
        """Read what the screen calls the sale, and free the counter."""
        page = self.counter.panel.outcome_page
        if self.state is SaleState.PAID:
            await hands.press(page.print_again)
            await self._until_rest()
        await hands.until(lambda: page.isVisible() and page.next.isVisible(), "the outcome to be shown", _PICK_S)
        self._copy(sold)
        await self._next_buyer()

    def _copy(self, sold: CounterSale) -> None:
        """What is on the screen: the state and the number as they are written there."""
        sale = self.sale
        if sale is None:
            return
        page = self.counter.panel.outcome_page
        sold.state = sale.state.value
        sold.number = page.number.text() if page.isVisible() and page.number.isVisible() else ""
        if not sold.number and sale.order is not None and sale.state is SaleState.UNKNOWN:
            sold.number = sale.order.number
        sold.seats, sold.amount_minor = sorted(sale.seats), sale.total_minor

    async def _next_buyer(self) -> None:
        await hands.press(self.counter.panel.outcome_page.next)
        await hands.until(lambda: self.console.desk.store.sale is None, "the next buyer", _PICK_S)

    # ------------------------------------------------------------ what was put aside

    async def _fetch_parked(self) -> None:
        """Bring back what was put aside and has become clear: paid sales get their tickets, others are let go."""
        store = self.console.desk.store
        for waiting in [sale for sale in store.parked if sale.state is not SaleState.UNKNOWN]:
            number = "" if waiting.order is None else waiting.order.number
            sold = next((one for one in self.file.report.sales if one.was_parked and one.number == number), None)
            if sold is None:
                continue
            place = store.parked.index(waiting)
            await hands.press(self._parked_button(place))
            await hands.until(lambda: self.sale is not None, "the sale to come back", _ANSWER_S)
            await self._until_rest()
            if self.state is SaleState.HELD:
                await self._take_money(sold)
            else:
                await self._conclude(sold)
            self.file.keep()

    def _parked_button(self, place: int) -> QPushButton:
        panel = self.counter.panel
        text = panel.parked_texts[place]
        return next(button for button in panel.findChildren(QPushButton) if button.accessibleName() == text)
