"""What a drawn line or frame becomes: rows that go on from those that are there, a text."""

from __future__ import annotations

import math

from app.actions.load_plan import new_guid
from app.core import plan_edits as edits
from app.core.plan_draft import NO_CATEGORY, DraftRow, DraftShape, PlanDraft, Selection
from app.core.plan_geometry import Place, RowLine
from app.core.plan_numbering import CONFUSED_LETTERS, Counting, Numbering, numbering_of
from app.i18n import _
from app.screens.plan_page import free_name

ROW_DISTANCE = 1.5
"""Between two rows, as a share of the distance between two seats."""


def rows_in(
    draft: PlanDraft, selection: Selection, start: Place, end: Place, *, block: bool
) -> tuple[PlanDraft, Selection]:
    """A row from `start` to `end`, or a block of rows in the frame between them; what was made is chosen.

    Section, category and numbers are those of the row that is chosen, or of the last one; labels go on.
    """
    if not draft.sections:
        draft = edits.add_section(draft, free_name(_("Section"), set()))
    pattern = _pattern(draft, selection)
    section_id = draft.sections[-1].section_id if pattern is None else pattern.section_id
    lines = _lines_in(draft, start, end) if block else (RowLine(start, end),)
    count = max(1, math.floor(lines[0].chord / draft.distance + 1e-6) + 1)
    labels = next_labels(draft, section_id, len(lines))
    first_id = draft.next_id
    made = edits.add_rows(
        draft, section_id, lines, [count] * len(lines), labels, _category(draft, pattern), _numbering(pattern), new_guid
    )
    return made, Selection(frozenset(range(first_id, made.next_id)))


def text_at(draft: PlanDraft, place: Place, words: str) -> tuple[PlanDraft, Selection]:
    """A text with its middle at `place`; it is chosen."""
    shape = DraftShape(0, "text", *place, text=words)
    return edits.add_shape(draft, shape), Selection(shapes=frozenset({draft.next_id}))


def next_labels(draft: PlanDraft, section_id: int, count: int) -> tuple[str, ...]:
    """Labels that go on from the section's last row; letters without I and O where there are none yet."""
    taken = {row.label for row in draft.rows_of(section_id)}
    known = tuple(row.label for row in draft.rows_of(section_id))
    scheme = numbering_of(known) if known else None
    if scheme is None or scheme.backwards or scheme.counting is Counting.FROM_MIDDLE:
        scheme = Numbering(Counting.LETTERS, skipped=CONFUSED_LETTERS)
    labels = [label for label in scheme.labels(len(taken) + count + len(known)) if label not in taken]
    return tuple(labels[:count])


def _lines_in(draft: PlanDraft, start: Place, end: Place) -> tuple[RowLine, ...]:
    """Level lines from the top of a frame to its foot, as many as fit."""
    left, right = sorted((start[0], end[0]))
    top, foot = sorted((start[1], end[1]))
    step = draft.distance * ROW_DISTANCE
    count = min(max(1, math.floor((foot - top) / step + 1e-6) + 1), edits.MAX_ROWS_AT_ONCE)
    seats = max(1, math.floor((right - left) / draft.distance + 1e-6))
    right = left + seats * draft.distance
    return tuple(RowLine((left, top + step * number), (right, top + step * number)) for number in range(count))


def _pattern(draft: PlanDraft, selection: Selection) -> DraftRow | None:
    chosen = [row for row in draft.rows if row.row_id in selection.rows]
    rows = chosen or list(draft.rows)
    return rows[-1] if rows else None


def _category(draft: PlanDraft, pattern: DraftRow | None) -> int:
    if pattern is not None and pattern.seats:
        return pattern.seats[0].category_id
    return draft.categories[0].category_id if draft.categories else NO_CATEGORY


def _numbering(pattern: DraftRow | None) -> Numbering:
    found = None if pattern is None else numbering_of(tuple(seat.number for seat in pattern.seats))
    return found or Numbering()
