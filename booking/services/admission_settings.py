"""What operators read and set of an event's admission (R20); the controller does it within a second."""

from __future__ import annotations

from datetime import timedelta

from booking.domain.admission_control import AdmissionMode
from booking.domain.admission_control_signals import AdmissionSignals
from booking.domain.admission_desk import (
    AdmissionPicture,
    AdmissionWish,
    LoggedChange,
    SeenFigures,
    SetAdmission,
    wished,
)
from booking.domain.admission_outlook import Outlook, outlook
from booking.domain.admission_steering import RoomSight, take_over
from booking.domain.caller import Caller
from booking.domain.errors import EventNotFoundError, SettingsChangedError
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.read_events import MAX_EVENT_ID
from booking.services.refusals import key_use, raise_refusal, stale
from booking.store import admission_queries as queries
from booking.store.connection import Record
from booking.store.database import Database

STEERED_WITHIN = timedelta(seconds=5)
MOST_CHANGES = 500


async def read_admission(db: Database, event_id: int) -> AdmissionPicture:
    """Set beside measured.

    Raises:
        EventNotFoundError: there is no such event.
    """
    row = await _row(db, event_id)
    settings, state, room = queries.settings_of(row), queries.state_of(row), queries.room_of(row)
    shown = state if state is not None else take_over(None, settings.for_the_law(), room or RoomSight(url=""))
    decided_at = row["decided_at"]
    return AdmissionPicture(
        event_id=event_id, settings=settings, per_minute=shown.per_minute, good_per_minute=shown.law.good,
        reason=shown.reason, words=row["words"] or "", server_time=row["server_time"], decided_at=decided_at,
        is_steered=settings.version > 0 and decided_at is not None
        and row["server_time"] - decided_at < STEERED_WITHIN,
        figures=queries.figures_of(row), room=room, cause=queries.cause_of(row),
    )  # fmt: skip


async def change_admission(
    db: Database, caller: Caller, event_id: int, expected: int, wish: AdmissionWish, reason: str, *,
    key: str, digest: bytes,
) -> Outcome[AdmissionPicture]:  # fmt: skip
    """Set what is wished, from version `expected`; audited and in the log. It holds within a second.

    Raises:
        InvalidRequestError: naming the setting that cannot be.
        SettingsChangedError: somebody has changed them since.
        EventHasNoRoomError: a pause where no room has ever made itself known would stop nobody.
        EventNotFoundError, KeyReusedError, BusyError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    seen = queries.settings_of(await _row(db, event_id))
    is_seen = seen.version == expected
    # A wish is merged with what it was made from alone: anything else the key answers, or the version refuses.
    wanted = wished(seen, wish) if is_seen else seen
    answer = await queries.change_settings(
        db, caller, event_id, expected if is_seen else stale(expected), wanted, _most(wanted), reason, use
    )
    if answer.code == "settings-changed":
        raise SettingsChangedError("Admission was changed meanwhile. Read it again and decide anew.")
    await raise_refusal(db, answer, None)
    return Outcome(await read_admission(db, event_id), answer.replayed)


async def preview_admission(db: Database, event_id: int, wish: AdmissionWish) -> Outlook:
    """What a wish would give with the figures as they are now. Nothing changes.

    Raises:
        InvalidRequestError, EventNotFoundError: as for a change.
    """
    row = await _row(db, event_id)
    wanted = wished(queries.settings_of(row), wish).for_the_law()
    room, state = queries.room_of(row) or RoomSight(url=""), queries.state_of(row)
    begins = state if state is not None else take_over(None, wanted, room)
    return outlook(begins, wanted, _signals(queries.figures_of(row)), room.waiting, row["server_time"])


async def list_changes(db: Database, event_id: int, before: int | None, limit: int) -> list[LoggedChange]:
    """The log, newest first: `limit` lines before the one of this number.

    Raises:
        EventNotFoundError: there is no such event.
    """
    await _row(db, event_id)
    return await queries.list_changes(db, event_id, before, min(limit, MOST_CHANGES))


def _signals(seen: SeenFigures | None) -> AdmissionSignals:
    """The figures that were seen last; of an event that nobody looks at it is assumed that all is calm."""
    if seen is None:
        return AdmissionSignals(queue_age_ms=0.0)
    names = (name for name in AdmissionSignals.__dataclass_fields__ if name != "authority_away")
    return AdmissionSignals(**{name: getattr(seen, name) for name in names})


def _most(settings: SetAdmission) -> float:
    """The rate that the settings allow at most, at once."""
    most = {AdmissionMode.PAUSED: 0, AdmissionMode.MANUAL: settings.manual_per_minute}
    return float(most.get(settings.mode, settings.cap_per_minute))


async def _row(db: Database, event_id: int) -> Record:
    row = await queries.read_admission(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else None
    if row is None:
        raise EventNotFoundError("There is no such event.")
    return row
