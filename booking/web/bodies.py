"""Request bodies: size, media type, strict JSON, and the digest that tells two requests with one key apart.

What is refused is refused with the name of the field (422, `FieldProblem.pointer`): a number of the wrong kind (B18),
an unknown member, and text that a database cannot keep or that no Unicode allows: NUL and lone surrogates (G8).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from backend_client import wire
from booking.domain.errors import FieldFault, InvalidRequestError
from booking.web.headers import header
from booking.web.problems import BodyLateError, BodyTooLargeError, UnsupportedMediaTypeError

BODY_WITHIN_S = 10.0

_Body = TypeVar("_Body", bound=wire.RequestMessage)

_AT_PATH = re.compile(r"^(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_UNKNOWN_OR_MISSING = re.compile(r"(?:unknown field|missing required field) `(?P<name>[^`]*)`")
_PATH_STEP = re.compile(r"\.(?P<member>[^.\[]+)|\[(?P<index>\d+)\]")
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")
_UNKEEPABLE_WORDS = "holds a NUL character or half of a surrogate pair"


def invalid(pointer: str, message: str) -> InvalidRequestError:
    """422 that names one field."""
    return InvalidRequestError("The request is not valid.", fields=(FieldFault(pointer=pointer, message=message),))


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body.

    Raises:
        UnsupportedMediaTypeError: the body is not `application/json` in UTF-8.
        BodyTooLargeError: longer than `limit` bytes, announced or found.
        BodyLateError: not all of it came within `BODY_WITHIN_S`.
        ClientDisconnect: the client went away instead of sending it.
    """
    _check_media_type(header(scope, b"content-type") or "")
    return await read_raw(scope, receive, limit)


async def read_raw(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body, of whatever media type. Raises as `read_body`, but for `UnsupportedMediaTypeError`."""
    announced = header(scope, b"content-length") or ""
    if announced.isdecimal() and int(announced) > limit:
        raise BodyTooLargeError(f"At most {limit} bytes are accepted here.")
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            return await _whole_body(receive, limit)
    except TimeoutError:
        raise BodyLateError(f"The body did not come within {BODY_WITHIN_S:g} seconds.") from None


async def _whole_body(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(chunk)
        if size > limit:
            raise BodyTooLargeError(f"At most {limit} bytes are accepted here.")
        chunks.append(chunk)
    return b"".join(chunks)


def _check_media_type(content_type: str) -> None:
    if content_type == "application/json":
        return
    kind, _, parameters = content_type.partition(";")
    if kind.strip().lower() != "application/json":
        raise UnsupportedMediaTypeError("Send the body as application/json.")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if charset not in {"", "utf-8", "utf8"}:
        raise UnsupportedMediaTypeError("Send the body in UTF-8.")


@lru_cache(maxsize=64)
def _decoder(kind: type[_Body]) -> msgspec.json.Decoder[_Body]:
    return msgspec.json.Decoder(kind)


def decode_body(raw: bytes, kind: type[_Body]) -> _Body:
    """JSON → message, with nothing guessed and nothing dropped.

    Raises:
        InvalidRequestError: naming the field that is wrong.
    """
    try:
        body: _Body = _decoder(kind).decode(raw)
    except msgspec.ValidationError as error:
        raise invalid(*_pointer_and_words(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(raw, str(error)) from None
    if b"\\u" in raw:
        _refuse_unkeepable(msgspec.json.decode(raw))
    return body


def digest_of(method: str, path: str, raw: bytes) -> bytes:
    """SHA-256 over the call and the canonical form of its body: member order and spaces do not count (P2).

    Raises:
        InvalidRequestError: see `canonical_form`.
    """
    canonical = canonical_form(raw) if raw else b""
    return hashlib.sha256(b"%s %s\n%s" % (method.encode(), path.encode(), canonical)).digest()


def canonical_form(raw: bytes) -> bytes:
    """The same JSON with its members in one order and without spaces.

    A member that stands twice would be read as its last value, and its digest would be that of another request. Each
    member has one colon: where none was lost on the way, no member was. Only escapes (`\\u003a`) need a closer look.

    Raises:
        InvalidRequestError: naming a member that stands twice in its object.
    """
    canonical = msgspec.json.encode(msgspec.json.decode(raw), order="deterministic")
    if b"\\u003" in raw or raw.count(b":") != canonical.count(b":"):
        for pointer in _repeated_in(json.loads(raw, object_pairs_hook=_Members), ""):
            raise invalid(pointer, "stands twice in its object")
    return canonical


class _Members(list[tuple[str, object]]):
    """An object's members as they stand."""


def _repeated_in(value: object, pointer: str) -> Iterator[str]:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for name, item in value:
            at = f"{pointer}/{_escaped(name)}"
            if name in seen:
                yield at
            seen.add(name)
            yield from _repeated_in(item, at)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _repeated_in(item, f"{pointer}/{index}")


def _pointer_and_words(text: str) -> tuple[str, str]:
    found = _AT_PATH.match(text)
    message, path = (found["message"], found["path"] or "") if found else (text, "")
    pointer = "".join("/" + (step["member"] or step["index"]) for step in _PATH_STEP.finditer(path))
    member = _UNKNOWN_OR_MISSING.search(message)
    return (f"{pointer}/{_escaped(member['name'])}" if member else pointer), message


def _malformed(raw: bytes, words: str) -> InvalidRequestError:
    """Find the field behind a decoder's refusal, if text that cannot be kept was the reason."""
    try:
        document = json.loads(raw.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return invalid("", f"is not JSON: {words}")
    for pointer in _unkeepable_in(document, ""):
        return invalid(pointer, _UNKEEPABLE_WORDS)
    return invalid("", f"is not JSON: {words}")


def _refuse_unkeepable(document: object) -> None:
    for pointer in _unkeepable_in(document, ""):
        raise invalid(pointer, _UNKEEPABLE_WORDS)


def _unkeepable_in(value: object, pointer: str) -> Iterator[str]:
    """Pointers of all strings, member names included, that hold NUL or a lone surrogate."""
    if isinstance(value, str):
        if _UNKEEPABLE.search(value):
            yield pointer
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unkeepable_in(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for name, item in value.items():
            if _UNKEEPABLE.search(name):
                yield pointer
            yield from _unkeepable_in(item, f"{pointer}/{_escaped(name)}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
