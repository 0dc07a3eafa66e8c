"""Paths and queries: strict percent-decoding, and typed values that name their field when they are wrong (G8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import unquote_to_bytes
from uuid import UUID

from booking.domain.text import EARLIEST_INSTANT, LATEST_INSTANT
from booking.web.bodies import invalid

_MAX_INT = 2**31 - 1
_MAX_VERSION = 2**63 - 1
_MAX_SEAT_NO = 2**24 - 2


def check_path(path: str, raw_path: bytes) -> None:
    """Refuse a path with NUL, or with bytes that are no UTF-8 (a lone surrogate among them).

    Raises:
        InvalidRequestError: naming `path`.
    """
    if "\x00" in path or _decoded(raw_path.split(b"?", 1)[0]) is None:
        raise invalid("path", "holds a NUL character or is not UTF-8")


def parse_query(query: bytes) -> dict[str, str]:
    """`a=1&b=2` → mapping; the last value of a name counts.

    Raises:
        InvalidRequestError: naming the parameter that holds NUL or is not UTF-8.
    """
    values: dict[str, str] = {}
    for pair in query.split(b"&"):
        if not pair:
            continue
        raw_name, _, raw_value = pair.partition(b"=")
        name, value = _decoded(raw_name.replace(b"+", b" ")), _decoded(raw_value.replace(b"+", b" "))
        if name is None:
            raise invalid("query", "has a name that holds a NUL character or is not UTF-8")
        if value is None:
            raise invalid(f"query:{name}", "holds a NUL character or is not UTF-8")
        values[name] = value
    return values


def _decoded(raw: bytes) -> str | None:
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def event_id_of(values: Mapping[str, str]) -> int:
    """Path value `event_id`, a positive integer."""
    text = values["event_id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_INT):
        raise invalid("path:event_id", "must be a positive integer")
    return int(text)


def tier_id_of(values: Mapping[str, str]) -> int:
    """Path value `tier_id`, an integer ≥ 0."""
    text = values["tier_id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= _MAX_INT):
        raise invalid("path:tier_id", "must be an integer from 0 on")
    return int(text)


def seat_no_of(values: Mapping[str, str]) -> int:
    """Path value `seat_no`, an integer ≥ 0."""
    text = values["seat_no"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 8 and int(text) <= _MAX_SEAT_NO):
        raise invalid("path:seat_no", f"must be an integer from 0 to {_MAX_SEAT_NO}")
    return int(text)


def plan_version_of(values: Mapping[str, str]) -> int:
    """Path value `version`, a positive integer."""
    text = values["version"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_INT):
        raise invalid("path:version", "must be a positive integer")
    return int(text)


def pid_of(values: Mapping[str, str]) -> int:
    """Path value `pid`, the number of a process."""
    text = values["pid"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_INT):
        raise invalid("path:pid", "must be a positive integer")
    return int(text)


def optional_event_id_of(values: Mapping[str, str]) -> int | None:
    """Query value `event_id`, a positive integer, or None when it is absent."""
    text = values.get("event_id")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_INT):
        raise invalid("query:event_id", "must be a positive integer")
    return int(text)


def instant_of(values: Mapping[str, str], name: str) -> datetime | None:
    """Query value `name`, an instant of RFC 3339 with its offset, from 2000 to 2100, or None when it is absent."""
    text = values.get(name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or not EARLIEST_INSTANT <= found <= LATEST_INSTANT:
        raise invalid(f"query:{name}", "must be an instant such as 2026-11-30T10:00:00Z")
    return found.astimezone(UTC)


def uuid_of(values: Mapping[str, str], name: str) -> UUID:
    """Path value `name`, a UUID in its usual form."""
    try:
        value = UUID(values[name])
    except ValueError:
        raise invalid(f"path:{name}", "must be a UUID") from None
    if str(value) != values[name].lower():
        raise invalid(f"path:{name}", "must be a UUID in its usual form")
    return value


def small_number_of(values: Mapping[str, str], name: str) -> int | None:
    """Query value `name`, an integer from 0 to 2³¹ - 1 (what the database calls an integer), or None when absent."""
    number = version_of(values, name)
    if number is not None and number > _MAX_INT:
        raise invalid(f"query:{name}", f"must be an integer from 0 to {_MAX_INT}")
    return number


def version_of(values: Mapping[str, str], name: str) -> int | None:
    """Query value `name`, an integer ≥ 0, or None when it is absent."""
    text = values.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= _MAX_VERSION):
        raise invalid(f"query:{name}", "must be an integer from 0 on")
    return int(text)
