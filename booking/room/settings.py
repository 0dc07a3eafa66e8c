"""What operators set of an event's room, under the names that operators of waiting rooms know (R17, R20)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from booking.domain.errors import FieldFault, InvalidRequestError


class Queueing(StrEnum):
    """In which order people are let in. RANDOM: those who came before the opening by lot, everybody after them FIFO."""

    FIFO = "fifo"
    RANDOM = "random"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one room. Whole seconds; `version` rises with each change.

    `total_active_users` is how many slots may be open at once, `new_users_per_minute` how fast people are let in,
    `session_duration_s` how long a slot lasts, `collect_within_s` how long it waits for its shopper to come for it,
    `away_after_s` when somebody who no longer asks is passed over, `token_life_s` how long one token lives.
    `session_renewal`: a slot begins anew, once, when its shopper asks in its last half. With
    `revoke_after_purchase` the purchase ends the slot.
    """

    version: int = 1
    queueing: Queueing = Queueing.RANDOM
    total_active_users: int = 200
    new_users_per_minute: int = 120
    session_duration_s: int = 600
    collect_within_s: int = 60
    away_after_s: int = 120
    token_life_s: int = 120
    session_renewal: bool = False
    revoke_after_purchase: bool = True
    registration_required: bool = False
    bot_check: bool = False
    paused: bool = False


BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "total_active_users": (0, 1_000_000),
    "new_users_per_minute": (0, 1_000_000),
    "session_duration_s": (30, 3600),
    "collect_within_s": (10, 600),
    "away_after_s": (30, 3600),
    "token_life_s": (15, 900),
}
"""Least and greatest value of each setting that is a number."""


def check_settings(settings: Settings) -> None:
    """Refuse settings that no room can work with.

    Raises:
        InvalidRequestError: naming each of them.
    """
    faults = [
        FieldFault(f"/{name}", f"a whole number from {least} to {most}")
        for name, (least, most) in BOUNDS.items()
        if not least <= getattr(settings, name) <= most
    ]
    if not faults and settings.collect_within_s > settings.session_duration_s:
        faults.append(FieldFault("/collect_within_s", "no longer than a session lasts"))
    if faults:
        raise InvalidRequestError("The room cannot work like this.", fields=tuple(faults))
