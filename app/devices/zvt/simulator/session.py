"""One till's connection: which command is answered by whom. What follows a payment is in `after_payment`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from app.devices.zvt import codes, fields, messages
from app.devices.zvt.codec import Apdu, decode_bcd
from app.devices.zvt.simulator import frames
from app.devices.zvt.simulator.after_payment import AfterPayment
from app.devices.zvt.simulator.ledger import PAYMENT, REFUND, Booking
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import Scene, SceneName
from app.devices.zvt.simulator.till_line import ANSWER_S, AbortGranted, LineCutError, TillLine

_Handler = Callable[[Apdu], Awaitable[None]]


class Session:
    """See the module. `serve` returns when the connection ends."""

    def __init__(self, machine: Machine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._machine = machine
        self._writer = writer
        self._line = TillLine(machine, reader, writer)
        self._after = AfterPayment(machine, self._line)
        self._registered = False
        self._handlers: dict[int, _Handler] = {
            messages.AUTHORIZATION: self._authorize,
            messages.REFUND: self._refund,
            messages.REVERSAL: self._after.reverse,
            messages.REPEAT_RECEIPT: self._after.repeat,
            messages.END_OF_DAY: self._after.close_day,
            messages.STATUS_ENQUIRY: self._enquire,
        }

    async def serve(self) -> None:
        """Answer commands until the line ends."""
        pump = asyncio.create_task(self._line.pump(), name="zvt-simulator-pump")
        self._machine.lines.add(self._writer)
        try:
            with suppress(LineCutError):
                while True:
                    await self._answer(await self._line.receive())
        finally:
            self._machine.lines.discard(self._writer)
            pump.cancel()
            self._writer.transport.abort()
            with suppress(asyncio.CancelledError):
                await pump

    async def _answer(self, command: Apdu) -> None:
        if command.control >> 8 in {0x80, 0x84}:
            return
        if command.control == messages.REGISTRATION:
            await self._register(command)
        elif command.control in self._handlers and self._registered:
            await self._exclusively(self._handlers[command.control], command)
        else:
            await self._line.send(frames.refused(codes.NOT_POSSIBLE))

    async def _exclusively(self, handler: _Handler, command: Apdu) -> None:
        if self._machine.occupied:
            await self._line.send(frames.refused(codes.BUSY))
            return
        self._machine.occupied = True
        self._line.abort_heard = False
        try:
            await handler(command)
        finally:
            self._machine.occupied = False
            self._machine.phase = "idle"

    async def _register(self, command: Apdu) -> None:
        if self._machine.occupied:
            await self._line.send(frames.refused(codes.BUSY))
            return
        takes_blocks = len(command.data) > 8
        if takes_blocks and self._machine.refuses_tlv:
            await self._line.send(frames.refused(codes.PROTOCOL_ERROR))
            return
        self._after.takes_blocks = takes_blocks
        self._registered = True
        await self._line.send(messages.POSITIVE)
        await self._line.tell(frames.registered(command.data[4:6]))

    async def _enquire(self, _command: Apdu) -> None:
        await self._line.send(messages.POSITIVE)
        await self._line.tell(frames.ready())

    # ------------------------------------------------------------ money

    async def _authorize(self, command: Apdu) -> None:
        self._machine.payments_asked += 1
        await self._move_money(PAYMENT, command.data)

    async def _refund(self, command: Apdu) -> None:
        self._machine.refunds_asked += 1
        await self._move_money(REFUND, command.data[3:])

    async def _move_money(self, kind: str, asked_for: bytes) -> None:
        asked = fields.decode_fields(asked_for)
        amount = decode_bcd(asked.values[fields.AMOUNT])
        currency = codes.currency_name(decode_bcd(asked.values[fields.CURRENCY]))
        scene = self._machine.script.next()
        if scene.name is SceneName.BUSY:
            await self._line.send(frames.refused(codes.BUSY))
            return
        if scene.name is SceneName.DEAD:
            await self._line.stay_silent()
        await self._line.send(messages.POSITIVE)
        try:
            await self._await_card(scene)
        except AbortGranted:
            await self._line.tell(frames.aborted(codes.ABORTED))
            return
        await self._ask_host(scene, kind, amount, currency)

    async def _await_card(self, scene: Scene) -> None:
        if scene.name is SceneName.HANG:
            await self._line.stay_silent()
        self._machine.phase = "awaiting-card"
        await self._line.tell(frames.progress(codes.INSERT_CARD))
        if scene.name is SceneName.ABORT_CROSSING_APPROVAL:
            while not self._line.abort_heard:
                await self._line.pause(ANSWER_S, abortable=False)
            return
        await self._line.pause(self._machine.delays.card_s)
        if scene.name is SceneName.CUSTOMER_TIMEOUT:
            raise AbortGranted
        while not self._machine.card_gate.is_set():
            await self._line.pause(0.02)

    async def _ask_host(self, scene: Scene, kind: str, amount: int, currency: str) -> None:
        self._machine.phase = "asking-host"
        await self._line.tell(frames.progress(codes.WAITING_FOR_HOST))
        if scene.name is SceneName.LINE_LOST_BEFORE_RESULT:
            self._line.cut()
        if scene.name is SceneName.MORE_TIME:
            for _ in range(scene.repeats):
                await self._line.pause(scene.interval_s, abortable=False)
                await self._line.tell(frames.progress(codes.PLEASE_WAIT))
        await self._line.pause(self._machine.delays.host_s, abortable=False)
        if scene.name is SceneName.DECLINE:
            await self._decline(scene)
            return
        if scene.name is SceneName.PARTIAL_APPROVAL:
            amount = amount // 2 if scene.amount_minor is None else scene.amount_minor
        await self._approve(scene, self._machine.ledger.book(amount, currency, datetime.now(), kind))  # noqa: DTZ005

    async def _decline(self, scene: Scene) -> None:
        await self._line.tell(frames.progress(codes.SHOWS_DECLINED))
        await self._line.tell(frames.declined(scene.result_code, self._machine.ledger.next_trace()))
        await self._line.tell(frames.aborted(scene.result_code))

    async def _approve(self, scene: Scene, booking: Booking) -> None:
        line = self._line
        self._machine.phase = "awaiting-verdict"
        if scene.name is SceneName.LINE_LOST_AFTER_APPROVAL:
            line.cut()
        await line.tell(frames.progress(codes.SHOWS_APPROVED))
        await line.send(frames.booked(booking))
        try:
            if scene.name is SceneName.LINE_LOST_AFTER_RESULT:
                await line.flush()
                line.hang_up()
            verdict = await line.receive_answer()
        except LineCutError:
            if scene.auto_reverse:
                self._machine.ledger.reverse(booking, datetime.now())  # noqa: DTZ005
            raise
        if verdict == messages.GOODS_NOT_ISSUED:
            self._machine.ledger.reverse(booking, datetime.now())  # noqa: DTZ005
            await line.tell(frames.aborted(codes.ABORTED))
            return
        if scene.name is SceneName.LINE_LOST_AFTER_VERDICT:
            line.cut()
        await self._after.print_lines(frames.receipt(booking))
        await line.tell(Apdu(messages.COMPLETION))
