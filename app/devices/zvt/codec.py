"""Frames, packed decimals and text of ZVT over TCP: `CLASS INSTR LEN DATA`, no check sum, no control characters.

LEN is one byte, or `FF LL HH` (little-endian) from 255 bytes on. A stream may carry frames split or glued.
"""

from __future__ import annotations

from dataclasses import dataclass

TEXT_CODE_PAGE = "cp437"
_EXTENDED = 0xFF


class ZvtFormatError(ValueError):
    """Bytes that are not ZVT."""

    code = "zvt-malformed"


@dataclass(frozen=True, slots=True)
class Apdu:
    """One frame. `control` is class and instruction as one number: 0x0601 is an authorization."""

    control: int
    data: bytes = b""

    def encode(self) -> bytes:
        """The frame as it travels. Raises `ZvtFormatError` above 65,535 bytes of data."""
        size = len(self.data)
        if size > 0xFFFF:
            raise ZvtFormatError(f"{size} bytes do not fit a frame")
        length = bytes([size]) if size < _EXTENDED else b"\xff" + size.to_bytes(2, "little")
        return self.control.to_bytes(2, "big") + length + self.data


class FrameReader:
    """Bytes in, frames out; keeps what is not a whole frame yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Apdu]:
        """Take what arrived, return the frames that are whole now, in order."""
        self._buffer += data
        frames = []
        while (frame := self._take_one()) is not None:
            frames.append(frame)
        return frames

    @property
    def pending(self) -> int:
        """Bytes of a frame that has begun and not ended."""
        return len(self._buffer)

    def _take_one(self) -> Apdu | None:
        buffer = self._buffer
        if len(buffer) < 3:
            return None
        start, size = 3, buffer[2]
        if size == _EXTENDED:
            if len(buffer) < 5:
                return None
            start, size = 5, int.from_bytes(buffer[3:5], "little")
        if len(buffer) < start + size:
            return None
        frame = Apdu(int.from_bytes(buffer[:2], "big"), bytes(buffer[start : start + size]))
        del buffer[: start + size]
        return frame


def encode_bcd(number: int, size: int) -> bytes:
    """`number` as packed decimal in `size` bytes, two digits a byte, zeros in front."""
    digits = f"{number:0{size * 2}d}"
    if number < 0 or len(digits) > size * 2:
        raise ZvtFormatError(f"{number} does not fit {size} packed bytes")
    return bytes.fromhex(digits)


def decode_bcd(data: bytes) -> int:
    """A packed decimal. Raises `ZvtFormatError` for a nibble above 9 or no digits at all."""
    digits = data.hex()
    if not digits.isdecimal():
        raise ZvtFormatError(f"{digits!r} is not packed decimal")
    return int(digits)


def decode_text(data: bytes) -> str:
    """Receipt text in the terminal's code page; trailing NULs and blanks are padding."""
    return data.decode(TEXT_CODE_PAGE).rstrip("\x00 ")


def encode_text(text: str) -> bytes:
    """Text in the terminal's code page; letters it does not have become question marks."""
    return text.encode(TEXT_CODE_PAGE, "replace")
