"""Parts of what operators watch: what changed, the span of time, minutes that were read, what the log is asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from typing import Final

from app.core.ops_series import EMPTY, SampleTable
from backend_client.wire import EventId, OpsLogEntry, OpsLogKind


class OpsPart(Flag):
    """What changed."""

    FIGURES = auto()
    STATE = auto()
    ALARMS = auto()
    CONTROL = auto()
    DRAFT = auto()
    PREVIEW = auto()
    LOG = auto()
    HISTORY = auto()
    VIEW = auto()


EVERYTHING: Final = OpsPart(sum(part.value for part in OpsPart))


@dataclass(frozen=True, slots=True)
class OpsView:
    """Which part of time the charts show: `end_s` None follows now; `seconds` is how much of it."""

    seconds: float = 900.0
    end_s: float | None = None

    @property
    def is_live(self) -> bool:
        return self.end_s is None


@dataclass(frozen=True, slots=True)
class MinuteHistory:
    """Minutes that were read, of one event (None: the house alone): from when until when, and what came."""

    event_id: EventId | None = None
    from_s: float = 0.0
    until_s: float = 0.0
    table: SampleTable = EMPTY

    def covers(self, event_id: EventId | None, start_s: float, end_s: float) -> bool:
        """Whether a span was read; minutes that are not over yet need not have been."""
        return event_id == self.event_id and self.from_s <= start_s and self.until_s >= end_s - 90


@dataclass(frozen=True, slots=True)
class LogSubject:
    """Which entries of the log are asked for: of one kind or all, of one event or all."""

    kind: OpsLogKind | None = None
    event_id: EventId | None = None

    def has(self, entry: OpsLogEntry) -> bool:
        return self.kind in {None, entry.kind} and self.event_id in {None, entry.event_id}


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries of the log are read, and which of them are shown."""

    kind: OpsLogKind | None = None
    event_only: bool = False
    text: str = ""

    def about(self, event_id: EventId | None) -> LogSubject:
        """Which entries are read while `event_id` is watched."""
        return LogSubject(self.kind, event_id if self.event_only else None)

    def passes(self, searched: str) -> bool:
        """Whether an entry is shown: each word must stand somewhere in what is read of it."""
        return all(word in searched for word in self.text.casefold().split())


@dataclass(frozen=True, slots=True)
class SentChange:
    """A change whose answer is not known: the same goes again under the same key, and is done once."""

    request: object
    key: str
