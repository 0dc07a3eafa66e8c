"""A draft as the plan canvas draws it, one floor at a time, and what is chosen on the canvas as the draft names it."""

from __future__ import annotations

from typing import Final

from app.core.plan_areas import bounds_of
from app.core.plan_draft import DraftPicture, DraftRow, DraftShape, DraftTable, PlanDraft, Selection
from app.core.plan_faults import PlanFault
from app.core.plan_file import text_place
from app.core.plan_floors import floor_of_row, is_on
from app.core.plan_focus import FocusSource, focus_of
from app.core.plan_memo import Memo
from app.core.plan_neighbours import aisles_of
from app.core.plan_restore import TakenSeat
from app.i18n import _, current_language, figures
from app.models import place_words
from backend_client.plan_names import BOOTH
from widgets.plan_canvas import (
    CanvasFocus,
    CanvasPicture,
    CanvasRow,
    CanvasScene,
    CanvasSeat,
    CanvasShape,
    Chosen,
)
from widgets.plan_canvas.scene import CanvasTable

GRID = 5.0
_LETTER_SHARE = 0.58
_RESIZABLE = frozenset({"rectangle", "circle", "ellipse"})
_ROWS: Final[Memo[DraftRow, CanvasRow]] = Memo()
"""Rows as they were drawn last; a row that an edit leaves alone is not made anew."""


def plan_scene(
    draft: PlanDraft,
    faults: tuple[PlanFault, ...],
    floor_no: int = 0,
    *,
    with_neighbours: bool = False,
    with_focus: bool = True,
    lost: tuple[TakenSeat, ...] = (),
) -> CanvasScene:
    """One floor; seats that a fault (no mere warning) is about are ringed, those of `lost` show where they were."""
    colors = {category.category_id: category.color[:7] for category in draft.categories}
    names = {category.category_id: category.name for category in draft.categories}
    sections = {section.section_id: section.name for section in draft.sections}
    floors = {section.section_id: floor_of_row(draft, section.section_id) for section in draft.sections}
    wrong = frozenset[str]().union(*(fault.where.seats for fault in faults if not fault.is_warning))
    standing = {area.area.shape_id: area.name for area in draft.standing}
    every_row = _ROWS.of(
        draft.rows,
        lambda row: _row(row, sections.get(row.section_id, ""), colors, names),
        (colors, names, sections, current_language()),
    )
    (x, y), source = focus_of(draft)
    return CanvasScene(
        draft.width,
        draft.height,
        draft.seat_radius,
        tuple(
            made for row, made in zip(draft.rows, every_row, strict=True) if floors.get(row.section_id, 0) == floor_no
        ),
        tuple(
            _shape(shape, standing.get(shape.shape_id))
            for shape in draft.all_shapes
            if is_on(draft, shape.floor_no, floor_no)
        ),
        GRID,
        wrong,
        tuple(_picture(one) for one in draft.pictures if is_on(draft, one.floor_no, floor_no)),
        CanvasFocus(x, y, source is not FocusSource.PLAN) if with_focus else None,
        aisles_of(draft) if with_neighbours else None,
        tuple(
            CanvasSeat(f"lost {seat.guid}", *seat.place, "", seat.ref.number, 0, seat.ref.number)
            for seat in lost
            if seat.place is not None and seat.floor_no == floor_no
        ),
    )


def chosen_of(selection: Selection) -> Chosen:
    """The draft's choice as the canvas has it."""
    return Chosen(selection.rows, selection.seats, selection.shapes)


def selection_of(chosen: Chosen) -> Selection:
    """The canvas's choice as the draft has it."""
    return Selection(chosen.rows, chosen.seats, chosen.shapes)


def row_name(row: DraftRow, section: str) -> str:
    """`Stalls · Row A`, `Stalls · Table T1`; spoken and as a title. A booth may have its name from its one seat."""
    kind = "" if row.table is None else row.table.kind
    label = "".join(seat.number for seat in row.seats[:1]) if _is_called_by_seat(row) else row.label
    return figures().joined((section, place_words.row_name(label, kind) if label.strip() else _("Row without a name")))


def _is_called_by_seat(row: DraftRow) -> bool:
    return row.table is not None and row.table.kind == BOOTH and not row.label.strip()


def _row(row: DraftRow, section: str, colors: dict[int, str], names: dict[int, str]) -> CanvasRow:
    line = row.line
    name, none = row_name(row, section), _("No category")
    seat_words, joined = "" if _is_called_by_seat(row) else _("Seat {seat}"), figures().joined
    seats = tuple(
        CanvasSeat(
            seat.guid, seat.x, seat.y, colors.get(seat.category_id, ""), seat.number, int(seat.marks),
            joined([name, seat_words.format(seat=seat.number), names.get(seat.category_id, none)]),
        )
        for seat in row.seats
    )  # fmt: skip
    can_bend = line is not None and len(row.seats) > 2 and row.table is None
    return CanvasRow(
        row.row_id,
        row.label,
        name,
        seats,
        line.middle if line is not None and can_bend else None,
        line.bend if line is not None and can_bend else 0.0,
        row.label_position,
        None if row.table is None else _table(row.table),
    ).placed()


def _table(table: DraftTable) -> CanvasTable:
    return CanvasTable(table.shape, table.x, table.y, table.width, table.height, table.rotation)


def _picture(picture: DraftPicture) -> CanvasPicture:
    opacity = 1.0 if picture.opacity is None else picture.opacity
    return CanvasPicture(
        picture.picture_id, picture.image, picture.x, picture.y, picture.width, picture.height, opacity,
        _("Picture under the drawing"),
    )  # fmt: skip


def _shape(shape: DraftShape, standing_name: str | None) -> CanvasShape:
    text = shape.text if standing_name is None else standing_name
    name = text or _("Shape")
    if standing_name is not None:
        name = figures().joined([_("Standing places"), standing_name or "–"])
    bounds = bounds_of(shape)
    if shape.shape == "text":
        half = max(len(text), 1) * shape.text_size * _LETTER_SHARE / 2
        bounds = shape.x - half, shape.y - shape.text_size * 0.6, shape.x + half, shape.y + shape.text_size * 0.6
    return CanvasShape(
        shape.shape_id,
        shape.shape,
        shape.x,
        shape.y,
        shape.width,
        shape.height,
        name,
        shape.points,
        shape.rotation,
        shape.color,
        text,
        text_place(shape),
        shape.text_size,
        bounds,
        shape.shape in _RESIZABLE and not shape.rotation,
        standing_name is not None,
    )
