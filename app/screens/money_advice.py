"""What people read for the codes of reconciliation and of money that goes back: title and advice."""

from __future__ import annotations

from typing import Final

from app.i18n import marked

MONEY_ADVICE: Final[dict[str, tuple[str, str]]] = {
    "item-not-found": (
        marked("This item is no longer there"),
        marked("It has settled by itself, or somebody has settled it."),
    ),
    "item-changed": (
        marked("This item has changed meanwhile"),
        marked("Nothing was done. Read what is different, then decide anew."),
    ),
    "action-not-allowed": (
        marked("This cannot be done with it any more"),
        marked("Nothing was done. See what can be done now."),
    ),
    "second-person-needed": (
        marked("Somebody else has to decide this"),
        marked("Who asked for it cannot approve it."),
    ),
    "run-not-found": (marked("This comparison is no longer there"), marked("Start it anew.")),
    "refund-too-much": (
        marked("So much cannot go back any more"),
        marked("Nothing was given back: part of it has gone back already, or is on the way."),
    ),
    "ticket-not-refundable": (
        marked("The money of this ticket cannot go back now"),
        marked("Nothing was given back. Look at how the ticket stands."),
    ),
    "ticket-not-found": (marked("There is no such ticket"), marked("Read the order again.")),
    "order-not-found": (marked("There is no such order"), marked("Look for it by its number.")),
    "no-such-order": (
        marked("No order, or more than one, has this number"),
        marked("Nothing was done. Type the whole number, or the id of the order."),
    ),
    "file-not-written": (
        marked("The file could not be written"),
        marked("Look at the space on the disk, or choose another place."),
    ),
    "invalid-request": (
        marked("The booking system does not take this"),
        marked("Nothing was done. Look at what was typed."),
    ),
    "rate-limited": (marked("Too many calls at once"), marked("Try again in a few seconds.")),
}

RETURN_ADVICE: Final[dict[str, tuple[str, str]]] = {
    "no-terminal": (
        marked("No card terminal is set up"),
        marked("Nothing was given back. Leave it to a supervisor, or ask for the terminal to be set up."),
    ),
    "terminal-unavailable": (
        marked("The card terminal does not answer"),
        marked("Nothing was given back. Check its cable and power and try again, or leave it to a supervisor."),
    ),
    "terminal-unsettled": (
        marked("An earlier card payment is not settled"),
        marked("Nothing was given back. Settle the open payment first."),
    ),
    "unsupported-currency": (
        marked("The card terminal cannot take this currency"),
        marked("Nothing was given back. Leave it to a supervisor."),
    ),
    "journal-failed-before-asking": (
        marked("The journal cannot be written"),
        marked("The disk may be full. Nothing was given back: make room on it, then try again."),
    ),
    "journal-failed-after-asking": (
        marked("It cannot be written down here that the money went back"),
        marked("The terminal had been asked already: do not give it back in another way. Make room on the disk."),
    ),
}
"""Where the words of a payment would say the opposite, as "take cash" does while money goes back to the buyer.

Each of these errors of `return_money` comes before the terminal was asked, but for the last one.
"""
