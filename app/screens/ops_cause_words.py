"""Why admission is as it is, and why a room is not there, in the language in use: from the codes of the wire.

A code that is newer than this console, or one that came without its numbers, is said in the booking system's own words.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from app.i18n import _, figures, marked
from app.screens.ops_words import figure_name, seconds_words, value_words
from backend_client.wire import Cause, CauseCode, OpsLogEntry

C = CauseCode
_PLAIN: Mapping[CauseCode, str] = {
    C.OVER_LIMIT_LATELY: marked("Over the limit in the last seconds"),
    C.TRIES_MORE: marked("Calm: a little more is tried"),
    C.KEPT_NEAR_LIMIT: marked("Near a limit: kept as it is"),
    C.AUTHORITY_AWAY: marked("The database is away: nobody is let in"),
    C.PAUSED: marked("Paused: nobody is let in"),
    C.ROOM_NOT_ASKED: marked("The controller has not asked it yet"),
    C.ROOM_ADDRESS_OPEN: marked("Its address is neither https nor on this machine: no token is sent there"),
    C.ROOM_NO_KEY: marked("There is no key yet to sign with"),
    C.ROOM_UNREACHABLE: marked("It cannot be reached"),
}


_COUNTED: Mapping[CauseCode, tuple[str, Mapping[str, str]]] = {
    C.BACK_TOWARDS: (marked("Back towards {rate} a minute, which went well"), {"rate": "goal_per_minute"}),
    C.AT_CAP: (marked("All is calm: at the cap of {rate} a minute"), {"rate": "cap_per_minute"}),
    C.SET_BY_HAND: (marked("Set by hand to {rate} a minute"), {"rate": "manual_per_minute"}),
    C.SHOPPERS_AT_LIMIT: (
        marked("{count} shoppers inside, {most} may be"), {"count": "active_shoppers", "most": "most"},
    ),
    C.FEW_SEATS_LEFT: (
        marked("{count} shoppers inside for {seats} free seats"), {"count": "active_shoppers", "seats": "seats_free"},
    ),
    C.FIGURES_MISSING: (marked("No figures for {time}: nobody is let in"), {"time": "age_s"}),
    C.AUTHORITY_SILENT: (marked("Not heard for {time}"), {"time": "silent_s"}),
    C.ROOM_REFUSED: (marked("It answered {status}"), {"status": "status"}),
    C.ROOM_NO_ANSWER: (marked("No answer within {time}"), {"time": "within_s"}),
}  # fmt: skip
"""Words, and which number stands at each of their places."""


def cause_words(cause: Cause | None, english: str) -> str:
    """The cause in words; `english` where there is no code, or none that is known here."""
    if cause is None:
        return english
    try:
        return _words(CauseCode(cause.code), cause.figure, cause.numbers)
    except (KeyError, ValueError):
        return english


def worded(entry: OpsLogEntry) -> OpsLogEntry:
    """An entry of the log with its reason in the language in use."""
    return entry if entry.cause is None else replace(entry, reason=cause_words(entry.cause, entry.reason))


def _words(code: CauseCode, figure: str, numbers: Mapping[str, float]) -> str:
    """Raises KeyError: a number did not come, or the code is none of those that have words."""
    if code is C.OVER_LIMIT:
        value, limit = value_words(figure, numbers["value"]), value_words(figure, numbers["limit"])
        return _("{figure}: {value}, limit {limit}").format(figure=figure_name(figure), value=value, limit=limit)
    if code in _PLAIN:
        return _(_PLAIN[code])
    words, names = _COUNTED[code]
    return _(words).format(**{place: _number(name, numbers[name]) for place, name in names.items()})


def _number(name: str, value: float) -> str:
    if name.endswith("_s"):
        return seconds_words(max(round(value), 0))
    return str(round(value)) if name == "status" else figures().rough(value)
