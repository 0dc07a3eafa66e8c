"""Password hashes: scrypt, with its parameters in the text, computed in a thread so that nobody else waits.

`scrypt$<log2 n>$<r>$<p>$<salt>$<hash>`, salt and hash in base64. One hash takes 16 MB and some 50 ms; only two are
computed at a time, so that a flood of sign-ins costs neither memory nor the cores that sell seats.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from booking.domain.errors import BusyError

_LOG2_N, _R, _P = 14, 8, 1
_SALT_BYTES, _HASH_BYTES = 16, 32
_MAX_MEMORY = 64 * 1024 * 1024
_AT_A_TIME = 2
_MAX_WAITING = 64

_threads = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="scrypt")

T = TypeVar("T")


async def hash_password(password: str) -> str:
    """A new salted hash of `password`.

    Raises:
        BusyError: too many are waiting already.
    """
    return await _in_thread(_hash, password, "")


async def verify_password(password: str, stored: str | None) -> bool:
    """Whether `password` belongs to `stored`; with None (nobody has that name) it takes as long and says no.

    Raises:
        BusyError: too many are waiting already.
    """
    return await _in_thread(_verify, password, stored or _NOBODY) and stored is not None


def _hash(password: str, _stored: str) -> str:
    salt = secrets.token_bytes(_SALT_BYTES)
    derived = _derive(password, salt, _LOG2_N, _R, _P)
    return f"scrypt${_LOG2_N}${_R}${_P}${base64.b64encode(salt).decode()}${base64.b64encode(derived).decode()}"


def _verify(password: str, stored: str) -> bool:
    _, log2_n, r, p, salt, expected = stored.split("$")
    derived = _derive(password, base64.b64decode(salt), int(log2_n), int(r), int(p))
    return hmac.compare_digest(derived, base64.b64decode(expected))


def _derive(password: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=1 << log2_n, r=r, p=p, maxmem=_MAX_MEMORY, dklen=_HASH_BYTES)


_NO_BYTES = tuple(base64.b64encode(bytes(size)).decode() for size in (_SALT_BYTES, _HASH_BYTES))
_NOBODY = f"scrypt${_LOG2_N}${_R}${_P}${_NO_BYTES[0]}${_NO_BYTES[1]}"


class _Queue:
    """How many hashes are waiting or being computed."""

    length = 0


async def _in_thread(work: Callable[[str, str], T], password: str, stored: str) -> T:
    if _Queue.length >= _MAX_WAITING:
        raise BusyError("Too many people are signing in at this moment.")
    _Queue.length += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, work, password, stored)
    finally:
        _Queue.length -= 1
