"""Seats that keep an event on an older version of its plan: where they are, or were, and how they come back (I4).

A seat is who it is by its guid: under another name or at another place it keeps its sale, and only one that is gone is
in the way. `source` is the version that the event is on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.core.plan_draft import NO_CATEGORY, DraftRow, DraftSeat, PlanDraft
from app.core.plan_floors import floor_count, floor_of_row
from app.core.plan_geometry import Place
from backend_client.wire import SeatRef

SeatName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TakenSeat:
    """One seat in the way. `guid` and `place` (plan units) are known when the older version is; else empty, None."""

    ref: SeatRef
    guid: str = ""
    place: Place | None = None
    floor_no: int = 0


def taken_seats(refs: Iterable[SeatRef], source: PlanDraft) -> tuple[TakenSeat, ...]:
    """The seats that people call so in `source`, in the order in which they are named."""
    found = {name: (seat, floor_no) for name, seat, floor_no in _named_seats(source)}
    return tuple(_taken(ref, found.get((ref.section, ref.row, ref.number))) for ref in refs)


def _taken(ref: SeatRef, found: tuple[DraftSeat, int] | None) -> TakenSeat:
    return TakenSeat(ref) if found is None else TakenSeat(ref, found[0].guid, found[0].place, found[1])


def _named_seats(draft: PlanDraft) -> Iterable[tuple[SeatName, DraftSeat, int]]:
    names = {section.section_id: section.name.strip() for section in draft.sections}
    for row in draft.rows:
        floor_no = floor_of_row(draft, row.section_id)
        for seat in row.seats:
            yield (names.get(row.section_id, ""), row.label.strip(), seat.number.strip()), seat, floor_no


def restored(draft: PlanDraft, source: PlanDraft, guids: Iterable[str]) -> PlanDraft:
    """The draft with these seats as `source` has them, each in its row and at its place in it.

    Row, section and category are found by name, and made as `source` has them where they are gone too. A seat that the
    draft has stays as it is.
    """
    present = {seat.guid for row in draft.rows for seat in row.seats}
    wanted = set(guids) - present
    for row in source.rows:
        lost = [seat for seat in row.seats if seat.guid in wanted]
        if lost:
            draft = _with_row(draft, source, row, lost)
    return draft


def _with_row(draft: PlanDraft, source: PlanDraft, row: DraftRow, lost: list[DraftSeat]) -> PlanDraft:
    draft, section_id = _section_like(draft, source, row)
    home = _row_like(draft, section_id, row)
    seats = list(home.seats) if home is not None else []
    for seat in lost:
        draft, category_id = _category_like(draft, source, seat)
        seats.insert(_place_in(seats, row, seat), replace(seat, category_id=category_id))
    if home is None:
        made = replace(row, row_id=draft.next_id, section_id=section_id, seats=tuple(seats))
        return replace(draft, rows=(*draft.rows, made), next_id=draft.next_id + 1)
    changed = replace(home, seats=tuple(seats))
    return replace(draft, rows=tuple(changed if one is home else one for one in draft.rows))


def _row_like(draft: PlanDraft, section_id: int, row: DraftRow) -> DraftRow | None:
    """The row where the others of it are now, else the one of its name."""
    own = {seat.guid for seat in row.seats}
    for one in draft.rows:
        if any(seat.guid in own for seat in one.seats):
            return one
    label = row.label.strip()
    return next((one for one in draft.rows_of(section_id) if one.label.strip() == label and label), None)


def _place_in(seats: list[DraftSeat], row: DraftRow, seat: DraftSeat) -> int:
    """Behind the nearest seat before it in its old row that is still here; in front of all without one."""
    places = {one.guid: place for place, one in enumerate(seats)}
    before = [one.guid for one in row.seats[: row.seats.index(seat)] if one.guid in places]
    return places[before[-1]] + 1 if before else 0


def _section_like(draft: PlanDraft, source: PlanDraft, row: DraftRow) -> tuple[PlanDraft, int]:
    old = source.section(row.section_id)
    if old is None:
        return draft, draft.sections[0].section_id if draft.sections else 0
    found = next((one for one in draft.sections if one.name.strip() == old.name.strip()), None)
    if found is not None:
        return draft, found.section_id
    floor_no = old.floor_no if old.floor_no < floor_count(draft) else 0
    made = replace(old, section_id=draft.next_id, floor_no=floor_no)
    return replace(draft, sections=(*draft.sections, made), next_id=draft.next_id + 1), made.section_id


def _category_like(draft: PlanDraft, source: PlanDraft, seat: DraftSeat) -> tuple[PlanDraft, int]:
    old = source.category(seat.category_id)
    if old is None:
        return draft, NO_CATEGORY
    found = next((one for one in draft.categories if one.name.strip() == old.name.strip()), None)
    if found is not None:
        return draft, found.category_id
    made = replace(old, category_id=draft.next_id)
    return replace(draft, categories=(*draft.categories, made), next_id=draft.next_id + 1), made.category_id
