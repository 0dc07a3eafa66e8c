"""Floors of a hall: levels that are drawn over each other and shown one at a time. Each edit gives the next draft.

A plan without floors has one level that nobody names. Sections, shapes, standing areas and pictures are on a floor;
rows and their seats are where their section is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from app.core.plan_draft import EVERY_FLOOR, DraftSection, PlanDraft, Selection

MAX_FLOORS: Final = 50


def floor_count(draft: PlanDraft) -> int:
    """How many levels there are, named or not."""
    return max(1, len(draft.floors))


def shown_on(draft: PlanDraft, floor_no: int) -> int:
    """The floor where something is shown: what is on none that the plan has shows on the first, to be put right."""
    return floor_no if 0 <= floor_no < floor_count(draft) else 0


def is_on(draft: PlanDraft, own: int, floor_no: int) -> bool:
    """Whether something whose floor is `own` shows on a floor: what is on every floor shows on each."""
    return own == EVERY_FLOOR or shown_on(draft, own) == floor_no


def floor_of_row(draft: PlanDraft, section_id: int) -> int:
    """The floor where the rows of a section are shown."""
    section = draft.section(section_id)
    return 0 if section is None else shown_on(draft, section.floor_no)


def things_on(draft: PlanDraft, floor_no: int) -> Selection:
    """Everything on a floor: its rows, shapes, standing areas and pictures."""
    sections = {one.section_id for one in draft.sections if shown_on(draft, one.floor_no) == floor_no}
    shapes = {shape.shape_id for shape in draft.all_shapes if is_on(draft, shape.floor_no, floor_no)}
    shapes |= {one.picture_id for one in draft.pictures if is_on(draft, one.floor_no, floor_no)}
    return Selection(
        frozenset(row.row_id for row in draft.rows if row.section_id in sections), shapes=frozenset(shapes)
    )


def floor_of(draft: PlanDraft, selection: Selection) -> int | None:
    """The floor of the first thing that is chosen; None of nothing, and of what is on every floor."""
    for row in draft.rows:
        if row.row_id in selection.rows or any(seat.guid in selection.seats for seat in row.seats):
            return floor_of_row(draft, row.section_id)
    for shape in draft.all_shapes:
        if shape.shape_id in selection.shapes and shape.floor_no != EVERY_FLOOR:
            return shown_on(draft, shape.floor_no)
    return next((shown_on(draft, one.floor_no) for one in draft.pictures if one.picture_id in selection.shapes), None)


def add_floor(draft: PlanDraft, first_name: str, name: str) -> PlanDraft:
    """One more level, above the others; the only level of a plan without floors gets `first_name`."""
    floors = draft.floors or (first_name,)
    return draft if len(floors) >= MAX_FLOORS else replace(draft, floors=(*floors, name))


def rename_floor(draft: PlanDraft, floor_no: int, name: str) -> PlanDraft:
    """Another name for a floor."""
    return replace(draft, floors=tuple(name if no == floor_no else one for no, one in enumerate(draft.floors)))


def may_remove_floor(draft: PlanDraft, floor_no: int) -> bool:
    """Whether nothing is on the floor any more, not even a section without rows."""
    homes = [section.floor_no for section in draft.sections]
    homes += [shape.floor_no for shape in draft.all_shapes] + [picture.floor_no for picture in draft.pictures]
    is_home = any(own != EVERY_FLOOR and shown_on(draft, own) == floor_no for own in homes)
    return len(draft.floors) > 1 and 0 <= floor_no < len(draft.floors) and not is_home


def remove_floor(draft: PlanDraft, floor_no: int) -> PlanDraft:
    """An empty floor goes; what is above moves down by one. A single level that is left needs no name."""
    if not may_remove_floor(draft, floor_no):
        return draft
    floors = tuple(name for number, name in enumerate(draft.floors) if number != floor_no)
    moved = _each_floor(draft, lambda number: number - 1 if number > floor_no else number)
    return replace(moved, floors=floors if len(floors) > 1 else ())


def move_floor(draft: PlanDraft, floor_no: int, by: int) -> PlanDraft:
    """A floor changes places with the one above (`by` 1) or below (-1), with everything on it."""
    other = floor_no + by
    if not (0 <= floor_no < len(draft.floors) and 0 <= other < len(draft.floors)):
        return draft
    names = list(draft.floors)
    names[floor_no], names[other] = names[other], names[floor_no]
    turned = {floor_no: other, other: floor_no}
    return replace(_each_floor(draft, lambda number: turned.get(number, number)), floors=tuple(names))


def move_section_to_floor(draft: PlanDraft, section_id: int, floor_no: int) -> PlanDraft:
    """A section with all of its rows."""
    if not 0 <= floor_no < floor_count(draft):
        return draft
    sections = tuple(replace(one, floor_no=floor_no) if one.section_id == section_id else one for one in draft.sections)
    return replace(draft, sections=sections)


def put_on_every_floor(draft: PlanDraft, selection: Selection) -> PlanDraft:
    """Chosen shapes are shown on each floor, such as a lift; rows, standing areas and pictures are on one."""
    shapes = tuple(
        replace(one, floor_no=EVERY_FLOOR) if one.shape_id in selection.shapes else one for one in draft.shapes
    )
    return replace(draft, shapes=shapes) if draft.floors else draft


def move_to_floor(draft: PlanDraft, selection: Selection, floor_no: int) -> PlanDraft:
    """Chosen rows, shapes and pictures. A section whose rows are all chosen goes as a whole; of another one the chosen
    rows go into a section of that floor, which is made where there is none. Single seats stay in their row.
    """
    if not 0 <= floor_no < floor_count(draft):
        return draft
    for section in draft.sections:
        own = {row.row_id for row in draft.rows_of(section.section_id)}
        chosen = own & selection.rows
        if not chosen or section.floor_no == floor_no:
            continue
        draft = (
            move_section_to_floor(draft, section.section_id, floor_no)
            if chosen == own
            else _rows_apart(draft, section, chosen, floor_no)
        )
    return replace(
        draft,
        shapes=tuple(
            replace(one, floor_no=floor_no) if one.shape_id in selection.shapes else one for one in draft.shapes
        ),
        standing=tuple(
            replace(one, area=replace(one.area, floor_no=floor_no)) if one.area.shape_id in selection.shapes else one
            for one in draft.standing
        ),
        pictures=tuple(
            replace(one, floor_no=floor_no) if one.picture_id in selection.shapes else one for one in draft.pictures
        ),
    )


def _rows_apart(draft: PlanDraft, section: DraftSection, row_ids: set[int], floor_no: int) -> PlanDraft:
    """Some rows of a section on another floor, in a section there that is called after both."""
    name = f"{section.name.strip()} {draft.floors[floor_no].strip() or floor_no + 1}".strip()
    home = next((one for one in draft.sections if one.floor_no == floor_no and one.name.strip() == name), None)
    if home is None:
        home = DraftSection(draft.next_id, name, "", floor_no)
        draft = replace(draft, sections=(*draft.sections, home), next_id=draft.next_id + 1)
    rows = tuple(replace(row, section_id=home.section_id) if row.row_id in row_ids else row for row in draft.rows)
    return replace(draft, rows=rows)


def _each_floor(draft: PlanDraft, changed: Callable[[int], int]) -> PlanDraft:
    """Everything on the floor that its number becomes."""
    return replace(
        draft,
        sections=tuple(replace(one, floor_no=changed(one.floor_no)) for one in draft.sections),
        shapes=tuple(replace(one, floor_no=changed(one.floor_no)) for one in draft.shapes),
        standing=tuple(
            replace(one, area=replace(one.area, floor_no=changed(one.area.floor_no))) for one in draft.standing
        ),
        pictures=tuple(replace(one, floor_no=changed(one.floor_no)) for one in draft.pictures),
    )
