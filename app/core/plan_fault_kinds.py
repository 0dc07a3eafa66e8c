"""Kinds of what can be wrong with a draft, and how labels are compared."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.core.plan_draft import NOTHING, Selection

MAX_TEXT: Final = 200
"""Characters of a name, a label or the words of a shape."""


class FaultCode(StrEnum):
    PLAN_UNNAMED = "plan-unnamed"
    NO_SEATS = "no-seats"
    TOO_LARGE = "too-large"
    TEXT_UNUSABLE = "text-unusable"
    OUT_OF_RANGE = "out-of-range"
    SECTION_UNNAMED = "section-unnamed"
    SECTION_EMPTY = "section-empty"
    SECTION_REPEATS = "section-repeats"
    SECTION_LOOKS_ALIKE = "section-looks-alike"
    ROW_UNNAMED = "row-unnamed"
    ROW_EMPTY = "row-empty"
    ROW_REPEATS = "row-repeats"
    ROW_LOOKS_ALIKE = "row-looks-alike"
    SEAT_UNNUMBERED = "seat-unnumbered"
    SEAT_REPEATS = "seat-repeats"
    SEATS_COINCIDE = "seats-coincide"
    SEATS_OVERLAP = "seats-overlap"
    NO_CATEGORY = "no-category"
    CATEGORY_UNNAMED = "category-unnamed"
    CATEGORY_REPEATS = "category-repeats"
    CATEGORY_LOOKS_ALIKE = "category-looks-alike"
    CATEGORY_UNUSED = "category-unused"
    SEATS_OUTSIDE = "seats-outside"
    SHAPE_OUTSIDE = "shape-outside"
    SHAPE_WITHOUT_TEXT = "shape-without-text"
    STANDING_UNNAMED = "standing-unnamed"
    STANDING_REPEATS = "standing-repeats"
    STANDING_WITHOUT_CATEGORY = "standing-without-category"
    FLOOR_UNNAMED = "floor-unnamed"
    FLOOR_UNKNOWN = "floor-unknown"


WARNINGS: Final = frozenset({
    FaultCode.SECTION_UNNAMED, FaultCode.SECTION_REPEATS, FaultCode.ROW_UNNAMED, FaultCode.ROW_REPEATS,
    FaultCode.SEATS_OVERLAP, FaultCode.CATEGORY_UNUSED, FaultCode.SEATS_OUTSIDE, FaultCode.SHAPE_OUTSIDE,
    FaultCode.SHAPE_WITHOUT_TEXT, FaultCode.FLOOR_UNNAMED,
})  # fmt: skip
"""A plan may be saved with these."""


@dataclass(frozen=True, slots=True)
class PlanFault:
    """`name` is what people call the thing, `section` where it is, `count` how many seats."""

    code: FaultCode
    where: Selection = NOTHING
    name: str = ""
    section: str = ""
    count: int = 0

    @property
    def is_warning(self) -> bool:
        return self.code in WARNINGS


def looks_of(label: str) -> str:
    """What a person sees of a label: width, letters of other alphabets that look the same, invisible signs and spaces
    do not count.
    """
    if label.isascii() and label.isalnum():
        return label
    folded = unicodedata.normalize("NFKC", label).translate(_LOOKALIKES)
    return " ".join("".join(sign for sign in folded if unicodedata.category(sign) != "Cf").split())


def is_usable(text: str) -> bool:
    """Whether a text is short enough, and without control characters."""
    if len(text) > MAX_TEXT:
        return False
    return text.isprintable() or not any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in text)


_LOOKALIKES = str.maketrans(
    "АВЕЗКМНОРСТУХІЈЅԚԜаеорсухіјѕԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧοονι",
    "ABE3KMHOPCTYXIJSQWaeopcyxijsqwhlABEZHIKMNOPTYXoovi",
)
