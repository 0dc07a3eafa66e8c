"""What a clerk reads while it is not known whether money moved: what to do, what is asked, how often, who decides."""

from __future__ import annotations

from datetime import datetime

from app.core.sale import Sale, UnknownReason
from app.core.store import Asks
from app.i18n import _, figures, ngettext
from backend_client.wire import OperationKind


def is_cash(sale: Sale) -> bool:
    """Whether it is cash whose booking is unknown."""
    return sale.payment is not None and sale.payment.kind is OperationKind.CASH


def title_words(sale: Sale) -> str:
    """The one thing that must not be done."""
    return _("Do not take the money again") if is_cash(sale) else _("Do not take the card again")


def first_words(sale: Sale) -> str:
    """What is not known, and that the seats stay."""
    reason = sale.unknown_reason or UnknownReason.TERMINAL_SILENT
    if sale.leaving:
        return _("The buyer has left. Whatever was charged goes back, and the seats are free again, once it is known.")
    if reason is UnknownReason.NOT_WRITTEN:
        return _("This counter cannot write down how the payment ended; its disk may be full. Make room on it.")
    if is_cash(sale):
        return _("The booking system has not confirmed the sale yet. Keep the money and the buyer's seats as they are.")
    if reason is UnknownReason.TERMINAL_SILENT:
        return _("It is not known whether the card was charged. The seats stay reserved for this buyer meanwhile.")
    if reason is UnknownReason.BOOKING_SILENT:
        return _("The terminal has answered, but the booking system has not. The seats stay reserved for this buyer.")
    return _("Neither the terminal nor the booking system can say whether the card was charged.")


def asked_words(sale: Sale, asks: Asks | None, zone: str) -> str:
    """Who is asked what, how often so far, and when again."""
    words = _asked_what(sale.unknown_reason or UnknownReason.TERMINAL_SILENT)
    if asks is None:
        return words
    often = ngettext("Asked {count} time so far, last at {time}.", "Asked {count} times so far, last at {time}.",
                     asks.count).format(count=asks.count, time=figures().time(asks.last_at, zone))  # fmt: skip
    return f"{words} {often}"


def _asked_what(reason: UnknownReason) -> str:
    if reason is UnknownReason.TERMINAL_SILENT:
        return _("The card terminal is asked for its last payment, again and again.")
    if reason is UnknownReason.BOOKING_SILENT:
        return _("The booking system is told what the terminal said, until it answers.")
    if reason is UnknownReason.NOT_WRITTEN:
        return _("The terminal and the booking system are asked again, until the answer can be written down.")
    return _("The booking system is asked, again and again, whether it has learned more.")


def since_words(since: datetime | None, zone: str, now: datetime) -> str:
    """Since when, and how long that is."""
    if since is None:
        return ""
    seconds = max(int((now - since).total_seconds()), 0)
    return _("{time}, for {duration}").format(time=figures().clock(since, zone), duration=figures().duration(seconds))


def decide_words(sale: Sale, zone: str) -> str:
    """Who can decide, and since when it is theirs."""
    if sale.handed_over_at is None:
        return _("A supervisor, in reconciliation, with the terminal's receipt. Until then only the answers count.")
    words = _("It is the supervisor's since {time}: it is in reconciliation, with what the terminal said.")
    return words.format(time=figures().time(sale.handed_over_at, zone))


def note_words(sale: Sale) -> str:
    """What to write down for a buyer who cannot wait."""
    if sale.order is None:
        return _("Most often this clears up by itself. If the buyer cannot wait, note the amount and the time.")
    words = _(
        "Most often this clears up by itself. If the buyer cannot wait, note order {number}, the amount and the time."
    )
    return words.format(number=sale.order.number)
