"""What operators do to an event while it is on sale: settings, pause, resume, cancel.

Each change names the version that it was made from, so that nobody overwrites what he has not seen, and is audited:
who, when, from, to, why. Sales read an event and never lock it; a pause or a cancellation waits until the sales that
began before it have ended, so that nothing of the old state comes after its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from booking.domain.caller import Caller
from booking.domain.control import EventSettings, SettingsChange
from booking.domain.errors import EventNotFoundError, FieldFault, ForbiddenError, InvalidRequestError
from booking.domain.model import MAX_AMOUNT_MINOR, EventDetail, EventId, EventStatus, OrphanRule
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.read_events import MAX_EVENT_ID, read_event
from booking.services.refusals import key_use, raise_refusal
from booking.store import control_calls
from booking.store.database import Database

BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "hold_ttl_s": (1, 900),
    "grace_s": (0, 900),
    "max_per_account": (1, 10_000),
    "max_per_card": (1, 10_000),
    "max_open_holds_till": (1, 1_000),
    "paying_cap": (1, 1_000_000),
    "max_refund_by_clerk_minor": (0, MAX_AMOUNT_MINOR),
}
"""Least and greatest value of each setting that is a number."""

_SALES_END_WITHIN_S = 6.0  # longer than any lane or sale may run
_LOOK_EVERY_S = 0.01
_SALES_AT_A_TIME = 100
_PASSES = 50


async def read_settings(db: Database, event_id: int) -> EventSettings:
    """The settings of an event, with the version that a change must name.

    Raises:
        EventNotFoundError: there is no such event.
    """
    row = await control_calls.read_event_settings(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else None
    if row is None:
        raise EventNotFoundError("There is no such event.")
    values = dict(row)
    return EventSettings(
        event_id=EventId(values.pop("event_id")), orphan_rule=OrphanRule(values.pop("orphan_rule")), **values
    )


async def change_settings(
    db: Database, caller: Caller, event_id: int, expected: int, change: SettingsChange, reason: str, *,
    key: str, digest: bytes,
) -> Outcome[EventSettings]:  # fmt: skip
    """Change the settings that are given; the others stay. Holds that are open keep their deadlines (R4).

    Raises:
        InvalidRequestError: no setting is given, one is out of bounds, or holds would end before they can be paid.
        SettingsChangedError: the event has another version than `expected`.
        EventStateConflictError: the event is cancelled.
        ForbiddenError: what clerks may give back is set by supervisors and admins.
        EventNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    _check(change)
    _check_event_id(event_id)
    if change.max_refund_by_clerk_minor is not None and not caller.acts_for_all:
        raise ForbiddenError("What clerks may give back is set by supervisors.")
    answer = await control_calls.change_settings(db, caller, event_id, expected, change.given(), reason, use)
    await raise_refusal(db, answer, None)
    return Outcome(await read_settings(db, event_id), answer.replayed)


async def change_status(
    db: Database, caller: Caller, event_id: int, expected: int, status: EventStatus, reason: str, *,
    key: str, digest: bytes,
) -> Outcome[EventDetail]:  # fmt: skip
    """Pause, resume or cancel an event.

    PAUSED: no new holds; sales under way may finish. CANCELLED: nothing new; unpaid sales end and their seats are free,
    except where a charge may have taken money: its result decides, and a success is given back. Confirmed orders stay.
    When the answer comes, no hold that was begun before it is still to be made. The same key goes on with a
    cancellation whose answer was lost.

    Raises:
        SettingsChangedError: the event has another version than `expected`.
        EventStateConflictError: it has that status, or is cancelled.
        EventNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    _check_event_id(event_id)
    answer = await control_calls.change_event_status(db, caller, event_id, expected, status, reason, use)
    await raise_refusal(db, answer, None)
    if status is not EventStatus.ON_SALE:
        await wait_for_sales_under_way(db)
    if status is EventStatus.CANCELLED:
        await _end_unpaid_sales(db, event_id)
    return Outcome(await read_event(db, event_id), answer.replayed)


async def wait_for_sales_under_way(db: Database) -> None:
    """Return when every transaction that began before now has ended: those that run then see what was committed."""
    instant = await control_calls.read_server_clock(db)
    within = timedelta(seconds=_SALES_END_WITHIN_S)
    # Sales that outlive their own limits have been ended by the server: no need to wait longer.
    until = asyncio.get_running_loop().time() + _SALES_END_WITHIN_S
    while await control_calls.sales_begun_before(db, instant, within):
        if asyncio.get_running_loop().time() > until:
            return
        await asyncio.sleep(_LOOK_EVERY_S)


async def _end_unpaid_sales(db: Database, event_id: int) -> None:
    """What somebody holds locked is tried again; what stays locked for long ends with its time."""
    for _ in range(_PASSES):
        ended, remaining = await control_calls.end_cancelled_sales(db, event_id, _SALES_AT_A_TIME)
        while ended:
            ended, remaining = await control_calls.end_cancelled_sales(db, event_id, _SALES_AT_A_TIME)
        if not remaining:
            return
        await asyncio.sleep(_LOOK_EVERY_S)


def _check_event_id(event_id: int) -> None:
    if not 0 <= event_id <= MAX_EVENT_ID:
        raise EventNotFoundError("There is no such event.")


def _check(change: SettingsChange) -> None:
    given = change.given()
    faults = [
        FieldFault(f"/{name}", f"a whole number from {least} to {most}")
        for name, (least, most) in BOUNDS.items()
        if name in given and not (type(given[name]) is int and least <= given[name] <= most)
    ]
    if not given:
        faults.append(FieldFault("", "name one setting at least"))
    if faults:
        raise InvalidRequestError("The settings cannot be changed like this.", fields=tuple(faults))
