"""Refunds in words: why a ticket's money cannot go back, what keeps a choice from being sent, and how it went."""

from __future__ import annotations

from typing import Final

from app.core.refund import RefundFault, RefundState, refund_state
from app.i18n import _, figures, marked, ngettext
from app.models.provider_words import provider_name
from app.screens.trouble_words import decline_words
from app.screens.words import Advice
from backend_client.wire import (
    OperationKind,
    OperationStatus,
    PaymentOperation,
    RefundableCharge,
    RefundableOrder,
    RefundAnswer,
)

_WHY_NOT: Final = {
    "used": marked("used already"),
    "void": marked("void already"),
    "refunded": marked("given back already"),
    "refund-pending": marked("its refund is on the way"),
}
_FAULTS: Final = {
    RefundFault.NO_TICKETS: marked("Choose at least one ticket."),
    RefundFault.NO_REASON: marked("Say why; the audit keeps it."),
    RefundFault.TOO_MUCH: marked("So much cannot go back any more: part of it has gone back, or is on the way."),
}


def why_not_refundable(code: str) -> str:
    """Why a ticket's money cannot go back now; a reason that is not known here goes by its own name."""
    if not code:
        return ""
    return _(_WHY_NOT[code]) if code in _WHY_NOT else code.replace("-", " ")


def fault_words(fault: RefundFault) -> str:
    """What keeps the choice from being sent."""
    return _(_FAULTS[fault])


def charge_line(charge: RefundableCharge, currency: str) -> str:
    """`VISA · €128.00 · €64.00 can go back`."""
    name = charge.card_brand or (_("Cash") if charge.kind is OperationKind.CASH else provider_name(charge.provider))
    shown = figures()
    left = _("{amount} can go back").format(amount=shown.money(charge.refundable_minor, currency))
    waits = ""
    if charge.pending_minor:
        waits = _("{amount} is on the way").format(amount=shown.money(charge.pending_minor, currency))
    return shown.joined((name, shown.money(charge.charged_minor, currency), left, waits))


def limit_words(detail: RefundableOrder) -> str:
    """What one person may give back alone; empty where that is not bounded."""
    if detail.approval_above_minor is None:
        return ""
    limit = figures().money(detail.approval_above_minor, detail.order.currency)
    return _("More than {amount} is for a supervisor to give back.").format(amount=limit)


def refund_outcome(answer: RefundAnswer) -> Advice:
    """How it went, as it is: money that is on the way is not called given back."""
    state = refund_state(answer.refunds)
    total = _money(answer.refunds)
    if state is RefundState.ACCEPTED:
        cash = all(operation.provider == "cash" for operation in answer.refunds)
        detail = _("Hand it out of the drawer now.") if cash else _("The tickets are void.")
        return Advice(_("{amount} is given back").format(amount=total), detail, "success")
    if state is RefundState.PENDING:
        return Advice(
            _("{amount} is on the way back, and not decided yet").format(amount=total),
            _("Until the answer comes the tickets let nobody in. This page shows it as soon as it is there."),
            "info",
        )
    if state is RefundState.REFUSED:
        return Advice(_("The money was not given back"), _refusal(answer.refunds), "danger")
    if state is RefundState.PARTLY:
        done = [one for one in answer.refunds if one.status is OperationStatus.SUCCEEDED]
        title = _("{amount} of {total} is given back").format(amount=_money(done), total=total)
        return Advice(title, _refusal(answer.refunds), "danger")
    return Advice(_("Nothing was given back"), "", "warn")


def give_words(operation: PaymentOperation) -> str:
    """What a button says that gives money back at this till."""
    amount = figures().money(operation.amount_minor, operation.currency)
    if operation.provider == "cash":
        return _("{amount} was paid out of the drawer").format(amount=amount)
    return _("Give {amount} back at the terminal").format(amount=amount)


def given_outcome(operation: PaymentOperation) -> Advice:
    """How giving money back at this till went."""
    amount = figures().money(operation.amount_minor, operation.currency)
    if operation.status is OperationStatus.SUCCEEDED:
        return Advice(_("{amount} is given back").format(amount=amount), "", "success")
    if operation.status is OperationStatus.DECLINED:
        return Advice(_("The money was not given back"), decline_words(operation.decline_code), "danger")
    return Advice(
        _("It is not known whether the terminal gave {amount} back").format(amount=amount),
        _("Do not give it again. The terminal is asked; after a while it is a supervisor's."), "danger",
    )  # fmt: skip


def cancel_outcome(answer: RefundAnswer) -> Advice:
    """Tickets were made void; no money went back, and that is said."""
    count = len(answer.tickets)
    words = ngettext("{count} ticket is void", "{count} tickets are void", count).format(count=figures().number(count))
    return Advice(words, _("No money was given back."), "success")


def _money(operations: tuple[PaymentOperation, ...] | list[PaymentOperation]) -> str:
    if not operations:
        return ""
    return figures().money(sum(one.amount_minor for one in operations), operations[0].currency)


def _refusal(operations: tuple[PaymentOperation, ...]) -> str:
    refused = next((one for one in operations if one.status is OperationStatus.DECLINED), None)
    why = "" if refused is None else decline_words(refused.decline_code)
    return " ".join((why, _("The tickets are still good. Give it in cash, or ask a supervisor."))).strip()
