"""The evidence of an item, and the past of an order, as lines of a timeline in the venue's time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.core.refund import OrderStep
from app.i18n import _, figures, marked
from app.models.provider_words import provider_name
from app.screens.item_words import operation_name, operation_status, person
from app.screens.trouble_words import decline_words
from backend_client.wire import OperationKind, OperationStatus, TimelineEntry, TimelineKind
from widgets.timeline_view import TimelineLine

_WHO: Final = {
    TimelineKind.REQUEST: marked("We asked"),
    TimelineKind.ANSWER: marked("Answer"),
    TimelineKind.WEBHOOK: marked("Message of the provider"),
    TimelineKind.TERMINAL: marked("Card terminal"),
    TimelineKind.SALE: marked("Sale"),
    TimelineKind.PERSON: marked("Person"),
    TimelineKind.COMPARISON: marked("Comparison"),
}
_TITLES: Final = {
    "hold-made": marked("Seats held"),
    "hold-ended": marked("The hold ended"),
    "order-made": marked("Order made"),
    "order-confirmed": marked("Order confirmed"),
    "order-ended": marked("Order ended"),
    "ticket-issued": marked("Ticket issued"),
    "ticket-printed": marked("Ticket printed"),
    "ticket-used": marked("Ticket used"),
    "ticket-void": marked("Ticket made void"),
    "operation-opened": marked("Payment step opened"),
    "request-sent": marked("Request sent"),
    "answer-received": marked("Answer received"),
    "operation-succeeded": marked("It was done"),
    "operation-declined": marked("It was refused"),
    "webhook-received": marked("The provider reported by itself"),
    "terminal-said": marked("The terminal said"),
    "act-ask-again": marked("Asked again"),
    "act-capture": marked("Had the money collected"),
    "act-take-back": marked("Took the order back"),
    "act-void": marked("Had the payment cancelled"),
    "act-refund": marked("Had money given back"),
    "act-hand-to-till": marked("Handed it to a till"),
    "act-attach": marked("Named the order"),
    "act-settled-outside": marked("Recorded that it was settled elsewhere"),
    "act-note": marked("Wrote a note"),
    "approval-asked": marked("Asked for a second person"),
    "approval-given": marked("Approved"),
    "approval-refused": marked("Refused"),
    "approval-withdrawn": marked("Took the wish back"),
    "evidence-given": marked("Said what is known"),
    "tickets-refunded": marked("Gave the money of tickets back"),
    "tickets-cancelled": marked("Made tickets void"),
    "order-taken-back": marked("Made the order void"),
    "approval-overtaken": marked("The wish was overtaken by events"),
    "item-opened": marked("Found, and opened for a person"),
    "item-resolved": marked("Settled"),
    "difference-found": marked("The comparison found a difference"),
    "terminal-totals": marked("End of day of the terminal"),
}
_TONES: Final = {
    "operation-succeeded": "success",
    "order-confirmed": "success",
    "approval-given": "success",
    "item-resolved": "success",
    "operation-declined": "danger",
    "approval-refused": "danger",
    "item-opened": "warn",
    "difference-found": "warn",
    "approval-asked": "warn",
}
_ACCENTED: Final = frozenset({TimelineKind.PERSON})
_OF_PROVIDERS: Final = frozenset(
    {TimelineKind.REQUEST, TimelineKind.ANSWER, TimelineKind.WEBHOOK, TimelineKind.COMPARISON}
)


def evidence_lines(entries: Iterable[TimelineEntry], zone: str) -> tuple[TimelineLine, ...]:
    """The timeline of an item, oldest first; a day stands over the first entry of it."""
    lines, day = [], ""
    for entry in entries:
        today = figures().long_date(entry.at, zone)
        lines.append(_evidence_line(entry, zone, "" if today == day else today))
        day = today
    return tuple(lines)


def _evidence_line(entry: TimelineEntry, zone: str, day: str) -> TimelineLine:
    amount = figures().told_money(entry.amount_minor, entry.currency) if entry.amount_minor is not None else ""
    step = "" if entry.operation_id is None else _("step {mark}").format(mark=str(entry.operation_id)[-6:])
    tone = _TONES.get(entry.title, "accent_text" if entry.kind in _ACCENTED else "")
    who = _(_WHO[entry.kind])
    source = _provider_of(entry.source) if entry.kind in _OF_PROVIDERS else entry.source
    return TimelineLine(
        mark=entry.kind.value, mark_words=who, tone=tone, day=day, time=figures().clock(entry.at, zone),
        title=title_words(entry.title), more=figures().joined((who, person(source), amount, step)),
        body=entry.body,
    )  # fmt: skip


def _provider_of(source: str) -> str:
    """Who answered, in words; what the provider reported by itself comes as `webhook:stripe`."""
    return provider_name(source.removeprefix("webhook:"))


def title_words(title: str) -> str:
    """What happened; a title that this console does not know goes by its own name."""
    return _(_TITLES[title]) if title in _TITLES else title.replace("-", " ").capitalize()


_OPENED: Final = {
    OperationKind.AUTHORIZE: marked("Card payment begun"),
    OperationKind.CAPTURE: marked("Collecting begun"),
    OperationKind.SALE: marked("Card payment begun"),
    OperationKind.VOID: marked("Cancelling begun"),
    OperationKind.REFUND: marked("Refund begun"),
    OperationKind.CASH: marked("Cash payment begun"),
}


def order_lines(steps: Iterable[OrderStep], zone: str) -> tuple[TimelineLine, ...]:
    """The past of an order, as far as its payments tell it."""
    lines, day = [], ""
    for step in steps:
        today = figures().long_date(step.at, zone)
        lines.append(_order_line(step, zone, "" if today == day else today))
        day = today
    return tuple(lines)


def _order_line(step: OrderStep, zone: str, day: str) -> TimelineLine:
    time = figures().clock(step.at, zone)
    operation = step.operation
    if operation is None:
        return TimelineLine("sale", _("Sale"), "", day, time, _("Order made"))
    amount = figures().money(operation.amount_minor, operation.currency)
    more = figures().joined((amount, operation.card_brand or provider_name(operation.provider), operation.provider_ref))
    if step.what == "opened":
        return TimelineLine("request", _("We asked"), "", day, time, _(_OPENED[operation.kind]), more)
    words, tone = operation_status(operation.status)
    title = figures().joined((operation_name(operation.kind), words))
    if operation.status is OperationStatus.DECLINED:
        more = figures().joined((more, decline_words(operation.decline_code)))
    return TimelineLine("answer", _("Answer"), tone, day, time, title, more)
