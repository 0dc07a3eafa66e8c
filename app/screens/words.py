"""What people read for each code: what happened, and what to do now. Codes come from the booking system, from devices
and from the console's own errors; nobody is ever shown an exception's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.core.sale import EndReason
from app.core.session import CredentialStorage
from app.core.store import Notice, NoticeCode
from app.i18n import _, figures, marked
from backend_client.wire import Role, SeatRef


@dataclass(frozen=True, slots=True)
class Advice:
    """`title` says what happened, `detail` what to do; `tone` is info, success, warn or danger."""

    title: str
    detail: str = ""
    tone: str = "warn"


_ANY: Final = (
    marked("That did not work"),
    marked(
        "It is not known how far this step came. If a payment was part of it, do not take it again; ask a supervisor."
    ),
)

_ADVICE: Final[dict[str, tuple[str, str]]] = {
    # ---- the booking system
    "service-unavailable": (
        marked("The booking system does not answer"),
        marked("Nothing was done. Check the network and try again in a moment."),
    ),
    "session-waits": (
        marked("The booking system cannot be reached"),
        marked("It is tried again by itself, and you go on as before once it answers. You can also sign in anew."),
    ),
    "authority-away": (
        marked("The booking system does not answer"),
        marked("Nothing was done. Check the network and try again in a moment."),
    ),
    "busy": (
        marked("The booking system is very busy"),
        marked("Nothing was done. Try again in a few seconds."),
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
        marked("The payment is put aside for a supervisor. Do not take the card again."),
    ),
    "tendered-too-little": (
        marked("That is not enough"),
        marked("Ask the buyer for the rest, or take a card."),
    ),
    "operation-not-yours": (
        marked("Another counter took this payment"),
        marked("Only that counter or a supervisor can settle it."),
    ),
    "result-conflict": (
        marked("The terminal and the booking system disagree"),
        marked("A supervisor has to look at it. Do not take the card again."),
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
        marked("The disk may be full. Nothing was charged; sell at another counter."),
    ),
    # ---- the card terminal
    "terminal-unavailable": (
        marked("The card terminal does not answer"),
        marked("Nothing was charged. Check its cable and power, or take cash."),
    ),
    "terminal-busy": (
        marked("The card terminal is busy"),
        marked("Wait until it shows its start screen, then try again."),
    ),
    "terminal-refused": (
        marked("The card terminal refused"),
        marked("Nothing was charged. Look at its display."),
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
}

_DECLINES: Final[dict[str, str]] = {
    "insufficient-funds": marked("There is not enough money on the account."),
    "declined-by-host": marked("The bank said no."),
    "card-not-readable": marked("The card could not be read."),
    "card-data-missing": marked("The card could not be read."),
    "card-blocked": marked("The card is blocked."),
    "card-expired": marked("The card has expired."),
    "card-not-yet-valid": marked("The card is not valid yet."),
    "card-unknown": marked("This kind of card is not accepted."),
    "wrong-currency": marked("The terminal cannot take this currency."),
    "cancelled-at-terminal": marked("The payment was stopped, or no card was presented in time."),
    "aborted": marked("The payment was stopped, or no card was presented in time."),
    "goods-not-issued": marked("The seats were gone; the terminal took the charge back."),
    "host-unreachable": marked("The terminal could not reach the bank."),
    "host-silent": marked("The terminal could not reach the bank."),
    "terminal-busy": marked("The terminal was busy with something else."),
    "terminal-not-ready": marked("The terminal was not ready."),
    "terminal-not-registered": marked("The terminal was not ready."),
}


def advice_for(code: str) -> Advice:
    """Words for an error's code."""
    title, detail = _ADVICE.get(code, _ANY)
    return Advice(_(title), _(detail) if detail else "")


def advice_for_error(error: object) -> Advice:
    """Words for an exception that carries a `code`; seats that it names are named."""
    advice = advice_for(str(getattr(error, "code", "")))
    seats = getattr(error, "seats", ())
    if seats:
        return Advice(advice.title, f"{seat_names(seats)}. {advice.detail}", advice.tone)
    return advice


def decline_words(code: str) -> str:
    """Why a card was declined."""
    return _(_DECLINES[code]) if code in _DECLINES else _("The bank or the terminal said no.")


def seat_name(seat: SeatRef) -> str:
    """`Stalls · Row A · Seat 12`; parts that the plan leaves out are left out."""
    parts = [seat.section]
    if seat.row:
        parts.append(_("Row {row}").format(row=seat.row))
    if seat.number:
        parts.append(_("Seat {seat}").format(seat=seat.number))
    return figures().joined(parts) or _("Seat {seat}").format(seat=seat.seat_no + 1)


def seat_names(seats: tuple[SeatRef, ...]) -> str:
    """Several seats in one sentence."""
    return figures().names([seat_name(seat) for seat in seats])


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


def end_words(reason: EndReason | None) -> Advice:
    """Why a sale ended without tickets."""
    if reason is EndReason.CARD_REVERSED:
        return Advice(
            _("The seats were gone; the card was not charged"),
            _("The terminal took the charge back by itself. Show the buyer the receipt and offer other seats."),
        )
    if reason is EndReason.CHARGE_TO_RETURN:
        return Advice(
            _("The card was charged, but the seats are gone"),
            _("A supervisor has to return the money. Do not take the card again. Keep the terminal's receipt."),
            "danger",
        )
    return Advice(_("The time ran out"), _("The seats are free again. Pick them anew if they are still there."))


def notice_words(notice: Notice) -> Advice:
    """Words for a notice of the store."""
    amount = "" if notice.amount_minor is None else figures().money(notice.amount_minor, notice.currency)
    seats = seat_names(notice.seats)
    if notice.code is NoticeCode.SEATS_LOST:
        return Advice(_("Somebody was faster"), _("Lost: {seats}. Pick other seats.").format(seats=seats))
    if notice.code is NoticeCode.PAYMENT_DECLINED:
        return Advice(_("The card was declined"), decline_words(notice.detail))
    if notice.code is NoticeCode.PRICES_CHANGED:
        return Advice(_("The prices have changed"), _("Tell the buyer the new total before you take the payment."))
    if notice.code is NoticeCode.PARKED_SALE_PAID:
        return Advice(
            _("A parked payment of {amount} went through").format(amount=amount),
            _("Open it to print the tickets."),
            "success",
        )
    if notice.code is NoticeCode.TERMINAL_DIFFERS:
        return Advice(
            _("The terminal and the booking system disagree about {amount}").format(amount=amount),
            _("Keep the terminal's receipt and call a supervisor. Do not take the card again."),
            "danger",
        )
    if notice.code is NoticeCode.CHARGE_TO_RETURN:
        return end_words(EndReason.CHARGE_TO_RETURN)
    if notice.code is NoticeCode.CARD_REVERSED:
        return end_words(EndReason.CARD_REVERSED)
    return _plain_notice(notice.code)


def _plain_notice(code: NoticeCode) -> Advice:
    """Notices without figures."""
    words = {
        NoticeCode.HOLD_EXPIRED: Advice(
            _("The time ran out"), _("The seats are free again. Pick them anew if they are still there.")
        ),
        NoticeCode.PAYMENT_UNKNOWN: Advice(
            _("Do not take the card again"), _("It is not known yet whether the card was charged."), "danger"
        ),
        NoticeCode.PAYMENT_WITHDRAWN: Advice(
            _("Nothing was charged"), _("The payment was stopped. The seats are still held."), "info"
        ),
        NoticeCode.PRINT_UNKNOWN: Advice(
            _("Tickets may have been printed"), _("Look at the printer before you print again.")
        ),
        NoticeCode.PRINT_FAILED: Advice(
            _("The tickets were not printed"), _("The sale is safe. Check the printer and print again.")
        ),
        NoticeCode.SALE_RESUMED: Advice(
            _("An open sale was found again"), _("It goes on where it stood before the console was closed."), "info"
        ),
        NoticeCode.PARKED_SALE_FREE: Advice(
            _("A parked payment was not charged"), _("Its seats can be paid again or released."), "info"
        ),
        NoticeCode.SIGNED_OUT: Advice(_("You are signed out"), _("Sign in again to go on.")),
        NoticeCode.SESSION_ONLY: Advice(
            _("You stay signed in for this session only"), _("You will be asked again at the next start."), "info"
        ),
    }
    return words.get(code, Advice(_(_ANY[0]), _(_ANY[1])))
