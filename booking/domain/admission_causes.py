"""What people are told of a decision about admission: a code with its parameters, and the same as an English sentence.

A console words the codes in its own language; the sentence is for whoever does not know the code (R20).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class CauseCode(StrEnum):
    """What there is to tell. `wire.CauseCode` has the same."""

    OVER_LIMIT = "over-limit"
    OVER_LIMIT_LATELY = "over-limit-lately"
    BACK_TOWARDS = "back-towards"
    TRIES_MORE = "tries-more"
    KEPT_NEAR_LIMIT = "kept-near-limit"
    AT_CAP = "at-cap"
    SHOPPERS_AT_LIMIT = "shoppers-at-limit"
    FEW_SEATS_LEFT = "few-seats-left"
    AUTHORITY_AWAY = "authority-away"
    FIGURES_MISSING = "figures-missing"
    PAUSED = "paused"
    SET_BY_HAND = "set-by-hand"
    AUTHORITY_SILENT = "authority-silent"
    ROOM_NOT_ASKED = "room-not-asked"
    ROOM_ADDRESS_OPEN = "room-address-open"
    ROOM_NO_KEY = "room-no-key"
    ROOM_REFUSED = "room-refused"
    ROOM_NO_ANSWER = "room-no-answer"
    ROOM_UNREACHABLE = "room-unreachable"


@dataclass(frozen=True, slots=True)
class Cause:
    """`code`: a `CauseCode`, or one of another release. `figure`: the signal that it is about.

    `numbers` are the parameters of the code; units are at the ends of their names.
    """

    code: str
    figure: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """In English; the code itself where this release has no words for it."""
        words = WORDS.get(self.code)
        return self.code if words is None else words.format(figure=self.figure, **self.numbers)


WORDS: Mapping[str, str] = {
    CauseCode.OVER_LIMIT: "{figure} is {value:.3g}, its limit {limit:.3g}",
    CauseCode.OVER_LIMIT_LATELY: "the last seconds were over the limit",
    CauseCode.BACK_TOWARDS: "back towards {goal_per_minute:.0f} a minute, which went well before",
    CauseCode.TRIES_MORE: "calm: a little more is tried",
    CauseCode.KEPT_NEAR_LIMIT: "near a limit: kept as it is",
    CauseCode.AT_CAP: "all is calm: ops' cap",
    CauseCode.SHOPPERS_AT_LIMIT: "{active_shoppers:.0f} shoppers inside, {most:.0f} may be",
    CauseCode.FEW_SEATS_LEFT: "{active_shoppers:.0f} shoppers inside, {seats_free:.0f} seats are free",
    CauseCode.AUTHORITY_AWAY: "the event's database does not answer: nobody is let in",
    CauseCode.FIGURES_MISSING: "no figures for {age_s:.0f} s: nobody is let in until they come again",
    CauseCode.PAUSED: "paused by ops: nobody is let in",
    CauseCode.SET_BY_HAND: "set by hand to {manual_per_minute:.0f} a minute",
    CauseCode.AUTHORITY_SILENT: "not heard for {silent_s:.0f} s",
    CauseCode.ROOM_NOT_ASKED: "the controller has not asked it yet",
    CauseCode.ROOM_ADDRESS_OPEN: "its address is neither https nor on this machine: no token is sent there",
    CauseCode.ROOM_NO_KEY: "there is no key yet to sign with",
    CauseCode.ROOM_REFUSED: "it answered {status:.0f}",
    CauseCode.ROOM_NO_ANSWER: "it did not answer within {within_s:g} s",
    CauseCode.ROOM_UNREACHABLE: "it cannot be reached",
}
"""By `CauseCode`; what stands in braces are the parameters of each."""
