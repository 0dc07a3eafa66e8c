"""From the bytes of a JSON plan file to Python values, every way of being broken reported (case I3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from booking.domain.seating_plan.faults import FindingCode, Findings

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
        findings.fault(
            "", FindingCode.FILE_TOO_LARGE, f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        )
        return None
    if data.count(b"{") + data.count(b"[") > MAX_OBJECTS or data.count(b",") > MAX_MEMBERS:
        findings.fault("", FindingCode.TOO_MANY, f"more than {MAX_OBJECTS:,} objects or {MAX_MEMBERS:,} members")
        return None
    text = decode_text(data, findings)
    if text is None:
        return None
    value = _parse(text, findings)
    if value is not None and _is_deeper_than(value, MAX_DEPTH):
        findings.fault("", FindingCode.TOO_DEEP, f"values are nested more than {MAX_DEPTH} deep")
        return None
    return value


def escape(name: str) -> str:
    """A member name as one token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def decode_text(data: bytes, findings: Findings) -> str | None:
    """The text of UTF-8 bytes, a byte order mark left out (I1); None after a fault."""
    for mark, name in _OTHER_MARKS.items():
        if data.startswith(mark):
            findings.fault("", FindingCode.BAD_ENCODING, f"the file looks like {name}; save it as UTF-8")
            return None
    if data.startswith(_UTF8_MARK):
        findings.warn("", FindingCode.BYTE_ORDER_MARK, "the file starts with a byte order mark; it is ignored")
        data = data[len(_UTF8_MARK) :]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        findings.fault("", FindingCode.BAD_ENCODING, f"byte {error.start:,} is not UTF-8; save the file as UTF-8")
        return None


def _parse(text: str, findings: Findings) -> object | None:
    try:
        value: object = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        findings.fault("", FindingCode.INVALID_JSON, f"not JSON at {place}: {error.msg}")
    except RecursionError:
        findings.fault("", FindingCode.TOO_DEEP, f"values are nested more than {MAX_DEPTH} deep")
    except ValueError:  # an integer of more digits than Python converts
        findings.fault("", FindingCode.INVALID_JSON, "a number has too many digits")
    else:
        if value is not None:
            return value
        findings.fault("", FindingCode.WRONG_TYPE, "the file holds null; a plan is an object")
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
