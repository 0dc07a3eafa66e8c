"""Refund and cancel, two acts (R25, R33): the money of tickets goes back, or tickets become void without it.

Who may: a till its own orders, supervisors all. A clerk gives back up to the event's amount, counted over the whole
order, so that it is not given in slices; a used ticket is a supervisor's. The reason is kept with the act and in the
audit log.

Where the money goes: `same` divides it over the charges that paid, newest card first, cash last and in cash; `cash`
takes all of it out of the caller's drawer. What a provider has to do is CREATED here and driven by the caller or the
worker; what the caller's terminal has to do is SENT, with the caller's device, and reported like a sale. An
authorization that goes back whole before its capture was sent is voided, and the capture goes on if the void is
refused (P19); one whose capture is under way, and a part of one, is refunded once that is captured: no capture is
ever lessened silently.

A ticket is as good as dead from the moment that its money is on its way: it neither scans nor reprints. It is VOID
once the provider, the terminal or the drawer has accepted, and alive again when they definitely refuse. Of several
charges the first that accepts decides: nobody has both his money and a ticket, and what another refuses then waits
for a supervisor.
"""

from __future__ import annotations

from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError, OrderNotFoundError
from booking.domain.model import MAX_AMOUNT_MINOR
from booking.domain.money_back import (
    MAX_TICKETS_AT_ONCE,
    CancelWish,
    RefundableOrder,
    RefundableTicket,
    RefundStep,
    RefundWay,
    RefundWish,
)
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.orders import may_see, order_as_it_stands
from booking.services.refusals import key_use, raise_refusal
from booking.store import money_back_calls, ticket_queries
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer


async def refundable_order(db: Database, caller: Caller, order_id: UUID) -> RefundableOrder:
    """What a person sees before money goes back: each ticket with why not, each charge with what of it is left.

    Raises:
        OrderNotFoundError: there is none that the caller may see.
    """
    leads = caller.acts_for_all
    found = await money_back_calls.read_refundable(db, order_id, leads=leads)
    if found is None or not await may_see(db, caller, found.principal, order_id):
        raise OrderNotFoundError("There is no such order.")
    tickets = await ticket_queries.read_tickets(db, order_id)
    return RefundableOrder(
        order=found.order,
        # A ticket that was issued since the look at the order cannot be named yet.
        tickets=tuple(
            RefundableTicket(one, found.why_not[one.ticket_id]) for one in tickets if one.ticket_id in found.why_not
        ),
        charges=found.charges,
        refundable_minor=sum(charge.refundable_minor for charge in found.charges),
        approval_above_minor=None if leads else max(0, found.clerk_limit_minor - found.gone_minor),
    )


async def open_refund(
    db: Database, caller: Caller, order_id: UUID, wish: RefundWish, *, key: str, digest: bytes
) -> Outcome[RefundStep]:
    """Give the money of tickets back. Whoever calls drives the operations of a provider; the worker does the rest.

    Raises:
        InvalidRequestError: not 1 to 100 distinct tickets, an amount out of range, no reason.
        TicketNotFoundError: a ticket that the order has not; OrderNotFoundError: none that the caller may act on.
        TicketNotRefundableError: names the seat and why: refund-pending, refunded, void, used.
        AmountMismatchError: the tickets cost another sum than the person saw.
        RefundTooMuchError: names what can still go back (P18).
        ForbiddenError: more than a clerk may give back, or cash without a till.
        ActionNotAllowedError: nothing can go back this way now, for example cash of a charge that is not captured.
        KeyReusedError, BusyError, AuthorityAwayError: as for every step.
    """
    use = key_use(key, digest)
    _check_tickets(wish.ticket_ids)
    if not 0 <= wish.expected_minor <= MAX_AMOUNT_MINOR:
        raise InvalidRequestError(
            "The amount is out of range.", fields=(FieldFault("/expected_minor", "out of range"),)
        )
    if wish.way is RefundWay.CASH and caller.device_id is None:
        raise ForbiddenError("Cash is given back at a till.")
    clean = RefundWish(wish.ticket_ids, wish.way, wish.expected_minor, wish.seats_to_sale, _checked_reason(wish.reason))
    answer = await money_back_calls.refund_tickets(db, caller, order_id, clean, use)
    return await _told(db, order_id, answer)


async def cancel_tickets(
    db: Database, caller: Caller, order_id: UUID, wish: CancelWish, *, key: str, digest: bytes
) -> Outcome[RefundStep]:
    """Make tickets void and give no money back; that of a cancelled ticket can still be refunded later.

    Raises: as `open_refund`, without what is about money.
    """
    use = key_use(key, digest)
    _check_tickets(wish.ticket_ids)
    clean = CancelWish(wish.ticket_ids, wish.seats_to_sale, _checked_reason(wish.reason))
    answer = await money_back_calls.cancel_tickets(db, caller, order_id, clean, use)
    return await _told(db, order_id, answer)


async def read_step(db: Database, order_id: UUID, money_back_id: UUID) -> RefundStep:
    """An act as it stands now. The caller has been let to its order already."""
    act = await money_back_calls.read_act(db, money_back_id)
    order = await order_as_it_stands(db, order_id)
    tickets = await ticket_queries.read_tickets(db, order_id)
    return RefundStep(
        money_back_id=money_back_id,
        order=order,
        refunds=tuple(one for one in order.operations if one.operation_id in act.operation_ids),
        tickets=tuple(one for one in tickets if one.ticket_id in act.ticket_ids),
    )


async def _told(db: Database, order_id: UUID, answer: SaleAnswer) -> Outcome[RefundStep]:
    if answer.code:
        await raise_refusal(db, answer, await money_back_calls.plan_of_order(db, order_id) if answer.seats else None)
    if answer.result_id is None:
        raise RuntimeError("the database answered without an act")
    return Outcome(await read_step(db, order_id, answer.result_id), answer.replayed)


def _check_tickets(ticket_ids: tuple[UUID, ...]) -> None:
    if not 1 <= len(ticket_ids) <= MAX_TICKETS_AT_ONCE or len(set(ticket_ids)) != len(ticket_ids):
        raise InvalidRequestError(
            "These are not tickets that can go back together.",
            fields=(FieldFault("/ticket_ids", f"1 to {MAX_TICKETS_AT_ONCE} tickets, each once"),),
        )


def _checked_reason(reason: str) -> str:
    (clean,) = storable_texts({"/reason": reason})
    if not clean.strip():
        raise InvalidRequestError("Say why.", fields=(FieldFault("/reason", "is missing"),))
    return clean
