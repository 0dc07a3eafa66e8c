"""The console killed at a byte and started again: it resumes or clears up, and never charges twice (C1–C9, R40).

Each test kills with SIGKILL from a proxy that sees the byte, then starts the console on the same data folder.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from tests.end2end.console import ConsoleProcess, Counter, Terminal, codes_in, terminal_process
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import StackFacts, check_invariants, kill
from tests.end2end.proxies import Address, FaultProxy, HttpAnswer, HttpRequest, PassThrough, Tap, TerminalFrame, Trap

HOLDS = r"POST /v1/events/\d+/holds"
CHECKOUT = r"POST /v1/holds/[^ ]+/checkout"
PAYMENTS = r"POST /v1/orders/[^ ]+/payments"
RESULT = r"PUT /v1/payments/[^ ]+/result"
PRINT_JOBS = r"POST /v1/orders/[^ ]+/print-jobs"
PRINT_REPORTS = r"PUT /v1/print-jobs/[^ ]+"
STATUS_INFORMATION = b"\x04\x0f"

pytestmark = pytest.mark.timeout(300)


@dataclass
class Scene:
    """A counter whose every byte to the API and to the terminal passes a proxy, and the process that sits there."""

    stack: StackFacts
    counter: Counter
    terminal: Terminal
    process: ConsoleProcess | None = None

    async def kill_console(self) -> None:
        assert self.process is not None
        kill(self.process.pid)

    async def die(self, plan: str, trap: Trap) -> dict[str, Any]:
        """Start the console along `plan`, wait for its death at the trap, and return what it reported last."""
        self.process = self.counter.start(plan)
        code = await self.process.ended(90)
        assert trap.sprung.is_set(), f"it ended by itself: {self.process.report}\n{self.process.words()[-2000:]}"
        assert code == -9
        return self.process.report

    async def resume(self) -> dict[str, Any]:
        """Start it again, and return what it found in its journal and how that ended."""
        self.process = self.counter.start("resume")
        return await self.process.finished()


@asynccontextmanager
async def scene(
    stack: StackFacts,
    folder: Path,
    *,
    api: Callable[[], Tap] = PassThrough,
    till: Callable[[], Tap] = PassThrough,
    scenario: str = "approve",
) -> AsyncIterator[Scene]:
    port = httpx.URL(stack.api_url).port
    async with (
        terminal_process(folder, "--scenario", scenario) as terminal,
        FaultProxy(Address(port=port), api) as api_proxy,
        FaultProxy(Address(port=terminal.port), till) as till_proxy,
    ):
        counter = Counter(
            folder,
            f"http://127.0.0.1:{api_proxy.port}",
            f"127.0.0.1:{till_proxy.port}",
            "carla",
            stack.passwords["carla"],
        )
        found = Scene(stack, counter, terminal)
        try:
            yield found
        finally:
            if found.process is not None:
                await found.process.end()


async def holds_of_seats(stack: StackFacts, seats: list[int], event_id: int) -> list[tuple[str, str]]:
    """(status, hold) of every hold that ever took one of the seats."""
    connection = await asyncpg.connect(stack.dsn)
    try:
        rows = await connection.fetch(
            "SELECT status, hold_id FROM holds WHERE event_id = $1 AND seats && $2::int[] ORDER BY created_at",
            event_id, seats,
        )  # fmt: skip
    finally:
        await connection.close()
    return [(row["status"], str(row["hold_id"])) for row in rows]


async def operations_of(stack: StackFacts, order_id: str) -> list[tuple[str, str]]:
    """(kind, status) of each payment operation of an order, in order of opening."""
    async with client(stack.api_url) as http:
        supervisor = await Buyer.staff(http, "sofia", stack.passwords["sofia"])
        order = (await supervisor.get(f"/v1/orders/{order_id}")).json()
    return [(operation["kind"], operation["status"]) for operation in order["operations"]]


async def order_of_hold(stack: StackFacts, hold_id: str) -> tuple[str, str] | None:
    """(order, status) of the live order of a hold."""
    connection = await asyncpg.connect(stack.dsn)
    try:
        row = await connection.fetchrow(
            "SELECT order_id, status FROM orders JOIN order_holds USING (order_id) WHERE hold_id = $1 AND live", hold_id
        )
    finally:
        await connection.close()
    return None if row is None else (str(row["order_id"]), row["status"])


def booked(transactions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Charges that stand: what the customer's bank would show."""
    return [found for found in transactions if found["original_trace"] is None and not found["reversed"]]


def seat_numbers(line: dict[str, Any]) -> list[int]:
    return [seat["seat_no"] for seat in line["seats"]]


async def test_hold_whose_answer_was_lost_with_the_console_is_found_again(stack: StackFacts, tmp_path: Path) -> None:
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: HttpAnswer(trap, HOLDS)) as here:
        before = await here.die("card:2", trap)
        seats = seat_numbers(before["sales"][0])
        assert len(seats) == 2
        after = await here.resume()
        (line,) = after["resumed"]
        assert (line["state"], seat_numbers(line)) == ("HELD", seats)
        assert await holds_of_seats(stack, seats, before["event_id"]) == [("HELD", line["hold_id"])]
        assert await here.terminal.payments_asked() == 0
    assert await check_invariants(stack.dsn) == []


@pytest.mark.parametrize("request_line", [CHECKOUT, PAYMENTS])
async def test_console_that_died_before_the_card_was_asked_charges_nothing(
    stack: StackFacts, tmp_path: Path, request_line: str
) -> None:
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: HttpAnswer(trap, request_line)) as here:
        before = await here.die("card:1", trap)
        after = await here.resume()
        assert len(after["resumed"]) == 1
        assert seat_numbers(after["resumed"][0]) == seat_numbers(before["sales"][0])
        assert after["resumed"][0]["state"] in {"HELD", "DECLINED"}, "the clerk decides what is next"
        assert await here.terminal.payments_asked() == 0
        assert booked(await here.terminal.transactions()) == []
    assert await check_invariants(stack.dsn) == []


async def test_console_that_died_with_the_approval_on_the_way_asks_the_terminal_and_sells_once(
    stack: StackFacts, tmp_path: Path
) -> None:
    """The terminal has booked and sends 04 0F; the till dies before it reads it."""
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, till=lambda: TerminalFrame(trap, STATUS_INFORMATION)) as here:
        before = await here.die("card:3", trap)
        assert len(booked(await here.terminal.transactions())) == 1
        after = await here.resume()
        (line,) = after["resumed"]
        assert line["state"] == "DONE"
        assert seat_numbers(line) == seat_numbers(before["sales"][0])
        assert await operations_of(stack, line["order_id"]) == [("sale", "SUCCEEDED")]
        assert await here.terminal.payments_asked() == 1, "never a second charge"
        assert len(booked(await here.terminal.transactions())) == 1
        assert sorted(codes_in(Path(line["pdf"]))) == sorted(line["codes"])
        assert line["tickets"] == 3
    assert await check_invariants(stack.dsn) == []


@pytest.mark.parametrize("tap", [HttpRequest, HttpAnswer])
async def test_console_that_died_while_reporting_the_approval_reports_it_and_sells_once(
    stack: StackFacts, tmp_path: Path, tap: type[HttpRequest | HttpAnswer]
) -> None:
    """Before the API hears of it, or after the API confirmed and before the till hears that."""
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: tap(trap, RESULT)) as here:
        before = await here.die("card:2", trap)
        after = await here.resume()
        (line,) = after["resumed"]
        assert (line["state"], seat_numbers(line)) == ("DONE", seat_numbers(before["sales"][0]))
        assert await operations_of(stack, line["order_id"]) == [("sale", "SUCCEEDED")]
        assert await here.terminal.payments_asked() == 1
        assert len(booked(await here.terminal.transactions())) == 1
        assert line["tickets"] == len(set(codes_in(Path(line["pdf"])))) == 2
    assert await check_invariants(stack.dsn) == []


async def test_console_that_died_before_printing_offers_it_and_prints_once(stack: StackFacts, tmp_path: Path) -> None:
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: HttpRequest(trap, PRINT_JOBS)) as here:
        await here.die("cash:2", trap)
        after = await here.resume()
        (line,) = after["resumed"]
        assert line["state"] == "DONE"
        assert await operations_of(stack, line["order_id"]) == [("cash", "SUCCEEDED")]
        assert sorted(codes_in(Path(line["pdf"]))) == sorted(line["codes"])
        assert line["tickets"] == 2
    assert await check_invariants(stack.dsn) == []


async def test_print_job_whose_answer_was_lost_prints_once(stack: StackFacts, tmp_path: Path) -> None:
    """The API has the print job, the printer has seen nothing: the same job is taken up again."""
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: HttpAnswer(trap, PRINT_JOBS)) as here:
        await here.die("cash:1", trap)
        assert printed(tmp_path) == []
        after = await here.resume()
        (line,) = after["resumed"]
        assert line["state"] == "DONE"
        assert await print_jobs_of(stack, line["order_id"]) == ["CONFIRMED"]
        assert printed(tmp_path) == [Path(line["pdf"])]
        assert await operations_of(stack, line["order_id"]) == [("cash", "SUCCEEDED")]
    assert await check_invariants(stack.dsn) == []


async def test_print_that_was_not_reported_is_not_repeated_in_silence(stack: StackFacts, tmp_path: Path) -> None:
    """The sheet lies in the tray and nobody wrote that down: a person looks, the console prints nothing by itself."""
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    async with scene(stack, tmp_path, api=lambda: HttpRequest(trap, PRINT_REPORTS)) as here:
        await here.die("cash:1", trap)
        before = printed(tmp_path)
        assert len(before) == 1
        after = await here.resume()
        (line,) = after["resumed"]
        assert await operations_of(stack, line["order_id"]) == [("cash", "SUCCEEDED")]
        assert printed(tmp_path) == before
        assert len(await print_jobs_of(stack, line["order_id"])) == 1
    assert await check_invariants(stack.dsn) == []


def printed(folder: Path) -> list[Path]:
    """The sheets that came out of this counter's printer."""
    return sorted((folder / "console" / "tickets").glob("*.pdf"))


async def print_jobs_of(stack: StackFacts, order_id: str) -> list[str]:
    connection = await asyncpg.connect(stack.dsn)
    try:
        rows = await connection.fetch("SELECT status FROM print_jobs WHERE order_id = $1", order_id)
    finally:
        await connection.close()
    return [row["status"] for row in rows]


async def test_terminal_that_lost_its_line_leaves_the_payment_unknown_and_is_asked_again(
    stack: StackFacts, tmp_path: Path
) -> None:
    """No console dies here: the approval is lost on the line, parked as unclear, and cleared up at the next start."""
    async with scene(stack, tmp_path, scenario="line-lost-after-approval") as here:
        here.process = here.counter.start("unknown:1")
        before = await here.process.finished()
        (line,) = before["sales"]
        order = await order_of_hold(stack, line["hold_id"])
        assert order is not None
        await here.terminal.ask(do="scenario", name="approve", times=0)
        after = await here.resume()
        assert [found["state"] for found in after["resumed"]] in (["DONE"], ["PAID"])
        assert await operations_of(stack, order[0]) == [("sale", "SUCCEEDED")]
        assert await here.terminal.payments_asked() == 1
        assert len(booked(await here.terminal.transactions())) == 1
    assert await check_invariants(stack.dsn) == []
