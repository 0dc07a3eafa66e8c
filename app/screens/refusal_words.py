"""What a person reads when a deed was refused: what it says of the money and the seats, and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.core.sale import PAYABLE, Sale, SaleState
from app.i18n import _, marked
from app.screens.words import Advice, advice_for_error, return_words
from backend_client.errors import AnswerUnknownError, ServiceUnavailableError
from backend_client.wire import OperationKind

_PAYING_DEEDS: Final = frozenset({"card", "cash", "exact-cash", "part"})
_CASH_DEEDS: Final = frozenset({"cash", "exact-cash"})
_MAY_BE_CASH: Final = frozenset({"part", "cash-instead"})
_CASH_IN_HAND: Final = marked("The cash is not booked: give the money back, or try again.")
_RETURN_DEEDS: Final = frozenset({"return-money", "not-returned"})


def refusal_words(deed: str, error: object, sale: Sale | None, *, counted: bool = False) -> Advice:
    """Words for a refused deed. What they claim of money and seats is read off the sale as it stands now.

    `counted`: a part, or what is paid instead of a card, was cash that the clerk has in hand.
    """
    advice = return_words(error) if deed in _RETURN_DEEDS else advice_for_error(error)
    by_cash = deed in _CASH_DEEDS or (counted and deed in _MAY_BE_CASH)
    standing = _standing_words(deed, sale, by_cash=by_cash)
    if standing and isinstance(error, AnswerUnknownError):
        return replace(advice, detail=f"{standing} {_never_twice(standing)}")
    return replace(advice, detail=" ".join(part for part in (standing, advice.detail) if part))


def words_once_back(deed: str, error: object, sale: Sale | None, *, counted: bool = False) -> Advice | None:
    """What takes the place of `refusal_words` once the booking system answers again; None when they stay true."""
    if getattr(error, "code", "") != ServiceUnavailableError.code or deed in _RETURN_DEEDS:
        return None
    by_cash = deed in _CASH_DEEDS or (counted and deed in _MAY_BE_CASH)
    standing = _standing_words(deed, sale, by_cash=by_cash)
    return Advice(_("The booking system answers again"), standing or _("Try again what did not work."), "success")


def _standing_words(deed: str, sale: Sale | None, *, by_cash: bool) -> str:
    state = None if sale is None else sale.state
    if state is SaleState.PAID:
        return _("The sale is paid; its tickets are not printed yet.")
    if deed not in _PAYING_DEEDS and not by_cash:
        return ""
    if by_cash and (state in PAYABLE or _waits_for_its_card(sale)):
        return _(_CASH_IN_HAND)
    if by_cash and state is SaleState.EXPIRED:
        return _("The cash is not booked: give the money back.")
    return _("Nothing was charged.") if state in PAYABLE else ""


def _never_twice(standing: str) -> str:
    """After a lost answer: what is known of the money is said, so that it is not said again that nobody knows."""
    if standing == _(_CASH_IN_HAND):
        return _("The same step is never done twice.")
    return _("Try again: the same step is never done twice.")


def _waits_for_its_card(sale: Sale | None) -> bool:
    """Unclear is a card's payment: no cash is booked in its place."""
    if sale is None or sale.state is not SaleState.UNKNOWN or sale.payment is None:
        return False
    return sale.payment.kind is not OperationKind.CASH
