"""What nobody at the counter can help: a slow booking system, a wrong clock, an event that ends amid a sale, no paper.

No seat, no payment and no click is lost: what was not done is said, what may have been done is found out, and nothing
is done twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta, tzinfo
from typing import Any

import httpx
import pytest

from app.core.sale import SaleState
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketSheet
from backend_client.wire import OperationKind, OperationStatus, OrderStatus, TicketStatus
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import check_invariants
from tests.end2end.proxies import Address, FaultProxy, Trap
from tests.gui.conftest import calm, until
from tests.gui.money_hands import mean_it
from tests.windows.shared import House
from tests.windows.stage import NOWHERE, Till
from tests.windows.test_ways_to_pay import booked, order_of, paid_of, pay_part

DONE = OperationStatus.SUCCEEDED


class Late(Trap):
    """Every answer is held back for so long."""

    def __init__(self, delay_s: float) -> None:
        super().__init__(self._wait, deliver=True)
        self._delay_s = delay_s

    async def _wait(self) -> None:
        await asyncio.sleep(self._delay_s)

    async def spring(self) -> bool:
        await self.hook()
        return True


class LateAnswers:
    """A tap that holds back what the server says."""

    def __init__(self, delay_s: float) -> None:
        self._late = Late(delay_s)

    def client_sent(self, data: bytes) -> Trap | None:
        return None

    def server_sent(self, data: bytes) -> Trap | None:
        return self._late


@asynccontextmanager
async def late_answers(till: Till, delay_s: float) -> AsyncIterator[None]:
    """The booking system answers so much later."""
    api = Address(port=httpx.URL(till.stack.api_url).port)
    async with FaultProxy(api, lambda: LateAnswers(delay_s)) as proxy, redirected(till, proxy.port):
        yield


@asynccontextmanager
async def refusals(till: Till, delay_s: float) -> AsyncIterator[None]:
    """A gateway says 503 after a while; nothing reaches the booking system."""
    body = b'{"type":"about:blank","title":"busy","status":503,"code":"busy"}'
    head = (
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
        b"Content-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n" % len(body)
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read(65_536)
            await asyncio.sleep(delay_s)
            writer.write(head + body)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with redirected(till, server.sockets[0].getsockname()[1]):
            yield
        await asyncio.sleep(delay_s + 0.1)  # what was under way has ended
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def redirected(till: Till, port: int) -> AsyncIterator[None]:
    """The till's line ends at another port; connections that stand are cut before and after."""
    till.api_line.point_at(Address(port=port))
    await till.api_line.cut()
    try:
        yield
    finally:
        till.find_api()
        await till.api_line.cut()


def test_a_hold_that_is_answered_after_many_seconds_is_made_once(house: House) -> None:
    async def scene(till: Till) -> None:
        seats = await till.pick(2)
        async with late_answers(till, 0.8):
            till.panel.sale_page.hold.click()
            for _click in range(5):
                till.panel.sale_page.hold.click()
                await asyncio.sleep(0.3)
            await till.reach(SaleState.HELD, SaleState.PICKING, within_s=40)
        if till.state is SaleState.PICKING:
            await calm(till.panel.sale_page.hold)
            till.panel.sale_page.hold.click()
            await till.reach(SaleState.HELD)
        assert sorted(seat.seat_no for seat in till.sale.hold.seats) == sorted(seats)  # type: ignore[union-attr]
        holds = await house.db.fetch("SELECT 1 FROM holds WHERE event_id = $1", till.event_id)
        assert len(holds) == 1
        till.panel.sale_page.exact_cash.click()
        await till.reach(SaleState.DONE)

    house.play(scene)


@pytest.mark.parametrize("way", ["cash", "card"])
def test_a_payment_amid_late_answers_and_refusals_is_taken_once(house: House, way: str) -> None:
    async def scene(till: Till) -> None:
        await till.hold(2)
        page = till.panel.sale_page
        before = len(await booked(till))
        async with refusals(till, 0.3):
            await calm(page.exact_cash)
            (page.exact_cash if way == "cash" else page.card).click()
            await until(lambda: bool(till.said), "the refusal", 40)
            await till.rest()
            assert till.state is SaleState.HELD
            assert len(await booked(till)) == before, "the terminal is not asked before the operation is open"
        async with late_answers(till, 0.8):
            await calm(page.exact_cash)
            (page.exact_cash if way == "cash" else page.card).click()
            await till.reach(SaleState.DONE, SaleState.PAID, within_s=80)
        if not till.sale.ended:
            await calm(till.panel.outcome_page.print_again)
            till.panel.outcome_page.print_again.click()
            await till.reach(SaleState.DONE)
        status, paid = await paid_of(till, till.sale)
        kind = OperationKind.CASH if way == "cash" else OperationKind.SALE
        assert status is OrderStatus.CONFIRMED
        assert [one for one in paid if one[1] is DONE] == [(kind, DONE)]
        assert len(await booked(till)) == before + (way == "card")

    house.play(scene, 150)


class WrongClock:
    """In the place of `datetime`: a machine whose clock is off."""

    def __init__(self, off: timedelta) -> None:
        self._off = off

    def now(self, zone: tzinfo) -> datetime:
        return datetime.now(zone) + self._off

    def __getattr__(self, name: str) -> Any:
        return getattr(datetime, name)


@pytest.mark.parametrize("off", [timedelta(minutes=10), timedelta(minutes=-10)])
def test_a_till_whose_clock_is_wrong_still_finds_out_what_its_terminal_did(
    house: House, monkeypatch: pytest.MonkeyPatch, off: timedelta
) -> None:
    """The booking system's time is what counts: the terminal's booking is ours although this machine says otherwise."""

    for module in ("app.actions.desk", "app.core.hold_clock", "app.devices.zvt.line"):
        monkeypatch.setattr(f"{module}.datetime", WrongClock(off))

    async def scene(till: Till) -> None:
        await till.sell_card(1)
        await till.next_customer()
        before = len(await booked(till))
        await till.hold(2)
        left = till.store.remaining_s
        assert left is not None
        assert 250 < left <= 300, "what the countdown says"
        await till.simulator.ask(do="scenario", name="line-lost-after-approval")
        till.panel.sale_page.card.click()
        await until(lambda: till.store.terminal_progress not in {"", "connecting"}, "the terminal")
        till.terminal_line.point_at(NOWHERE)
        await until(lambda: till.state is SaleState.UNKNOWN, "an unclear payment", 40)
        assert till.sale.handed_over_at is None
        till.find_terminal()
        await till.reach(SaleState.DONE, within_s=60)
        assert (await order_of(till)).status is OrderStatus.CONFIRMED
        assert len(await booked(till)) == before + 1

    house.play(scene, 120)


def test_an_event_that_is_cancelled_amid_a_split_tender_gives_the_part_back(house: House) -> None:
    async def scene(till: Till) -> None:
        await till.hold(2)
        await pay_part(till, "30", card=False)
        await until(lambda: till.sale.paid_minor == 3_000, "the cash part")
        await till.rest()
        sale = till.sale
        async with client(house.stack.api_url) as http:
            boss = await Buyer.staff(http, "ada", house.stack.passwords["ada"])
            version = (await boss.get(f"/v1/events/{till.event_id}/settings")).json()["version"]
            answer = await boss.post(
                f"/v1/events/{till.event_id}/cancel", {"expected_version": version, "reason": "ill"}
            )
            assert answer.status_code == 200, answer.text
        before = len(await booked(till))
        await calm(till.panel.sale_page.card)
        till.panel.sale_page.card.click()
        await until(lambda: till.state is not SaleState.PAYING and not till.desk.running, "an end", 40)
        await till.rest()
        assert till.state in {SaleState.RETURNING, SaleState.EXPIRED}, (till.state, till.said)
        if till.state is SaleState.RETURNING:
            await calm(till.panel.returning_page.give)
            till.panel.returning_page.give.click()
            till.panel.returning_page.give.click()
        await until(lambda: till.state is SaleState.EXPIRED, f"the part to be back: {till.said}", 20)
        assert len(await booked(till)) == before, "no card is charged for an event that is off"
        status, paid = await paid_of(till, sale)
        assert status is OrderStatus.CANCELLED
        assert (OperationKind.REFUND, DONE) in paid
        assert any("30.00" in line for line in till.panel.returning_page.lines)

    house.play(scene)


class RunsOut:
    """A printer that stops after so many tickets."""

    name = "BOCA"

    def __init__(self, after: int, state: PrintState) -> None:
        self.after = after
        self.state = state
        self.jobs: list[tuple[str, ...]] = []

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        ids = tuple(face.ticket_id for face in sheet.tickets)
        self.jobs.append(ids)
        if len(ids) <= self.after:
            return PrintOutcome(PrintState.CONFIRMED, ids)
        return PrintOutcome(self.state, ids[: self.after], reason="printer-trouble")


@pytest.mark.parametrize("state", [PrintState.FAILED, PrintState.UNKNOWN])
def test_no_paper_amid_six_tickets_prints_none_of_them_twice_by_itself(house: House, state: PrintState) -> None:
    async def scene(till: Till) -> None:
        printer, real = RunsOut(4, state), till.desk.printer
        till.desk.printer = printer
        try:
            await till.hold(6)
            till.panel.sale_page.exact_cash.click()
            await till.reach(SaleState.PAID)
            page = till.panel.outcome_page
            assert len(printer.jobs) == 1
            order = await order_of(till)
            printed = [one.status for one in (await till.desk.client.tickets(order.order_id)).tickets]
            assert TicketStatus.PRINTED not in printed
            printer.after = 6
            if state is PrintState.UNKNOWN:
                await calm(page.print_anew)
                page.print_anew.click()
                page.print_anew.click()
            else:
                await calm(page.print_again)
                page.print_again.click()
                page.print_again.click()
            await till.reach(SaleState.DONE)
            assert len(printer.jobs) == 2
            printed = [one.status for one in (await till.desk.client.tickets(order.order_id)).tickets]
            assert printed == [TicketStatus.PRINTED] * 6
        finally:
            till.desk.printer = real

    house.play(scene)


def test_the_books_are_right_after_all_of_this(house: House) -> None:
    async def scene(till: Till) -> None:
        await till.hold(1)
        await mean_it(till.panel.sale_page.release)
        await till.reach(SaleState.ABANDONED)
        assert await check_invariants(house.stack.dsn) == []

    house.play(scene)
