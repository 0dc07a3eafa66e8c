"""The sandbox's own books: what was asked under which operation id, and what became of the money.

The rules are those that a product must never lean on a provider to break: no capture after a void, no void after a
capture, refunds within the capture, nothing captured of an authorization that ran out, one answer for one operation id.
With a file, each change is appended and synced before it is answered, so that the books survive the process. Time is
the ledger's own: a clock that is handed in, and moved on by `ahead_s`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

WITHDRAWN = "withdrawn"
BY_HAND = "hand-"
"""Begins the ids of what somebody did at the provider itself: no operation of a caller."""
DAY_S = 86_400.0


class Kind(StrEnum):
    AUTHORIZE = "authorize"
    CAPTURE = "capture"
    VOID = "void"
    REFUND = "refund"


class Status(StrEnum):
    SUCCEEDED = "succeeded"
    DECLINED = "declined"
    ACTION_REQUIRED = "action_required"


class ChargeStatus(StrEnum):
    DECLINED = "declined"
    ACTION_REQUIRED = "action_required"
    AUTHORIZED = "authorized"
    VOIDED = "voided"
    EXPIRED = "expired"
    CAPTURED = "captured"


class OperationConflictError(Exception):
    """The same operation id with another request."""

    code = "operation-conflict"


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks; equal requests under one id are one."""

    operation_id: str
    kind: Kind
    amount: int
    currency: str
    payment_method: str = ""
    charge: str = ""


@dataclass(slots=True)
class Operation:
    """A request and its answer; `at` is when it was last decided, in seconds since 1970 (UTC)."""

    request: Request
    status: Status
    charge: str
    decline_code: str = ""
    next_action: str = ""
    at: float = 0.0

    @property
    def by_hand(self) -> bool:
        return self.request.operation_id.startswith(BY_HAND)


@dataclass(slots=True)
class Charge:
    charge: str
    operation_id: str
    status: ChargeStatus
    amount: int
    currency: str
    captured: int = 0
    refunded: int = 0
    granted_at: float = 0.0


class SandboxLedger:
    """See the module. `operations` by operation id, `charges` by charge id, oldest first.

    `authorization_days`: how long an authorization can be captured (P26). `on_change` hears of each decided operation.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        authorization_days: float = 7.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.operations: dict[str, Operation] = {}
        self.charges: dict[str, Charge] = {}
        self.ahead_s = 0.0
        self.on_change: Callable[[Operation], None] = lambda _: None
        self._authorization_s = authorization_days * DAY_S
        self._clock = clock
        self._replayed_at: float | None = None
        self._path = path
        if path is not None and path.exists():
            for line in path.read_text("utf-8").splitlines():
                self._replay(json.loads(line))

    @property
    def now(self) -> float:
        """The ledger's time, in seconds since 1970; while it replays its file, the time of the line."""
        return self._clock() + self.ahead_s if self._replayed_at is None else self._replayed_at

    def expires_at(self, charge: str) -> float | None:
        """When an authorization of this charge ends; None for a charge that has no money to take any more."""
        found = self.charges.get(charge)
        if found is None or found.status is not ChargeStatus.AUTHORIZED:
            return None
        return found.granted_at + self._authorization_s

    def carry_out(self, request: Request, *, refuse_with: str = "", needs_action: bool = False) -> Operation:
        """Do what is asked, once. `refuse_with` and `needs_action` script an authorization's answer.

        Raises `OperationConflictError` when the id was used for another request.
        """
        known = self.operations.get(request.operation_id)
        if known is not None:
            if known.request != request:
                raise OperationConflictError(request.operation_id)
            return known
        if request.kind is Kind.AUTHORIZE:
            operation = self._authorize(request, refuse_with, needs_action)
        else:
            operation = self._follow_up(request)
        operation.at = self.now
        if request.kind is Kind.AUTHORIZE:
            self.charges[operation.charge].granted_at = operation.at
        self.operations[request.operation_id] = operation
        self._append({"do": "carry-out", "operation": asdict(operation)})
        self.on_change(operation)
        return operation

    def by_hand(self, kind: Kind, *, charge: str = "", amount: int = 0, currency: str = "") -> Operation:
        """What somebody does at the provider itself, without a caller. Raises `KeyError`: there is no such charge."""
        about = self.charges[charge] if charge else None
        asked = Request(
            f"{BY_HAND}{len(self.operations) + 1:06d}",
            kind,
            amount or (about.amount if about else 0),
            about.currency if about else currency,
            charge=charge,
        )
        return self.carry_out(asked)

    def withdraw(self, request: Request) -> Operation:
        """Close an authorization that is not granted; a request that comes later under its id finds it declined."""
        known = self.operations.get(request.operation_id)
        if known is None:
            return self.carry_out(request, refuse_with=WITHDRAWN)
        if known.request != request:
            raise OperationConflictError(request.operation_id)
        if known.status is Status.ACTION_REQUIRED:
            self.complete_action(request.operation_id, approve=False, decline_code=WITHDRAWN)
        return known

    def complete_action(
        self, operation_id: str, *, approve: bool, decline_code: str = "authentication-failed"
    ) -> Operation:
        """The buyer did (or refused) what an authorization asked for. Raises `KeyError` when it asks for nothing."""
        operation = self.operations[operation_id]
        if operation.status is not Status.ACTION_REQUIRED:
            raise KeyError(operation_id)
        operation.status = Status.SUCCEEDED if approve else Status.DECLINED
        operation.decline_code = "" if approve else decline_code
        operation.next_action = ""
        operation.at = self.now
        charge = self.charges[operation.charge]
        charge.status = ChargeStatus.AUTHORIZED if approve else ChargeStatus.DECLINED
        charge.granted_at = operation.at
        self._append(
            {
                "do": "complete-action",
                "operation_id": operation_id,
                "approve": approve,
                "decline_code": operation.decline_code,
                "at": operation.at,
            }
        )
        self.on_change(operation)
        return operation

    def _authorize(self, request: Request, refuse_with: str, needs_action: bool) -> Operation:
        charge = Charge(
            f"ch_{len(self.charges) + 1:06d}",
            request.operation_id,
            ChargeStatus.AUTHORIZED,
            request.amount,
            request.currency,
        )
        self.charges[charge.charge] = charge
        if refuse_with:
            charge.status = ChargeStatus.DECLINED
            return Operation(request, Status.DECLINED, charge.charge, decline_code=refuse_with)
        if needs_action:
            charge.status = ChargeStatus.ACTION_REQUIRED
            return Operation(request, Status.ACTION_REQUIRED, charge.charge, next_action="challenge")
        return Operation(request, Status.SUCCEEDED, charge.charge)

    def _follow_up(self, request: Request) -> Operation:
        charge = self.charges.get(request.charge)
        if charge is not None:
            self._expire(charge)
        why = "charge-unknown" if charge is None else _why_not(charge, request)
        if charge is None or why:
            return Operation(request, Status.DECLINED, request.charge, decline_code=why)
        if request.kind is Kind.CAPTURE:
            charge.status, charge.captured = ChargeStatus.CAPTURED, request.amount
        elif request.kind is Kind.VOID:
            charge.status = ChargeStatus.VOIDED
        else:
            charge.refunded += request.amount
        return Operation(request, Status.SUCCEEDED, charge.charge)

    def _expire(self, charge: Charge) -> None:
        if charge.status is ChargeStatus.AUTHORIZED and self.now >= charge.granted_at + self._authorization_s:
            charge.status = ChargeStatus.EXPIRED

    def _replay(self, entry: dict[str, object]) -> None:
        path, self._path = self._path, None
        try:
            if entry["do"] == "complete-action":
                self._replayed_at = float(str(entry.get("at", 0.0)))
                operation_id, code = str(entry["operation_id"]), str(entry["decline_code"])
                self.complete_action(operation_id, approve=bool(entry["approve"]), decline_code=code)
                return
            stored = entry["operation"]
            assert isinstance(stored, dict)
            self._replayed_at = float(stored.get("at", 0.0))
            asked = stored["request"] | {"kind": Kind(stored["request"]["kind"])}
            declined = stored["decline_code"] if stored["request"]["kind"] == Kind.AUTHORIZE else ""
            self.carry_out(
                Request(**asked), refuse_with=declined, needs_action=stored["status"] == Status.ACTION_REQUIRED
            )
        finally:
            self._path, self._replayed_at = path, None

    def _append(self, entry: dict[str, object]) -> None:
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _why_not(charge: Charge, request: Request) -> str:
    if charge.currency != request.currency:
        return "currency-mismatch"
    if request.kind is Kind.REFUND:
        return "" if charge.refunded + request.amount <= charge.captured else "refund-exceeds-capture"
    if charge.status is ChargeStatus.EXPIRED:
        return "" if request.kind is Kind.VOID else "authorization-expired"
    if charge.status is not ChargeStatus.AUTHORIZED:
        return f"charge-{charge.status.value.replace('_', '-')}"
    if request.kind is Kind.CAPTURE and request.amount > charge.amount:
        return "capture-exceeds-authorization"
    return ""
