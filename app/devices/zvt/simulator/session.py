"""One till's connection: the terminal's side of every command, played by the scene of the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from app.devices.zvt import codes, fields, messages
from app.devices.zvt.codec import Apdu, FrameReader, decode_bcd
from app.devices.zvt.simulator import frames
from app.devices.zvt.simulator.ledger import Booking
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import FrameMode, Scene, SceneName

_ANSWER_S = 5.0
_Handler = Callable[[Apdu], Awaitable[None]]


class LineCutError(ConnectionError):
    """The connection ended, by the other side or by the scene."""

    code = "line-cut"


class _Aborted(Exception):  # noqa: N818  (the till's wish was granted: an outcome, not an error)
    """The till asked to stop while a card was awaited."""


class Session:
    """See the module. `serve` returns when the connection ends."""

    def __init__(self, machine: Machine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._machine = machine
        self._reader = reader
        self._writer = writer
        self._inbox: asyncio.Queue[Apdu | None] = asyncio.Queue()
        self._unsent = bytearray()
        self._registered = False
        self._takes_blocks = False
        self._abort_heard = False

    async def serve(self) -> None:
        """Answer commands until the line ends."""
        pump = asyncio.create_task(self._pump(), name="zvt-simulator-pump")
        try:
            with suppress(LineCutError):
                while True:
                    await self._answer(await self._receive())
        finally:
            pump.cancel()
            self._writer.transport.abort()
            with suppress(asyncio.CancelledError):
                await pump

    async def _answer(self, command: Apdu) -> None:
        handlers = {
            messages.AUTHORIZATION: self._authorize,
            messages.REVERSAL: self._reverse,
            messages.REPEAT_RECEIPT: self._repeat,
            messages.STATUS_ENQUIRY: self._enquire,
        }
        if command.control >> 8 in {0x80, 0x84}:
            return
        if command.control == messages.REGISTRATION:
            await self._register(command)
        elif command.control in handlers and self._registered:
            await self._exclusively(handlers[command.control], command)
        else:
            await self._send(frames.refused(codes.NOT_POSSIBLE))

    async def _exclusively(self, handler: _Handler, command: Apdu) -> None:
        if self._machine.occupied:
            await self._send(frames.refused(codes.BUSY))
            return
        self._machine.occupied = True
        self._abort_heard = False
        try:
            await handler(command)
        finally:
            self._machine.occupied = False
            self._machine.phase = "idle"

    async def _register(self, command: Apdu) -> None:
        if self._machine.occupied:
            await self._send(frames.refused(codes.BUSY))
            return
        self._takes_blocks = len(command.data) > 8
        self._registered = True
        await self._send(messages.POSITIVE)
        await self._tell(frames.registered(command.data[4:6]))

    async def _enquire(self, _command: Apdu) -> None:
        await self._send(messages.POSITIVE)
        await self._tell(frames.ready())

    # ------------------------------------------------------------ payment

    async def _authorize(self, command: Apdu) -> None:
        asked = fields.decode_fields(command.data)
        amount = decode_bcd(asked.values[fields.AMOUNT])
        currency = codes.currency_name(decode_bcd(asked.values[fields.CURRENCY]))
        self._machine.payments_asked += 1
        scene = self._machine.script.next()
        if scene.name is SceneName.BUSY:
            await self._send(frames.refused(codes.BUSY))
            return
        if scene.name is SceneName.DEAD:
            await self._stay_silent()
        await self._send(messages.POSITIVE)
        try:
            await self._await_card(scene)
        except _Aborted:
            await self._tell(frames.aborted(codes.ABORTED))
            return
        await self._ask_host(scene, amount, currency)

    async def _await_card(self, scene: Scene) -> None:
        if scene.name is SceneName.HANG:
            await self._stay_silent()
        self._machine.phase = "awaiting-card"
        await self._tell(frames.progress(codes.INSERT_CARD))
        if scene.name is SceneName.ABORT_CROSSING_APPROVAL:
            while not self._abort_heard:
                await self._pause(_ANSWER_S, abortable=False)
            return
        await self._pause(self._machine.delays.card_s)
        if scene.name is SceneName.CUSTOMER_TIMEOUT:
            raise _Aborted
        while not self._machine.card_gate.is_set():
            await self._pause(0.02)

    async def _ask_host(self, scene: Scene, amount: int, currency: str) -> None:
        self._machine.phase = "asking-host"
        await self._tell(frames.progress(codes.WAITING_FOR_HOST))
        if scene.name is SceneName.LINE_LOST_BEFORE_RESULT:
            self._cut()
        if scene.name is SceneName.MORE_TIME:
            for _ in range(scene.repeats):
                await self._pause(scene.interval_s, abortable=False)
                await self._tell(frames.progress(codes.PLEASE_WAIT))
        await self._pause(self._machine.delays.host_s, abortable=False)
        if scene.name is SceneName.DECLINE:
            await self._decline(scene)
            return
        if scene.name is SceneName.PARTIAL_APPROVAL:
            amount = amount // 2 if scene.amount_minor is None else scene.amount_minor
        await self._approve(scene, self._machine.ledger.book(amount, currency, datetime.now()))  # noqa: DTZ005

    async def _decline(self, scene: Scene) -> None:
        await self._tell(frames.progress(codes.SHOWS_DECLINED))
        await self._tell(frames.declined(scene.result_code, self._machine.ledger.next_trace()))
        await self._tell(frames.aborted(scene.result_code))

    async def _approve(self, scene: Scene, booking: Booking) -> None:
        self._machine.phase = "awaiting-verdict"
        if scene.name is SceneName.LINE_LOST_AFTER_APPROVAL:
            self._cut()
        await self._tell(frames.progress(codes.SHOWS_APPROVED))
        await self._send(frames.booked(booking))
        try:
            if scene.name is SceneName.LINE_LOST_AFTER_RESULT:
                await self._flush()
                self._hang_up()
            verdict = await self._receive_answer()
        except LineCutError:
            if scene.auto_reverse:
                self._machine.ledger.reverse(booking, datetime.now())  # noqa: DTZ005
            raise
        if verdict == messages.GOODS_NOT_ISSUED:
            self._machine.ledger.reverse(booking, datetime.now())  # noqa: DTZ005
            await self._tell(frames.aborted(codes.ABORTED))
            return
        if scene.name is SceneName.LINE_LOST_AFTER_VERDICT:
            self._cut()
        await self._print(booking)
        await self._tell(Apdu(messages.COMPLETION))

    async def _print(self, booking: Booking) -> None:
        self._machine.phase = "printing"
        lines = frames.receipt(booking)
        if self._takes_blocks:
            await self._tell(frames.print_line(lines[0]))
            await self._tell(frames.print_block(lines[1:]))
        else:
            for line in lines:
                await self._tell(frames.print_line(line))
        await self._pause(self._machine.delays.receipt_s, abortable=False)

    # ------------------------------------------------------------ after the payment

    async def _reverse(self, command: Apdu) -> None:
        await self._send(messages.POSITIVE)
        receipt_no = decode_bcd(fields.decode_fields(command.data[3:]).values[fields.RECEIPT])
        ledger = self._machine.ledger
        booking = ledger.last_payment() if self._machine.reverses_last else ledger.find(receipt_no)
        if booking is None or booking.reversed:
            code = codes.REVERSAL_NOT_POSSIBLE if booking is None else codes.ALREADY_REVERSED
            await self._tell(frames.aborted(code))
            return
        await self._tell(frames.progress(codes.WAITING_FOR_HOST))
        reversal = ledger.reverse(booking, datetime.now())  # noqa: DTZ005
        await self._tell(frames.booked(reversal))
        await self._print(reversal)
        await self._tell(Apdu(messages.COMPLETION))

    async def _repeat(self, _command: Apdu) -> None:
        await self._send(messages.POSITIVE)
        booking = self._machine.ledger.last()
        if booking is not None and not self._machine.forgets_receipts:
            await self._tell(frames.booked(booking))
            await self._print(booking)
        await self._tell(Apdu(messages.COMPLETION))

    # ------------------------------------------------------------ the line

    async def _tell(self, apdu: Apdu) -> None:
        """Send a frame and wait for its acknowledgement."""
        await self._send(apdu)
        await self._receive_answer()

    async def _receive_answer(self) -> Apdu:
        while True:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    apdu = await self._receive()
            except TimeoutError:
                raise LineCutError("the till does not answer") from None
            if apdu.control >> 8 in {0x80, 0x84}:
                return apdu
            await self._hear(apdu)

    async def _hear(self, apdu: Apdu) -> None:
        if apdu.control == messages.ABORT_REQUEST:
            self._abort_heard = True
            await self._send(messages.POSITIVE)
        else:
            await self._send(frames.refused(codes.BUSY))

    async def _pause(self, seconds: float, *, abortable: bool = True) -> None:
        """Let time pass and listen; raises `_Aborted` when the till asked to stop and may."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            if self._abort_heard:
                if abortable:
                    raise _Aborted
                if self._machine.phase == "awaiting-card":
                    return
            try:
                async with asyncio.timeout_at(until):
                    await self._hear(await self._receive())
            except TimeoutError:
                return

    async def _stay_silent(self) -> None:
        while True:
            await self._receive()

    async def _receive(self) -> Apdu:
        await self._flush()
        apdu = await self._inbox.get()
        if apdu is None:
            raise LineCutError("the till hung up")
        return apdu

    async def _pump(self) -> None:
        reader = FrameReader()
        with suppress(OSError):
            while data := await self._reader.read(4096):
                for apdu in reader.feed(data):
                    self._inbox.put_nowait(apdu)
        self._inbox.put_nowait(None)

    async def _send(self, apdu: Apdu) -> None:
        self._unsent += apdu.encode()
        if self._machine.frame_mode is not FrameMode.GLUED:
            await self._flush()

    async def _flush(self) -> None:
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

    def _hang_up(self) -> None:
        self._writer.close()

    def _cut(self) -> None:
        self._writer.transport.abort()
        raise LineCutError("cut by the scene")
