"""An operator's shift: the event's figures are watched, and pictures taken before, during and after it is slow.

At a desk, with who waits for whom while it is slow; or on the wall, with the large mode that is read across a room.
Each is a console of its own, as in the field: other colours would build every screen anew in the busiest seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app import hands
from app.bridge.pictures import all_drawn, picture_of
from app.core.ops_board import OpsBoard
from app.core.ops_health import state_of
from app.hands import HandsError
from app.screens.ops_screen import BLOCKERS, LIVE, OpsScreen
from app.screens.ops_words import state_title
from app.shift.joining import JoinFile, Joining
from app.shift.reports import OpsPicture
from app.shift.shift import LOOK_S, Shift
from backend_client.steady_time import steady_seconds
from backend_client.wire import OpsFigure as F

BEFORE, DURING, AFTER = "before", "during", "after"
BEFORE_S: Final = 6.0
"""So long before it gets slow the first pictures begin: all of them are to show the house as it was."""
DURING_SHARE, AFTER_SHARE = 0.5, 1.5
"""Of the time that it is slow: when pictures begin, after its begin and after its end."""
_FIGURES_S: Final = 30.0
FRESH_S: Final = 5.0
_TOLD: Final = (
    F.ROOM_WAITING, F.ADMISSION_SET_PER_MIN, F.ADMISSION_MEASURED_PER_MIN, F.SHOPPERS_ACTIVE, F.HOLD_P99_MS,
    F.QUEUE_AGE_MS, F.SHED_PER_S, F.LOCK_WAITS, F.LOCK_WAIT_OLDEST_S, F.ORDERS_CONFIRMED_PER_MIN, F.SEATS_SOLD,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """One way to show the screen; `name` ends the picture's name."""

    name: str
    page: int = LIVE
    large: bool = False


_DESK, _WAITS, _DARK, _LARGE = Look(""), Look("-blockers", page=BLOCKERS), Look("-dark"), Look("-large", large=True)
AT_DESK: Final = {BEFORE: (_DESK,), DURING: (_DESK, _WAITS), AFTER: (_DESK,)}
AT_WALL: Final = dict.fromkeys((BEFORE, DURING, AFTER), (_DARK, _LARGE))
"""What is pictured in each phase; the wall's console is told to be dark."""


def due_phase(joining: Joining, now: float, taken: set[str]) -> str | None:
    """Which phase's pictures are due at `now`, of those that are not taken; None: wait.

    The real begin and end of the slowness count where the file tells them; one that never comes has no pictures, but
    those of the end.
    """
    begins, ends = joining.slow_begins_at, joining.slow_ends_at
    if begins is None or ends is None:
        return None
    lasts_s, since, until = ends - begins, joining.slow_from, joining.slow_until
    due = {
        BEFORE: begins - BEFORE_S <= now < begins and since is None,
        DURING: since is not None and until is None and now >= since + DURING_SHARE * lasts_s,
        AFTER: until is not None and now >= until + AFTER_SHARE * lasts_s,
    }
    return next((phase for phase, is_due in due.items() if is_due and phase not in taken), None)


class OpsShift(Shift):
    """See the module. Pictures go to `pictures`, named ops-before.png and so on."""

    def __init__(
        self, join: JoinFile, report: Path, pictures: Path, looks: Mapping[str, tuple[Look, ...]] = AT_DESK
    ) -> None:
        super().__init__(join, report)
        self._pictures = pictures
        self._looks = looks
        self._taken: set[str] = set()

    @property
    def screen(self) -> OpsScreen:
        """The operators' screen as it is built now."""
        return self.console.window.screens.ops

    @property
    def board(self) -> OpsBoard:
        return self.console.desk.store.ops

    async def _prepare(self, joining: Joining) -> None:
        del joining
        self._pictures.mkdir(parents=True, exist_ok=True)
        self.console.window.screen_requested.emit("ops")
        await hands.until(lambda: self.console.window.screens.current is self.screen, "the figures' screen")
        await hands.until(lambda: self.board.figures is not None, "the first figures", _FIGURES_S)

    async def _choose_event(self, event_id: int) -> None:
        """Before the opening nothing may be told of it yet."""
        await hands.until(lambda: self.screen.event_box.findData(event_id) >= 0, "the event", _FIGURES_S)
        if self.board.event_id != event_id:
            self.screen.event_box.setCurrentIndex(self.screen.event_box.findData(event_id))
        await hands.until(lambda: self.board.event_id == event_id, "the event's figures")
        await hands.until(lambda: self.board.control is not None, "how admission stands", _FIGURES_S)

    async def _work(self) -> None:
        if (joining := self.join.now()) is not None:
            await self._choose_event(joining.event_id)
        while (joining := self.join.now()) is not None:
            phase = due_phase(joining, time(), self._taken)
            if phase is not None:
                await self._take_all(phase)
            await asyncio.sleep(LOOK_S)

    async def _finish(self) -> None:
        """The last pictures at the latest now, while the house still stands."""
        if AFTER not in self._taken:
            await self._take_all(AFTER)

    async def _take_all(self, phase: str) -> None:
        self._taken.add(phase)
        for look in self._looks[phase]:
            await self._show(look)
            await self._take(phase, look)
        await self._show(self._looks[phase][0])

    async def _show(self, look: Look) -> None:
        """Make the screen look so, as a person would: a tab, a key."""
        if self.screen.is_large != look.large:
            QTest.keyClick(self.screen, Qt.Key.Key_F11)
        if not look.large:
            self.screen.tabs.setCurrentIndex(look.page)
        await all_drawn()

    async def _take(self, phase: str, look: Look) -> None:
        """A picture of a second that has just been heard of; where none comes, that is what the screen says."""
        heard = self.board.heard_at
        with suppress(HandsError):
            await hands.until(lambda: self.board.heard_at != heard, "fresh figures", FRESH_S)
        self.screen.show_time()
        await all_drawn()
        file = f"ops-{phase}{look.name}.png"
        if not picture_of(self.console.window).save(str(self._pictures / file)):
            raise HandsError(f"cannot write {self._pictures / file}")
        state = state_of(self.board, steady_seconds())
        self.file.report.pictures.append(
            OpsPicture(
                file=file, phase=phase, look=look.name.lstrip("-"), at=time(), health=state.health.value,
                said=state_title(state), alarms=[str(alarm.figure) for alarm in state.alarms],
                figures={str(name): self.board.newest(name) for name in _TOLD},
            )
        )  # fmt: skip
        self.file.keep()
