"""Where the feed of operators stands; apart from the feed itself, for whoever only has to know."""

from __future__ import annotations

from enum import StrEnum


class OpsFeedState(StrEnum):
    """AWAY: there is no link, it is dialled again by itself."""

    DIALLING = "dialling"
    LIVE = "live"
    AWAY = "away"
