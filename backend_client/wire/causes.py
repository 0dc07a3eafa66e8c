"""Why something is as it is, in a code with parameters: what a console says in its own language (R20, R32)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import field

from backend_client.wire.base import Message


class CauseCode(StrEnum):
    """Every code; behind each its parameters in `Cause.numbers`. A newer server may send others."""

    OVER_LIMIT = "over-limit"
    """`figure`, value, limit, strain. Of `completion_share` the limit is the least that is well."""
    OVER_LIMIT_LATELY = "over-limit-lately"
    """strain."""
    BACK_TOWARDS = "back-towards"
    """goal_per_minute."""
    TRIES_MORE = "tries-more"
    KEPT_NEAR_LIMIT = "kept-near-limit"
    AT_CAP = "at-cap"
    """cap_per_minute."""
    SHOPPERS_AT_LIMIT = "shoppers-at-limit"
    """active_shoppers, most."""
    FEW_SEATS_LEFT = "few-seats-left"
    """active_shoppers, seats_free."""
    AUTHORITY_AWAY = "authority-away"
    FIGURES_MISSING = "figures-missing"
    """age_s."""
    PAUSED = "paused"
    SET_BY_HAND = "set-by-hand"
    """manual_per_minute."""
    AUTHORITY_SILENT = "authority-silent"
    """silent_s: for how long nobody heard the authority."""
    ROOM_NOT_ASKED = "room-not-asked"
    ROOM_ADDRESS_OPEN = "room-address-open"
    ROOM_NO_KEY = "room-no-key"
    ROOM_REFUSED = "room-refused"
    """status, of HTTP."""
    ROOM_NO_ANSWER = "room-no-answer"
    """within_s."""
    ROOM_UNREACHABLE = "room-unreachable"


class Cause(Message, frozen=True, kw_only=True):
    """`code` is a `CauseCode`, or one of a newer server: then the sentence beside it, in English, is shown.

    `figure` names the figure that it is about, '' where there is none; units are at the ends of the numbers' names.
    """

    code: str
    figure: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
