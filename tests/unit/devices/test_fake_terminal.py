"""The double keeps the promises of the interface, so that what is tested on it holds for the driver."""

from __future__ import annotations

import asyncio

import pytest

from app.devices.card_terminal import (
    CardTerminal,
    TerminalBusyError,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
    TerminalUnavailableError,
    Verdict,
)
from app.devices.fake_terminal import Approve, AwaitAbort, Decline, FakeCardTerminal, LoseLine, Scene, Unreachable
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal


async def pay(terminal: CardTerminal, verdict: Verdict = Verdict.ACCEPT) -> TerminalResult:
    async def decide(_result: TerminalResult) -> Verdict:
        return verdict

    return await terminal.pay(1250, "EUR", on_progress=lambda _: None, on_result=decide)


def test_driver_and_double_are_both_card_terminals() -> None:
    terminals: list[CardTerminal] = [FakeCardTerminal(), ZvtTerminal(ZvtSettings("127.0.0.1"))]
    assert {terminal.provider for terminal in terminals} == {"zvt"}


@pytest.mark.parametrize(
    ("scene", "outcome", "booked"),
    [
        (Approve(), "approved", 1),
        (Decline(), "declined", 0),
        (LoseLine(booked=True), "unknown", 1),
        (LoseLine(booked=False), "unknown", 0),
    ],
)
async def test_each_scene_ends_as_it_says(scene: Scene, outcome: str, booked: int) -> None:
    terminal = FakeCardTerminal()
    terminal.play(scene)
    assert (await pay(terminal)).outcome == outcome
    assert len(terminal.booked) == booked


async def test_a_reversed_verdict_takes_the_booking_back() -> None:
    terminal = FakeCardTerminal()
    result = await pay(terminal, Verdict.REVERSE)
    assert (result.outcome, result.reversed_at_terminal, terminal.booked) == (TerminalOutcome.DECLINED, True, [])


async def test_nothing_is_asked_of_a_terminal_that_cannot_be_reached() -> None:
    terminal = FakeCardTerminal()
    terminal.play(Unreachable())
    with pytest.raises(TerminalUnavailableError):
        await pay(terminal)
    assert terminal.payments_asked == 0


@pytest.mark.parametrize(("approve_anyway", "outcome"), [(False, "declined"), (True, "approved")])
async def test_t9_an_abort_is_a_wish(approve_anyway: bool, outcome: str) -> None:
    terminal = FakeCardTerminal()
    terminal.play(AwaitAbort(approve_anyway))
    paying = asyncio.create_task(pay(terminal))
    await asyncio.sleep(0)
    with pytest.raises(TerminalBusyError):
        await pay(terminal)
    await terminal.abort()
    assert (await paying).outcome == outcome


async def test_t6_a_reversal_names_its_receipt() -> None:
    terminal = FakeCardTerminal()
    first, second = await pay(terminal), await pay(terminal)
    assert first.receipt_no is not None
    await terminal.reverse(first.receipt_no, amount_minor=1250, original_trace=first.trace)
    assert terminal.booked == [second]
    last = await terminal.last_transaction()
    assert last is not None
    assert last.original_trace == first.trace, "the reversal is its last transaction"
    with pytest.raises(TerminalRefusedError):
        await terminal.reverse(first.receipt_no)
