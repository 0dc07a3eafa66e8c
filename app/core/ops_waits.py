"""Who waits for whom in the database, as people read it: the sessions that others wait for, the roots first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend_client.wire import EventId, OpsLockWait, OpsSession


@dataclass(frozen=True, slots=True)
class WaitRow:
    """One pair: `waiting` waits for `blocker`. `is_root`: the blocker waits for nobody. `behind` wait for it in all."""

    waiting: OpsSession
    blocker: OpsSession
    since: datetime
    lock: str
    is_root: bool
    behind: int
    event_id: EventId | None
    sections: tuple[str, ...]

    @property
    def key(self) -> tuple[int, datetime, int, datetime]:
        """Names the pair for good: a pid alone is used again."""
        return (
            self.waiting.pid, self.waiting.backend_started_at, self.blocker.pid, self.blocker.backend_started_at,
        )  # fmt: skip


def wait_rows(waits: Sequence[OpsLockWait]) -> list[WaitRow]:
    """A row for each pair, roots first, among them the one that keeps most waiting, then the longest wait."""
    behind: dict[int, set[int]] = {}
    for wait in waits:
        for pid in {*wait.roots, *(blocker.pid for blocker in wait.blocked_by)}:
            behind.setdefault(pid, set()).add(wait.waiting.pid)
    rows = [
        WaitRow(
            wait.waiting, blocker, wait.since, wait.lock, blocker.pid in wait.roots, len(behind.get(blocker.pid, ())),
            wait.event_id, wait.sections,
        )
        for wait in waits
        for blocker in wait.blocked_by
    ]  # fmt: skip
    rows.sort(key=lambda row: (not row.is_root, -row.behind, row.since, row.waiting.pid, row.blocker.pid))
    return rows
