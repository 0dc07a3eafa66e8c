"""From the bytes of a JSON plan file to Python values, every way of being broken reported (case I3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.sayings import Says

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 32
MAX_OBJECTS = 2_000_000
MAX_MEMBERS = 12_000_000
"""Objects and lists, and commas, of a file: what 200,000 seats need three times over. Memory is bounded by it."""
_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class RepeatedMembers(dict[str, object]):
    """A JSON object in which a member name came twice; `repeated` names them. The last one counts, as in `json`."""

    repeated: tuple[str, ...] = ()


def load_json(data: bytes, findings: Findings) -> object | None:
    """The value of a JSON text, or None after reporting why there is none (a plan is never `null`).

    NaN and Infinity are let through as floats, so that the reader can report each at its own place.
    """
    if len(data) > MAX_BYTES:
        findings.fault("", FindingCode.FILE_TOO_LARGE, Says.FILE_TOO_LARGE.of(count=len(data), most=MAX_BYTES))
        return None
    if data.count(b"{") + data.count(b"[") > MAX_OBJECTS or data.count(b",") > MAX_MEMBERS:
        findings.fault("", FindingCode.TOO_MANY, Says.OBJECTS_TOO_MANY.of(most=MAX_OBJECTS, members=MAX_MEMBERS))
        return None
    text = decode_text(data, findings)
    if text is None:
        return None
    value = _parse(text, findings)
    if value is not None and _is_deeper_than(value, MAX_DEPTH):
        findings.fault("", FindingCode.TOO_DEEP, Says.TOO_DEEP.of(most=MAX_DEPTH))
        return None
    return value


def escape(name: str) -> str:
    """A member name as one token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def decode_text(data: bytes, findings: Findings) -> str | None:
    """The text of UTF-8 bytes, a byte order mark left out (I1); None after a fault."""
    for mark, name in _OTHER_MARKS.items():
        if data.startswith(mark):
            findings.fault("", FindingCode.BAD_ENCODING, Says.FILE_IN_ANOTHER_ENCODING.of(name=name))
            return None
    if data.startswith(_UTF8_MARK):
        findings.warn("", FindingCode.BYTE_ORDER_MARK, Says.BYTE_ORDER_MARK.of())
        data = data[len(_UTF8_MARK) :]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        findings.fault("", FindingCode.BAD_ENCODING, Says.BYTE_NOT_UTF8.of(count=error.start))
        return None


def _parse(text: str, findings: Findings) -> object | None:
    try:
        value: object = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        message = Says.NOT_JSON.of(line=error.lineno, column=error.colno, detail=error.msg)
        findings.fault("", FindingCode.INVALID_JSON, message)
    except RecursionError:
        findings.fault("", FindingCode.TOO_DEEP, Says.TOO_DEEP.of(most=MAX_DEPTH))
    except ValueError:  # an integer of more digits than Python converts
        findings.fault("", FindingCode.INVALID_JSON, Says.DIGITS_TOO_MANY.of())
    else:
        if value is not None:
            return value
        findings.fault("", FindingCode.WRONG_TYPE, Says.FILE_IS_NULL.of())
    return None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    marked = RepeatedMembers(members)
    counts = Counter(name for name, _ in pairs)
    marked.repeated = tuple(sorted(name for name, count in counts.items() if count > 1))
    return marked


def _is_deeper_than(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value
