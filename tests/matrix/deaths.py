"""Where a process of the booking system dies: at a named step of one kind of operation.

Whoever dies writes down that it does, and then sends itself SIGKILL: no handler runs, no buffer is flushed, nobody is
told. The steps are those of the code itself, wrapped in the process that is started to die.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from booking.domain.model import PaymentOperation
from booking.store import money_back_calls, order_queries, reconciliation_queries, sale_calls


class Step(StrEnum):
    """Where a process dies."""

    OPENED = "opened"
    """The operation is committed, whoever asked for it is not told."""
    SENT = "sent"
    """SENT is committed, nobody has been asked."""
    ANSWERED = "answered"
    """The answer is here, it is not recorded."""
    RECORDED = "recorded"
    """The answer is committed, nobody is told."""


@dataclass(frozen=True, slots=True)
class Death:
    """Where a process dies: at the first such step of an operation of the kind. `mark` is written then."""

    step: Step
    kind: str
    mark: str


def die(mark: str) -> None:
    """Write `mark` down, and go."""
    with Path(mark).open("a", encoding="ascii") as file:
        file.write("x")
        file.flush()
        os.fsync(file.fileno())
    os.kill(os.getpid(), signal.SIGKILL)


def times_fired(mark: Path) -> int:
    """How many processes have died there."""
    return len(mark.read_text("ascii")) if mark.exists() else 0


def arm(death: Death) -> None:
    """This process dies at that step. Irrevocable: for processes that are started to die."""
    if death.step is Step.OPENED:
        _die_after_opening(death)
    elif death.step is Step.SENT:
        _wrap(sale_calls, "mark_sent", death, before=False, counts=bool)
    else:
        _wrap(sale_calls, "record_result", death, before=death.step is Step.ANSWERED, counts=lambda _: True)


def _wrap(module: Any, name: str, death: Death, *, before: bool, counts: Callable[[Any], bool]) -> None:
    inner: Callable[..., Awaitable[Any]] = getattr(module, name)

    async def dying(db: Any, operation_id: Any, *more: Any, **named: Any) -> Any:
        found: list[PaymentOperation] = await order_queries.read_operations(db, [operation_id])
        ours = found[0].kind == death.kind
        if ours and before:
            die(death.mark)
        answer = await inner(db, operation_id, *more, **named)
        if ours and counts(answer):
            die(death.mark)
        return answer

    setattr(module, name, dying)


def _die_after_opening(death: Death) -> None:
    """Whatever opens operations of this kind: payments, refunds, ends of orders, supervisors' acts."""
    openers: Mapping[str, tuple[tuple[Any, str], ...]] = {
        "act": ((reconciliation_queries, "act_on_item"),),
        "cancel": ((sale_calls, "cancel_order"),),
        "refund": ((money_back_calls, "refund_tickets"),),
    }
    for module, name in openers.get(death.kind, ((sale_calls, "open_payment"),)):
        _wrap_opener(module, name, death)


def _wrap_opener(module: Any, name: str, death: Death) -> None:
    inner: Callable[..., Awaitable[Any]] = getattr(module, name)

    async def dying(*given: Any, **named: Any) -> Any:
        answer = await inner(*given, **named)
        if not answer.code and (module is not sale_calls or name != "open_payment" or given[3].kind == death.kind):
            die(death.mark)
        return answer

    setattr(module, name, dying)


def arm_before_opening(kind: str, mark: str) -> None:
    """This process dies when a payment of the kind arrives, before anything is committed."""
    module: Any = sale_calls
    inner = module.open_payment

    async def dying(db: Any, caller: Any, order_id: Any, intent: Any, *more: Any) -> Any:
        if intent.kind == kind:
            die(mark)
        return await inner(db, caller, order_id, intent, *more)

    module.open_payment = dying
