"""The console killed in a split tender, while money goes back, and at the terminal's end of day (C6, T4, T6, R24, R40).

As `test_console_kills`: SIGKILL from a proxy that sees the byte, then the console again on the same data folder, driven
to the end as a clerk would. The terminal's own ledger and the booking system's must agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from _pytest.mark.structures import ParameterSet

from tests.end2end.processes import StackFacts, check_invariants
from tests.end2end.proxies import HttpAnswer, HttpRequest, PassThrough, Tap, TerminalFrame, Trap
from tests.end2end.test_console_kills import PAYMENTS, RESULT, STATUS_INFORMATION, Scene, booked, operations_of, scene

CANCEL = r"POST /v1/orders/[^ ]+/cancel"
TOTALS = r"POST /v1/terminal-totals"
REVERSAL, END_OF_DAY = b"\x06\x30", b"\x06\x50"

pytestmark = pytest.mark.timeout(300)


async def settle(here: Scene) -> dict[str, Any]:
    """Start the console again, and let the clerk bring what it found to its end."""
    here.process = here.counter.start("settle")
    return await here.process.finished()


def some_of(taps: Iterable[str], *short: str) -> list[ParameterSet]:
    """Every place to die at; those that the short form leaves out are long."""
    return [pytest.param(name, marks=() if name in short else pytest.mark.long) for name in taps]


def device_of(folder: Path) -> str:
    """The id of this counter."""
    return str(json.loads((folder / "console" / "device.json").read_text("utf-8"))["device_id"])


async def money_of(stack: StackFacts, device_folder: Path) -> tuple[int, int]:
    """(what the booking system has of card sales at this counter, less what went back; confirmed orders)."""
    connection = await asyncpg.connect(stack.dsn)
    try:
        device = device_of(device_folder)
        row = await connection.fetchrow(
            """
            SELECT coalesce(sum(CASE kind WHEN 'sale' THEN amount_minor ELSE -amount_minor END), 0) AS minor,
                   count(DISTINCT order_id) FILTER (WHERE kind = 'sale') AS orders
              FROM payment_operations
             WHERE device_id = $1::uuid AND status = 'SUCCEEDED' AND provider = 'zvt' AND kind IN ('sale', 'refund')
            """,
            device,
        )
    finally:
        await connection.close()
    assert row is not None
    return int(row["minor"]), int(row["orders"])


async def standing(here: Scene) -> list[int]:
    """Charges that stand at the terminal."""
    return [found["amount_minor"] for found in booked(await here.terminal.transactions())]


SPLIT_TAPS: dict[str, tuple[str, Callable[[Trap], Tap]]] = {
    "the cash part is not answered": ("api", lambda trap: HttpAnswer(trap, PAYMENTS)),
    "the card approves": ("till", lambda trap: TerminalFrame(trap, STATUS_INFORMATION)),
    "the approval is not reported": ("api", lambda trap: HttpRequest(trap, RESULT)),
    "the report is not answered": ("api", lambda trap: HttpAnswer(trap, RESULT)),
}


@pytest.mark.parametrize("where", some_of(SPLIT_TAPS, "the cash part is not answered", "the card approves"))
async def test_c6_console_that_died_in_a_split_tender_sells_once(stack: StackFacts, tmp_path: Path, where: str) -> None:
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    side, make = SPLIT_TAPS[where]
    taps: dict[str, Callable[[], Tap]] = {"api": PassThrough, "till": PassThrough, side: lambda: make(trap)}
    async with scene(stack, tmp_path, api=taps["api"], till=taps["till"]) as here:
        before = await here.die("split:2", trap)
        after = await settle(here)
        (line,) = after["resumed"]
        assert line["state"] == "DONE"
        operations = await operations_of(stack, line["order_id"])
        assert [kind for kind, status in operations if status == "SUCCEEDED"] in (["cash", "sale"], ["sale"])
        assert line["tickets"] == 2
        assert line["hold_id"] == before["sales"][0]["hold_id"]
        minor, orders = await money_of(stack, tmp_path)
        assert (sum(await standing(here)), len(await standing(here)), orders) == (minor, 1, 1)
        assert await here.terminal.payments_asked() == 1, "never a second charge"
    assert await check_invariants(stack.dsn) == []


RETURN_TAPS: dict[str, tuple[str, Callable[[Trap], Tap]]] = {
    "the order's end is not answered": ("api", lambda trap: HttpAnswer(trap, CANCEL)),
    "the terminal is about to take it back": ("till", lambda trap: TerminalFrame(trap, REVERSAL, from_till=True)),
    "the reversal is not reported": ("api", lambda trap: HttpRequest(trap, RESULT)),
}


@pytest.mark.parametrize("where", some_of(RETURN_TAPS, "the reversal is not reported"))
async def test_c6_console_that_died_while_money_went_back_gives_it_back_once(
    stack: StackFacts, tmp_path: Path, where: str
) -> None:
    """T6: by its receipt, once, and the booking system hears of it."""
    trap = Trap(lambda: here.kill_console(), armed=False)  # noqa: PLW0108 -- `here` is made below
    side, make = RETURN_TAPS[where]

    async def arm() -> None:
        trap.armed = True

    left = Trap(arm, deliver=True)  # the report of the part itself lets the console live
    taps: dict[str, Callable[[], Tap]] = {"api": lambda: Both(HttpRequest(left, CANCEL)), "till": PassThrough}
    if side == "api":
        taps["api"] = lambda: Both(HttpRequest(left, CANCEL), make(trap))
    else:
        taps["till"] = lambda: make(trap)
    async with scene(stack, tmp_path, api=taps["api"], till=taps["till"]) as here:
        await here.die("leave:2", trap)
        await settle(here)
        minor, _orders = await money_of(stack, tmp_path)
        assert (minor, await standing(here)) == (0, [])
        reversals = [one for one in await here.terminal.transactions() if one["original_trace"] is not None]
        assert len(reversals) == 1, "given back once"
    assert await check_invariants(stack.dsn) == []


class Both:
    """Several taps on one connection; the first that springs counts."""

    def __init__(self, *taps: Tap) -> None:
        self._taps = taps

    def client_sent(self, data: bytes) -> Trap | None:
        return next((trap for trap in [tap.client_sent(data) for tap in self._taps] if trap is not None), None)

    def server_sent(self, data: bytes) -> Trap | None:
        return next((trap for trap in [tap.server_sent(data) for tap in self._taps] if trap is not None), None)


DAY_TAPS: dict[str, tuple[str, Callable[[Trap], Tap]]] = {
    "the terminal is about to close": ("till", lambda trap: TerminalFrame(trap, END_OF_DAY, from_till=True)),
    "the terminal has closed": ("till", lambda trap: TerminalFrame(trap, STATUS_INFORMATION)),
    "the totals are not reported": ("api", lambda trap: HttpRequest(trap, TOTALS)),
    "the report is not answered": ("api", lambda trap: HttpAnswer(trap, TOTALS)),
}


@pytest.mark.parametrize("where", some_of(DAY_TAPS, "the terminal has closed"))
async def test_c6_console_that_died_at_the_end_of_the_day_reports_it_once(
    stack: StackFacts, tmp_path: Path, where: str
) -> None:
    trap = Trap(lambda: here.kill_console())  # noqa: PLW0108 -- `here` is made below
    side, make = DAY_TAPS[where]
    taps: dict[str, Callable[[], Tap]] = {"api": PassThrough, "till": PassThrough, side: lambda: make(trap)}
    async with scene(stack, tmp_path, api=taps["api"], till=taps["till"]) as here:
        await here.die("day", trap)
        closed = len((await here.terminal.ask(do="transactions"))["closings"])
        assert closed == (0 if "about" in where else 1)
        await settle(here)
        reports = await totals_of(stack, tmp_path)
        assert len(reports) == closed, "what was closed is reported once; what was not is not"
        assert len((await here.terminal.ask(do="transactions"))["closings"]) == closed, "and never closed again"
    assert await check_invariants(stack.dsn) == []


async def totals_of(stack: StackFacts, device_folder: Path) -> list[int]:
    connection = await asyncpg.connect(stack.dsn)
    try:
        device = device_of(device_folder)
        rows = await connection.fetch("SELECT total_minor FROM terminal_totals WHERE device_id = $1::uuid", device)
    finally:
        await connection.close()
    return [int(row["total_minor"]) for row in rows]
