"""Typed access to the members of one JSON object: what is missing or of the wrong kind becomes a fault at its place."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.json_source import RepeatedMembers, escape
from booking.domain.seating_plan.model import MAX_COORDINATE, MAX_LABEL, Point
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says, Thing

_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\Z")
_LARGEST_LABEL = 10**9
_KINDS = {
    dict: Thing.AN_OBJECT, list: Thing.A_LIST, str: Thing.A_TEXT, bool: Thing.TRUE_OR_FALSE, int: Thing.A_NUMBER,
    float: Thing.A_NUMBER,
}  # fmt: skip


def kind_of(value: object) -> Thing:
    """The kind of a JSON value in a person's words."""
    return Thing.NULL if value is None else _KINDS.get(type(value), Thing.AN_OBJECT)


class Members:
    """One object of the file. Every accessor answers None (or nothing) after it reported why.

    A value that is not an object at all is reported once, here; its accessors are then silent.
    """

    __slots__ = ("_findings", "_members", "_silent", "pointer")

    def __init__(self, findings: Findings, value: object, pointer: str) -> None:
        self.pointer = pointer
        self._findings = findings
        self._silent = not isinstance(value, dict)
        self._members: dict[str, object] = value if isinstance(value, dict) else {}
        if self._silent:
            message = Says.EXPECTED.of(wanted=Thing.AN_OBJECT, found=kind_of(value))
            findings.fault(pointer, FindingCode.WRONG_TYPE, message)
        elif isinstance(value, RepeatedMembers):
            for name in value.repeated:
                findings.fault(self.at(name), FindingCode.MEMBER_REPEATS, Says.MEMBER_REPEATS.of(name=name))

    @property
    def is_object(self) -> bool:
        return not self._silent

    def at(self, name: str) -> str:
        """The JSON pointer of a member."""
        return f"{self.pointer}/{escape(name)}"

    def has(self, name: str) -> bool:
        """Whether the member is there and not null."""
        return self._members.get(name) is not None

    def holds_text(self, name: str) -> bool:
        """Whether the member is a text, in formats where it may also be an object."""
        return isinstance(self._members.get(name), str)

    def holds_list(self, name: str) -> bool:
        """Whether the member is a list, empty or not."""
        return isinstance(self._members.get(name), list)

    def holds_empty(self, name: str) -> bool:
        """Whether the member is an empty list, object or text."""
        return self._members.get(name) in ([], {}, "")

    def warn_about_others(self, known: frozenset[str]) -> None:
        """Report members that no published variant of the format has; they are ignored."""
        for name in self._members.keys() - known:
            self._findings.warn(self.at(name), FindingCode.UNKNOWN_MEMBER, Says.MEMBER_UNKNOWN.of(name=name))

    def text(self, name: str, *, required: bool = True, limit: int = MAX_LABEL) -> str | None:
        """A text as it stands in the file; printable, at most `limit` characters."""
        value = self._value(name, required=required)
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong(name, Thing.A_TEXT, value)
            return None
        if len(value) > limit:
            self._findings.fault(
                self.at(name), FindingCode.TEXT_TOO_LONG, Says.TEXT_TOO_LONG.of(count=len(value), most=limit)
            )
            return None
        if not value.isprintable() and any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in value):
            self._findings.fault(self.at(name), FindingCode.TEXT_UNPRINTABLE, Says.TEXT_UNPRINTABLE.of())
            return None
        return value

    def label(self, name: str, *, required: bool = True) -> str | None:
        """A text that files also write as a number; that is a fault, or read as a text where it may be mended."""
        value = self._members.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            return self.text(name, required=required)
        if self._findings.may(Repair.NUMBERS_AS_TEXT) and abs(value) < _LARGEST_LABEL:
            message = Says.NUMBER_AS_TEXT.of(text=str(value))
            self._findings.repaired(self.at(name), FindingCode.NUMBER_AS_TEXT, message, repair=Repair.NUMBERS_AS_TEXT)
            return str(value)
        message = Says.EXPECTED_INSTEAD.of(wanted=Thing.A_TEXT, found=Thing.A_NUMBER, text=str(value))
        self._findings.fault(self.at(name), FindingCode.WRONG_TYPE, message, repair=Repair.NUMBERS_AS_TEXT)
        return None

    def key(self, name: str) -> str | None:
        """A text or whole number that names something; None when absent or null, or after a fault."""
        value = self._members.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_LABEL:
            return str(value)
        return None if value is None else self.text(name)

    def number(
        self, name: str, *, required: bool = True, minimum: float = -MAX_COORDINATE, maximum: float = MAX_COORDINATE
    ) -> float | None:
        """A finite number from `minimum` to `maximum`, else the largest coordinate; true and false are no numbers."""
        value = self._value(name, required=required)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._wrong(name, Thing.A_NUMBER, value)
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self._findings.fault(self.at(name), FindingCode.NOT_FINITE, Says.NOT_FINITE.of(text=str(value)))
            return None
        if not minimum <= value <= maximum:
            message = Says.EXPECTED_NUMBER.of(least=minimum, most=maximum)
            self._findings.fault(self.at(name), FindingCode.OUT_OF_RANGE, message)
            return None
        return float(value)

    def point(self, name: str, *, required: bool = True, minimum: float = -MAX_COORDINATE) -> Point | None:
        """An object of `x` and `y`. Absent and not required: the origin."""
        value = self._value(name, required=required)
        if value is None:
            return None if required else Point(0.0, 0.0)
        return read_point(self._findings, value, self.at(name), minimum=minimum)

    def loose_point(self, name: str) -> Point | None:
        """As `point`, without a word about other members; it must be there."""
        value = self._value(name, required=True)
        return None if value is None else self._loose(value, self.at(name))

    def loose_point_of(self, value: object, name: str, index: int) -> Point | None:
        """A point that is an item of the list `name`."""
        return self._loose(value, f"{self.at(name)}/{index}")

    def _loose(self, value: object, pointer: str) -> Point | None:
        members = Members(self._findings, value, pointer)
        x, y = members.number("x"), members.number("y")
        return None if x is None or y is None else Point(x, y)

    def items(self, name: str, *, limit: int, required: bool = True) -> list[object]:
        """A list of at most `limit` items; empty after a report."""
        value = self._value(name, required=required)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(name, Thing.A_LIST, value)
            return []
        if len(value) > limit:
            self._findings.fault(
                self.at(name), FindingCode.TOO_MANY, Says.ITEMS_TOO_MANY.of(count=len(value), most=limit)
            )
            return []
        return value

    def texts(self, name: str, *, limit: int) -> tuple[str, ...]:
        """A list of texts that need not be there; without those that were reported."""
        texts = []
        for index, value in enumerate(self.items(name, limit=limit, required=False)):
            if isinstance(value, str) and len(value) <= MAX_LABEL and value.isprintable():
                texts.append(value)
            else:
                message = Says.EXPECTED_SHORT_TEXT.of(most=MAX_LABEL)
                self._findings.fault(f"{self.at(name)}/{index}", FindingCode.WRONG_TYPE, message)
        return tuple(texts)

    def members(self, name: str) -> Members | None:
        """An object that must be there."""
        value = self._value(name, required=True)
        return None if value is None else Members(self._findings, value, self.at(name))

    def whole(self, name: str, *, minimum: int, maximum: int, required: bool = True) -> int | None:
        """A whole number within bounds; 3.0 is one."""
        value = self.number(
            name, required=required, minimum=min(0.0, minimum), maximum=max(MAX_COORDINATE, float(maximum))
        )
        if value is None:
            return None
        if value != int(value) or not minimum <= value <= maximum:
            message = Says.EXPECTED_WHOLE.of(least=minimum, most=maximum)
            self._findings.fault(self.at(name), FindingCode.OUT_OF_RANGE, message)
            return None
        return int(value)

    def flag(self, name: str) -> bool:
        """True or false; false when absent or null."""
        value = self._members.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._wrong(name, Thing.TRUE_OR_FALSE, value)
        return False

    def choice(self, name: str, allowed: Iterable[str]) -> str | None:
        """One of the `allowed` texts, None when absent."""
        value = self.text(name, required=False)
        if value is None or value in allowed:
            return value
        wanted = ", ".join(f'"{item}"' for item in allowed)
        self._findings.fault(self.at(name), FindingCode.UNKNOWN_VALUE, Says.NOT_ONE_OF.of(text=value, known=wanted))
        return None

    def color(self, name: str, default: str) -> str:
        """`#rrggbb` or `#rrggbbaa` in lower case; `default` with a warning for any other notation."""
        value = self.text(name, required=False)
        if value is None or value == "":
            return default
        if _COLOR.match(value):
            digits = value[1:].lower()
            return "#" + ("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits)
        message = Says.COLOR_REPLACED.of(text=value, color=default) if default else Says.COLOR_LEFT_OUT.of(text=value)
        self._findings.warn(self.at(name), FindingCode.COLOR_UNKNOWN, message)
        return default

    def _value(self, name: str, *, required: bool) -> object | None:
        value = self._members.get(name)
        if value is None and required and not self._silent:
            if name in self._members:
                self._findings.fault(self.at(name), FindingCode.WRONG_TYPE, Says.NULL.of())
            else:
                self._findings.fault(self.at(name), FindingCode.MEMBER_MISSING, Says.MEMBER_MISSING.of(name=name))
        return value

    def _wrong(self, name: str, wanted: Thing, value: object) -> None:
        message = Says.EXPECTED.of(wanted=wanted, found=kind_of(value))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            message = Says.EXPECTED_INSTEAD.of(wanted=wanted, found=kind_of(value), text=str(value))
        self._findings.fault(self.at(name), FindingCode.WRONG_TYPE, message)


_POINT_MEMBERS = frozenset({"x", "y"})


def read_point(findings: Findings, value: object, pointer: str, *, minimum: float = -MAX_COORDINATE) -> Point | None:
    """A point, or None after reporting what is wrong with it."""
    members = Members(findings, value, pointer)
    members.warn_about_others(_POINT_MEMBERS)
    x = members.number("x", minimum=minimum)
    y = members.number("y", minimum=minimum)
    return None if x is None or y is None else Point(x, y)
