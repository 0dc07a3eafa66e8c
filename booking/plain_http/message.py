"""HTTP/1.1 messages: requests as bytes, answers put together from the pieces in which they arrive."""

from __future__ import annotations

from dataclasses import dataclass, field

LARGEST_HEAD = 64 * 1024


class BrokenAnswerError(OSError):
    """What came is no HTTP/1.1 answer, or its connection ended within it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Header names are in lower case."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


@dataclass(slots=True)
class AnswerReader:
    """Puts one answer together from the pieces in which it arrives; `closing` when the server ends the connection."""

    closing: bool = False
    _buffer: bytearray = field(default_factory=bytearray)
    _status: int = 0
    _headers: dict[bytes, bytes] | None = None
    _length: int | None = None

    def feed(self, data: bytes) -> Answer | None:
        """The answer, once it is whole.

        Raises:
            BrokenAnswerError: this is no HTTP, or more came than was announced.
        """
        self._buffer += data
        if self._headers is None and not self._read_head():
            return None
        headers = self._headers or {}
        if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
            body = self._chunked_body()
        elif self._length is None:
            return None  # its end is the connection's end
        else:
            body = self._sized_body(self._length)
        return None if body is None else Answer(self._status, headers, body)

    def ended(self) -> Answer:
        """The connection is over: the answer, if that was its end.

        Raises:
            BrokenAnswerError: it was not.
        """
        headers = self._headers
        if headers is None or self._length is not None or b"transfer-encoding" in headers:
            raise BrokenAnswerError("the connection ended before its answer")
        return Answer(self._status, headers, bytes(self._buffer))

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > LARGEST_HEAD:
                raise BrokenAnswerError("the head of an answer is too long")
            return False
        first, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        words = first.split(b" ", 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
            raise BrokenAnswerError("this is not HTTP/1.1")
        headers = {}
        for line in lines:
            name, _, value = line.partition(b":")
            headers[name.strip().lower()] = value.strip()
        del self._buffer[: end + 4]
        self._status, self._headers = int(words[1]), headers
        self.closing = headers.get(b"connection", b"").lower() == b"close" or words[0] == b"HTTP/1.0"
        self._length = self._announced_length(headers)
        return True

    def _announced_length(self, headers: dict[bytes, bytes]) -> int | None:
        if self._status in {204, 304}:
            return 0
        length = headers.get(b"content-length")
        if length is None:
            return None
        if not length.isdigit():
            raise BrokenAnswerError("an answer has no length")
        return int(length)

    def _sized_body(self, length: int) -> bytes | None:
        if len(self._buffer) < length:
            return None
        if len(self._buffer) > length:
            raise BrokenAnswerError("more came than was announced")
        return bytes(self._buffer)

    def _chunked_body(self) -> bytes | None:
        body, at = bytearray(), 0
        while True:
            line_end = self._buffer.find(b"\r\n", at)
            if line_end < 0:
                return None
            try:
                size = int(bytes(self._buffer[at:line_end]).partition(b";")[0], 16)
            except ValueError:
                raise BrokenAnswerError("a chunk has no size") from None
            at = line_end + 2
            if size == 0:
                return bytes(body) if self._buffer.find(b"\r\n", at) >= 0 else None
            if len(self._buffer) < at + size + 2:
                return None
            body += self._buffer[at : at + size]
            at += size + 2


def request_bytes(
    method: str, path: str, host: str, *, token: str = "", key: str = "", body: bytes = b"", headers: str = ""
) -> bytes:
    """A whole request. `headers` are further lines, each with its line end."""
    lines = [f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n"]
    if token:
        lines.append(f"Authorization: Bearer {token}\r\n")
    if key:
        lines.append(f"Idempotency-Key: {key}\r\n")
    if body:
        lines.append(f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n")
    elif method != "GET":
        lines.append("Content-Length: 0\r\n")
    lines.append(f"{headers}\r\n")
    return "".join(lines).encode("ascii") + body
