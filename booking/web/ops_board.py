"""How it stands, as the wire tells it: made once for each word of the process's watcher, shared by all who look on."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import msgspec

from backend_client import wire
from booking.figures.model import Second
from booking.figures.standing import Standing

M = TypeVar("M", bound=msgspec.Struct)


class OpsBoard:
    """The newest statement of one process, as a message and as a frame."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._number = -1
        self._message: wire.OpsFigures | None = None
        self._frame = ""

    @property
    def message(self) -> wire.OpsFigures | None:
        """None before the first second that was heard of."""
        self._renew()
        return self._message

    @property
    def frame(self) -> str:
        """The same as JSON; empty before the first."""
        self._renew()
        return self._frame

    def _renew(self) -> None:
        standing = self._standing
        if self._number == standing.number:
            return
        self._number = standing.number
        self._message = statement_of(standing)
        self._frame = "" if self._message is None else msgspec.json.encode(self._message).decode()


def statement_of(standing: Standing) -> wire.OpsFigures | None:
    """What a process can say now. While the authority is away: its own part, and what was known last."""
    second = standing.second
    if second is None:
        return _only_own(standing)
    told = figures_of(second)
    processes = told.processes
    if standing.is_away and standing.own is not None:
        processes = (to_wire(standing.own, wire.OpsProcess),)
    return msgspec.structs.replace(
        told, processes=processes, server_time=standing.server_time(), authority_heard_at=standing.heard_at,
        authority_away=standing.is_away,
    )  # fmt: skip


def figures_of(second: Second) -> wire.OpsFigures:
    """A second as it was added up."""
    return wire.OpsFigures(
        second=second.second,
        measured_at=second.measured_at,
        server_time=second.measured_at,
        authority_heard_at=second.measured_at,
        house=dict(second.house),
        events=tuple(to_wire(one, wire.OpsEventFigures) for one in second.events.values()),
        processes=tuple(to_wire(one, wire.OpsProcess) for one in second.processes),
        consumers=tuple(to_wire(one, wire.OpsConsumer) for one in second.consumers),
        unknown_payments=tuple(to_wire(one, wire.OpsUnknownPayments) for one in second.unknown_payments),
        lock_waits=tuple(to_wire(one, wire.OpsLockWait) for one in second.lock_waits),
        alarms=tuple(to_wire(one, wire.OpsAlarm) for one in second.alarms),
    )


def to_wire(value: object, kind: type[M]) -> M:
    """A part of a second as the wire message of the same member names."""
    return msgspec.convert(value, kind, from_attributes=True)


def nothing_known(server_time: datetime) -> wire.OpsFigures:
    """Nobody has added up yet, and this process collects nothing."""
    return wire.OpsFigures(
        second=0, measured_at=server_time, server_time=server_time, authority_heard_at=server_time, house={}
    )


def _only_own(standing: Standing) -> wire.OpsFigures | None:
    """Nobody has added up yet."""
    if standing.own is None:
        return None
    now = standing.server_time()
    return wire.OpsFigures(
        second=0, measured_at=now, server_time=now, authority_heard_at=standing.heard_at,
        authority_away=standing.is_away, house={}, processes=(to_wire(standing.own, wire.OpsProcess),),
    )  # fmt: skip
