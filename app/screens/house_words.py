"""For whom the house keeps seats back, in words and as the map knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from app.i18n import _, marked
from backend_client.wire import HouseHoldKind
from widgets.seat_map.seat_bits import HouseKind

_ARABIC_ARTICLE: Final = "\N{ARABIC LETTER ALEF}\N{ARABIC LETTER LAM}"
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


def house_columns(
    kinds: Mapping[int, HouseHoldKind], seat_count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Seat numbers and their kinds as the map takes them; seats beyond the plan (another version's) are left out."""
    known = [(seat_no, house_kind(kind)) for seat_no, kind in kinds.items() if seat_no < seat_count]
    return np.array([seat_no for seat_no, _kind in known], np.int64), np.array([kind for _no, kind in known], np.uint8)


def house_kind_words(kind: HouseHoldKind) -> str:
    """For whom: `Press`."""
    return _(_WORDS[kind])


def house_words_by_kind() -> tuple[str, ...]:
    """The same words by the map's number of the kind; none for 0, of which nothing is known."""
    return ("", *(house_kind_words(kind) for kind in sorted(HouseHoldKind, key=house_kind)))


def house_letters() -> tuple[str, ...]:
    """One letter for each kind, for its seats on the map: the first of its words that no kind before it took."""
    letters: list[str] = []
    for words in house_words_by_kind():
        candidates = [letter.upper() for letter in words.removeprefix(_ARABIC_ARTICLE) if letter.isalpha()]
        letters.append(next((letter for letter in candidates if letter not in letters), ""))
    return tuple(letters)
