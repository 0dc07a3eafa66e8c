"""What people read for each notice of the store, and for each way in which a sale ends without tickets."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.core.notices import TO_BE_ANSWERED
from app.core.sale import EndReason
from app.core.store import Notice, NoticeCode
from app.i18n import _, figures, marked
from app.models.place_words import seat_names
from app.screens.trouble_words import decline_title, decline_words
from app.screens.words import ANY, NOTE_IT, Advice


def end_words(reason: EndReason | None) -> Advice:
    """Why a sale ended without tickets."""
    if reason is EndReason.CARD_REVERSED:
        return Advice(
            _("The seats were gone; the card was not charged"),
            _("The terminal took the charge back by itself. Show the buyer the receipt and offer other seats."),
        )
    if reason is EndReason.MONEY_RETURNED:
        return Advice(
            _("All the money is back"), _("What was paid in parts went back; the seats are free again."), "info"
        )
    if reason is EndReason.CHARGE_TO_RETURN:
        return Advice(
            _("The card was charged, but the seats are gone"),
            _("The money is to be returned: keep the terminal's receipt.") + " " + _(NOTE_IT),
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
        return Advice(decline_title(notice.detail), decline_words(notice.detail))
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
            _("Keep the terminal's receipt.") + " " + _(NOTE_IT),
            "danger",
        )
    if notice.code in _WITH_AMOUNT:
        title, detail, tone = _WITH_AMOUNT[notice.code]
        return Advice(_(title).format(amount=amount), _(detail), tone)
    if notice.code in _ENDS:
        words = end_words(_ENDS[notice.code])
        return replace(words, title=figures().joined((words.title, amount)))
    return _plain_notice(notice.code)


def answer_words(notice: Notice) -> str:
    """What the button beside a notice says: that it is read, or that what it asks for is done."""
    if notice.code in TO_BE_ANSWERED and notice.amount_minor is not None:
        return _("I gave {amount} back").format(amount=figures().money(notice.amount_minor, notice.currency))
    return _("Close")


_WITH_AMOUNT: Final[dict[NoticeCode, tuple[str, str, str]]] = {
    NoticeCode.CASH_NOT_NEEDED: (
        marked("The card went through: give {amount} in cash back"),
        marked("The card was faster than the cash. The sale is paid by card."),
        "danger",
    ),
    NoticeCode.CARD_GIVEN_BACK: (
        marked("{amount} went back to a card"),
        marked("Cash was taken instead, or the sale had ended. The terminal has taken the charge back."),
        "info",
    ),
    NoticeCode.LEFT_UNCHARGED: (
        marked("The buyer who left was not charged {amount}"),
        marked("The seats are free again."),
        "info",
    ),
    NoticeCode.LEFT_CHARGED: (
        marked("The buyer who left was charged {amount}"),
        marked("The terminal could not take it back: refund the order from the list of orders."),
        "danger",
    ),
    NoticeCode.HANDED_OVER: (
        marked("A supervisor clears up {amount}"),
        marked("It is still asked about by itself. Do not take the card again; serve the next buyer."),
        "warn",
    ),
    NoticeCode.CASH_NOT_TAKEN: (
        marked("{amount} was paid out in cash, and the booking system does not take it"),
        marked("Do not pay it out again. It stands over the list of orders until a supervisor has compared it."),
        "danger",
    ),
    NoticeCode.MONEY_TO_RETURN: (
        marked("Money goes back for a sale of {amount}"),
        marked("Open it to give the parts back that were paid."),
        "warn",
    ),
}

_ENDS: Final = {
    NoticeCode.CHARGE_TO_RETURN: EndReason.CHARGE_TO_RETURN,
    NoticeCode.CARD_REVERSED: EndReason.CARD_REVERSED,
}


def _plain_notice(code: NoticeCode) -> Advice:
    """Notices without figures."""
    words = {
        NoticeCode.HOLD_EXPIRED: Advice(
            _("The time ran out"), _("The seats are free again. Pick them anew if they are still there.")
        ),
        NoticeCode.PAYMENT_UNKNOWN: Advice(
            _("Do not take the card again"), _("It is not known yet whether the card was charged."), "danger"
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
        NoticeCode.SETTINGS_NOT_KEPT: Advice(
            _("The settings cannot be kept"),
            _("Everything works, but this console asks again at the next start. Its disk may be full."),
        ),
        NoticeCode.DAY_NOT_TOLD: Advice(
            _("The terminal's totals of the day are not known"),
            _("It may have closed its day. Keep its printed totals for the comparison."),
        ),
        NoticeCode.SIGNED_OUT: Advice(_("You are signed out"), _("Sign in again to go on.")),
        NoticeCode.SESSION_ONLY: Advice(
            _("You stay signed in for this session only"), _("You will be asked again at the next start."), "info"
        ),
    }
    return words.get(code, Advice(_(ANY[0]), _(ANY[1])))
