"""A draft as the plan canvas draws it, and what is chosen on the canvas as the draft names it."""

from __future__ import annotations

from app.core.plan_draft import DraftRow, DraftShape, DraftTable, PlanDraft, Selection
from app.core.plan_faults import PlanFault, bounds_of
from app.core.plan_file import text_place
from app.i18n import _, figures
from widgets.plan_canvas import CanvasRow, CanvasScene, CanvasSeat, CanvasShape, Chosen
from widgets.plan_canvas.scene import CanvasTable

GRID = 5.0
_LETTER_SHARE = 0.58
_RESIZABLE = frozenset({"rectangle", "circle", "ellipse"})


def plan_scene(draft: PlanDraft, faults: tuple[PlanFault, ...]) -> CanvasScene:
    """The whole draft; seats that a fault (no mere warning) is about are ringed."""
    colors = {category.category_id: category.color[:7] for category in draft.categories}
    names = {category.category_id: category.name for category in draft.categories}
    sections = {section.section_id: section.name for section in draft.sections}
    wrong = frozenset[str]().union(*(fault.where.seats for fault in faults if not fault.is_warning))
    standing = {area.area.shape_id: area.name for area in draft.standing}
    return CanvasScene(
        draft.width,
        draft.height,
        draft.seat_radius,
        tuple(_row(row, sections.get(row.section_id, ""), colors, names) for row in draft.rows),
        tuple(_shape(shape, standing.get(shape.shape_id)) for shape in draft.all_shapes),
        GRID,
        wrong,
    )


def chosen_of(selection: Selection) -> Chosen:
    """The draft's choice as the canvas has it."""
    return Chosen(selection.rows, selection.seats, selection.shapes)


def selection_of(chosen: Chosen) -> Selection:
    """The canvas's choice as the draft has it."""
    return Selection(chosen.rows, chosen.seats, chosen.shapes)


def row_name(row: DraftRow, section: str) -> str:
    """`Stalls · Row A`, spoken and as a title."""
    parts = [section] if section else []
    parts.append(_("Row {row}").format(row=row.label) if row.label.strip() else _("Row without a name"))
    return figures().joined(parts)


def _row(row: DraftRow, section: str, colors: dict[int, str], names: dict[int, str]) -> CanvasRow:
    line = row.line
    name = row_name(row, section)
    seats = tuple(
        CanvasSeat(
            seat.guid, seat.x, seat.y, colors.get(seat.category_id, ""), seat.number, int(seat.marks),
            figures().joined(
                [name, _("Seat {seat}").format(seat=seat.number), names.get(seat.category_id, _("No category"))]
            ),
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
    )


def _table(table: DraftTable) -> CanvasTable:
    return CanvasTable(table.shape, table.x, table.y, table.width, table.height, table.rotation)


def _shape(shape: DraftShape, standing_name: str | None) -> CanvasShape:
    text = shape.text if standing_name is None else standing_name
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
        text or _("Shape"),
        shape.points,
        shape.rotation,
        shape.color,
        text,
        text_place(shape),
        shape.text_size,
        bounds,
        shape.shape in _RESIZABLE and not shape.rotation and standing_name is None,
    )
