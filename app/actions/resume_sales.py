"""At start: every sale that the journal has open is brought to what the API and the terminal know (T4, R31, R30).

Nothing is charged, and nothing is printed, by resuming. What cannot be cleared up now stays UNKNOWN and is asked about.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from app.actions.desk import Desk
from app.actions.hold_seats import ask_hold, end_expired
from app.actions.leave_sale import let_go_if_left
from app.actions.pay_out import post_untaken, read_paid_out
from app.actions.pay_sale import look_again, stay_unknown
from app.actions.print_tickets import report_print
from app.actions.resolve_unknown import settle
from app.actions.return_money import follow_returns, look_at_returns
from app.core.errors import ConsoleError, JournalDamagedError, JournalError
from app.core.sale import Sale, SaleState, SaleStep, UnknownReason
from app.core.session import Permission
from app.core.settlement import unclear
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import TerminalError
from backend_client.errors import BookingClientError, BookingRefusedError, HoldGoneError
from backend_client.wire import HoldStatus, OperationKind, PrintJobStatus

_log = logging.getLogger(__name__)


async def resume_open_sales(desk: Desk) -> tuple[Sale, ...]:
    """Resume all open sales: the newest comes to the counter, the others are parked. Call it once, signed in.

    For somebody who may not sell they stay in the journal, until somebody who may signs in.

    Raises:
        JournalDamagedError: some of them cannot be read; the others are cleared up.
    """
    resumed = await clear_up(desk, await show_open_sales(desk))
    await refuse_unreadable(desk)
    return resumed


async def show_open_sales(desk: Desk) -> tuple[Sale, ...]:
    """Show all open sales that can be read at once; the answer is for `clear_up`. Until then a payment that was
    running is unclear.

    Raises:
        JournalDamagedError: the journal cannot be read at all. Single sales: see `refuse_unreadable`.
    """
    if desk.store.session is None or not desk.store.session.may(Permission.SELL):
        return ()
    with suppress(JournalError):  # said by `refuse_unreadable`; it hides no sale
        await read_paid_out(desk)
    post_untaken(desk)
    kept = await desk.journal.open_sales()
    shown = [_as_it_looks(sale, desk) for sale in kept]
    with desk.store.batch():
        for sale in shown[:-1]:
            desk.store.put_parked(sale)
        if shown:
            desk.store.put_sale(shown[-1])
    return kept


async def refuse_unreadable(desk: Desk) -> None:
    """To be called once the others are shown.

    Raises:
        JournalDamagedError: open sales, or what was paid out, cannot be read. Nobody may believe that there is none.
    """
    await read_paid_out(desk)
    count = await desk.journal.unreadable_sales()
    if count:
        raise JournalDamagedError(f"{count} open sales cannot be read")


def _as_it_looks(sale: Sale, desk: Desk) -> Sale:
    """Nobody is at the terminal for it now, so it does not look as if somebody were."""
    is_running = sale.state is SaleState.PAYING
    return unclear(sale, UnknownReason.TERMINAL_SILENT, desk.now()) if is_running else sale


def waits_for_terminal(sale: Sale) -> bool:
    """Whether clearing up this sale may mean to ask the card terminal, which takes its time when it is off."""
    is_cash = sale.payment is not None and sale.payment.kind is OperationKind.CASH
    return sale.state in (SaleState.PAYING, SaleState.UNKNOWN) and not is_cash


async def clear_up(desk: Desk, kept: Iterable[Sale]) -> tuple[Sale, ...]:
    """Bring kept sales to what the API and the terminal know, one after the other, however long that takes.

    The counter works on meanwhile. A sale that somebody has taken further by the time of its turn, or is at work on
    then, is theirs: what the journal had of it is the past.
    """
    kept = tuple(kept)
    if any(sale.state is SaleState.RETURNING for sale in kept):
        await _follow_returns(desk)
    resumed = []
    for sale in kept:
        now = desk.idle(sale.sale_id)
        if now is None or now.state is not _as_it_looks(sale, desk).state:
            continue
        with desk.asking(now):
            resumed.append(await _resume(desk, sale.state, now))
        if not resumed[-1].ended:
            desk.store.post(Notice(NoticeCode.SALE_RESUMED, sale_id=sale.sale_id))
    desk.wake.set()
    return tuple(resumed)


async def _follow_returns(desk: Desk) -> None:
    try:
        await follow_returns(desk)
    except (BookingClientError, ConsoleError) as error:
        _log.warning("money that goes back cannot be followed now: %s", error.code)


async def _resume(desk: Desk, state: SaleState, sale: Sale) -> Sale:
    try:
        return await _resume_as(desk, state, sale)
    except (BookingClientError, ConsoleError, TerminalError) as error:
        _log.warning("sale %s cannot be cleared up now: %s", sale.sale_id, error.code)
    except Exception:  # noqa: BLE001  # one sale never keeps the others from being cleared up
        _log.exception("sale %s cannot be cleared up", sale.sale_id)
    return desk.find(sale.sale_id) or sale


async def _resume_as(desk: Desk, state: SaleState, sale: Sale) -> Sale:
    """`state` is where it died; a payment that was running then is shown as unclear since."""
    match state:
        case SaleState.PICKING:
            return await desk.keep(sale.after(SaleStep.ABANDONED))
        case SaleState.HOLDING:
            return await _resume_holding(desk, sale)
        case SaleState.HELD | SaleState.DECLINED:
            return await _resume_held(desk, sale)
        case SaleState.PAYING:
            return await _resume_paying(desk, sale)
        case SaleState.UNKNOWN:
            return await settle(desk, sale)
        case SaleState.RETURNING:
            return await look_at_returns(desk, sale)
        case SaleState.PRINTING:
            return await _resume_printing(desk, sale)
        case _:
            return await report_print(desk, sale)


async def _resume_holding(desk: Desk, sale: Sale) -> Sale:
    """The same key finds the hold, or takes it now; a refusal means that there is none."""
    try:
        return await ask_hold(desk, sale, again=True)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        return desk.find(sale.sale_id) or sale


async def _resume_held(desk: Desk, sale: Sale) -> Sale:
    """Still ours → HELD; paid meanwhile (an answer was lost) → PAID; gone → EXPIRED."""
    if sale.state is SaleState.DECLINED:
        sale = sale.after(SaleStep.DECLINE_SEEN)
    if sale.hold is None:
        return await end_expired(desk, sale)
    try:
        hold = await desk.client.hold(sale.hold.hold_id)
    except HoldGoneError:
        return await end_expired(desk, sale)
    sale = replace(sale, hold=hold)
    if sale.order is not None or hold.order_id is not None:
        return await let_go_if_left(desk, await look_again(desk, sale.after(SaleStep.PAYMENT_BEGUN)))
    if hold.status is not HoldStatus.HELD:
        return await end_expired(desk, sale)
    return await let_go_if_left(desk, await desk.keep(sale))


async def _resume_paying(desk: Desk, sale: Sale) -> Sale:
    """Died while paying. Cash that the API has not heard of is not sent by itself: the clerk decides anew."""
    if sale.payment is not None and sale.payment.kind is OperationKind.CASH:
        try:
            return await look_again(desk, sale)
        except BookingClientError:
            await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
            raise
    try:
        return await settle(desk, sale)
    except BookingClientError:
        await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
        raise


async def _resume_printing(desk: Desk, sale: Sale) -> Sale:
    """Died before the printer was spoken to: print again. Died while printing: only a person can see what came out."""
    back = sale.after(SaleStep.PRINT_ENDED_OTHERWISE)
    job = sale.print_job
    if job is None or job.status is not PrintJobStatus.SENT:
        return await desk.keep_fact(back)
    sale = await desk.keep_fact(replace(back, print_job=replace(job, status=PrintJobStatus.UNKNOWN)))
    desk.store.post(Notice(NoticeCode.PRINT_UNKNOWN, sale_id=sale.sale_id))
    return sale
