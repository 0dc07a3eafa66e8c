"""A card terminal in memory for tests of callers: it keeps the interface's promises and plays the outcome it was given.

terminal = FakeCardTerminal()
terminal.play(Approve(), Decline("insufficient-funds"), LoseLine(booked=True))
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from app.devices.card_terminal import (
    DayTotals,
    Progress,
    ProgressCallback,
    Readiness,
    ResultCallback,
    SchemeTotal,
    TerminalBusyError,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
    TerminalStatus,
    TerminalUnavailableError,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Approve:
    """Approves; `amount_minor` approves another amount than was asked."""

    amount_minor: int | None = None


@dataclass(frozen=True, slots=True)
class Decline:
    decline_code: str = "declined-by-host"


@dataclass(frozen=True, slots=True)
class LoseLine:
    """The line dies before the result is heard; `booked` says whether the terminal stored a payment."""

    booked: bool


@dataclass(frozen=True, slots=True)
class AwaitAbort:
    """Waits for `abort`, then declines, or approves all the same when `approve_anyway` (T9)."""

    approve_anyway: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """No connection: raises before anything is begun."""


Scene = Approve | Decline | LoseLine | AwaitAbort | Unreachable


@dataclass(slots=True)
class FakeCardTerminal:
    """See the module. `booked` is the terminal's own ledger, oldest first; an approval is the default scene."""

    booked: list[TerminalResult] = field(default_factory=list)
    payments_asked: int = 0
    refunded: list[TerminalResult] = field(default_factory=list)
    refunds_asked: int = 0
    reversals_asked: int = 0
    reversal: TerminalResult | None = None
    """The last reversal, while nothing has followed it."""
    reverses_another: bool = False
    """A fault seen in the field: a reversal hits another booking than the one that was named (T6)."""
    silent: bool = False
    """No enquiry reaches it."""
    takes_back: bool = True
    """False: its day is closed, and no receipt of it can be reversed any more."""
    day: TerminalResult | None = None
    """The last end of day, while nothing has followed it."""
    _closed: int = 0
    _closed_refunds: int = 0
    _scenes: deque[Scene] = field(default_factory=deque)
    _abort: asyncio.Event | None = None

    @property
    def provider(self) -> str:
        return "zvt"

    def play(self, *scenes: Scene) -> None:
        """Queue what the next payments do."""
        self._scenes.extend(scenes)

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        """Play the next scene; see `CardTerminal.pay`."""
        if self._abort is not None:
            raise TerminalBusyError("a payment is running")
        scene = self._scenes.popleft() if self._scenes else Approve()
        if isinstance(scene, Unreachable):
            raise TerminalUnavailableError("no connection")
        self.payments_asked += 1
        self._abort = asyncio.Event()
        try:
            on_progress(Progress.PRESENT_CARD)
            if isinstance(scene, AwaitAbort):
                await self._abort.wait()
                scene = Approve() if scene.approve_anyway else Decline("aborted")
            return await self._finish(scene, amount_minor, currency, on_result)
        finally:
            self._abort = None

    async def _finish(
        self, scene: Approve | Decline | LoseLine, amount_minor: int, currency: str, on_result: ResultCallback
    ) -> TerminalResult:
        if isinstance(scene, Decline):
            return TerminalResult(TerminalOutcome.DECLINED, 0, currency, decline_code=scene.decline_code)
        if isinstance(scene, LoseLine):
            if scene.booked:
                self._book(amount_minor, currency)
            return TerminalResult(TerminalOutcome.UNKNOWN, 0, currency)
        result = self._book(amount_minor if scene.amount_minor is None else scene.amount_minor, currency)
        if await on_result(result) is Verdict.ACCEPT:
            return result
        self.booked.remove(result)
        return replace(
            result,
            outcome=TerminalOutcome.DECLINED,
            amount_minor=0,
            decline_code="goods-not-issued",
            reversed_at_terminal=True,
        )

    def _book(self, amount_minor: int, currency: str) -> TerminalResult:
        result = self._booking(amount_minor, currency)
        self.booked.append(result)
        return result

    def _booking(self, amount_minor: int, currency: str) -> TerminalResult:
        self.day = None
        self.reversal = None
        number = self.payments_asked + self.refunds_asked + self.reversals_asked
        return TerminalResult(
            TerminalOutcome.APPROVED,
            amount_minor,
            currency,
            trace=number,
            receipt_no=number,
            card_brand="Visa",
            card_last4="1111",
            booked_at=datetime.now(UTC),
        )

    async def abort(self) -> None:
        """See `CardTerminal.abort`."""
        if self._abort is not None:
            self._abort.set()

    async def last_transaction(self) -> TerminalResult | None:
        """See `CardTerminal.last_transaction`."""
        if self.silent:
            raise TerminalUnavailableError("no connection")
        if self.day is not None or self.reversal is not None:
            return self.day or self.reversal
        told = sorted((*self.booked, *self.refunded), key=lambda result: result.trace or 0)
        return told[-1] if told else None

    async def reverse(
        self, receipt_no: int, *, amount_minor: int | None = None, original_trace: int | None = None
    ) -> TerminalResult:
        """See `CardTerminal.reverse`."""
        if self.reverses_another:
            return TerminalResult(TerminalOutcome.UNKNOWN, 0, "EUR", decline_code="reversed-another")
        if not self.takes_back:
            raise TerminalRefusedError("its day is closed", "reversal-not-possible")
        for result in self.booked:
            if result.receipt_no == receipt_no:
                if amount_minor not in {None, result.amount_minor} or original_trace not in {None, result.trace}:
                    raise TerminalRefusedError("the receipt is of another booking", "reversal-not-possible")
                self.booked.remove(result)
                self.reversals_asked += 1
                number = self.payments_asked + self.refunds_asked + self.reversals_asked
                self.reversal = replace(result, original_trace=result.trace, trace=number, booked_at=datetime.now(UTC))
                return self.reversal
        raise TerminalRefusedError("no such receipt", "reversal-not-possible")

    async def refund(self, amount_minor: int, currency: str, *, on_progress: ProgressCallback) -> TerminalResult:
        """Play the next scene; see `CardTerminal.refund`."""
        scene = self._scenes.popleft() if self._scenes else Approve()
        if isinstance(scene, Unreachable):
            raise TerminalUnavailableError("no connection")
        self.refunds_asked += 1
        on_progress(Progress.PRESENT_CARD)
        if isinstance(scene, Decline):
            return TerminalResult(TerminalOutcome.DECLINED, 0, currency, decline_code=scene.decline_code)
        if isinstance(scene, LoseLine) and not scene.booked:
            return TerminalResult(TerminalOutcome.UNKNOWN, 0, currency)
        result = self._booking(amount_minor, currency)
        self.refunded.append(result)
        if isinstance(scene, LoseLine):
            return TerminalResult(TerminalOutcome.UNKNOWN, 0, currency)
        return result

    async def end_of_day(self) -> TerminalResult:
        """See `CardTerminal.end_of_day`; `LoseLine` loses the answer, booked or not."""
        scene = self._scenes.popleft() if self._scenes else Approve()
        if isinstance(scene, Unreachable):
            raise TerminalUnavailableError("no connection")
        if isinstance(scene, Decline):
            raise TerminalRefusedError("not now", scene.decline_code)
        if isinstance(scene, LoseLine) and not scene.booked:
            return TerminalResult(TerminalOutcome.UNKNOWN, 0, "EUR")
        counted = (*self.booked[self._closed :], *self.refunded[self._closed_refunds :])
        total = sum(r.amount_minor for r in self.booked[self._closed :])
        total -= sum(r.amount_minor for r in self.refunded[self._closed_refunds :])
        self._closed, self._closed_refunds = len(self.booked), len(self.refunded)
        receipts = sorted(result.receipt_no or 0 for result in counted)
        totals = DayTotals(
            total,
            (SchemeTotal("Visa", len(counted), total),) if counted else (),
            receipts[0] if receipts else None,
            receipts[-1] if receipts else None,
        )
        self.day = TerminalResult(
            TerminalOutcome.APPROVED, total, "EUR", booked_at=datetime.now(UTC), totals=totals, terminal_id="52500041"
        )
        return TerminalResult(TerminalOutcome.UNKNOWN, 0, "EUR") if isinstance(scene, LoseLine) else self.day

    async def status(self) -> TerminalStatus:
        """See `CardTerminal.status`."""
        return TerminalStatus(Readiness.READY)

    async def close(self) -> None:
        """Nothing to drop."""
