"""What people read for each code: what happened, and what to do now. Codes come from the booking system, from devices
and from the console's own errors; nobody is ever shown an exception's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.core.session import CredentialStorage
from app.i18n import _, marked
from app.models.place_words import seat_names
from app.screens.money_advice import MONEY_ADVICE, RETURN_ADVICE
from app.screens.plan_advice import PLAN_ADVICE
from app.screens.setting_advice import SETTING_ADVICE
from backend_client.wire import Role


@dataclass(frozen=True, slots=True)
class Advice:
    """`title` says what happened, `detail` what to do; `tone` is info, success, warn or danger."""

    title: str
    detail: str = ""
    tone: str = "warn"


ANY: Final = (
    marked("That did not work"),
    marked("It is not known how far this step came. If a payment was part of it, do not take it again."),
)
NOTE_IT: Final = marked("Note the order number, the amount and the time. Do not take the card again.")

_ADVICE: Final[dict[str, tuple[str, str]]] = {
    # ---- the booking system
    "service-unavailable": (
        marked("The booking system does not answer"),
        marked("Check the network and try again in a moment."),
    ),
    "session-waits": (
        marked("The booking system cannot be reached"),
        marked("It is tried again by itself, and you go on as before once it answers. You can also sign in anew."),
    ),
    "authority-away": (
        marked("The booking system does not answer"),
        marked("Check the network and try again in a moment."),
    ),
    "busy": (
        marked("The booking system is very busy"),
        marked("Try again in a few seconds."),
    ),
    "answer-unknown": (
        marked("The answer got lost on the way"),
        marked("It is not known whether this step took effect. Try again: the same step is never done twice."),
    ),
    "answer-unreadable": (
        marked("This console is older than the booking system"),
        marked("Its answer could not be read. Ask for an update of the console."),
    ),
    "insecure-address": (
        marked("The address of the booking system is not secure"),
        marked("Only addresses that begin with https are used, so that passwords stay private."),
    ),
    "wrong-credentials": (
        marked("Name or password is wrong"),
        marked("Check both and try again."),
    ),
    "too-many-attempts": (
        marked("Too many attempts"),
        marked("Wait a minute, then try again."),
    ),
    "not-signed-in": (marked("You are signed out"), marked("Sign in again to go on.")),
    "token-expired": (marked("You are signed out"), marked("Sign in again to go on.")),
    "forbidden": (
        marked("Your role may not do this"),
        marked("Ask a supervisor."),
    ),
    "event-not-found": (
        marked("This event is no longer there"),
        marked("Go back to the list of events."),
    ),
    "event-not-on-sale": (
        marked("This event is not on sale"),
        marked("The sale has not opened yet, is paused, or is over."),
    ),
    "seat-unknown": (
        marked("The plan has changed"),
        marked("Open the event again to load the new plan."),
    ),
    "seats-taken": (
        marked("Somebody was faster"),
        marked("Pick other seats; those that were lost flash on the map."),
    ),
    "seat-orphaned": (
        marked("A seat would be left single"),
        marked("Take what the map offers instead, or pick other seats."),
    ),
    "no-block-left": (
        marked("So many seats are not free together"),
        marked("Choose fewer seats, or look in all sections and categories."),
    ),
    "tier-sold-out": (
        marked("So many places are not left there"),
        marked("Choose fewer places, or places elsewhere."),
    ),
    "tier-in-holds": (
        marked("The last places there are held by others"),
        marked("Some may come back: try again in a moment, or choose fewer places."),
    ),
    "tier-unknown": (
        marked("The plan has changed"),
        marked("Open the event again to load the new plan."),
    ),
    "part-not-payable": (
        marked("That part cannot be paid"),
        marked("A part is more than nothing, and no more than what is left."),
    ),
    "return-declined": (
        marked("The terminal gave nothing back"),
        marked("Try again, with the same card or another one, or leave it to a supervisor."),
    ),
    "day-not-told": (
        marked("The terminal's totals of the day are not known"),
        marked("It is asked again by itself. Keep its printed totals for the comparison."),
    ),
    "account-limit": (
        marked("The limit for one buyer is reached"),
        marked("Take fewer seats."),
    ),
    "open-hold-exists": (
        marked("Too many sales are open at this counter"),
        marked("Finish or release an open sale first."),
    ),
    "hold-not-found": (marked("The hold is over"), marked("Pick the seats again.")),
    "hold-expired": (
        marked("The time ran out"),
        marked("The seats are free again. Pick them anew if they are still there."),
    ),
    "hold-not-open": (marked("The hold is over"), marked("Pick the seats again.")),
    "too-little-time": (
        marked("Too little time is left to take a payment"),
        marked("Release the seats and hold them again."),
    ),
    "paying-cap-reached": (
        marked("Very many payments are running for this event"),
        marked("Wait a few seconds and try again; the seats stay held."),
    ),
    "price-unknown": (
        marked("This seat has no such price"),
        marked("Choose another price type."),
    ),
    "price-changed": (
        marked("The prices have changed"),
        marked("Tell the buyer the new total before you take the payment."),
    ),
    "order-not-payable": (
        marked("This order cannot be paid any more"),
        marked("Release it and start anew."),
    ),
    "payment-running": (
        marked("A payment is running already"),
        marked("Wait until it has ended. Do not take the card again."),
    ),
    "amount-mismatch": (
        marked("The amounts differ"),
        NOTE_IT,
    ),
    "tendered-too-little": (
        marked("That is not enough"),
        marked("Ask the buyer for the rest, or take a card."),
    ),
    "operation-not-yours": (
        marked("Another counter took this payment"),
        marked("Only that counter can settle it."),
    ),
    "result-conflict": (
        marked("The terminal and the booking system disagree"),
        NOTE_IT,
    ),
    # ---- the console itself
    "not-allowed": (marked("Your role may not do this"), marked("Ask a supervisor.")),
    "nothing-picked": (marked("No seat is picked"), marked("Click a seat on the map first.")),
    "too-many-seats": (
        marked("That is too many seats for one sale"),
        marked("Sell these first, then go on with the rest."),
    ),
    "seat-not-pickable": (
        marked("This seat cannot be picked"),
        marked("It is sold, held or blocked."),
    ),
    "sale-not-ready": (
        marked("The sale is not at this step"),
        marked("Finish the step that is shown first."),
    ),
    "no-terminal": (
        marked("No card terminal is set up"),
        marked("Take cash, or ask for the terminal to be set up."),
    ),
    "terminal-unsettled": (
        marked("An earlier card payment is not settled"),
        marked("Take cash meanwhile, or settle the open payment first."),
    ),
    "no-printer": (
        marked("No ticket printer is set up"),
        marked("The sale is safe. Print the tickets at another counter."),
    ),
    "tickets-not-ready": (
        marked("The tickets are still being made"),
        marked("The sale is safe. Try to print again in a few seconds."),
    ),
    "device-file-damaged": (
        marked("The device file of this counter cannot be read"),
        marked("Sell nothing here until your supervisor has put it back from a copy."),
    ),
    "device-file-gone": (
        marked("The device file of this counter is gone"),
        marked("Sell nothing here until your supervisor has put it back from a copy."),
    ),
    "folder-not-writable": (
        marked("The data folder of this counter cannot be written"),
        marked("Check that this user may write there, then start the console again."),
    ),
    "disk-full": (
        marked("The disk of this counter is full"),
        marked("Make room on it, then start the console again."),
    ),
    "terminal-address-wrong": (
        marked("The address of the card terminal cannot be read"),
        marked("It is written as host:port, for example 192.0.2.7:20007."),
    ),
    "no-server": (
        marked("No booking system is named"),
        marked("Start the console with --server and its address, or write server_url into settings.toml."),
    ),
    "file-not-shown": (
        marked("This computer cannot show the file"),
        marked("The tickets are safe: look into the folder of tickets, or print them again at another counter."),
    ),
    "journal-in-use": (
        marked("Another console works with this data folder"),
        marked("Close the other console first."),
    ),
    "journal-damaged": (
        marked("The journal of this counter cannot be read"),
        marked("Sell nothing here until your supervisor has looked at it."),
    ),
    "journal-too-new": (
        marked("The journal was written by a newer console"),
        marked("Ask for an update of this console."),
    ),
    "journal-write-failed": (
        marked("The journal cannot be written"),
        marked("The disk may be full. Sell nothing more here until there is room on it."),
    ),
    "journal-failed-before-asking": (
        marked("The journal cannot be written"),
        marked("The disk may be full. No payment was asked for: make room on it, or sell at another counter."),
    ),
    "journal-failed-after-asking": (
        marked("The payment cannot be written down here"),
        marked("It had been asked for already: do not take it again. Make room on the disk; it is then cleared up."),
    ),
    # ---- the card terminal
    "terminal-unavailable": (
        marked("The card terminal does not answer"),
        marked("Check its cable and power, or take cash."),
    ),
    "terminal-busy": (
        marked("The card terminal is busy"),
        marked("Wait until it shows its start screen, then try again."),
    ),
    "terminal-refused": (
        marked("The card terminal refused"),
        marked("Look at its display."),
    ),
    "unsupported-currency": (
        marked("The card terminal cannot take this currency"),
        marked("Take cash."),
    ),
    # ---- typed amounts
    "amount-empty": (marked("Type an amount"), ""),
    "amount-unreadable": (marked("This is not an amount"), ""),
    "amount-ambiguous": (marked("This amount could be read in two ways; write it without separators"), ""),
    "amount-too-fine": (marked("This currency has no such small coin"), ""),
    "amount-too-large": (marked("This amount is too large"), ""),
    "currency-unknown": (marked("This currency is not known to the console"), ""),
    **MONEY_ADVICE,
    **SETTING_ADVICE,
    **PLAN_ADVICE,
}


def advice_for(code: str) -> Advice:
    """Words for an error's code."""
    title, detail = _ADVICE.get(code, ANY)
    return Advice(_(title), _(detail) if detail else "")


def advice_for_error(error: object) -> Advice:
    """Words for an exception that carries a `code`; seats that it names are named."""
    advice = advice_for(str(getattr(error, "code", "")))
    seats = getattr(error, "seats", ())
    if seats:
        return Advice(advice.title, f"{seat_names(seats)}. {advice.detail}", advice.tone)
    return advice


def return_words(error: object) -> Advice:
    """Words for what went wrong while money goes back at this counter."""
    known = RETURN_ADVICE.get(str(getattr(error, "code", "")))
    return advice_for_error(error) if known is None else Advice(_(known[0]), _(known[1]))


def role_name(role: Role) -> str:
    """A role as people call it."""
    names = {
        Role.FAN: _("Buyer"),
        Role.CLERK: _("Clerk"),
        Role.OPS: _("Operations"),
        Role.SUPERVISOR: _("Supervisor"),
        Role.ADMIN: _("Administrator"),
    }
    return names[role]


def storage_words(storage: CredentialStorage) -> str:
    """Why a sign-in is kept for this session only; empty when it is in the keyring (D9)."""
    words = {
        CredentialStorage.KEYRING: "",
        CredentialStorage.NOT_ASKED: "",
        CredentialStorage.NO_KEYRING: _("This computer has no keyring."),
        CredentialStorage.KEYRING_LOCKED: _("The keyring of this computer is locked."),
        CredentialStorage.KEYRING_SILENT: _("The keyring of this computer does not answer."),
    }
    return words[storage]
