"""A proxy that records what two ends of TCP connections say, and writes it as a capture file for other decoders.

The file is a classic pcap of Ethernet frames with IPv4 and TCP, one packet for each piece as it passed; the decoder
that reads it (tshark) has nothing in common with our code.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

TERMINAL_PORT = 20007
_TILL, _TERMINAL = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
_SYN, _ACK, _PSH, _FIN = 0x02, 0x10, 0x08, 0x01


@dataclass(slots=True)
class Piece:
    """Bytes as one read saw them; `number` is the connection, counted from 0."""

    number: int
    from_till: bool
    data: bytes
    at: float


@dataclass(slots=True)
class Recording:
    """What passed, in order, over all connections."""

    pieces: list[Piece] = field(default_factory=list)
    connections: int = 0

    def heard(self, number: int, *, from_till: bool) -> bytes:
        """All bytes of one direction of a connection."""
        return b"".join(p.data for p in self.pieces if p.number == number and p.from_till is from_till)


@asynccontextmanager
async def recording_proxy(port: int, recording: Recording) -> AsyncIterator[int]:
    """Pass everything on to `port` of this machine; yields the port to connect to."""
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        number, recording.connections = recording.connections, recording.connections + 1
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        ends = (
            asyncio.create_task(_pass_on(reader, far_writer, recording, number, from_till=True)),
            asyncio.create_task(_pass_on(far_reader, writer, recording, number, from_till=False)),
        )
        try:
            with suppress(asyncio.CancelledError):
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            writer.transport.abort()
            far_writer.transport.abort()
            running.discard(task)
            await asyncio.gather(*ends, return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recording: Recording, number: int, *, from_till: bool
) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            recording.pieces.append(Piece(number, from_till, data, time.time()))
            writer.write(data)
            await writer.drain()


def write_capture(path: Path, recordings: list[Recording]) -> dict[int, tuple[int, int]]:
    """Write all recordings into one file; the till's port of each connection → (recording, connection)."""
    ports: dict[int, tuple[int, int]] = {}
    packets: list[tuple[float, bytes]] = []
    for place, recording in enumerate(recordings):
        for number in range(recording.connections):
            port = 30_000 + len(ports)
            ports[port] = (place, number)
            packets += _conversation(port, [piece for piece in recording.pieces if piece.number == number])
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for at, packet in packets:
            seconds, rest = divmod(at, 1)
            file.write(struct.pack("<IIII", int(seconds), int(rest * 1e6), len(packet), len(packet)) + packet)
    return ports


def _conversation(port: int, pieces: list[Piece]) -> list[tuple[float, bytes]]:
    """Three-way opening, the pieces, and a close, with right sequence numbers."""
    at = pieces[0].at if pieces else 0.0
    next_till, next_terminal = 1000, 5000
    packets = [
        (at, _packet(port, next_till, 0, _SYN, b"", from_till=True)),
        (at, _packet(port, next_terminal, next_till + 1, _SYN | _ACK, b"", from_till=False)),
    ]
    next_till, next_terminal = next_till + 1, next_terminal + 1
    packets.append((at, _packet(port, next_till, next_terminal, _ACK, b"", from_till=True)))
    for piece in pieces:
        at = piece.at
        for start in range(0, len(piece.data), 1400):
            data = piece.data[start : start + 1400]
            mine, theirs = (next_till, next_terminal) if piece.from_till else (next_terminal, next_till)
            packets.append((at, _packet(port, mine, theirs, _PSH | _ACK, data, from_till=piece.from_till)))
            if piece.from_till:
                next_till += len(data)
            else:
                next_terminal += len(data)
    packets.append((at, _packet(port, next_till, next_terminal, _FIN | _ACK, b"", from_till=True)))
    packets.append((at, _packet(port, next_terminal, next_till + 1, _FIN | _ACK, b"", from_till=False)))
    packets.append((at, _packet(port, next_till + 1, next_terminal + 1, _ACK, b"", from_till=True)))
    return packets


def _packet(port: int, sequence: int, answered: int, flags: int, data: bytes, *, from_till: bool) -> bytes:
    source, target = (_TILL, _TERMINAL) if from_till else (_TERMINAL, _TILL)
    ports = (port, TERMINAL_PORT) if from_till else (TERMINAL_PORT, port)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, answered, 5 << 4, flags, 65535, 0, 0)
    pseudo = source + target + struct.pack(">BBH", 0, 6, len(tcp) + len(data))
    tcp = tcp[:16] + struct.pack(">H", _checksum(pseudo + tcp + data)) + tcp[18:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(data), 1, 0x4000, 64, 6, 0) + source + target
    ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
    return b"\x02\x00\x00\x00\x00\x02" + b"\x02\x00\x00\x00\x00\x01" + b"\x08\x00" + ip + tcp + data


def _checksum(data: bytes) -> int:
    padded = data + b"\x00" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
