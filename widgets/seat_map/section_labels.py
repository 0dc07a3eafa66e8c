"""Names of sections with their free seats, seen from afar.

They are painted with the overlays, never into the seats' picture, so that a changed seat does not disturb them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from widgets.seat_map.beds import Bed
from widgets.seat_map.camera import Bounds, Camera
from widgets.seat_map.glyphs import draw_fragments
from widgets.seat_map.label_room import Boxes, Flags, LabelRoom, touching
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.pills import PillForm, PillSheet, pill_sizes
from widgets.seat_map.plan import Indices, SeatMapPlan

_HIGH_SHARE = 0.72  # of a section's height that a pill may take
_MOST_SHARE = 0.7  # of all sections that must have room for a form


class SectionLabels:
    """Which sections carry a label for a camera, and where. Logical px.

    Most sections take the same form, the richest that most of them have room for beside their neighbours, so that the
    map reads evenly; a section that is left without one says less rather than nothing.
    """

    def __init__(
        self, plan: SeatMapPlan, beds: tuple[Bed, ...], palette: MapPalette, write_count: Callable[[int], str]
    ) -> None:
        bounds = _bounds_by_section(beds)
        self._names = plan.section_name
        self._palette = palette
        self._write_count = write_count
        extent = np.array([(box.width, box.height) for box in bounds.values()]).reshape(-1, 2)
        places = np.array([_label_place(plan, section, box) for section, box in bounds.items()]).reshape(-1, 2)
        order = _large_first(extent)
        self._sections = np.array(list(bounds), np.intp)[order]
        self._extent, self._middle = extent[order], places[order]
        names = [self._names[section] for section in self._sections.tolist()]
        self._sizes = {form: pill_sizes(names, form, palette) for form in PillForm}
        self._room = {form: LabelRoom(self._middle, self._sizes[form]) for form in PillForm}
        self._counts: list[int] = [0] * len(self._names)
        self._laid_for = (0.0, 0.0)
        self._groups: list[_Group] = []
        self._sheets: dict[PillForm, PillSheet] = {}

    @property
    def shows_counts(self) -> bool:
        """Whether a present form tells the number of free seats."""
        return any(group.form is PillForm.NAME_AND_COUNT for group in self._groups)

    @property
    def placed(self) -> dict[int, QRect]:
        """Sections that carry a label now, and its rectangle."""
        return {
            section: QRect(*box)
            for group in self._groups
            for section, box in zip(group.sections.tolist(), group.boxes.tolist(), strict=True)
        }

    def place(self, camera: Camera, dpr: float) -> None:
        """Choose the forms, and the sections that have room for them, for this camera."""
        if (camera.scale, dpr) != self._laid_for:
            self._laid_for = camera.scale, dpr
            self._lay_out(camera.scale, dpr)
        for group in self._groups:
            group.place(np.rint(group.corners + camera.to_px(0.0, 0.0)), dpr)

    def set_counts(self, counts: npt.NDArray[np.intp]) -> list[QRect]:
        """New numbers of free seats; rectangles of the labels that must be painted again."""
        before, self._counts = self._counts, counts.tolist()
        changed = [section for section, count in enumerate(self._counts) if count != before[section]]
        stale: list[QRect] = []
        if PillForm.NAME_AND_COUNT in self._sheets:
            self._sheets[PillForm.NAME_AND_COUNT].forget(changed)
        for group in self._groups:
            if changed and group.form is PillForm.NAME_AND_COUNT:
                self._draw(group.sheet, group.sections, group.sizes)
                stale += [QRect(*group.boxes[at].tolist()) for at in group.places_of(changed)]
        return stale

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed labels that touch the clip."""
        painter.save()
        painter.scale(1 / dpr, 1 / dpr)
        for group in self._groups:
            draw_fragments(painter, group.touching(clip), group.sheet.pixmap)
        painter.restore()

    def _lay_out(self, scale: float, dpr: float) -> None:
        """Corners relative to the plan's origin, px; the same for every place of the camera at this scale."""
        taken = np.empty((0, 4))
        waiting = np.ones(len(self._sections), np.bool_)
        self._groups = []
        forms = list(PillForm)
        first, kept = self._first_form(scale)
        for form in forms[first:]:
            boxes, fits = self._boxes(form, scale)
            if form is not forms[first]:
                kept = self._left_over(form, scale, fits & waiting, taken)
            waiting &= ~kept
            taken = np.concatenate((taken, boxes[kept]))
            self._add_group(form, dpr, boxes[kept, :2], kept)

    def _add_group(self, form: PillForm, dpr: float, corners: Boxes, kept: Flags) -> None:
        sections, sizes = self._sections[kept], self._sizes[form][kept]
        sheet = self._keep_sheet(form, dpr, sections)
        self._draw(sheet, sections, sizes)
        self._groups.append(_Group(form, sheet, sections, corners, sizes))

    def _left_over(self, form: PillForm, scale: float, wished: Flags, taken: Boxes) -> Flags:
        """Of the sections without a label, those that have room beside the labels of richer forms."""
        at = np.flatnonzero(wished)
        if len(at) and len(taken):
            boxes, _ = self._boxes(form, scale)
            wished = wished.copy()
            wished[at] = ~touching(boxes[at], taken).any(axis=1)
        return self._room[form].kept(wished, scale)

    def _keep_sheet(self, form: PillForm, dpr: float, sections: Indices) -> PillSheet:
        sheet = self._sheets.get(form)
        if sheet is None or not sheet.takes(form, dpr, sections):
            widest = self._sizes[form].max(axis=0, initial=1)
            largest = int(widest[0]), int(widest[1])
            sheet = PillSheet(form, dpr, self._palette, len(self._names), 2 * len(sections), largest)
            self._sheets[form] = sheet
        return sheet

    def _draw(self, sheet: PillSheet, sections: Indices, sizes: Boxes) -> None:
        """Draw the pills that are not on the sheet yet or say something old."""
        for at in sheet.missing(sections).tolist():
            section = int(sections[at])
            count = self._write_count(self._counts[section]) if sheet.form is PillForm.NAME_AND_COUNT else ""
            sheet.draw(section, int(sizes[at, 0]), int(sizes[at, 1]), self._names[section], count)

    def _first_form(self, scale: float) -> tuple[int, Flags]:
        """The richest form that most sections have room for, none lying on another, and those sections."""
        least = _MOST_SHARE * len(self._sections)
        kept = np.zeros(len(self._sections), np.bool_)
        last = len(PillForm) - 1
        for at, form in enumerate(PillForm):
            _, fits = self._boxes(form, scale)
            if at < last and np.count_nonzero(fits) < least:
                continue
            kept = self._room[form].kept(fits, scale)
            if np.count_nonzero(kept) >= least:
                return at, kept
        return last, kept

    def _boxes(self, form: PillForm, scale: float) -> tuple[Boxes, Flags]:
        """Pills of this form about their places (left, top, right, bottom), and which sections are large enough."""
        sizes = self._sizes[form]
        corner = self._middle * scale - sizes / 2
        fits: Flags = np.logical_and(*(sizes <= self._extent * (scale, scale * _HIGH_SHARE)).T)
        return np.concatenate((corner, corner + sizes), axis=1), fits


class _Group:
    """The labels of one form: their sections, corners about the plan's origin and sizes (logical px)."""

    def __init__(self, form: PillForm, sheet: PillSheet, sections: Indices, corners: Boxes, sizes: Boxes) -> None:
        self.form = form
        self.sheet = sheet
        self.sections = sections
        self.corners = corners
        self.sizes = sizes
        self.boxes = np.empty((0, 4), np.intp)
        """Left, top, width, height of each label."""
        self._fragments = sheet.fragments(sections)

    def place(self, corners: Boxes, dpr: float) -> None:
        """Where the labels are now."""
        self.boxes = np.concatenate((corners, self.sizes), axis=1).astype(np.intp)
        self._fragments[:, 0:2] = np.rint(corners * dpr) + self._fragments[:, 4:6] / 2

    def places_of(self, sections: list[int]) -> list[int]:
        """Which of the labels, once they are placed, belong to these sections."""
        return np.flatnonzero(np.isin(self.sections, sections)).tolist() if len(self.boxes) else []

    def touching(self, clip: QRect) -> npt.NDArray[np.float64]:
        """Fragments of the labels that touch the clip."""
        left, top, width, height = self.boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        return self._fragments if touched.all() else self._fragments[touched]


def _large_first(extent: npt.NDArray[np.float64]) -> Indices:
    """Sections that are much larger than others come first; those of a size in the plan's order."""
    size = np.log2(np.maximum(extent.prod(axis=1), 1e-9))
    order: Indices = np.argsort(-np.rint(size), kind="stable")
    return order


def _label_place(plan: SeatMapPlan, section: int, bounds: Bounds) -> tuple[float, float]:
    """The plan's own place for a section's name, if it lies in the section; its middle otherwise."""
    x, y = float(plan.section_x[section]), float(plan.section_y[section])
    if bounds.left <= x <= bounds.right and bounds.top <= y <= bounds.bottom:
        return x, y
    return (bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2


def _bounds_by_section(beds: tuple[Bed, ...]) -> dict[int, Bounds]:
    found: dict[int, Bounds] = {}
    for bed in beds:
        one, other = found.get(bed.section, bed.bounds), bed.bounds
        found[bed.section] = Bounds(
            min(one.left, other.left), min(one.top, other.top), max(one.right, other.right),
            max(one.bottom, other.bottom),
        )  # fmt: skip
    return found
