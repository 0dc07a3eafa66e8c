"""The ZVT driver: a TCP client that runs one command at a time over a connection of its own.

Each command connects, registers (06 00, always first), runs, and hangs up: an idle connection that died unnoticed would
turn a payment that never left into an UNKNOWN one. From the first byte of 06 01 on, whatever goes wrong is UNKNOWN.

Timers (PA00P015): T3, command → first answer, 5 s. T4, between frames while the terminal works, 180 s, restarted by
each frame (T7), and all of a command within `busy_limit_s`. Only a payment waits for people: a registration has
`registration_s` in all, an enquiry `enquiry_s`, as nothing has begun and nobody should wait long to hear so.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from app.devices.card_terminal import (
    Progress,
    ProgressCallback,
    Readiness,
    ResultCallback,
    TerminalBusyError,
    TerminalError,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
    TerminalStatus,
    TerminalUnavailableError,
    UnsupportedAmountError,
    Verdict,
)
from app.devices.zvt import codes, messages
from app.devices.zvt.codec import ZvtFormatError
from app.devices.zvt.exchange import ApprovalTold, Event, Exchange, ProgressTold, State
from app.devices.zvt.line import EventHandler, Line, now
from app.devices.zvt.redaction import EvidenceLog, redact_text
from app.devices.zvt.results import day_result, payment_result, result_of_status, reversal_result
from app.devices.zvt.settings import ZvtSettings

__all__ = ["ZvtSettings", "ZvtTerminal"]

_log = logging.getLogger(__name__)


class ZvtTerminal:
    """A `CardTerminal` that speaks ZVT over TCP. Belongs to one event loop."""

    def __init__(self, settings: ZvtSettings) -> None:
        self._settings = settings
        self._line: Line | None = None
        self._running: Exchange | None = None
        self._occupied = False
        self._late_verdicts: set[asyncio.Task[Verdict]] = set()

    @property
    def provider(self) -> str:
        return "zvt"

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        """Book a sale; see `CardTerminal.pay`."""
        try:
            exchange = Exchange(messages.authorize(amount_minor, currency), asks_verdict=True)
        except ZvtFormatError as error:
            raise UnsupportedAmountError(str(error)) from error

        async def follow(event: Event) -> None:
            if isinstance(event, ProgressTold):
                _tell(on_progress, codes.progress_of(event.code))
            else:
                await self._ask_verdict(exchange, event, currency, on_result)

        _tell(on_progress, Progress.CONNECTING)
        evidence = await self._command(exchange, currency, follow)
        result = payment_result(exchange, currency, self._zone(), now())
        return self._with_papers(result, exchange, evidence)

    async def _ask_verdict(
        self, exchange: Exchange, event: ApprovalTold, currency: str, on_result: ResultCallback
    ) -> None:
        told = result_of_status(event.status, currency, self._zone(), now())
        evidence = self._line.evidence if self._line else EvidenceLog()
        task = asyncio.ensure_future(on_result(replace(told, evidence=evidence.steps)))
        self._late_verdicts.add(task)
        task.add_done_callback(self._verdict_ended)
        await asyncio.wait({task}, timeout=self._settings.verdict_s)
        if not task.done():
            evidence.note(now(), "no verdict in time: accepted, to be settled later")
            exchange.decide(accept=True)
        elif task.cancelled() or task.exception() is not None:
            evidence.note(now(), "the verdict failed: accepted, to be settled later")
            exchange.decide(accept=True)
        else:
            exchange.decide(accept=task.result() is Verdict.ACCEPT)

    def _verdict_ended(self, task: asyncio.Task[Verdict]) -> None:
        self._late_verdicts.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("the verdict on an approval failed", exc_info=error)

    async def abort(self) -> None:
        """See `CardTerminal.abort`."""
        if self._running is None:
            return
        self._running.wish_abort()
        if self._line is not None:
            self._line.send(self._running)

    async def last_transaction(self) -> TerminalResult | None:
        """See `CardTerminal.last_transaction`. Raises `TerminalUnavailableError`, `TerminalRefusedError`."""
        exchange = Exchange(messages.repeat_receipt(self._settings.password))
        evidence = await self._enquire(exchange)
        if not exchange.statuses:
            return None
        result = result_of_status(exchange.statuses[-1], self._settings.currency, self._zone(), now())
        return self._with_papers(result, exchange, evidence)

    async def reverse(
        self, receipt_no: int, *, amount_minor: int | None = None, original_trace: int | None = None
    ) -> TerminalResult:
        """Reverse a booking by its receipt; see `CardTerminal.reverse`."""
        exchange = Exchange(messages.reverse(self._settings.password, receipt_no))
        evidence = await self._command(exchange, self._settings.currency, _ignore)
        if exchange.state in {State.ABORTED, State.REFUSED} and not any(s.approved for s in exchange.statuses):
            raise _refusal(exchange)
        told = exchange.statuses[-1] if exchange.statuses and not exchange.malformed else None
        if exchange.state is not State.COMPLETED or told is None:
            result = TerminalResult(TerminalOutcome.UNKNOWN, 0, self._settings.currency)
        else:
            heard = result_of_status(told, self._settings.currency, self._zone(), now())
            result = reversal_result(heard, receipt_no, amount_minor, original_trace)
        return self._with_papers(result, exchange, evidence)

    async def refund(self, amount_minor: int, currency: str, *, on_progress: ProgressCallback) -> TerminalResult:
        """Give money to a card; see `CardTerminal.refund`."""
        try:
            exchange = Exchange(messages.refund(self._settings.password, amount_minor, currency), accepts=True)
        except ZvtFormatError as error:
            raise UnsupportedAmountError(str(error)) from error

        async def follow(event: Event) -> None:
            if isinstance(event, ProgressTold):
                _tell(on_progress, codes.progress_of(event.code))

        _tell(on_progress, Progress.CONNECTING)
        evidence = await self._command(exchange, currency, follow)
        result = payment_result(exchange, currency, self._zone(), now())
        return self._with_papers(result, exchange, evidence)

    async def end_of_day(self) -> TerminalResult:
        """Close the terminal's day; see `CardTerminal.end_of_day`."""
        exchange = Exchange(messages.end_of_day(self._settings.password))
        evidence = await self._command(exchange, self._settings.currency, _ignore)
        if exchange.state in {State.ABORTED, State.REFUSED}:
            raise _refusal(exchange)
        result = day_result(exchange, self._settings.currency, self._zone(), now())
        return self._with_papers(result, exchange, evidence)

    async def status(self) -> TerminalStatus:
        """See `CardTerminal.status`. Raises `TerminalUnavailableError`, `TerminalRefusedError`."""
        exchange = Exchange(messages.enquire_status())
        await self._enquire(exchange)
        code = messages.read_terminal_status(exchange.end_data)
        if code in {None, 0}:
            return TerminalStatus(Readiness.READY)
        return TerminalStatus(Readiness.NOT_READY, f"{code:02X}")

    async def close(self) -> None:
        """See `CardTerminal.close`. Verdicts that are still being worked out are waited for by their owner."""
        if self._line is not None:
            self._line.drop()

    async def _enquire(self, exchange: Exchange) -> EvidenceLog:
        evidence = await self._command(exchange, self._settings.currency, _ignore, self._settings.enquiry_s)
        if exchange.state in {State.ABORTED, State.REFUSED}:
            raise _refusal(exchange)
        if exchange.state is State.LOST or exchange.malformed:
            raise TerminalUnavailableError("the terminal gave no whole answer")
        return evidence

    async def _command(
        self, exchange: Exchange, currency: str, on_event: EventHandler, within_s: float | None = None
    ) -> EvidenceLog:
        """Connect, register, run. Raises `TerminalError` only while nothing of `exchange` has been sent.

        A command whose abort was wished before it left is not sent at all: its state stays CALLING.
        """
        if self._occupied:
            raise TerminalBusyError("another command is running on this terminal")
        self._occupied = True
        self._running = exchange
        evidence = EvidenceLog()
        try:
            line = await self._connect(currency, evidence)
            self._line = line
            if not exchange.abort_wished:
                await line.run(exchange, self._settings, on_event, within_s)
        finally:
            open_line, self._line, self._running = self._line, None, None
            self._occupied = False
            if open_line is not None:
                await open_line.hang_up()
        return evidence

    async def _connect(self, currency: str, evidence: EvidenceLog) -> Line:
        for with_tlv in (True, False):
            line = await self._open(evidence)
            registration = Exchange(
                messages.register(self._settings.password, self._settings.config, currency, with_tlv=with_tlv)
            )
            try:
                await line.run(registration, self._settings, _ignore, self._settings.registration_s)
                if registration.state is State.COMPLETED:
                    return line
            except BaseException:
                line.drop()
                raise
            await line.hang_up()
            refused_tlv = registration.end_code == codes.PROTOCOL_ERROR and with_tlv
            if not refused_tlv:
                raise _no_registration(registration)
        raise TerminalUnavailableError("the terminal refused the registration")

    async def _open(self, evidence: EvidenceLog) -> Line:
        settings = self._settings
        try:
            async with asyncio.timeout(settings.connect_s):
                reader, writer = await asyncio.open_connection(settings.host, settings.port)
        except (OSError, TimeoutError) as error:
            raise TerminalUnavailableError(f"no connection to {settings.host}:{settings.port}") from error
        return Line(reader, writer, evidence)

    def _zone(self) -> tzinfo:
        local = datetime.now(UTC).astimezone().tzinfo
        return self._settings.zone or local or UTC

    def _with_papers(self, result: TerminalResult, exchange: Exchange, evidence: EvidenceLog) -> TerminalResult:
        lines = tuple(redact_text(line) for line in exchange.receipt_lines)
        return replace(result, receipt_lines=lines, evidence=evidence.steps)


def _tell(on_progress: ProgressCallback, progress: Progress) -> None:
    try:
        on_progress(progress)
    except Exception:  # noqa: BLE001 - a picture that cannot be drawn must not cost a payment its end
        _log.exception("progress could not be shown")


async def _ignore(_event: Event) -> None:
    return


def _no_registration(registration: Exchange) -> TerminalError:
    if registration.end_code == codes.BUSY:
        return TerminalRefusedError("the terminal is busy", codes.result_name(codes.BUSY))
    return TerminalUnavailableError("the terminal did not register this till")


def _refusal(exchange: Exchange) -> TerminalRefusedError:
    name = codes.result_name(exchange.end_code or 0)
    return TerminalRefusedError(f"the terminal refused: {name}", name)
