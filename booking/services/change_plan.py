"""Put an event on another version of its plan while it is on sale (B7, I4).

Seats are matched by guid, and every version of a plan gives a guid the same number (seating_plan/numbering.py), so that
holds, orders, tickets and requests under way go on meaning the seats that they meant: nothing is renumbered and nothing
waits. A seat that is sold, being paid, held or kept back cannot go, and keeps its sale under another label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from booking.domain.caller import Caller
from booking.domain.control import PlanChangeReport, PlanWish
from booking.domain.errors import EventNotFoundError, FieldFault, InvalidRequestError, PlanConflictError
from booking.domain.model import EventId
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.read_events import MAX_EVENT_ID
from booking.services.refusals import key_use, raise_refusal
from booking.store import control_calls
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer

_WORDS: Final[Mapping[str, str]] = {
    "taken": "The new plan lacks seats that are sold, being paid, held or kept back.",
    "in-orders": "The older plan has no number for seats that orders name.",
    "recategorised": "The new plan changes the price category of seats that are in a sale.",
    "unpriced": "The new plan puts seats into a category that has no prices in this event.",
    "misnumbered": "That version numbers its seats in another way.",
}


class _Report(msgspec.Struct, frozen=True):
    kept: int
    added: int
    removed: int
    relabelled: tuple[int, ...]


async def change_plan(
    db: Database, caller: Caller, wish: PlanWish, *, key: str, digest: bytes
) -> Outcome[PlanChangeReport]:
    """Change the plan, or say what the change would do.

    Raises:
        PlanConflictError: with every seat that is in the way; nothing has changed.
        InvalidRequestError: the plan has no such version.
        SettingsChangedError: the event has another version than the one named.
        EventStateConflictError: the event is cancelled.
        EventNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": wish.reason})
    before = await _plan(db, wish.event_id)
    answer = await control_calls.change_plan(db, caller, replace(wish, reason=reason), use)
    if answer.code == "plan-conflict":
        labels = await db.seat_labels.refs(before["plan_id"], before["plan_version"], answer.seats)
        raise PlanConflictError(_WORDS[answer.detail], seats=labels)
    if answer.code == "invalid-request":
        raise InvalidRequestError(
            "There is no such plan.", fields=(FieldFault("/plan_version", "the plan has no such version"),)
        )
    await raise_refusal(db, answer, None)
    return Outcome(await _report(db, before, wish, answer), answer.replayed)


async def _report(db: Database, before: Record, wish: PlanWish, answer: SaleAnswer) -> PlanChangeReport:
    report = msgspec.json.decode(answer.detail, type=_Report)
    return PlanChangeReport(
        event_id=EventId(wish.event_id),
        plan_version=wish.plan_version,
        applied=not wish.dry_run,
        kept=report.kept,
        added=report.added,
        removed=report.removed,
        relabelled=await db.seat_labels.refs(before["plan_id"], wish.plan_version, report.relabelled),
    )


async def _plan(db: Database, event_id: int) -> Record:
    row = await control_calls.read_event_plan(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else None
    if row is None:
        raise EventNotFoundError("There is no such event.")
    return row
