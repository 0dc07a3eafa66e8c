"""Admission as the database has it: settings, what the controller decided, the log, the one controller's lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from booking.domain.admission_causes import Cause, CauseCode
from booking.domain.admission_control import AdmissionChange, AdmissionMode, AdmissionReason, AdmissionState
from booking.domain.admission_control_law import LawState
from booking.domain.admission_control_signals import AdmissionLimits
from booking.domain.admission_desk import LoggedChange, SeenFigures, SetAdmission
from booking.domain.admission_steering import RoomSight
from booking.domain.caller import Caller
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer


async def read_admission(db: Database, event_id: int) -> Record | None:
    """Row of settings, state and room, to be read by the functions below; None: no such event."""
    return await db.fetchrow(query("read_admission"), event_id)


def settings_of(row: Record) -> SetAdmission:
    """The settings in a row of `read_admission`; an event that nobody has set stays as its room was set."""
    room = room_of(row)
    if row["version"] is None:
        if room is None or room.version == 0:
            return SetAdmission()
        cap = max(SetAdmission().cap_per_minute, room.new_users_per_minute)
        return SetAdmission(
            cap_per_minute=cap, manual_per_minute=room.new_users_per_minute,
            total_active_users=max(room.total_active_users, 1),
        )  # fmt: skip
    return SetAdmission(
        version=row["version"], mode=AdmissionMode(row["mode"]),
        mode_before_pause=AdmissionMode(row["mode_before_pause"]), cap_per_minute=row["cap_per_minute"],
        manual_per_minute=row["manual_per_minute"], least_per_minute=row["least_per_minute"],
        total_active_users=row["total_active_users"],
        targets=msgspec.json.decode(row["targets"], type=AdmissionLimits),
        changed_at=row["changed_at"], changed_by=row["changed_by"],
    )  # fmt: skip


def state_of(row: Record) -> AdmissionState | None:
    """What the controller decided last; None before it has."""
    if row["per_minute"] is None:
        return None
    law = msgspec.json.decode(row["law"], type=LawState)
    return AdmissionState(row["per_minute"], law, AdmissionReason(row["reason"]), row["decided_at"])


def room_of(row: Record) -> RoomSight | None:
    """The room as the controller saw it last; one that it has not seen yet is known by its address alone."""
    if row["room"] is not None:
        return msgspec.json.decode(row["room"], type=RoomSight)
    cause = Cause(CauseCode.ROOM_NOT_ASKED)
    return None if row["url"] is None else RoomSight(url=row["url"], problem=cause.words, problem_cause=cause)


def cause_of(row: Record) -> Cause | None:
    """The column `cause`; None for a person's words, and for those from before causes were kept."""
    return None if row["cause"] is None else msgspec.json.decode(row["cause"], type=Cause)


def figures_of(row: Record) -> SeenFigures | None:
    """What the controller saw last."""
    return None if row["figures"] is None else msgspec.json.decode(row["figures"], type=SeenFigures)


async def change_settings(
    db: Database, caller: Caller, event_id: int, expected: int, wanted: SetAdmission, most: float, reason: str,
    use: KeyUse,
) -> SaleAnswer:  # fmt: skip
    """New settings, made from version `expected`. `most`: the rate that they allow at once."""
    settings = {
        "mode": wanted.mode, "mode_before_pause": wanted.mode_before_pause, "cap_per_minute": wanted.cap_per_minute,
        "manual_per_minute": wanted.manual_per_minute, "least_per_minute": wanted.least_per_minute,
        "total_active_users": wanted.total_active_users, "targets": wanted.targets,
    }  # fmt: skip
    rows = await db.call(
        query("change_admission_settings"), caller.principal, caller.staff_id, caller.display_name, event_id, expected,
        _json(settings), most, reason, use.key, use.digest,
    )  # fmt: skip
    row = rows[0]
    return SaleAnswer(row["code"], row["result_id"], row["replayed"], row["detail"], ())


async def list_changes(db: Database, event_id: int, before: int | None, limit: int) -> list[LoggedChange]:
    """The log, newest first."""
    rows = await db.fetch(query("list_admission_changes"), event_id, before, limit)
    return [
        msgspec.convert({**row, "numbers": msgspec.json.decode(row["numbers"]), "cause": cause_of(row)}, LoggedChange)
        for row in rows
    ]


# ---------------------------------------------------------------- the controller


async def list_rooms(db: Database) -> dict[int, str]:
    """Event → the address of its room."""
    return {row["event_id"]: row["url"] for row in await db.fetch(query("list_admission_rooms"))}


async def announce_rooms(db: Database, event_ids: Sequence[int], url: str) -> None:
    """Leave the address of a room for its events."""
    await db.call(query("announce_rooms"), list(event_ids), url)


async def lead(db: Database, holder: UUID, seconds: float) -> tuple[datetime, bool]:
    """Take or renew the lease: the authority's time, and whether this one leads."""
    row = (await db.fetch(query("lead_admission"), holder, seconds))[0]
    return row["now"], row["leads"]


async def resign(db: Database, holder: UUID) -> None:
    """Give the lease back."""
    await db.fetch(query("resign_admission"), holder)


async def keep_state(
    db: Database, holder: UUID, event_id: int, state: Mapping[str, Any], changes: Sequence[AdmissionChange]
) -> bool:
    """Keep what was decided; False when this one leads no longer. `state` by column name."""
    lines = [
        {"at": one.at, "principal": one.by, "mode": one.mode, "from_per_minute": one.from_per_minute,
         "to_per_minute": one.to_per_minute, "reason": one.why.code, "words": one.why.words,
         "numbers": dict(one.why.numbers), "cause": one.why.cause}
        for one in changes
    ]  # fmt: skip
    rows = await db.fetch(query("keep_admission_state"), holder, event_id, _json(state), _json(lines))
    kept: bool = rows[0]["kept"]
    return kept


async def read_figures(db: Database, event_id: int) -> Record:
    """Row of `admission_figures`."""
    return (await db.fetch(query("read_admission_figures"), event_id))[0]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
