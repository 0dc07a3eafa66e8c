"""Why a card payment came to nothing, and why tickets were not printed: in words, by the codes that devices give."""

from __future__ import annotations

from typing import Final

from app.i18n import _, marked

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
    "cancelled-at-terminal": marked("The buyer stopped it at the terminal, or no card was presented in time."),
    "aborted": marked("The buyer stopped it at the terminal, or no card was presented in time."),
    "stopped-at-counter": marked("It was stopped here before the card was charged."),
    "not-booked-at-terminal": marked("The terminal was asked and has booked no payment."),
    "goods-not-issued": marked("The seats were gone; the terminal took the charge back."),
    "host-unreachable": marked("The terminal could not reach the bank."),
    "host-silent": marked("The terminal could not reach the bank."),
    "terminal-busy": marked("The terminal was busy with something else."),
    "terminal-not-ready": marked("The terminal was not ready."),
    "terminal-not-registered": marked("The terminal was not ready."),
}

_STOPPED: Final = marked("The payment was stopped")
_NO_PAYMENT: Final = marked("The payment did not come about")
_DECLINE_TITLES: Final[dict[str, str]] = {
    "stopped-at-counter": _STOPPED,
    "cancelled-at-terminal": _NO_PAYMENT,
    "aborted": _NO_PAYMENT,
    "not-booked-at-terminal": _NO_PAYMENT,
    "goods-not-issued": _NO_PAYMENT,
    "host-unreachable": _NO_PAYMENT,
    "host-silent": _NO_PAYMENT,
    "terminal-busy": _NO_PAYMENT,
    "terminal-not-ready": _NO_PAYMENT,
    "terminal-not-registered": _NO_PAYMENT,
    "card-not-readable": marked("The card could not be read"),
    "card-data-missing": marked("The card could not be read"),
}
"""Where nobody said no to the card, the title does not say so."""

_PRINT_TROUBLES: Final[dict[str, str]] = {
    "disk-full": marked("The disk for the ticket files is full. Make room on it and print again."),
    "no-access": marked("The folder for the ticket files cannot be written. Have it opened for this user."),
    "code-too-wide": marked("The paper is too small for the code on the ticket. Set up larger paper."),
    "unclear": marked("Look at the printer before you print again."),
}


def decline_words(code: str) -> str:
    """Why a card was declined."""
    return _(_DECLINES[code]) if code in _DECLINES else _("The bank or the terminal said no.")


def decline_title(code: str) -> str:
    """Who or what ended a card payment without a charge."""
    return _(_DECLINE_TITLES[code]) if code in _DECLINE_TITLES else _("The card was declined")


def print_trouble_words(reason: str) -> str:
    """Why tickets were not printed, and what to do."""
    if reason in _PRINT_TROUBLES:
        return _(_PRINT_TROUBLES[reason])
    return _("Check the printer and print again.")
