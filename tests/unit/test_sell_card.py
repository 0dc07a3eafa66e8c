"""A card at the counter: one charge, declines, aborts, taps that repeat (P1, T9, R30, R31)."""

from __future__ import annotations

import asyncio

import pytest

from app.actions.finish_sale import finish_sale, park_sale, resume_parked
from app.actions.hold_seats import release_hold
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import set_price_type
from app.core.errors import (
    JournalBeforeAskingError,
    JournalWriteError,
    SaleNotReadyError,
)
from app.core.sale import EndReason, SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import (
    ProgressCallback,
    ResultCallback,
    TerminalResult,
    TerminalUnavailableError,
    Verdict,
)
from app.devices.fake_terminal import AwaitAbort, Decline, FakeCardTerminal, Unreachable
from app.journal.terminal_record import TerminalRecord
from backend_client.errors import AnswerUnknownError
from backend_client.seat_frames import StaffStatus
from backend_client.testing import Fault
from backend_client.wire import OperationStatus, OrderStatus
from tests.unit.counter import Counter, until


def statuses(counter: Counter, *seats: int) -> list[int]:
    return [int(counter.server.house.states[seat]) & 7 for seat in seats]


async def pay_first_sale_elsewhere(counter: Counter) -> None:
    """The journal knows a trace, so that the next payment begins with the payment itself."""
    held = counter.sale
    await park_sale(counter.desk)
    await counter.hold(30)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    await resume_parked(counter.desk, held.sale_id)


async def test_card_sale_is_paid_and_charged_once(counter: Counter) -> None:
    await counter.hold(0, 1, 2)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert counter.charged_minor == 13500
    assert sale.order is not None
    assert sale.order.status is OrderStatus.CONFIRMED
    assert await counter.desk.journal.unsettled_attempts() == ()


async def test_decline_keeps_seats_price_types_and_order(counter: Counter) -> None:
    await counter.hold(0, 1)
    await set_price_type(counter.desk, 1, 2)
    counter.terminal.play(Decline("insufficient-funds"))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.DECLINED
    assert sale.decline_code == "insufficient-funds"
    assert [pick.price_type_id for pick in sale.picks] == [1, 2]
    assert statuses(counter, 0, 1) == [StaffStatus.HELD, StaffStatus.HELD]
    assert NoticeCode.PAYMENT_DECLINED in counter.notices
    paid = await pay_card(counter.desk)
    assert paid.state is SaleState.PAID
    assert counter.charged_minor == 6750
    assert len(counter.server.house.orders) == 1


async def test_second_tap_of_pay_is_dropped(counter: Counter) -> None:
    """P1: pressed twice within 100 ms; the terminal sees one authorization."""
    await counter.hold(0)
    counter.server.delay("/checkout", 0.02)
    first, second = await asyncio.gather(pay_card(counter.desk), pay_card(counter.desk))
    assert counter.terminal.payments_asked == 1
    assert first.state is SaleState.PAID
    assert second.sale_id == first.sale_id
    payments = [call for call in counter.server.calls if call.path.endswith("/payments")]
    assert len(payments) == 1


async def test_another_step_is_refused_while_one_runs(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(AwaitAbort())
    paying = asyncio.create_task(pay_card(counter.desk), name="pay")
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    with pytest.raises(SaleNotReadyError):
        await release_hold(counter.desk)
    second_tap = await pay_cash(counter.desk, 5000)
    assert second_tap.state is SaleState.PAYING
    await abort_card(counter.desk)
    assert (await paying).state is SaleState.DECLINED
    assert counter.charged_minor == 0


async def test_approval_that_crosses_an_abort_wins(counter: Counter) -> None:
    """T9."""
    await counter.hold(0)
    counter.terminal.play(AwaitAbort(approve_anyway=True))
    paying = asyncio.create_task(pay_card(counter.desk), name="pay")
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    await abort_card(counter.desk)
    assert (await paying).state is SaleState.PAID


async def test_terminal_that_is_away_leaves_the_sale_held(counter: Counter) -> None:
    await counter.hold(0)
    await pay_first_sale_elsewhere(counter)
    counter.terminal.play(Unreachable())
    with pytest.raises(TerminalUnavailableError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.HELD
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID


async def test_charge_on_a_lost_hold_is_reversed_by_the_terminal(counter: Counter) -> None:
    """R25: the API advises, the terminal takes it back before its completion."""
    await counter.hold(0)
    counter.terminal.play(AwaitAbort(approve_anyway=True))
    paying = asyncio.create_task(pay_card(counter.desk), name="pay")
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    counter.server.lose_holds()
    await abort_card(counter.desk)
    sale = await paying
    assert sale.state is SaleState.EXPIRED
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert counter.charged_minor == 0
    assert NoticeCode.CARD_REVERSED in counter.notices


async def test_opening_that_was_not_answered_keeps_its_key(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    assert len({call.key for call in counter.server.calls if call.path.endswith("/payments")}) == 1
    assert counter.terminal.payments_asked == 1


async def test_terminal_hears_accept_when_the_hold_stands(counter: Counter) -> None:
    verdicts: list[Verdict] = []

    class Listening(FakeCardTerminal):
        async def pay(
            self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
        ) -> TerminalResult:
            async def hear(result: TerminalResult) -> Verdict:
                verdicts.append(await on_result(result))
                return verdicts[-1]

            return await super().pay(amount_minor, currency, on_progress=on_progress, on_result=hear)

    counter.desk.terminal = Listening()
    await counter.hold(0)
    await pay_card(counter.desk)
    assert verdicts == [Verdict.ACCEPT]


async def test_journal_that_cannot_be_written_stops_the_sale_before_the_terminal(counter: Counter) -> None:
    """The attempt is on the disk before the terminal is asked, or it is not asked."""

    async def full(record: TerminalRecord) -> None:
        raise JournalWriteError("disk full")

    await counter.hold(0)
    counter.desk.journal.begin_terminal_attempt = full  # type: ignore[method-assign]
    with pytest.raises(JournalBeforeAskingError):
        await pay_card(counter.desk)
    assert counter.terminal.payments_asked == 0
    assert counter.sale.state is SaleState.HELD
    [order] = counter.server.house.orders.values()
    assert [operation.status for operation in order.operations] == [OperationStatus.DECLINED]
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID
