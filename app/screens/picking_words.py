"""Why seats could not be picked, in words: which seat and how it stands, or how many one sale takes."""

from __future__ import annotations

from app.core.errors import SeatNotPickableError, TooManySeatsError
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.screens.map_words import SeatWords
from app.screens.words import Advice, advice_for, advice_for_error


def picking_advice(error: Exception, store: ConsoleStore) -> Advice:
    """Words for a refused pick."""
    if isinstance(error, TooManySeatsError):
        return Advice(advice_for(error.code).title, _limit_words(error.limit))
    if isinstance(error, SeatNotPickableError):
        why = SeatWords(store).standing(error.seat_no)
        return Advice(advice_for(error.code).title, why) if why else advice_for(error.code)
    return advice_for_error(error)


def band_advice(count: int, wanted: int, limit: int) -> Advice:
    """Of the free seats under a rubber band only some were taken."""
    count_of = _("{count} of {wanted} seats picked")
    return Advice(count_of.format(count=figures().number(count), wanted=figures().number(wanted)), _limit_words(limit))


def _limit_words(limit: int) -> str:
    most = ngettext("One sale takes at most {count} seat.", "One sale takes at most {count} seats.", limit)
    return f"{most.format(count=figures().number(limit))} {_('Sell these first, then go on with the rest.')}"
