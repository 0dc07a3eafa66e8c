"""Consoles without a screen, in a process of their own, that die at a step of their journal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.journal.async_journal import AsyncJournal
from backend_client.client import BookingClient
from tests.matrix.counters import ACTS, begin, open_desk
from tests.matrix.deaths import die
from tests.matrix.table import Operation


class JournalStep(StrEnum):
    """Where a console dies: the operation is open at the API, and then what the journal has of it."""

    OPENED = "opened"
    JOURNALED = "journaled"
    DONE = "done"
    HEARD = "heard"
    REPORTED = "reported"


_TERMINAL_STEPS = {
    JournalStep.OPENED: ("begin_terminal_attempt", True),
    JournalStep.JOURNALED: ("begin_terminal_attempt", False),
    JournalStep.DONE: ("record_terminal_result", True),
    JournalStep.HEARD: ("record_terminal_result", False),
    JournalStep.REPORTED: ("acknowledge_terminal_result", True),
}


async def run(url: str, terminal_port: int, folder: str, event_id: int, operation: str, step: str, mark: str) -> None:
    """Take up what the journal in `folder` has open, do the operation, and die at the step."""
    desk = open_desk(url, terminal_port, Path(folder))
    await begin(desk, event_id)
    wanted, at = Operation(operation), JournalStep(step)
    if wanted in (Operation.CASH, Operation.CASH_INSTEAD):
        _die_around(BookingClient, "pay", mark, before=at is JournalStep.JOURNALED)
    else:
        name, before = _TERMINAL_STEPS[at]
        _die_around(AsyncJournal, name, mark, before=before)
    await ACTS[wanted](desk)


def _die_around(owner: type, name: str, mark: str, *, before: bool) -> None:
    inner: Callable[..., Awaitable[Any]] = getattr(owner, name)

    async def dying(*given: Any, **named: Any) -> Any:
        if before:
            die(mark)
        await inner(*given, **named)
        die(mark)

    setattr(owner, name, dying)
