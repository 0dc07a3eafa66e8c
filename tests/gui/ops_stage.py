"""A console at the operators' screen, over a booking system in memory that tells figures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from app.core.ops_board import OpsBoard
from app.screens.ops_dialogs import ActDialog
from app.screens.ops_screen import OpsScreen
from app.showcase import Showcase
from app.showcase_ops import play_evening
from backend_client.wire import EventId
from tests.gui.conftest import counter_of, rest, until
from tests.gui.money_stage import go

SECONDS = 90


@asynccontextmanager
async def ops_of(
    folder: Path, name: str = "ada", *, trouble_at: int | None = None, seconds: int = SECONDS
) -> AsyncIterator[Showcase]:
    """A console that watches the last `seconds`; from `trouble_at` seconds before now on somebody holds locks."""
    async with counter_of(folder, name, open_event=False) as showcase:
        play_evening(showcase.server, seconds=seconds, trouble_at=trouble_at)
        go(showcase, "ops")
        board = board_of(showcase)
        await until(lambda: len(board.house) == seconds, "the figures")
        await until(lambda: board.control is not None and bool(board.rules), "admission and limits")
        await rest(showcase)
        yield showcase


def board_of(showcase: Showcase) -> OpsBoard:
    return showcase.console.desk.store.ops


def screen_of(showcase: Showcase) -> OpsScreen:
    return showcase.console.window.screens.ops


def tell_again(showcase: Showcase, **house: float) -> None:
    """One more second, as the one before but for these figures."""
    ops = showcase.server.ops
    last = ops.told[-1]
    ops.tell({**last.house, **house}, last.events[0].figures, lock_waits=last.lock_waits)


def tell_two_events(showcase: Showcase) -> None:
    """One more second, in which there is another event beside ours, of number 2."""
    showcase.server.pass_time(1)
    ops = showcase.server.ops
    told = ops.tell(ops.told[-1].house, ops.told[-1].events[0].figures)
    ours = told.events[0]
    both = replace(told, events=(ours, replace(ours, event_id=EventId(2), name="Aida")))
    showcase.server.pass_time(1)
    at = showcase.server.house.now()
    ops.told.append(replace(both, second=both.second + 1, measured_at=at, server_time=at))
    ops.send(msgspec.json.encode(ops.told[-1]).decode())


async def type_number(showcase: Showcase, name: str, text: str) -> None:
    """Type a number of the admission, and wait for what it would do."""
    field = screen_of(showcase).admission.fields[name]
    field.setText(text)
    field.textEdited.emit(text)
    board = board_of(showcase)
    await until(lambda: board.preview is not None, "the preview")
    await rest(showcase)


async def dialog_of(showcase: Showcase, kind: type[ActDialog] = ActDialog) -> Any:
    """The question that is open."""
    await until(lambda: isinstance(QApplication.activeModalWidget(), kind), "the dialog")
    return QApplication.activeModalWidget()
