"""One connection to a ZVT terminal: frames out, frames in, deadlines, evidence of both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

from app.devices.zvt.codec import FrameReader
from app.devices.zvt.exchange import Event, Exchange, State
from app.devices.zvt.redaction import EvidenceLog
from app.devices.zvt.settings import ZvtSettings

_READ_SIZE = 4096

EventHandler = Callable[[Event], Awaitable[None]]


class Line:
    """One connection: frames out, frames in, evidence of both."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, evidence: EvidenceLog) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = FrameReader()
        self.evidence = evidence

    def send(self, exchange: Exchange) -> None:
        """Write what the exchange wants sent; a broken line shows when reading."""
        for apdu in exchange.take_output():
            self.evidence.frame(now(), "sent", apdu)
            self._writer.write(apdu.encode())

    async def run(
        self, exchange: Exchange, settings: ZvtSettings, on_event: EventHandler, within_s: float | None = None
    ) -> None:
        """Carry `exchange` to its end; a lost line or a timer that ran out ends it LOST. Never raises for the line."""
        limit = asyncio.get_running_loop().time() + (settings.busy_limit_s if within_s is None else within_s)
        self.send(exchange)
        while not exchange.finished:
            timer_s = settings.t3_s if exchange.state is State.CALLING else settings.t4_s
            data = await self._read(min(timer_s, limit - asyncio.get_running_loop().time()))
            if not data:
                exchange.lose()
                return
            for apdu in self._frames.feed(data):
                self.evidence.frame(now(), "received", apdu)
                event = exchange.receive(apdu)
                self.send(exchange)
                if event is not None:
                    await on_event(event)
                    self.send(exchange)

    async def _read(self, timeout_s: float) -> bytes:
        try:
            async with asyncio.timeout(timeout_s):
                data = await self._reader.read(_READ_SIZE)
        except TimeoutError:
            self.evidence.note(now(), f"no answer within {max(timeout_s, 0):.1f} s")
            return b""
        except OSError as error:
            self.evidence.note(now(), f"line lost: {type(error).__name__}")
            return b""
        if not data:
            self.evidence.note(now(), "line closed by the terminal")
        return data

    def drop(self) -> None:
        """Hang up at once; a read that waits ends as a lost line."""
        self._writer.transport.abort()

    async def hang_up(self) -> None:
        """Send what is left and close."""
        with suppress(OSError, TimeoutError):
            self._writer.close()
            async with asyncio.timeout(1):
                await self._writer.wait_closed()


def now() -> datetime:
    """This machine's time, aware UTC."""
    return datetime.now(UTC)
