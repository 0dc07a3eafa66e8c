"""The terminal has ended and the booking system is slow: the counter says what is so, and there is nothing to stop."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest

from app.actions.pay_card import abort_card, pay_card
from app.core.sale import SaleState
from app.core.store import ConsoleStore
from app.core.telling import Telling
from app.devices.fake_terminal import Approve, AwaitAbort, Decline, LoseLine, Scene
from backend_client.testing import Fault
from tests.unit.counter import Counter, until


@pytest.mark.parametrize(
    ("scene", "telling", "end"),
    [
        (Approve(), Telling.APPROVED, SaleState.UNKNOWN),
        (Decline(), Telling.DECLINED, SaleState.DECLINED),
        (LoseLine(booked=True), Telling.UNCLEAR, SaleState.UNKNOWN),
        (AwaitAbort(), Telling.NOTHING, SaleState.DECLINED),
    ],
)
async def test_what_a_terminal_said_last_stands_until_the_sale_goes_on(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, scene: Scene, telling: Telling, end: SaleState
) -> None:
    """Else words of a payment that has not begun stood there, with the offer to stop it: the card was charged."""
    shown: list[tuple[str, SaleState]] = []
    put = ConsoleStore.put_terminal_progress

    def note(store: ConsoleStore, progress: str, about: UUID | None = None) -> None:
        put(store, progress, about)
        shown.append((progress, counter.sale.state))

    monkeypatch.setattr(ConsoleStore, "put_terminal_progress", note)
    await counter.hold(0)
    counter.terminal.play(scene)
    if end is SaleState.UNKNOWN:
        counter.server.fail(Fault.BUSY, "/result", times=200)
    paying = asyncio.create_task(pay_card(counter.desk))
    if isinstance(scene, AwaitAbort):
        await until(lambda: counter.desk.store.terminal_progress == "present-card")
        await abort_card(counter.desk)
    sale = await paying
    assert sale.state is end
    begun = next(place for place, (progress, _state) in enumerate(shown) if progress == "present-card")
    at_the_terminal = [progress for progress, state in shown[begun:] if state is SaleState.PAYING]
    assert at_the_terminal[-1] == telling
    assert "" not in at_the_terminal
    assert shown[-1] == ("", end)


async def test_a_wish_to_stop_comes_too_late_once_the_terminal_has_said_its_last_word(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(AwaitAbort(approve_anyway=True))
    paying = asyncio.create_task(pay_card(counter.desk))
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    counter.desk.store.put_terminal_progress(Telling.APPROVED, counter.sale.sale_id)
    await abort_card(counter.desk)
    assert not counter.desk.store.stop_wished
    await counter.terminal.abort()
    assert (await paying).state is SaleState.PAID


async def test_what_the_terminal_does_for_one_sale_is_not_shown_of_another(counter: Counter) -> None:
    """A parked card still charges while another sale's money goes back at the counter."""
    store, parked = counter.desk.store, uuid4()
    store.put_terminal_progress(Telling.APPROVED, parked)
    assert store.progress_of(parked) == Telling.APPROVED
    assert store.progress_of(uuid4()) == ""
    assert store.progress_of(None) == ""
