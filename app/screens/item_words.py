"""Reconciliation in words: kinds of items, how they stand, what may be done and why not, what changed."""

from __future__ import annotations

from typing import Final

from app.core.item_changes import Difference, ItemChange
from app.i18n import _, figures, marked, ngettext
from app.models.place_words import short_seats
from app.models.provider_words import provider_name
from backend_client.wire import (
    AllowedAction,
    ItemAction,
    ItemState,
    OperationKind,
    OperationStatus,
    PaymentOperation,
    ReconciliationItem,
    RefundWay,
)

_KINDS: Final[dict[str, tuple[str, str]]] = {
    "no-result": (
        marked("No result from the till"),
        marked("A card terminal was asked for money, and its till never told what came of it."),
    ),
    "unknown-overdue": (
        marked("Unclear for too long"),
        marked("The provider has been asked again and again and has not said what came of this payment."),
    ),
    "amount-mismatch": (
        marked("Another amount"),
        marked("The answer names another amount than was asked for."),
    ),
    "result-conflict": (
        marked("Two answers disagree"),
        marked("Two definite answers about one payment contradict each other."),
    ),
    "paid-not-confirmed": (
        marked("Paid, but no seats"),
        marked("The money was taken, and the order could not be confirmed."),
    ),
    "capture-overdue": (marked("Collecting takes too long"), marked("The money is reserved and not collected yet.")),
    "capture-failed": (marked("Collecting failed"), marked("The money was reserved and could not be collected.")),
    "void-overdue": (
        marked("Cancelling takes too long"),
        marked("A payment that is not wanted any more has not been cancelled yet."),
    ),
    "void-failed": (
        marked("Cancelling failed"),
        marked("A payment that is not wanted any more could not be cancelled."),
    ),
    "refund-overdue": (
        marked("Refund takes too long"),
        marked("Money is on its way back, and nobody has said that it arrived."),
    ),
    "refund-failed": (marked("Refund failed"), marked("Money that should go back was refused on the way.")),
    "refund-without-ticket": (
        marked("Refund without a ticket"),
        marked("Money went back, and the tickets that it was for are still good."),
    ),
    "reversal-overdue": (
        marked("Not taken back at the terminal"),
        marked("A till was told to take a late payment back at its terminal, and has not said that it did."),
    ),
    "tickets-missing": (marked("Tickets are missing"), marked("The order is paid, and it has no tickets.")),
    "provider-only": (
        marked("Only the provider has it"),
        marked("The provider lists a charge that the booking system does not know."),
    ),
    "ours-only": (
        marked("The provider does not have it"),
        marked("The booking system has a charge that the provider does not list."),
    ),
    "amount-differs": (
        marked("The amounts differ"),
        marked("The provider lists another amount than the booking system has."),
    ),
    "currency-differs": (
        marked("The currencies differ"),
        marked("The provider lists another currency than the booking system has."),
    ),
    "state-differs": (
        marked("The states differ"),
        marked("Provider and booking system do not agree about what became of a charge."),
    ),
    "refund-provider-only": (
        marked("Refund that nobody here made"),
        marked("The provider gave money back without the booking system knowing."),
    ),
    "duplicate-charge": (marked("Charged twice"), marked("The provider lists two charges for one payment.")),
    "ticket-without-money": (
        marked("Tickets without money"),
        marked("There are tickets, and no payment that covers them."),
    ),
    "money-without-ticket": (
        marked("Money without tickets"),
        marked("There is a payment, and no ticket that it is for."),
    ),
    "terminal-total-differs": (
        marked("The terminal's total differs"),
        marked("The end of day of a card terminal does not come to what the booking system has."),
    ),
}
_STATES: Final = {
    ItemState.OPEN: (marked("Unsettled"), "", "●"),
    ItemState.AWAITING_APPROVAL: (marked("Waits for a second person"), "warn", "▲"),
    ItemState.RESOLVED: (marked("Settled"), "success", "✓"),
}
_ACTS: Final = {
    ItemAction.ASK_AGAIN: (marked("Ask again"), marked("The provider is asked once more what became of it.")),
    ItemAction.CAPTURE: (marked("Collect the money"), marked("The reserved money is collected.")),
    ItemAction.TAKE_BACK: (
        marked("Take the order back"),
        marked("Its tickets become void. What was reserved is let go, and whatever else was paid goes back."),
    ),
    ItemAction.VOID: (marked("Cancel the payment"), marked("The reserved or booked payment is cancelled.")),
    ItemAction.REFUND: (marked("Give money back"), marked("Money goes back to the card that paid.")),
    ItemAction.HAND_TO_TILL: (
        marked("Hand it to a till"),
        marked("One till gives the money back, and no other. It finds the order under its orders."),
    ),
    ItemAction.ATTACH: (
        marked("Belongs to an order"),
        marked("Says which order a charge is for. No money moves."),
    ),
    ItemAction.SETTLED_OUTSIDE: (
        marked("Settled elsewhere"),
        marked("Records that it was settled outside this system. No money moves; the reference is the proof."),
    ),
    ItemAction.NOTE: (marked("Note"), marked("Only adds words for whoever works on this next.")),
}
_WHY_NOT: Final = {
    "awaiting-approval": marked("Another act waits for a second person."),
    "terminal-tells-itself": marked("A card terminal is asked by its own till."),
    "nothing-left": marked("There is no money that could go back."),
    "provider-away": marked("This provider is not set up here."),
    "not-allowed": marked("Your role may read this and not act."),
    "nothing-valid": marked("Nothing of the order is valid any more."),
    "refund-pending": marked("Money of the order is on its way back, and nobody knows yet whether it arrives."),
    "may-be-captured": marked("The provider says that it collected the money after all. Settle that first."),
    "under-way": marked("A payment of the order has no answer yet."),
}
_OPERATIONS: Final = {
    OperationKind.AUTHORIZE: marked("Card reserved"),
    OperationKind.CAPTURE: marked("Card collected"),
    OperationKind.SALE: marked("Card charged"),
    OperationKind.VOID: marked("Card payment cancelled"),
    OperationKind.REFUND: marked("Money given back"),
    OperationKind.CASH: marked("Cash"),
}
_STATUSES: Final = {
    OperationStatus.CREATED: (marked("not asked yet"), ""),
    OperationStatus.SENT: (marked("asked, no answer yet"), "warn"),
    OperationStatus.ACTION_REQUIRED: (marked("waits for the buyer"), "warn"),
    OperationStatus.UNKNOWN: (marked("not known"), "danger"),
    OperationStatus.SUCCEEDED: (marked("done"), "success"),
    OperationStatus.DECLINED: (marked("refused"), "danger"),
}


def kind_name(kind: str) -> str:
    """What an item is about, in a few words; a kind that this console does not know goes by its own name."""
    return _(_KINDS[kind][0]) if kind in _KINDS else kind.replace("-", " ").capitalize()


def kind_words(item: ReconciliationItem) -> str:
    """What happened, in a sentence; the booking system's own words for a kind that is not known here."""
    return _(_KINDS[item.kind][1]) if item.kind in _KINDS else item.words


def state_words(state: ItemState) -> str:
    """How an item stands."""
    return _(_STATES[state][0])


def state_short(state: ItemState) -> str:
    """How an item stands, for a column."""
    return _("Second person") if state is ItemState.AWAITING_APPROVAL else state_words(state)


def state_tone(state: ItemState) -> str:
    """The tone of a state, a token of the theme or empty."""
    return _STATES[state][1]


def state_mark(state: ItemState) -> str:
    """The sign of a state."""
    return _STATES[state][2]


def act_name(action: ItemAction) -> str:
    """What a person does."""
    return _(_ACTS[action][0])


def act_words(action: ItemAction) -> str:
    """What the act means for the money."""
    return _(_ACTS[action][1])


def way_words(way: RefundWay) -> str:
    """How a till gives money back."""
    return _("In cash, out of its drawer") if way is RefundWay.CASH else _("To the card, at its terminal")


def why_not_words(act: AllowedAction) -> str:
    """Why an act cannot be done now; empty when it can. A reason that is not known here goes by its own name."""
    if not act.why_not:
        return ""
    return _(_WHY_NOT[act.why_not]) if act.why_not in _WHY_NOT else act.why_not.replace("-", " ").capitalize()


def operation_name(kind: OperationKind) -> str:
    """What a payment operation is for, by what it does once it has succeeded."""
    return _(_OPERATIONS[kind])


def operation_status(status: OperationStatus) -> tuple[str, str]:
    """How it stands, and the tone of that."""
    words, tone = _STATUSES[status]
    return _(words), tone


def operation_line(operation: PaymentOperation) -> str:
    """`Card charged · €38.50 · Card terminal · not known`."""
    amount = figures().money(operation.amount_minor, operation.currency)
    parts = [operation_name(operation.kind), amount, operation.card_brand or provider_name(operation.provider)]
    return figures().joined([*parts, operation_status(operation.status)[0]])


def item_money(item: ReconciliationItem) -> str:
    """The money in doubt; empty where none is."""
    return figures().told_money(item.amount_minor, item.currency) if item.currency else ""


def item_seats(item: ReconciliationItem) -> str:
    """`2: Row A · Seat 3, 4`; empty without seats."""
    if not item.seats:
        return ""
    return figures().joined((figures().number(len(item.seats)), short_seats(item.seats)))


def difference_words(found: Difference, currency: str) -> str:
    """One thing that changed while somebody was reading."""
    if found.what is ItemChange.RESOLVED:
        who = found.who or _("the booking system")
        return figures().joined((_("Settled by {who}").format(who=person(who)), found.after))
    if found.what is ItemChange.STATE:
        before, after = (state_words(ItemState(state)) for state in (found.before, found.after))
        return _("{before} → {after}").format(before=before, after=after)
    if found.what is ItemChange.AMOUNT:
        before, after = (_money(text, currency) for text in (found.before, found.after))
        return _("Amount: {before} → {after}").format(before=before, after=after)
    if found.what is ItemChange.EVIDENCE:
        count = int(found.after)
        words = ngettext("{count} new entry of evidence", "{count} new entries of evidence", count)
        return words.format(count=figures().number(count))
    return _asked_words(found)


def _asked_words(found: Difference) -> str:
    if found.what is ItemChange.ASKED:
        act = act_name(ItemAction(found.after))
        return _("{who} asks for: {act}").format(who=found.who, act=act)
    if found.what is ItemChange.ANSWERED:
        return _("The wish of {who} is decided").format(who=found.who)
    return _("Other acts are possible now")


def _money(minor: str, currency: str) -> str:
    return figures().money(int(minor), currency) if currency else minor


def person(name: str) -> str:
    """`authority` is how the booking system signs what it did by itself."""
    return _("the booking system") if name == "authority" else name


def resolver_words(item: ReconciliationItem) -> str:
    """Who settled an item; empty while nobody has."""
    return person(item.resolved_by) if item.resolved_by else ""
