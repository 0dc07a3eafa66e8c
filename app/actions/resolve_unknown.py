"""Asking about sales whose payment is unknown, until somebody knows (R24, R31, T3). Nothing here charges."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from app.actions.close_terminal_day import report_days
from app.actions.desk import Desk
from app.actions.follow_given_up import follow_given_up, given_up
from app.actions.leave_sale import let_go_if_left
from app.actions.let_go import follow_let_go
from app.actions.pay_cash import settle_cash
from app.actions.pay_reader import settle_reader
from app.actions.print_tickets import report_print, unreported_prints
from app.actions.return_money import follow_returns
from app.actions.settle_card import settle_card
from app.core.errors import ConsoleError, SaleNotReadyError
from app.core.sale import Sale, SaleId, SaleState
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import TerminalError
from backend_client.errors import BookingClientError
from backend_client.wire import OperationKind

_log = logging.getLogger(__name__)


async def resolve_unknown(desk: Desk, sale_id: SaleId | None = None) -> Sale:
    """Ask once about an UNKNOWN sale (the one at the counter by default): the terminal's last transaction, and the API.

    PAID, HELD (nothing was charged), EXPIRED, or still UNKNOWN with `unknown_reason`.

    Raises:
        SaleNotReadyError: there is no such sale.
        BookingClientError: the API did not answer; the sale stays UNKNOWN.
    """
    sale = desk.sale() if sale_id is None else desk.find(sale_id)
    if sale is None:
        raise SaleNotReadyError("no such sale")
    if sale.state is not SaleState.UNKNOWN or sale.sale_id in desk.resolving:
        return sale
    with desk.asking(sale):
        return await settle(desk, sale)


async def settle(desk: Desk, sale: Sale) -> Sale:
    """One pass over a PAYING or UNKNOWN sale, by the kind of its payment. Raises as `resolve_unknown`."""
    after = await _settle(desk, sale)
    return await let_go_if_left(desk, after) if after.leaving else after


async def _settle(desk: Desk, sale: Sale) -> Sale:
    kind = None if sale.payment is None else sale.payment.kind
    if kind is OperationKind.CASH:
        return await settle_cash(desk, sale)
    if kind is OperationKind.AUTHORIZE:
        return await settle_reader(desk, sale)
    if desk.terminal is None or desk.terminal_turn.locked():
        return await settle_card(desk, sale, None)
    async with desk.terminal_turn:
        return await settle_card(desk, sale, desk.terminal)


async def keep_resolving(desk: Desk) -> None:
    """Run while somebody is signed in: asks about every UNKNOWN sale, at the counter and parked, with back-off.

    It also follows card attempts that nobody waits for any more, money that goes back, ends of day that are not
    reported, and print jobs whose report did not come through.
    """
    pause_s = desk.patience.ask_first_s
    while True:
        if not await _ask_about_all(desk, pause_s):
            await desk.wake.wait()
        else:
            await _pause(desk, pause_s)
        pause_s = desk.patience.ask_first_s if desk.wake.is_set() else min(pause_s * 2, desk.patience.ask_longest_s)
        desk.wake.clear()


async def _pause(desk: Desk, pause_s: float) -> None:
    try:
        async with asyncio.timeout(pause_s):
            await desk.wake.wait()
    except TimeoutError:
        return


async def _ask_about_all(desk: Desk, pause_s: float) -> bool:
    """True when something is still open afterwards.

    Each sale is looked up when its turn comes: the clerk may have finished it while another one was asked about.
    """
    for sale_id in [sale.sale_id for sale in desk.store.unknown_sales]:
        await _ask_about(desk, sale_id, pause_s)
    for sale_id in [sale.sale_id for sale in unreported_prints(desk)]:
        sale = desk.idle(sale_id)
        if sale is not None:
            with _one_of_many(f"the print job of sale {sale_id}"), desk.asking(sale):
                await report_print(desk, sale)
    behind = await _follow_the_rest(desk)
    with _one_of_many("what is open"):  # read last: a sale may have given its card up while the rest was followed
        behind = bool(await given_up(desk)) or behind
    return bool(desk.store.unknown_sales or unreported_prints(desk) or behind)


async def _ask_about(desk: Desk, sale_id: SaleId, pause_s: float) -> None:
    sale = desk.idle(sale_id)
    if sale is None or sale.state is not SaleState.UNKNOWN:
        return
    desk.store.note_ask(sale_id, desk.now(), pause_s)
    with desk.asking(sale):
        with _one_of_many(f"sale {sale_id}"):
            await settle(desk, sale)
        with _one_of_many(f"handing over sale {sale_id}"):
            await hand_over_if_due(desk, desk.find(sale_id) or sale)


@contextmanager
def _one_of_many(what: str) -> Iterator[None]:
    """Whatever keeps us from asking about this one, the next one is asked about all the same (P32)."""
    try:
        yield
    except (BookingClientError, ConsoleError, TerminalError) as error:
        _log.info("%s: not now: %s", what, error.code)
    except Exception:  # noqa: BLE001
        _log.exception("%s: failed", what)


async def _follow_the_rest(desk: Desk) -> bool:
    """What no sale at the counter waits for; True when some of it is still open."""
    still_open = False
    for follow in (follow_given_up, follow_returns, follow_let_go, report_days):
        left = True
        with _one_of_many(follow.__name__):
            left = bool(await follow(desk))
        still_open = left or still_open
    return still_open


async def hand_over_if_due(desk: Desk, sale: Sale) -> Sale:
    """After the patience for it, a supervisor clears the sale up; it is still asked about, and the clerk goes on."""
    if sale.state is not SaleState.UNKNOWN or sale.unknown_since is None or sale.handed_over_at is not None:
        return sale
    if (desk.now() - sale.unknown_since).total_seconds() < desk.patience.hand_over_s:
        return sale
    sale = await desk.keep(replace(sale, handed_over_at=desk.now()))
    desk.store.post(Notice(NoticeCode.HANDED_OVER, (), sale.total_minor, sale.currency, sale_id=sale.sale_id))
    return sale
