"""What of an order can be given back, what is chosen, what it comes to, and how it went: rules without I/O (R25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

import msgspec

from backend_client.wire import (
    DeviceId,
    OperationKind,
    OperationStatus,
    Order,
    PaymentOperation,
    RefundableCharge,
    RefundableOrder,
    RefundableTicket,
    RefundAnswer,
    RefundRequest,
    RefundWay,
    Ticket,
    TicketCancelRequest,
    TicketId,
    TicketStatus,
)

PENDING = "refund-pending"
"""Why a ticket's money cannot go back: it is on its way already."""
REFUNDED = "refunded"
"""It has gone back."""
SHORTEST_REASON = 3
"""A reason has letters in it; what it says is for the audit."""


class RefundFault(StrEnum):
    """Why what is chosen cannot be sent yet."""

    NO_TICKETS = "no-tickets"
    NO_REASON = "no-reason"
    TOO_MUCH = "too-much"


@dataclass(frozen=True, slots=True)
class RefundChoice:
    """What a person has chosen in the dialog."""

    tickets: frozenset[TicketId] = field(default_factory=frozenset)
    way: RefundWay = RefundWay.SAME
    seats_to_sale: bool = True
    reason: str = ""

    def with_ticket(self, ticket_id: TicketId, chosen: bool) -> RefundChoice:  # said by what it sets
        """The same with a ticket more or less."""
        tickets = self.tickets | {ticket_id} if chosen else self.tickets - {ticket_id}
        return replace(self, tickets=tickets)


def refundable_tickets(detail: RefundableOrder) -> tuple[RefundableTicket, ...]:
    """Tickets whose money can go back now."""
    return tuple(ticket for ticket in detail.tickets if not ticket.why_not)


def cancellable_tickets(detail: RefundableOrder) -> tuple[Ticket, ...]:
    """Tickets that can be made void without money: neither used nor void, and no refund of theirs on the way."""
    gone = {TicketStatus.USED, TicketStatus.VOID}
    kept = (one for one in detail.tickets if one.ticket.status not in gone and one.why_not != PENDING)
    return tuple(one.ticket for one in kept)


def chosen_minor(detail: RefundableOrder, choice: RefundChoice) -> int:
    """What the chosen tickets come to, minor units."""
    return sum(one.ticket.amount_minor for one in detail.tickets if one.ticket.ticket_id in choice.tickets)


def needs_second_person(detail: RefundableOrder, amount_minor: int) -> bool:
    """Whether the sum is above what one person may give back alone."""
    limit = detail.approval_above_minor
    return limit is not None and amount_minor > limit


def refund_faults(detail: RefundableOrder, choice: RefundChoice) -> tuple[RefundFault, ...]:
    """What keeps the choice from being sent; empty when nothing does."""
    found = []
    if not choice.tickets:
        found.append(RefundFault.NO_TICKETS)
    if chosen_minor(detail, choice) > detail.refundable_minor:
        found.append(RefundFault.TOO_MUCH)
    if not is_reason(choice.reason):
        found.append(RefundFault.NO_REASON)
    return tuple(found)


def is_reason(text: str) -> bool:
    """Whether a text says something."""
    return len(text.strip()) >= SHORTEST_REASON


def refund_request(detail: RefundableOrder, choice: RefundChoice) -> RefundRequest:
    """What goes to the API: the sum that was seen goes along, so that another one is never given back in silence."""
    ordered = tuple(one.ticket.ticket_id for one in detail.tickets if one.ticket.ticket_id in choice.tickets)
    return RefundRequest(
        ticket_ids=ordered,
        way=choice.way,
        expected_minor=chosen_minor(detail, choice),
        seats_to_sale=choice.seats_to_sale,
        reason=choice.reason.strip(),
    )


def cancel_request(detail: RefundableOrder, choice: RefundChoice) -> TicketCancelRequest:
    """Tickets that are made void, without money."""
    ordered = tuple(one.ticket.ticket_id for one in detail.tickets if one.ticket.ticket_id in choice.tickets)
    return TicketCancelRequest(ticket_ids=ordered, seats_to_sale=choice.seats_to_sale, reason=choice.reason.strip())


def detail_after(detail: RefundableOrder, answer: RefundAnswer, *, refunded: bool) -> RefundableOrder:
    """The order as the answer to an act shows it, where it cannot be read again: nothing is offered twice.

    `refunded`: the money of the tickets goes back; else they became void without.
    """
    acted = {ticket.ticket_id: ticket for ticket in answer.tickets}
    why = PENDING if refund_state(answer.refunds) is RefundState.PENDING else REFUNDED
    if refunded and refund_state(answer.refunds) is RefundState.REFUSED:
        why = ""
    tickets = tuple(
        RefundableTicket(ticket=acted[one.ticket.ticket_id], why_not=why if refunded else one.why_not)
        if one.ticket.ticket_id in acted
        else one
        for one in detail.tickets
    )
    charges = tuple(_charge_after(charge, answer.order) for charge in detail.charges)
    given = sum(operation.amount_minor for operation in answer.refunds if operation.status != OperationStatus.DECLINED)
    limit = detail.approval_above_minor
    return RefundableOrder(
        order=answer.order,
        tickets=tickets,
        charges=charges,
        refundable_minor=sum(charge.refundable_minor for charge in charges),
        approval_above_minor=None if limit is None else max(0, limit - given),
    )


def _charge_after(charge: RefundableCharge, order: Order) -> RefundableCharge:
    """What of a charge is left, by the operations that give it back."""
    backs = [
        one
        for one in order.operations
        if one.parent_id == charge.operation_id and one.kind in {OperationKind.VOID, OperationKind.REFUND}
    ]
    back = sum(one.amount_minor for one in backs if one.status is OperationStatus.SUCCEEDED)
    pending = sum(one.amount_minor for one in backs if one.status not in _DONE)
    left = max(0, charge.charged_minor - back - pending)
    return msgspec.structs.replace(
        charge, refunded_minor=back, pending_minor=pending, refundable_minor=min(charge.refundable_minor, left)
    )


class RefundState(StrEnum):
    """How money that goes back stands. PENDING: nobody has decided yet, and the tickets are still good."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    REFUSED = "refused"
    PARTLY = "partly"
    NONE = "none"


_DONE = {OperationStatus.SUCCEEDED: RefundState.ACCEPTED, OperationStatus.DECLINED: RefundState.REFUSED}


def refund_state(operations: Sequence[PaymentOperation]) -> RefundState:
    """Of several refunds together: one that is not decided leaves all pending; taken and refused ones are PARTLY."""
    states = {_DONE.get(operation.status, RefundState.PENDING) for operation in operations}
    if not states:
        return RefundState.NONE
    if RefundState.PENDING in states:
        return RefundState.PENDING
    return states.pop() if len(states) == 1 else RefundState.PARTLY


def refunds_of(order: Order) -> tuple[PaymentOperation, ...]:
    """The refunds of an order, oldest first."""
    found = [operation for operation in order.operations if operation.kind is OperationKind.REFUND]
    return tuple(sorted(found, key=lambda operation: operation.created_at))


def has_pending_refund(order: Order) -> bool:
    """Whether money is on its way that nobody has decided about."""
    return refund_state(refunds_of(order)) is RefundState.PENDING


def returns_here(order: Order, device_id: DeviceId) -> tuple[PaymentOperation, ...]:
    """Money of an order that this till has to give back, at its terminal or out of its drawer, and has not yet.

    Oldest first: what is shown and what is done take the first one.
    """
    return tuple(
        operation
        for operation in refunds_of(order)
        if operation.device_id == device_id and operation.status in {OperationStatus.SENT, OperationStatus.UNKNOWN}
    )


@dataclass(frozen=True, slots=True)
class OrderStep:
    """One thing that an order went through; `what` is `ordered`, or `opened`/`decided` of an operation."""

    at: datetime
    what: str
    operation: PaymentOperation | None = None


def order_steps(order: Order) -> tuple[OrderStep, ...]:
    """What an order has been through, as far as its payments tell it, oldest first."""
    steps = [OrderStep(order.created_at, "ordered")]
    for operation in order.operations:
        steps.append(OrderStep(operation.created_at, "opened", operation))
        if operation.updated_at > operation.created_at or operation.status in _DONE:
            steps.append(OrderStep(operation.updated_at, "decided", operation))
    return tuple(sorted(steps, key=lambda step: step.at))
