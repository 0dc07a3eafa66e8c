"""One till's connection as the terminal has it: frames in and out, acknowledgements, cuts, and time that passes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NoReturn

from app.devices.zvt import codes, messages
from app.devices.zvt.codec import Apdu, FrameReader
from app.devices.zvt.simulator import frames
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import FrameMode

ANSWER_S = 5.0


class LineCutError(ConnectionError):
    """The connection ended, by the other side or by the scene."""

    code = "line-cut"


class AbortGranted(Exception):  # noqa: N818  (the till's wish was granted: an outcome, not an error)
    """The till asked to stop while a card was awaited."""


class TillLine:
    """See the module."""

    def __init__(self, machine: Machine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._machine = machine
        self._reader = reader
        self._writer = writer
        self._inbox: asyncio.Queue[Apdu | None] = asyncio.Queue()
        self._unsent = bytearray()
        self.abort_heard = False

    async def tell(self, apdu: Apdu) -> None:
        """Send a frame and wait for its acknowledgement."""
        await self.send(apdu)
        await self.receive_answer()

    async def receive_answer(self) -> Apdu:
        """The acknowledgement or the refusal of what was told; raises `LineCutError` when none comes."""
        while True:
            try:
                async with asyncio.timeout(ANSWER_S):
                    apdu = await self.receive()
            except TimeoutError:
                raise LineCutError("the till does not answer") from None
            if apdu.control >> 8 in {0x80, 0x84}:
                return apdu
            await self._hear(apdu)

    async def _hear(self, apdu: Apdu) -> None:
        if apdu.control == messages.ABORT_REQUEST:
            self.abort_heard = True
            await self.send(messages.POSITIVE)
        else:
            await self.send(frames.refused(codes.BUSY))

    async def pause(self, seconds: float, *, abortable: bool = True) -> None:
        """Let time pass and listen; raises `AbortGranted` when the till asked to stop and may."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            if self.abort_heard:
                if abortable:
                    raise AbortGranted
                if self._machine.phase == "awaiting-card":
                    return
            try:
                async with asyncio.timeout_at(until):
                    await self._hear(await self.receive())
            except TimeoutError:
                return

    async def stay_silent(self) -> None:
        """Hear everything and answer nothing, until the till hangs up."""
        while True:
            await self.receive()

    async def receive(self) -> Apdu:
        """The next frame of the till."""
        await self.flush()
        apdu = await self._inbox.get()
        if apdu is None:
            raise LineCutError("the till hung up")
        return apdu

    async def pump(self) -> None:
        """Read the line until it ends."""
        reader = FrameReader()
        with suppress(OSError):
            while data := await self._reader.read(4096):
                for apdu in reader.feed(data):
                    self._inbox.put_nowait(apdu)
        self._inbox.put_nowait(None)

    async def send(self, apdu: Apdu) -> None:
        """Send a frame; glued to the next ones when the scene says so."""
        self._unsent += apdu.encode()
        if self._machine.frame_mode is not FrameMode.GLUED:
            await self.flush()

    async def flush(self) -> None:
        """Put on the line what waits to be sent."""
        data, self._unsent = bytes(self._unsent), bytearray()
        step = 2 if self._machine.frame_mode is FrameMode.SPLIT else max(1, len(data))
        try:
            for at in range(0, len(data), step):
                self._writer.write(data[at : at + step])
                await self._writer.drain()
                if step == 2:
                    await asyncio.sleep(0.001)
        except OSError as error:
            raise LineCutError("the till hung up") from error

    def hang_up(self) -> None:
        """Close the line after what was sent."""
        self._writer.close()

    def cut(self) -> NoReturn:
        """Cut the line at once, and end the conversation."""
        self._writer.transport.abort()
        raise LineCutError("cut by the scene")
