"""TLV containers inside ZVT frames: BER tags and lengths (`81 LL`, `82 HH LL`), nested where bit 0x20 is set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.devices.zvt.codec import ZvtFormatError

_CONSTRUCTED = 0x20
_LONG_TAG = 0x1F
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Tlv:
    """One element; `tag` is its bytes as one number (0x1F07 for two bytes)."""

    tag: int
    value: bytes

    @property
    def constructed(self) -> bool:
        return bool(self._tag_bytes()[0] & _CONSTRUCTED)

    def encode(self) -> bytes:
        """Tag, length, value."""
        return self._tag_bytes() + encode_length(len(self.value)) + self.value

    def _tag_bytes(self) -> bytes:
        return self.tag.to_bytes(max(1, (self.tag.bit_length() + 7) // 8), "big")


def encode_length(size: int) -> bytes:
    """A BER length of up to two bytes, as ZVT uses."""
    if size < 0x80:
        return bytes([size])
    if size <= 0xFF:
        return bytes([0x81, size])
    if size <= 0xFFFF:
        return b"\x82" + size.to_bytes(2, "big")
    raise ZvtFormatError(f"a TLV of {size} bytes is too long")


def decode_length(data: bytes, at: int) -> tuple[int, int]:
    """(length, position behind it)."""
    first = _byte(data, at)
    if first < 0x80:
        return first, at + 1
    width = first & 0x7F
    if width not in {1, 2}:
        raise ZvtFormatError(f"TLV length of {width} bytes")
    _byte(data, at + width)
    return int.from_bytes(data[at + 1 : at + 1 + width], "big"), at + 1 + width


def decode_tlvs(data: bytes) -> list[Tlv]:
    """The elements side by side in `data`; nested ones stay in their container's value."""
    found = []
    at = 0
    while at < len(data):
        start = at
        more = _byte(data, at) & _LONG_TAG == _LONG_TAG
        at += 1
        while more:
            more = bool(_byte(data, at) & _MORE)
            at += 1
        tag = int.from_bytes(data[start:at], "big")
        size, at = decode_length(data, at)
        if at + size > len(data):
            raise ZvtFormatError(f"TLV {tag:X} runs beyond its container")
        found.append(Tlv(tag, data[at : at + size]))
        at += size
    return found


def walk(data: bytes) -> Iterator[Tlv]:
    """Every primitive element at any depth, in order."""
    for element in decode_tlvs(data):
        if element.constructed:
            yield from walk(element.value)
        else:
            yield element


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise ZvtFormatError("a TLV ends in the middle")
    return data[at]
