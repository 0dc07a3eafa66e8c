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
from widgets.seat_map.glyphs import FRAGMENT_FIELDS, draw_fragments
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.pills import PillForm, PillSheet, pill_sizes
from widgets.seat_map.plan import Indices, SeatMapPlan

_HIGH_SHARE = 0.72  # of a section's height that a pill may take
_MOST_SHARE = 0.7  # of all sections that must have room for a form
_GAP_PX = 2.0  # between two labels


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
        self._sections = list(bounds)
        self._extent = np.array([(box.width, box.height) for box in bounds.values()]).reshape(-1, 2)
        self._order = _large_first(self._extent)
        self._middle = np.array([_label_place(plan, section, box) for section, box in bounds.items()]).reshape(-1, 2)
        names = [self._names[section] for section in self._sections]
        self._sizes = {form: pill_sizes(names, form, palette) for form in PillForm}
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
            for section, box in zip(group.sections, group.boxes.tolist(), strict=True)
        }

    def place(self, camera: Camera, dpr: float) -> None:
        """Choose the forms, and the sections that have room for them, for this camera."""
        if (camera.scale, dpr) != self._laid_for:
            self._laid_for = camera.scale, dpr
            self._lay_out(camera.scale, dpr)
        for group in self._groups:
            group.place(self._sheets[group.form], np.rint(group.corners + camera.to_px(0.0, 0.0)))

    def set_counts(self, counts: npt.NDArray[np.intp]) -> list[QRect]:
        """New numbers of free seats; rectangles of the labels that must be painted again."""
        before, self._counts = self._counts, counts.tolist()
        changed = {section for section, count in enumerate(self._counts) if count != before[section]}
        stale: list[QRect] = []
        for group in self._groups:
            if group.form is PillForm.NAME_AND_COUNT:
                self._sheets[group.form].forget(changed)
                self._draw(group)
                stale += [QRect(*group.boxes[at].tolist()) for at in group.places_of(changed)]
        return stale

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed labels that touch the clip."""
        painter.save()
        painter.scale(1 / dpr, 1 / dpr)
        for group in self._groups:
            draw_fragments(painter, group.touching(clip), self._sheets[group.form].pixmap)
        painter.restore()

    def _lay_out(self, scale: float, dpr: float) -> None:
        """Corners relative to the plan's origin, px; the same for every place of the camera at this scale."""
        taken = np.empty((0, 4))
        waiting = np.ones(len(self._sections), np.bool_)
        self._groups = []
        for form in list(PillForm)[self._first_form(scale) :]:
            boxes, fits = self._boxes(form, scale)
            kept = _without_overlaps(boxes, self._order[(fits & waiting)[self._order]], taken)
            waiting[kept] = False
            taken = np.concatenate((taken, boxes[kept]))
            sections = [self._sections[at] for at in kept]
            self._groups.append(_Group(form, sections, boxes[kept, :2], self._sizes[form][kept]))
            self._keep_sheet(form, dpr, sections)
            self._draw(self._groups[-1])

    def _keep_sheet(self, form: PillForm, dpr: float, sections: list[int]) -> None:
        sheet = self._sheets.get(form)
        if sheet is None or not sheet.takes(form, dpr, sections):
            widest = self._sizes[form].max(axis=0, initial=1)
            largest = int(widest[0]), int(widest[1])
            self._sheets[form] = PillSheet(form, dpr, self._palette, 2 * len(sections), largest)

    def _draw(self, group: _Group) -> None:
        sheet = self._sheets[group.form]
        for section, size in zip(group.sections, group.sizes.astype(int).tolist(), strict=True):
            if not sheet.has(section):
                count = self._write_count(self._counts[section]) if group.form is PillForm.NAME_AND_COUNT else ""
                sheet.draw(section, size[0], size[1], self._names[section], count)

    def _first_form(self, scale: float) -> int:
        """The richest form that most sections have room for, none lying on another."""
        for at, form in enumerate(PillForm):
            boxes, fits = self._boxes(form, scale)
            if len(_without_overlaps(boxes, self._order[fits[self._order]])) >= _MOST_SHARE * len(fits):
                return at
        return len(PillForm) - 1

    def _boxes(self, form: PillForm, scale: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Pills of this form about their places (left, top, right, bottom), and which sections are large enough."""
        width, height = self._sizes[form].T
        left, top = self._middle[:, 0] * scale - width / 2, self._middle[:, 1] * scale - height / 2
        fits = (width <= self._extent[:, 0] * scale) & (height <= self._extent[:, 1] * scale * _HIGH_SHARE)
        return np.stack((left, top, left + width, top + height), axis=-1), fits


class _Group:
    """The labels of one form: their sections, corners about the plan's origin and sizes (logical px)."""

    def __init__(
        self, form: PillForm, sections: list[int], corners: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]
    ) -> None:
        self.form = form
        self.sections = sections
        self.corners = corners
        self.sizes = sizes
        self.boxes = np.empty((0, 4), np.intp)
        """Left, top, width, height of each label."""
        self._fragments = np.empty((0, FRAGMENT_FIELDS))

    def place(self, sheet: PillSheet, corners: npt.NDArray[np.float64]) -> None:
        """Where the labels are now."""
        self.boxes = np.concatenate((corners, self.sizes), axis=1).astype(np.intp)
        self._fragments = sheet.fragments(self.sections, corners)

    def places_of(self, sections: set[int]) -> list[int]:
        """Which of the labels, once they are placed, belong to these sections."""
        return [at for at, section in enumerate(self.sections) if section in sections and at < len(self.boxes)]

    def touching(self, clip: QRect) -> npt.NDArray[np.float64]:
        """Fragments of the labels that touch the clip."""
        left, top, width, height = self.boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        return self._fragments[touched]


def _large_first(extent: npt.NDArray[np.float64]) -> Indices:
    """Sections that are much larger than others come first; those of a size in the plan's order."""
    size = np.log2(np.maximum(extent.prod(axis=1), 1e-9))
    order: Indices = np.argsort(-np.rint(size), kind="stable")
    return order


def _without_overlaps(
    boxes: npt.NDArray[np.float64], order: Indices, taken: npt.NDArray[np.float64] | None = None
) -> list[int]:
    """Of boxes (left, top, right, bottom) in this order, those that touch none kept before, nor any that is taken."""
    if taken is not None and len(taken):
        order = order[~_touching(boxes[order], taken).any(axis=1)]
    touch = _touching(boxes[order], boxes[order])
    np.fill_diagonal(touch, val=False)
    free = np.ones(len(order), np.bool_)
    for at in np.flatnonzero(touch.any(axis=1)).tolist():
        if free[at]:
            free[at + 1 :] &= ~touch[at, at + 1 :]
    return [int(at) for at in order[free]]


def _touching(some: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """(some, others): which boxes come closer to each other than a gap."""
    left, top, right, bottom = (column[:, None] for column in some.T)
    touch: npt.NDArray[np.bool_] = (left < others[:, 2] + _GAP_PX) & (right + _GAP_PX > others[:, 0])
    touch &= (top < others[:, 3] + _GAP_PX) & (bottom + _GAP_PX > others[:, 1])
    return touch


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
