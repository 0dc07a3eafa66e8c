"""BMPs: the `tag value` fields of ZVT frames, their lengths by tag, and reading and writing them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.devices.zvt.codec import ZvtFormatError
from app.devices.zvt.tlv import decode_length, encode_length

SERVICE = 0x03
AMOUNT = 0x04
TLV = 0x06
TRACE = 0x0B
TIME = 0x0C
DATE = 0x0D
EXPIRY = 0x0E
PAYMENT_TYPE = 0x19
PAN = 0x22
TRACK_2 = 0x23
TRACK_3 = 0x24
RESULT = 0x27
TERMINAL_ID = 0x29
CONTRACT = 0x2A
TRACK_1 = 0x2D
ORIGINAL_TRACE = 0x37
AID = 0x3B
TEXT = 0x3C
CURRENCY = 0x49
TOTALS = 0x60
RECEIPT = 0x87
CARD_TYPE = 0x8A
CARD_NAME = 0x8B

_FIXED = {
    0x01: 1, 0x02: 1, SERVICE: 1, AMOUNT: 6, 0x05: 1, TRACE: 3, TIME: 3, DATE: 2, EXPIRY: 2, 0x17: 2, PAYMENT_TYPE: 1,
    RESULT: 1, TERMINAL_ID: 4, CONTRACT: 15, ORIGINAL_TRACE: 3, 0x3A: 2, AID: 8, 0x3D: 3, CURRENCY: 2, RECEIPT: 2,
    0x88: 3, CARD_TYPE: 1, 0x8C: 1, 0xA0: 1, 0xAA: 3, 0xBA: 5,
}  # fmt: skip
_VARIABLE = {
    PAN: 2, TRACK_2: 2, TRACK_1: 2, CARD_NAME: 2, 0xA7: 2,
    TRACK_3: 3, 0x2E: 3, TEXT: 3, TOTALS: 3, 0x92: 3, 0x9A: 3, 0xAF: 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fields:
    """What a frame carries. `unread` holds the bytes from the first tag that is not in our table on, if any."""

    values: dict[int, bytes]
    unread: bytes = b""

    def __contains__(self, tag: int) -> bool:
        return tag in self.values

    def get(self, tag: int) -> bytes | None:
        """The raw value of `tag`."""
        return self.values.get(tag)


def decode_fields(data: bytes) -> Fields:
    """Read BMPs until the end or the first unknown tag; a known field that is cut short raises `ZvtFormatError`.

    A tag that comes twice keeps its first value.
    """
    values: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        tag = data[at]
        if tag not in _FIXED and tag not in _VARIABLE and tag != TLV:
            return Fields(values, data[at:])
        size, start = _measure(tag, data, at + 1)
        if start + size > len(data):
            raise ZvtFormatError(f"field {tag:02X} runs beyond its frame")
        values.setdefault(tag, data[start : start + size])
        at = start + size
    return Fields(values)


def encode_fields(values: Iterable[tuple[int, bytes]]) -> bytes:
    """BMPs in the order given. Raises `ZvtFormatError` for an unknown tag or a wrong length."""
    return b"".join(_encode_one(tag, value) for tag, value in values)


def _encode_one(tag: int, value: bytes) -> bytes:
    if tag == TLV:
        return bytes([tag]) + encode_length(len(value)) + value
    if tag in _VARIABLE:
        return bytes([tag]) + encode_decimal_length(len(value), _VARIABLE[tag]) + value
    if _FIXED.get(tag) != len(value):
        raise ZvtFormatError(f"field {tag:02X} cannot hold {len(value)} bytes")
    return bytes([tag]) + value


def encode_decimal_length(size: int, digits: int) -> bytes:
    """LLVAR and LLLVAR lengths: one byte `Fx` for each decimal digit."""
    text = f"{size:0{digits}d}"
    if len(text) > digits:
        raise ZvtFormatError(f"{size} bytes do not fit {digits} length digits")
    return bytes(0xF0 | int(digit) for digit in text)


def decode_decimal_length(data: bytes, at: int, digits: int) -> tuple[int, int]:
    """(length, position behind it)."""
    raw = data[at : at + digits]
    if len(raw) < digits or any(byte >> 4 != 0xF or byte & 0xF > 9 for byte in raw):
        raise ZvtFormatError(f"{raw.hex()!r} is not a decimal length")
    return int("".join(str(byte & 0xF) for byte in raw)), at + digits


def _measure(tag: int, data: bytes, at: int) -> tuple[int, int]:
    if tag == TLV:
        return decode_length(data, at)
    if tag in _VARIABLE:
        return decode_decimal_length(data, at, _VARIABLE[tag])
    return _FIXED[tag], at
