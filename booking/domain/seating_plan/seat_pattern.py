"""How seats are told among the shapes of an SVG: a pattern that the user gives, over ids or other attributes.

`seat-{section}-{row}-{number}` matches ids. `data-row={row} data-seat={number}` matches attributes of these names, all
of them. In a template `{section}`, `{row}`, `{number}`, `{category}` stand for what is read and `{_}` for what is not;
everything else stands for itself. A section may hold the sign that separates it from what follows; the others may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from booking.domain.seating_plan.sayings import Saying, Says

FIELDS = ("section", "row", "number", "category")
USUAL_PATTERNS = (
    "seat-{section}-{row}-{number}",
    "data-section={section} data-row={row} data-seat={number}",
    "data-section={section} data-row={row} data-number={number}",
    "data-row={row} data-seat={number}",
    "data-row={row} data-number={number}",
    "seat-{row}-{number}",
    "{section}-{row}-{number}",
)
MAX_VALUE = 200
_FIELD = re.compile(r"\{(\w+)\}")
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w.:-]*)=(.*)\Z", re.DOTALL)


class SeatPatternError(ValueError):
    """The pattern makes no sense; `saying` says why."""

    def __init__(self, saying: Saying) -> None:
        super().__init__(saying.text)
        self.saying = saying


@dataclass(frozen=True, slots=True)
class SeatPattern:
    """Attribute → what its value must look like."""

    text: str
    parts: tuple[tuple[str, re.Pattern[str]], ...]

    def match(self, attributes: Mapping[str, str]) -> dict[str, str] | None:
        """What the attributes of a shape say about its seat; None when it is none."""
        found: dict[str, str] = {}
        for name, template in self.parts:
            value = attributes.get(name, "").strip()
            matched = template.fullmatch(value) if value and len(value) <= MAX_VALUE else None
            if matched is None:
                return None
            found.update(matched.groupdict())
        return found


def parse_pattern(text: str) -> SeatPattern:
    """A pattern in the form that the module describes.

    Raises:
        SeatPatternError: It names no number, a field twice, or one that there is not.
    """
    parts: list[tuple[str, re.Pattern[str]]] = []
    fields: list[str] = []
    for word in text.split():
        named = _ATTRIBUTE.match(word)
        attribute, template = (named[1].rpartition(":")[2], named[2]) if named else ("id", word)
        fields += [field for field in _FIELD.findall(template) if field != "_"]
        parts.append((attribute, _compile(template)))
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise SeatPatternError(Says.PATTERN_FIELD_UNKNOWN.of(text=text, name=unknown[0], known=", ".join(FIELDS)))
    if len(set(fields)) < len(fields):
        raise SeatPatternError(Says.PATTERN_FIELD_TWICE.of(text=text))
    if "number" not in fields:
        raise SeatPatternError(Says.PATTERN_WITHOUT_NUMBER.of(text=text))
    return SeatPattern(text, tuple(parts))


def _compile(template: str) -> re.Pattern[str]:
    pieces = _FIELD.split(template)
    expression = re.escape(pieces[0])
    for field, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        stop = f"[^{re.escape(literal[0])}]+" if literal and field != "section" else ".+"
        expression += stop if field == "_" or field not in FIELDS else f"(?P<{field}>{stop})"
        expression += re.escape(literal)
    try:
        return re.compile(expression, re.DOTALL)
    except re.error as error:
        raise SeatPatternError(Says.PATTERN_FIELD_TWICE.of(text=template)) from error
