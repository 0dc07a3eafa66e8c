"""What a person is told who closes the console or signs out while something is open."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.notices import TO_BE_ANSWERED
from app.core.sale import SaleState
from app.i18n import _
from app.screens.notice_words import notice_words
from app.screens.words import Advice

_UNCLEAR = frozenset({SaleState.PAYING, SaleState.UNKNOWN})
_WITH_SEATS = frozenset({SaleState.HOLDING, SaleState.HELD, SaleState.DECLINED})


def leave_words(desk: Desk) -> Advice | None:
    """What is open and will go on, when somebody leaves now; None when nothing is (D2).

    Of the sale at the counter and all that are parked, the gravest is told.
    """
    store = desk.store
    at_counter = None if store.sale is None else store.sale.state
    states = {sale.state for sale in store.parked} | ({at_counter} if at_counter is not None else set())
    if at_counter in _UNCLEAR:
        return Advice(
            _("A payment is running"),
            _("If you close now, it is cleared up at the next start. Do not take the card again before that."),
            "danger",
        )
    by_hand = _words_of_hands(desk)
    if by_hand is not None:
        return by_hand
    if states & _UNCLEAR or desk.charging:
        return Advice(_("A payment is unclear"), _("It is asked about again at the next start."), "danger")
    if SaleState.RETURNING in states:
        return Advice(
            _("Money has to go back to a buyer"),
            _("It is not back yet. The sale is found at the next start."),
            "danger",
        )
    if states & {SaleState.PAID, SaleState.PRINTING}:
        return Advice(_("The tickets are not printed yet"), _("They can be printed at the next start."))
    if states & _WITH_SEATS:
        return Advice(
            _("Seats are held for a buyer"),
            _("They stay held until their time is over, and are found at the next start."),
        )
    return None


def _words_of_hands(desk: Desk) -> Advice | None:
    """Money in the clerk's hand, or a terminal at work, of which no sale in sight tells."""
    waiting = [notice for notice in desk.store.notices if notice.code in TO_BE_ANSWERED]
    if waiting:
        words = notice_words(waiting[0])
        return Advice(
            words.title, _("Say so at the counter once it is done; after the next start nobody is asked."), "danger"
        )
    if "return-money" in desk.running and desk.terminal_turn.locked():
        return Advice(
            _("Money is going back to a card"),
            _("It is asked at the next start whether it went back. Do not give it back again before that."),
            "danger",
        )
    if "close-day" in desk.running:
        return Advice(
            _("The terminal is closing its day"),
            _("Its totals are asked for at the next start; until then nobody knows them."),
            "danger",
        )
    return None
