"""What a person is told who closes the console or signs out while something is open."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.sale import SaleState
from app.i18n import _
from app.screens.words import Advice


def leave_words(desk: Desk) -> Advice | None:
    """What is open and will go on, when somebody leaves now; None when nothing is (D2)."""
    sale = desk.store.sale
    if sale is None or sale.ended or sale.state is SaleState.PICKING:
        if not desk.store.unknown_sales and not desk.charging:
            return None
        return Advice(_("A payment is unclear"), _("It is asked about again at the next start."), "danger")
    if sale.state in {SaleState.PAYING, SaleState.UNKNOWN}:
        return Advice(
            _("A payment is running"),
            _("If you close now, it is cleared up at the next start. Do not take the card again before that."),
            "danger",
        )
    if sale.state in {SaleState.PAID, SaleState.PRINTING}:
        return Advice(_("The tickets are not printed yet"), _("They can be printed at the next start."))
    return Advice(
        _("Seats are held for a buyer"),
        _("They stay held until their time is over, and are found at the next start."),
    )
