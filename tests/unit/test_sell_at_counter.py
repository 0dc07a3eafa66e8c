"""A sale at the counter, with everything that can come between pick and ticket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.actions.finish_sale import finish_sale, park_sale, resume_parked
from app.actions.hold_seats import expire_due, hold_picked, release_hold
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import clear_picks, pick_seats, set_price_type, toggle_seat
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import keep_resolving, resolve_unknown
from app.core.errors import (
    JournalBeforeAskingError,
    JournalWriteError,
    NotAllowedError,
    NothingPickedError,
    SaleNotReadyError,
    SeatNotPickableError,
    TenderedTooLittleError,
    TerminalUnsettledError,
    TicketsNotReadyError,
    TooManySeatsError,
)
from app.core.sale import EndReason, SaleState, UnknownReason
from app.core.store import Connection, NoticeCode
from app.devices.card_terminal import (
    ProgressCallback,
    ResultCallback,
    TerminalOutcome,
    TerminalResult,
    TerminalUnavailableError,
    Verdict,
)
from app.devices.fake_terminal import Approve, AwaitAbort, Decline, FakeCardTerminal, LoseLine, Unreachable
from app.devices.ticket_printer import PrintState
from app.journal.terminal_record import TerminalRecord
from backend_client.errors import AnswerUnknownError, BookingRefusedError, ServiceUnavailableError
from backend_client.seat_frames import StaffStatus
from backend_client.testing import Fault
from backend_client.wire import ErrorCode, OperationStatus, OrderStatus, PrintJobStatus, Role
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until


class DeafTerminal(FakeCardTerminal):
    """Cannot be asked about anything."""

    async def last_transaction(self) -> TerminalResult | None:
        raise TerminalUnavailableError("no connection")


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()


def statuses(counter: Counter, *seats: int) -> list[int]:
    return [int(counter.server.house.states[seat]) & 7 for seat in seats]


async def test_cash_sale_from_pick_to_printed_tickets(counter: Counter) -> None:
    await counter.hold(0, 1)
    assert counter.sale.total_minor == 9000
    assert counter.sale.deadline is not None
    sale = await pay_cash(counter.desk, 10000)
    assert sale.state is SaleState.PAID
    assert sale.payment is not None
    assert sale.payment.change_minor == 1000
    done = await print_tickets(counter.desk)
    assert done.state is SaleState.DONE
    [sheet] = counter.printer.sheets
    assert [face.number for face in sheet.tickets] == ["1", "2"]
    assert statuses(counter, 0, 1) == [StaffStatus.SOLD, StaffStatus.SOLD]
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED
    await finish_sale(counter.desk)
    assert counter.desk.store.sale is None
    assert await counter.desk.journal.open_sales() == ()


async def test_card_sale_is_paid_and_charged_once(counter: Counter) -> None:
    await counter.hold(0, 1, 2)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert counter.charged_minor == 13500
    assert sale.order is not None
    assert sale.order.status is OrderStatus.CONFIRMED
    assert await counter.desk.journal.unsettled_attempts() == ()


async def test_lost_seats_leave_the_picks_and_are_named(counter: Counter) -> None:
    """B9, R14: one seat of three was sold elsewhere; nothing is held, and the clerk reads which."""
    for seat in (3, 4, 5):
        toggle_seat(counter.desk, seat)
    counter.server.sell_elsewhere(4)
    sale = await hold_picked(counter.desk)
    assert sale.state is SaleState.PICKING
    assert sale.seats == {3, 5}
    assert [seat.number for seat in sale.lost_seats] == ["5"]
    assert NoticeCode.SEATS_LOST in counter.notices
    assert statuses(counter, 3, 5) == [StaffStatus.AVAILABLE, StaffStatus.AVAILABLE]


async def test_hold_key_is_the_same_after_a_lost_answer_and_new_for_new_picks(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    assert counter.sale.state is SaleState.HOLDING
    sale = await hold_picked(counter.desk)
    assert sale.state is SaleState.HELD
    keys = {call.key for call in counter.server.calls if call.path.endswith("/holds")}
    assert len(keys) == 1
    assert len(counter.server.house.holds) == 1


async def test_hold_is_refused_while_the_authority_is_away(counter: Counter) -> None:
    """R2: stock is never guessed."""
    counter.server.fail(Fault.UNREACHABLE, "/holds", times=9)
    with pytest.raises(ServiceUnavailableError):
        await counter.hold(0)
    assert counter.sale.state is SaleState.PICKING
    assert counter.desk.store.connection is Connection.AWAY


async def test_picking_follows_the_map_and_the_limit(counter: Counter) -> None:
    counter.server.sell_elsewhere(9)
    assert counter.desk.store.seat_map is not None
    counter.desk.store.load_seats(counter.server.house.snapshot())
    with pytest.raises(SeatNotPickableError):
        toggle_seat(counter.desk, 9)
    with pytest.raises(SeatNotPickableError):
        toggle_seat(counter.desk, 10_000)
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 0)
    with pytest.raises(NothingPickedError):
        await hold_picked(counter.desk)
    assert pick_seats(counter.desk, list(range(12))).seats == {0, 1, 2, 3, 4, 5}
    with pytest.raises(TooManySeatsError):
        toggle_seat(counter.desk, 6)
    assert counter.desk.store.seat_map.mine == {0, 1, 2, 3, 4, 5}
    clear_picks(counter.desk)
    assert counter.desk.store.seat_map.mine == frozenset()


async def test_ops_may_not_sell(counter: Counter) -> None:
    """R35: the console mirrors the API's table."""
    assert counter.desk.store.session is not None
    session = counter.desk.store.session
    counter.desk.store.put_session(type(session)(
        session.staff_id, session.name, session.display_name, Role.OPS, session.device_id, session.storage
    ))  # fmt: skip
    with pytest.raises(NotAllowedError):
        toggle_seat(counter.desk, 0)


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


async def test_price_type_after_a_decline_makes_a_new_order_and_keeps_the_seats(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(Decline())
    await pay_card(counter.desk)
    sale = await set_price_type(counter.desk, 0, 2)
    assert sale.state is SaleState.HELD
    assert sale.order is None
    paid = await pay_cash(counter.desk, 2250)
    assert paid.state is SaleState.PAID
    assert paid.total_minor == 2250


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


async def pay_first_sale_elsewhere(counter: Counter) -> None:
    """The journal knows a trace, so that the next payment begins with the payment itself."""
    held = counter.sale
    await park_sale(counter.desk)
    await counter.hold(30)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    await resume_parked(counter.desk, held.sale_id)


@pytest.mark.parametrize("booked", [True, False])
async def test_lost_line_is_unknown_and_resolved_by_asking(counter: Counter, *, booked: bool) -> None:
    """T3, R31: nobody charges again; the terminal's last transaction and the API decide."""
    await counter.hold(40)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=booked))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.UNKNOWN
    assert sale.unknown_reason is UnknownReason.TERMINAL_SILENT
    with pytest.raises(SaleNotReadyError):
        await pay_card(counter.desk)
    asked = counter.terminal.payments_asked
    sale = await resolve_unknown(counter.desk)
    assert sale.state is (SaleState.PAID if booked else SaleState.HELD)
    assert counter.terminal.payments_asked == asked
    assert len(counter.terminal.booked) == (2 if booked else 1)


async def test_unknown_sale_waits_aside_while_the_next_customer_is_served(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    assert [sale.sale_id for sale in counter.desk.store.parked] == [first.sale_id]
    await counter.hold(1)
    second = await pay_card(counter.desk)
    assert second.state is SaleState.PAID
    await resolve_unknown(counter.desk, first.sale_id)
    [parked] = counter.desk.store.parked
    assert parked.state is SaleState.PAID
    assert NoticeCode.PARKED_SALE_PAID in counter.notices
    assert len(counter.terminal.booked) == 2


async def test_later_payment_of_the_same_amount_is_not_taken_for_the_lost_one(counter: Counter) -> None:
    """T6: after another payment the last transaction says nothing about the open one."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    await counter.hold(1)
    await pay_card(counter.desk)
    still = await resolve_unknown(counter.desk, first.sale_id)
    assert still.state is SaleState.UNKNOWN
    assert still.unknown_reason is UnknownReason.RECONCILING


async def test_card_waits_until_the_terminal_can_be_asked_about_the_open_payment(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    await park_sale(counter.desk)
    await counter.hold(1)
    counter.desk.terminal = DeafTerminal()
    with pytest.raises(TerminalUnsettledError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.HELD
    assert (await pay_cash(counter.desk, 5000)).state is SaleState.PAID


async def test_api_that_is_silent_on_an_approval_gets_the_result_later(counter: Counter) -> None:
    """DESIGN §3: no answer within the terminal's patience → goods issued, settle later; one charge."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.UNKNOWN
    assert sale.unknown_reason is UnknownReason.BOOKING_SILENT
    counter.server.heal()
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert counter.charged_minor == 4500


async def test_slow_api_does_not_keep_the_terminal_waiting(tmp_path: Path) -> None:
    patience = replace(FAST, report_s=0.02)
    journal = open_journal(tmp_path)
    counter = make_counter(journal, patience=patience)
    await counter.open()
    await counter.hold(0)
    counter.server.delay("/result", 0.3, times=1)
    sale = await pay_card(counter.desk)
    await journal.close()
    assert sale.state is SaleState.PAID
    assert counter.charged_minor == 4500


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


async def test_late_advice_to_reverse_names_the_receipt(counter: Counter) -> None:
    """R25, T6: accepted for want of an answer, then the hold turns out to be lost: reversed by receipt number, once."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    counter.server.lose_holds()
    sale = await resolve_unknown(counter.desk)
    assert sale.state is SaleState.EXPIRED
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert counter.charged_minor == 0


async def test_amount_that_differs_is_never_a_guess(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(Approve(amount_minor=4000))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.EXPIRED
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert counter.charged_minor == 0


async def test_cash_with_a_lost_answer_is_asked_again_with_the_same_key(counter: Counter) -> None:
    """C6: one order, one operation, the same body."""
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    sale = await pay_cash(counter.desk, 5000)
    assert sale.state is SaleState.UNKNOWN
    sale = await resolve_unknown(counter.desk)
    assert sale.state is SaleState.PAID
    assert sale.payment is not None
    assert sale.payment.change_minor == 500
    [order] = counter.server.house.orders.values()
    assert len(order.operations) == 1


async def test_cash_below_the_total_changes_nothing(counter: Counter) -> None:
    await counter.hold(0)
    with pytest.raises(TenderedTooLittleError) as raised:
        await pay_cash(counter.desk, 4400)
    assert raised.value.missing_minor == 100
    assert counter.sale.state is SaleState.HELD
    assert counter.server.house.orders == {}


async def test_operation_opened_for_nothing_does_not_stand_in_the_way_of_cash(counter: Counter) -> None:
    """The card operation's opening was not answered and the terminal never asked; then the buyer pays cash."""
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.HELD
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID
    assert counter.terminal.payments_asked == 0


async def test_opening_that_was_not_answered_keeps_its_key(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    assert len({call.key for call in counter.server.calls if call.path.endswith("/payments")}) == 1
    assert counter.terminal.payments_asked == 1


async def test_changed_prices_are_shown_before_anything_is_charged(counter: Counter) -> None:
    """R10."""
    await counter.hold(0)
    counter.server.house.prices[0, 1] = 5000
    with pytest.raises(BookingRefusedError) as raised:
        await pay_card(counter.desk)
    assert raised.value.problem.code is ErrorCode.PRICE_CHANGED
    assert counter.sale.total_minor == 5000
    assert NoticeCode.PRICES_CHANGED in counter.notices
    assert (await pay_cash(counter.desk, 5000)).state is SaleState.PAID


async def test_hold_ends_by_the_server_clock(counter: Counter) -> None:
    """R4: the countdown reads the server's clock; nothing that runs is ended by it."""
    await counter.hold(0)
    assert not await expire_due(counter.desk)
    counter.server.pass_time(301)
    await counter.desk.client.me()
    assert counter.desk.store.remaining_s == 0
    assert await expire_due(counter.desk)
    assert counter.sale.end_reason is EndReason.HOLD_ENDED
    assert NoticeCode.HOLD_EXPIRED in counter.notices


async def test_hold_ends_by_the_server_word(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.pass_time(301)
    with pytest.raises(BookingRefusedError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.EXPIRED
    assert counter.terminal.payments_asked == 0


async def test_given_up_sale_frees_its_seats(counter: Counter) -> None:
    await counter.hold(0, 1)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert statuses(counter, 0, 1) == [StaffStatus.AVAILABLE, StaffStatus.AVAILABLE]
    await counter.hold(2)
    counter.terminal.play(Decline())
    await pay_card(counter.desk)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert statuses(counter, 2) == [StaffStatus.AVAILABLE]


async def test_hold_whose_answer_was_lost_is_given_back_too(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    await release_hold(counter.desk)
    assert statuses(counter, 0) == [StaffStatus.AVAILABLE]


async def test_print_that_ends_unknown_is_asked_and_not_repeated(counter: Counter) -> None:
    """K7."""
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.state = PrintState.UNKNOWN
    sale = await print_tickets(counter.desk)
    assert sale.print_unclear
    assert NoticeCode.PRINT_UNKNOWN in counter.notices
    with pytest.raises(SaleNotReadyError):
        await print_tickets(counter.desk)
    assert len(counter.printer.sheets) == 1
    assert (await confirm_print(counter.desk, printed=True)).state is SaleState.DONE
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED


async def test_printer_that_breaks_its_promise_counts_as_unknown(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.breaks = True
    assert (await print_tickets(counter.desk)).print_unclear
    await confirm_print(counter.desk, printed=False)
    counter.printer.breaks = False
    assert (await print_tickets(counter.desk)).state is SaleState.DONE
    assert len(counter.printer.sheets) == 2


async def test_failed_print_can_be_repeated(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.state = PrintState.FAILED
    sale = await print_tickets(counter.desk)
    assert (sale.state, sale.print_unclear) == (SaleState.PAID, False)
    counter.printer.state = PrintState.CONFIRMED
    assert (await print_tickets(counter.desk)).state is SaleState.DONE


async def test_tickets_that_are_not_issued_yet_are_waited_for(counter: Counter) -> None:
    """R28: the issuer works behind the confirmation."""
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.server.house.tickets_complete = False
    with pytest.raises(TicketsNotReadyError):
        await print_tickets(counter.desk)
    assert counter.sale.state is SaleState.PAID
    printing = asyncio.create_task(print_tickets(counter.desk), name="print")
    counter.server.house.tickets_complete = True
    assert (await printing).state is SaleState.DONE


async def test_print_report_that_is_lost_is_made_later(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.server.fail(Fault.UNREACHABLE, "/print-jobs/", times=9)
    sale = await print_tickets(counter.desk)
    assert sale.state is SaleState.PAID
    await finish_sale(counter.desk)
    assert [kept.sale_id for kept in counter.desk.store.parked] == [sale.sale_id]
    counter.server.heal()
    resolving = asyncio.create_task(keep_resolving(counter.desk), name="resolve")
    await until(lambda: counter.desk.store.parked == ())
    resolving.cancel()
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED


async def test_unknown_sale_is_asked_about_until_it_is_clear(counter: Counter) -> None:
    resolving = asyncio.create_task(keep_resolving(counter.desk), name="resolve")
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=12)
    assert (await pay_card(counter.desk)).state is SaleState.UNKNOWN
    await until(lambda: counter.sale.state is SaleState.PAID)
    resolving.cancel()
    assert counter.charged_minor == 4500


async def test_parked_held_sale_comes_back_with_its_hold(counter: Counter) -> None:
    held = await counter.hold(0)
    await park_sale(counter.desk)
    assert counter.desk.store.seat_map is not None
    assert 0 in counter.desk.store.seat_map.mine
    await counter.hold(1)
    back = await resume_parked(counter.desk, held.sale_id)
    assert back == held
    assert [sale.seats for sale in counter.desk.store.parked] == [{1}]
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID


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


class LineDiesAtTheEnd(FakeCardTerminal):
    """The verdict was given; then the line died. `kept` says whether the terminal heard it."""

    kept = True

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        result = await super().pay(amount_minor, currency, on_progress=on_progress, on_result=on_result)
        if not self.kept:
            self.booked.remove(result)
        return replace(result, outcome=TerminalOutcome.UNKNOWN)


@pytest.mark.parametrize("kept", [True, False])
async def test_line_that_dies_after_the_verdict_leaves_a_paid_sale_and_no_false_alarm(
    counter: Counter, *, kept: bool
) -> None:
    """The API has confirmed: that counts. Only a charge that the terminal took back is said to a supervisor."""
    terminal = LineDiesAtTheEnd()
    counter.desk.terminal = terminal
    await counter.hold(1)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    terminal.kept = kept
    counter.desk.store.notices = ()
    await counter.hold(0)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert (NoticeCode.TERMINAL_DIFFERS in counter.notices) is not kept


async def test_driver_that_breaks_during_a_payment_is_unknown(counter: Counter) -> None:
    """R24: whatever the driver did wrong, money may have moved."""

    class Broken(FakeCardTerminal):
        async def pay(
            self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
        ) -> TerminalResult:
            self._book(amount_minor, currency)
            raise RuntimeError("a bug")

    terminal = Broken()
    counter.desk.terminal = terminal
    await counter.hold(0)
    assert (await pay_card(counter.desk)).state is SaleState.UNKNOWN
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert len(terminal.booked) == 1


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
