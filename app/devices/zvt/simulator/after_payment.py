"""What the terminal does after payments: receipts, reversals, the last transaction again, the end of the day."""

from __future__ import annotations

from datetime import datetime

from app.devices.zvt import codes, fields, messages
from app.devices.zvt.codec import Apdu, decode_bcd
from app.devices.zvt.simulator import frames
from app.devices.zvt.simulator.ledger import Closing
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import DayFault, ReversalFault
from app.devices.zvt.simulator.till_line import TillLine

_CURRENCY = "EUR"
"""Of an end of day with nothing in it."""


class AfterPayment:
    """See the module. `takes_blocks`: the till has announced that it understands text blocks (06 D3)."""

    def __init__(self, machine: Machine, line: TillLine) -> None:
        self._machine = machine
        self._line = line
        self.takes_blocks = False

    async def reverse(self, command: Apdu) -> None:
        """06 30."""
        machine, line = self._machine, self._line
        machine.reversals_asked += 1
        await line.send(messages.POSITIVE)
        receipt_no = decode_bcd(fields.decode_fields(command.data[3:]).values[fields.RECEIPT])
        ledger = machine.ledger
        booking = ledger.last_payment() if machine.reverses_last else ledger.find(receipt_no)
        if booking is None or booking.reversed or booking.day:
            code = codes.ALREADY_REVERSED if booking and booking.reversed else codes.REVERSAL_NOT_POSSIBLE
            await line.tell(frames.aborted(code))
            return
        await line.tell(frames.progress(codes.WAITING_FOR_HOST))
        if machine.reversal_fault is ReversalFault.LINE_LOST_BEFORE:
            line.cut()
        reversal = ledger.reverse(booking, datetime.now())  # noqa: DTZ005
        if machine.reversal_fault is ReversalFault.LINE_LOST_AFTER:
            line.cut()
        wrong = machine.reversal_fault is ReversalFault.WRONG_AMOUNT
        await line.tell(frames.booked(reversal, reversal.amount_minor + 100 if wrong else None))
        await self.print_lines(frames.receipt(reversal))
        await line.tell(Apdu(messages.COMPLETION))

    async def repeat(self, _command: Apdu) -> None:
        """06 20."""
        await self._line.send(messages.POSITIVE)
        last = self._machine.ledger.last()
        if last is not None and not self._machine.forgets_receipts:
            if isinstance(last, Closing):
                await self._line.tell(frames.closed(last))
                await self.print_lines(frames.day_receipt(last))
            else:
                await self._line.tell(frames.booked(last))
                await self.print_lines(frames.receipt(last))
        await self._line.tell(Apdu(messages.COMPLETION))

    async def close_day(self, _command: Apdu) -> None:
        """06 50."""
        machine, line = self._machine, self._line
        if machine.day_fault is DayFault.REFUSED:
            await line.send(frames.refused(codes.NOT_POSSIBLE))
            return
        await line.send(messages.POSITIVE)
        await line.tell(frames.progress(codes.WAITING_FOR_HOST))
        if machine.day_fault is DayFault.LINE_LOST_BEFORE:
            line.cut()
        await line.pause(machine.delays.host_s, abortable=False)
        closing = machine.ledger.close_day(_CURRENCY, datetime.now())  # noqa: DTZ005
        if machine.day_fault is DayFault.LINE_LOST_AFTER:
            line.cut()
        if machine.day_fault is not DayFault.SILENT:
            await line.tell(frames.closed(closing))
        await self.print_lines(frames.day_receipt(closing))
        await line.tell(Apdu(messages.COMPLETION))

    async def print_lines(self, lines: tuple[str, ...]) -> None:
        """A receipt, in text blocks when the till takes them."""
        self._machine.phase = "printing"
        if self.takes_blocks:
            await self._line.tell(frames.print_line(lines[0]))
            await self._line.tell(frames.print_block(lines[1:]))
        else:
            for line in lines:
                await self._line.tell(frames.print_line(line))
        await self._line.pause(self._machine.delays.receipt_s, abortable=False)
