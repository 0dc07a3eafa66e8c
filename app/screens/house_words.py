"""For whom the house keeps seats back, in words and as the map knows it."""

from __future__ import annotations

from typing import Final

from app.i18n import _, marked
from backend_client.wire import HouseHoldKind
from widgets.seat_map.seat_bits import HouseKind

_WORDS: Final[dict[HouseHoldKind, str]] = {
    HouseHoldKind.PROMOTER: marked("Promoter"),
    HouseHoldKind.ARTIST: marked("Artist"),
    HouseHoldKind.TECHNICAL: marked("Technical"),
    HouseHoldKind.ACCESSIBLE: marked("Accessible places"),
    HouseHoldKind.PRESS: marked("Press"),
    HouseHoldKind.SPONSOR: marked("Sponsor"),
    HouseHoldKind.OTHER: marked("Other"),
}


def house_kind(kind: HouseHoldKind) -> HouseKind:
    """A kind of the wire as the map knows it."""
    return HouseKind[kind.name]


def house_kind_words(kind: HouseHoldKind) -> str:
    """For whom: `Press`."""
    return _(_WORDS[kind])
