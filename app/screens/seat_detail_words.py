"""One seat in words: how it stands, who has it, what it costs, and what it has been through.

Times are the venue's, amounts in the event's currency. Text that a person may copy is the same that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.core.store import ConsoleStore
from app.i18n import _, figures, marked
from app.models.place_words import seat_name
from app.screens.house_words import house_kind_words
from app.screens.map_words import SeatWords, flag_words
from app.screens.trouble_words import decline_words
from backend_client.plan_names import seat_ref
from backend_client.wire import (
    SeatActor,
    SeatActorKind,
    SeatDetail,
    SeatHistoryItem,
    SeatStatus,
    TicketStatus,
)

_HAPPENED: Final[dict[str, str]] = {
    "held": marked("Held"),
    "released": marked("Released"),
    "expired": marked("The hold ran out"),
    "paying": marked("Payment begun"),
    "payment-declined": marked("Payment declined"),
    "payment-voided": marked("Payment taken back"),
    "order-cancelled": marked("Order cancelled"),
    "order-expired": marked("The order ran out"),
    "sold": marked("Sold"),
    "refunded": marked("Refunded"),
    "ticket-cancelled": marked("Ticket made void"),
    "ticket-issued": marked("Ticket issued"),
    "printed": marked("Ticket printed"),
    "print-failed": marked("Printing failed"),
    "print-unclear": marked("Printing unclear"),
    "used": marked("Ticket used"),
    "kept-back": marked("Kept back by the house"),
    "given-back": marked("Given back to sale"),
    "plan-changed": marked("The plan changed"),
}
_OF_A_TICKET: Final = frozenset({"ticket-issued", "printed", "print-failed", "print-unclear", "used"})
"""Of the order of the sale before them, which needs no second naming."""
_TONES: Final[dict[SeatStatus, str]] = {
    SeatStatus.AVAILABLE: "success",
    SeatStatus.HELD: "accent",
    SeatStatus.PAYING: "warn",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the upper part: what it is about, and what there is to say."""

    caption: str
    value: str


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of the history. `day` is told where it differs from the line before it in the list."""

    day: str
    time: str
    what: str
    more: str


@dataclass(frozen=True, slots=True)
class SeatFace:
    """Everything that the panel shows of a seat; history newest first."""

    name: str
    standing: str
    tone: str
    facts: tuple[Fact, ...]
    history: tuple[Happening, ...] = ()
    is_cut: bool = False


def known_face(store: ConsoleStore, seat_no: int) -> SeatFace:
    """What the console knows by itself while the booking system is being asked: name, state on the map, category."""
    if store.plan is None or store.event is None:
        return SeatFace("", "", "", ())
    category_no = store.plan.seats.category_no[seat_no]
    names = {category.category_no: category.name for category in store.event.categories}
    facts = (
        Fact(_("Category"), names.get(category_no, "")),
        Fact(_("Kind of seat"), figures().joined(flag_words(store.plan.seats.flags[seat_no]))),
    )
    words = SeatWords(store).state(seat_no)
    return SeatFace(
        seat_name(seat_ref(store.plan, seat_no)), _sentence(words), "muted", tuple(fact for fact in facts if fact.value)
    )


def full_face(detail: SeatDetail, zone: str) -> SeatFace:
    """What the booking system said of a seat, in the venue's time."""
    facts = [fact for fact in _facts(detail, zone) if fact.value]
    history = tuple(_happening(item, detail.currency, zone) for item in reversed(detail.history))
    return SeatFace(
        seat_name(detail.seat), _standing(detail), _TONES.get(detail.status, ""), tuple(facts), history,
        not detail.history_complete,
    )  # fmt: skip


def copied_text(face: SeatFace) -> str:
    """The whole of it as plain text."""
    lines = [face.name, face.standing, *(f"{fact.caption}: {fact.value}" for fact in face.facts)]
    told = [" ".join((one.day, one.time, figures().joined((one.what, one.more)))) for one in face.history]
    return "\n".join([*(line for line in lines if line), *([""] if told else []), *told])


def spoken_face(face: SeatFace) -> str:
    """What a screen reader is told as soon as the answer is there: who has this seat and since when."""
    said = [f"{fact.caption}: {fact.value}" for fact in face.facts[:2]]
    return figures().spoken([face.name, face.standing, *said])


def actor_words(actor: SeatActor | None) -> str:
    """`Sofia Lindqvist · Counter 2`, `Buyer a41f07`; a buyer has no name here."""
    if actor is None:
        return ""
    if actor.kind is SeatActorKind.FAN:
        return _("Buyer {mark}").format(mark=actor.short_id)
    return figures().joined((actor.name, actor.till)) or (_("A counter") if actor.kind is SeatActorKind.TILL else "")


def _standing(detail: SeatDetail) -> str:
    by = None if detail.held_by is None else detail.held_by.kind
    held = {
        SeatActorKind.TILL: _("Held at a counter"),
        SeatActorKind.FAN: _("Held by a buyer"),
        SeatActorKind.HOUSE: _("Kept back by the house"),
    }
    words = {
        SeatStatus.AVAILABLE: _sentence(_("free")),
        SeatStatus.HELD: held[by] if by is not None else _("Held"),
        SeatStatus.PAYING: _("Being paid"),
        SeatStatus.SOLD: _("Sold"),
        SeatStatus.BLOCKED: held[SeatActorKind.HOUSE] if detail.house_hold is not None else _("Blocked"),
    }
    marks = [_("ticket printed") if detail.printed else "", _("ticket used") if detail.used else ""]
    return figures().joined([words[detail.status], *marks])


def _facts(detail: SeatDetail, zone: str) -> Iterator[Fact]:
    caption = _("Sold by") if detail.status is SeatStatus.SOLD else _("By")
    if detail.held_by is not None and detail.held_by.kind is SeatActorKind.FAN:
        caption = _("For")
    yield Fact(caption, actor_words(detail.held_by))
    now = detail.server_time
    yield Fact(_("Since"), "" if detail.since is None else _moment(detail.since, now, zone))
    yield Fact(_("Until"), "" if detail.until is None else _moment(detail.until, now, zone))
    if detail.house_hold is not None:
        yield Fact(_("Kept for"), house_kind_words(detail.house_hold.kind))
        yield Fact(_("Reason"), detail.house_hold.reason)
    yield Fact(_("Order"), detail.order_number)
    yield Fact(_("Ticket"), _ticket(detail.ticket_status))
    if detail.amount_minor is not None:
        paid = figures().money(detail.amount_minor, detail.currency)
        yield Fact(_("Price"), figures().joined((detail.price_type_name, paid)))
    else:
        yield Fact(_("Price"), _prices(detail))
    yield Fact(_("Category"), detail.category_name)
    yield Fact(_("Kind of seat"), figures().joined(flag_words(detail.flags)))


def _prices(detail: SeatDetail) -> str:
    prices = [f"{one.name} {figures().money(one.amount_minor, detail.currency)}" for one in detail.prices]
    return figures().joined(prices) or _("not on sale")


def _ticket(status: TicketStatus | None) -> str:
    words = {
        TicketStatus.ISSUED: _("issued"), TicketStatus.PRINTED: _("printed"), TicketStatus.USED: _("used"),
        TicketStatus.VOID: _("void"),
    }  # fmt: skip
    return "" if status is None else words[status]


def _happening(item: SeatHistoryItem, currency: str, zone: str) -> Happening:
    shown = figures()
    amount = "" if item.amount_minor is None else shown.money(item.amount_minor, currency)
    kind = "" if item.house_kind is None else house_kind_words(item.house_kind)
    order = "" if item.kind in _OF_A_TICKET else item.order_number
    more = (actor_words(item.by), order, item.price_type_name, amount, kind, _reason(item))
    return Happening(shown.date(item.at, zone), shown.clock(item.at, zone), _happened(item), shown.joined(more))


def _happened(item: SeatHistoryItem) -> str:
    """A kind that this console does not know yet is told by its own name."""
    return _(_HAPPENED[item.kind]) if item.kind in _HAPPENED else item.kind


def _reason(item: SeatHistoryItem) -> str:
    if item.kind == "payment-declined":
        return decline_words(item.reason)
    return "" if item.kind == "order-expired" else item.reason


def _moment(at: datetime, now: datetime, zone: str) -> str:
    """To the second on the venue's day of today; with its day otherwise."""
    shown = figures()
    same_day = shown.date(at, zone) == shown.date(now, zone)
    return shown.clock(at, zone) if same_day else shown.date_time(at, zone)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
