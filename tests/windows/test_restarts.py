"""A window that closes in any state of a sale and comes back; a person who goes in the middle of one for another.

A console that is closed, or ends as in a power cut, finds at its next start what it had: the seats, the payment, the
tickets. Whoever signs in next goes on where the one before stood.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from app.actions.finish_sale import finish_sale
from app.core.sale import Sale, SaleState
from app.devices.ticket_printer import PrintOutcome, TicketSheet
from backend_client.wire import OperationKind, OperationStatus, OrderStatus
from booking.store.database import Database
from tests.end2end.console import Terminal, terminal_process
from tests.end2end.processes import StackFacts, check_invariants
from tests.end2end.proxies import Address, FaultProxy
from tests.gui.conftest import QLoop, calm, until
from tests.gui.money_hands import mean_it, modal
from tests.server.box_office import ADULT_PRICE, make_event
from tests.windows.stage import NOWHERE, Till, console_on, database_of, open_event
from tests.windows.test_money_back import dialog_about, open_found
from tests.windows.test_ways_to_pay import booked, is_settled, order_of, paid_of, pay_part
from widgets.theme import Theme

DONE = OperationStatus.SUCCEEDED


class Counter:
    """A counter whose console can be closed and started again, with one terminal and one line to it."""

    def __init__(self, stack: StackFacts, folder: Path, terminal: Terminal, line: FaultProxy, db: Database) -> None:
        self.stack = stack
        self.folder = folder
        self.terminal = terminal
        self.line = line
        self.db = db
        self.event_id = 0

    @asynccontextmanager
    async def console(self, name: str = "carla") -> AsyncIterator[Till]:
        """The console over what it had kept. A closed one ends like a process that is told to."""
        async with console_on(
            self.stack, self.folder / "console", name, terminal=self.terminal, port=self.line.port
        ) as till:
            till.terminal_line = self.line
            till.event_id = self.event_id
            yield till

    async def new_event(self) -> int:
        self.event_id = await make_event(self.db, 40)
        return self.event_id


@asynccontextmanager
async def counter_on(stack: StackFacts, folder: Path) -> AsyncIterator[Counter]:
    async with AsyncExitStack() as parts:
        terminal = await parts.enter_async_context(terminal_process(folder, "--delay", "0.6"))
        line = await parts.enter_async_context(FaultProxy(Address(port=terminal.port)))
        yield Counter(stack, folder, terminal, line, await parts.enter_async_context(database_of(stack)))


class DyingPrinter:
    """Its last job is never heard of again: the console ends meanwhile."""

    name = "BOCA"

    def __init__(self, till: Till) -> None:
        self.till = till
        self.jobs = 0

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        del sheet
        self.jobs += 1
        await self.till.desk.sleep(3600)
        raise AssertionError("the console was closed")


async def sell_on(till: Till) -> None:
    """From HELD to the tickets, by card."""
    await calm(till.panel.sale_page.card)
    till.panel.sale_page.card.click()
    await till.reach(SaleState.DONE)


async def at_the_terminal(till: Till) -> None:
    await calm(till.panel.sale_page.card)
    till.panel.sale_page.card.click()
    await until(lambda: till.store.terminal_progress not in {"", "connecting"}, "the terminal")


class Held:
    """Nothing is paid: the hold is found, and paid once."""

    async def begin(self, till: Till, counter: Counter) -> None:
        await till.hold(2)
        self.hold = till.sale.hold

    async def check(self, till: Till, counter: Counter) -> None:
        await until(lambda: till.state is SaleState.HELD, "the sale again")
        await till.rest()
        assert till.screens.current is till.screens.counter
        assert till.sale.hold is not None
        assert self.hold is not None
        assert till.sale.hold.hold_id == self.hold.hold_id
        await sell_on(till)
        assert await booked(till) == [2 * ADULT_PRICE]


class AtTheTerminal:
    """Whether the terminal booked it or not: one charge at the end."""

    async def begin(self, till: Till, counter: Counter) -> None:
        self.before = len(await booked(till))
        await till.hold(2)
        await at_the_terminal(till)

    async def check(self, till: Till, counter: Counter) -> None:
        known = {SaleState.PAID, SaleState.DONE, SaleState.HELD, SaleState.DECLINED}
        await until(lambda: till.state in known, "what became of it", 60)
        await till.rest()
        charges = len(await booked(till)) - self.before
        assert charges == ((await order_of(till)).status is OrderStatus.CONFIRMED)
        if not charges:
            await sell_on(till)
        assert len(await booked(till)) == self.before + 1


class Unclear:
    """The terminal booked it and cannot be asked before the next start."""

    async def begin(self, till: Till, counter: Counter) -> None:
        self.before = len(await booked(till))
        await till.hold(2)
        await counter.terminal.ask(do="scenario", name="line-lost-after-approval")
        await at_the_terminal(till)
        counter.line.point_at(NOWHERE)
        await until(lambda: till.state is SaleState.UNKNOWN, "an unclear payment", 40)

    async def check(self, till: Till, counter: Counter) -> None:
        await until(lambda: till.state is SaleState.UNKNOWN, "the sale again", 40)
        counter.line.point_at(Address(port=counter.terminal.port))
        await until(lambda: till.state in {SaleState.PAID, SaleState.DONE}, "the terminal's word", 60)
        await till.rest()
        assert (await order_of(till)).status is OrderStatus.CONFIRMED
        assert len(await booked(till)) == self.before + 1


class Printing:
    """Nobody knows what came out: a person looks, and nothing is printed before that."""

    async def begin(self, till: Till, counter: Counter) -> None:
        dying = till.desk.printer = DyingPrinter(till)
        await till.hold(2)
        till.panel.sale_page.exact_cash.click()
        await until(lambda: dying.jobs == 1, "the printer")

    async def check(self, till: Till, counter: Counter) -> None:
        await until(lambda: till.store.sale is not None and till.sale.print_unclear, "the unclear print", 40)
        await till.rest()
        page = till.panel.outcome_page
        assert page.came_out.isVisible()
        await calm(page.print_anew)
        page.print_anew.click()
        await till.reach(SaleState.DONE)
        assert (await paid_of(till, till.sale)) == (OrderStatus.CONFIRMED, [(OperationKind.CASH, DONE)])


class GivingBack:
    """The buyer leaves with two parts paid; the terminal is away when the card's is to go back."""

    async def begin(self, till: Till, counter: Counter) -> None:
        self.before = len(await booked(till))
        await till.hold(2)
        await pay_part(till, "20", card=False)
        await until(lambda: till.sale.paid_minor == 2_000, "the cash part")
        await till.rest()
        await pay_part(till, "30", card=True)
        await until(lambda: till.sale.paid_minor == 5_000, "the card part")
        await till.rest()
        self.sale = till.sale
        await till.lose(counter.line)
        await mean_it(till.panel.sale_page.release)
        await until(lambda: till.state is SaleState.RETURNING, "the way back", 40)

    async def check(self, till: Till, counter: Counter) -> None:
        await until(lambda: any(one.sale_id == self.sale.sale_id for one in _all(till)), "the sale again", 40)
        counter.line.point_at(Address(port=counter.terminal.port))

        def is_back() -> bool:
            kept = till.desk.find(self.sale.sale_id)
            return kept is None or kept.ended

        while not is_back():
            if till.state is SaleState.RETURNING and till.panel.returning_page.give.isVisible():
                till.panel.returning_page.give.click()
            await till.desk.sleep(0.1)
        await till.rest()
        status, paid = await paid_of(till, self.sale)
        assert status is OrderStatus.CANCELLED
        assert [kind for kind, state in paid if state is DONE and kind is OperationKind.REFUND] == ["refund"] * 2
        assert len(await booked(till)) == self.before


class Refunding:
    """A refund that this till was to give at its terminal: the order says so, and it is given once."""

    async def begin(self, till: Till, counter: Counter) -> None:
        self.sale = await till.sell_card(2)
        await till.next_customer()
        self.before = len(await booked(till))
        await open_found(till, self.sale)
        await till.lose(counter.line)
        dialog = await dialog_about(till)
        dialog.tickets[0].click()
        dialog.tickets[1].click()
        dialog.reason.setText("ill")
        await calm(dialog.send)
        dialog.send.click()
        await until(lambda: modal() is None, "the dialog to close")
        await till.rest()
        counter.line.point_at(Address(port=counter.terminal.port))

    async def check(self, till: Till, counter: Counter) -> None:
        await open_found(till, self.sale)
        give = till.orders.page.give
        await until(give.isVisible, "what is still to be given", 20)
        await calm(give)
        give.click()
        await until(lambda: not give.isVisible(), "the end", 40)
        await till.rest()
        assert (await order_of(till, self.sale)).status is OrderStatus.REFUNDED
        assert len(await booked(till)) == self.before - 1


def test_a_console_that_is_closed_in_each_state_goes_on_with_the_sale(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Held, at the terminal, unclear, printing, giving back, refunding: closed, started, and one charge at the end.

    Each start finds what the one before left, and leaves the next.
    """
    states = (Held(), AtTheTerminal(), Unclear(), Printing(), GivingBack(), Refunding())

    async def scene() -> None:
        async with counter_on(stack, tmp_path) as counter:
            event_id = await counter.new_event()
            for place in range(len(states) + 1):
                async with counter.console("sofia") as till:
                    if place:
                        await states[place - 1].check(till, counter)
                        if till.store.sale is not None:
                            await finish_sale(till.desk)
                    if place < len(states):
                        await open_event(till, event_id)
                        till.free = list(range(6 * place, 6 * place + 6))
                        await states[place].begin(till, counter)
        assert await check_invariants(stack.dsn) == []

    qloop.run(scene(), 240)


def _all(till: Till) -> list[Sale]:
    return [*till.store.parked, *([] if till.store.sale is None else [till.store.sale])]


async def closed_while_refunding(counter: Counter, event_id: int) -> None:
    """A refund that this till was to give at its terminal: the order says so, and it is given once."""
    async with counter.console("sofia") as till:
        await open_event(till, event_id)
        till.free = list(range(20, 24))
        sale = await till.sell_card(2)
        await till.next_customer()
        before = len(await booked(till))
        await open_found(till, sale)
        await till.lose(counter.line)
        dialog = await dialog_about(till)
        dialog.tickets[0].click()
        dialog.tickets[1].click()
        dialog.reason.setText("ill")
        await calm(dialog.send)
        dialog.send.click()
        await until(lambda: modal() is None, "the dialog to close")
        await till.rest()
    counter.line.point_at(Address(port=counter.terminal.port))
    async with counter.console("sofia") as till:
        await open_found(till, sale)
        give = till.orders.page.give
        await until(give.isVisible, "what is still to be given", 20)
        await calm(give)
        give.click()
        await until(lambda: not give.isVisible(), "the end", 40)
        await till.rest()
        order = await order_of(till, sale)
        assert order.status is OrderStatus.REFUNDED
        assert len(await booked(till)) == before - 1
        assert is_settled(order) or order.status is OrderStatus.REFUNDED


def test_somebody_who_may_not_sell_comes_first_and_the_sale_waits_for_one_who_may(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_on(stack, tmp_path) as counter:
            event_id = await counter.new_event()
            async with counter.console() as till:
                await open_event(till, event_id)
                till.free = list(range(4))
                await till.hold(2)
            async with counter.console("omar") as till:
                await till.rest()
                assert till.store.sale is None
                await till.sign_out()
                await till.sign_in("carla")
                await until(lambda: till.state is SaleState.HELD, "the sale of before", 20)
                await till.rest()
                await sell_on(till)

    qloop.run(scene(), 120)
