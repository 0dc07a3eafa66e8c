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


class SectionLabels:
    """Which sections carry a label for a camera, and where. Logical px.

    All sections take the same form, the richest for which most of them have room, so that the map reads evenly.
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
        self._middle = np.array([_label_place(plan, section, box) for section, box in bounds.items()]).reshape(-1, 2)
        names = [self._names[section] for section in self._sections]
        self._sizes = {form: pill_sizes(names, form, palette) for form in PillForm}
        self._counts: list[int] = [0] * len(self._names)
        self._sheet: PillSheet | None = None
        self._laid_for = (0.0, 0.0)
        self._placed: list[int] = []
        self._corners = np.empty((0, 2))
        self._pill_sizes = np.empty((0, 2))
        self._boxes = np.empty((0, 4), np.intp)  # left, top, width, height of each placed label
        self._fragments = np.empty((0, FRAGMENT_FIELDS))

    @property
    def shows_counts(self) -> bool:
        """Whether the present form tells the number of free seats."""
        return self._sheet is not None and self._sheet.form is PillForm.NAME_AND_COUNT

    def place(self, camera: Camera, dpr: float) -> None:
        """Choose the form, and the sections that have room for it, for this camera."""
        if (camera.scale, dpr) != self._laid_for:
            self._laid_for = camera.scale, dpr
            self._lay_out(camera.scale, dpr)
        corners = np.rint(self._corners + camera.to_px(0.0, 0.0))
        self._boxes = np.concatenate((corners, self._pill_sizes), axis=1).astype(np.intp)
        if self._sheet is not None:
            self._fragments = self._sheet.fragments(self._placed, corners)

    def set_counts(self, counts: npt.NDArray[np.intp]) -> list[QRect]:
        """New numbers of free seats; rectangles of the labels that must be painted again."""
        before, self._counts = self._counts, counts.tolist()
        if self._sheet is None or not self.shows_counts:
            return []
        changed = {section for section, count in enumerate(self._counts) if count != before[section]}
        stale = [at for at, section in enumerate(self._placed) if section in changed]
        self._sheet.forget(changed)
        self._draw(self._sheet)
        return [QRect(*self._boxes[at].tolist()) for at in stale if at < len(self._boxes)]

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed labels that touch the clip."""
        if self._sheet is None:
            return
        left, top, width, height = self._boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        painter.save()
        painter.scale(1 / dpr, 1 / dpr)
        draw_fragments(painter, self._fragments[touched], self._sheet.pixmap)
        painter.restore()

    def _lay_out(self, scale: float, dpr: float) -> None:
        """Corners relative to the plan's origin, px; the same for every place of the camera at this scale."""
        form, fits = self._richest_form(scale)
        width, height = self._sizes[form].T
        left, top = self._middle[:, 0] * scale - width / 2, self._middle[:, 1] * scale - height / 2
        boxes = np.stack((left, top, left + width, top + height), axis=-1)
        kept = _without_overlaps(boxes, np.flatnonzero(fits))
        self._placed = [self._sections[at] for at in kept]
        self._corners = boxes[kept, :2]
        self._pill_sizes = self._sizes[form][kept]
        if self._sheet is None or not self._sheet.takes(form, dpr, self._placed):
            widest = self._sizes[form].max(axis=0, initial=1)
            self._sheet = PillSheet(form, dpr, self._palette, 2 * len(kept), (int(widest[0]), int(widest[1])))
        self._draw(self._sheet)

    def _draw(self, sheet: PillSheet) -> None:
        for section, size in zip(self._placed, self._pill_sizes.astype(int).tolist(), strict=True):
            if not sheet.has(section):
                count = self._write_count(self._counts[section]) if self.shows_counts else ""
                sheet.draw(section, size[0], size[1], self._names[section], count)

    def _richest_form(self, scale: float) -> tuple[PillForm, npt.NDArray[np.bool_]]:
        """The form for which most sections have room, and which have."""
        width, height = self._extent[:, 0] * scale, self._extent[:, 1] * scale * _HIGH_SHARE
        fitting = {form: (sizes[:, 0] <= width) & (sizes[:, 1] <= height) for form, sizes in self._sizes.items()}
        for form, fits in fitting.items():
            if fits.sum() >= _MOST_SHARE * len(fits):
                return form, fits
        return PillForm.SMALL_NAME, fitting[PillForm.SMALL_NAME]


def _without_overlaps(boxes: npt.NDArray[np.float64], order: Indices) -> list[int]:
    """Of boxes (left, top, right, bottom) in this order, those that touch none kept before."""
    left, top, right, bottom = boxes[order].T
    touch = (left[:, None] < right) & (right[:, None] > left) & (top[:, None] < bottom) & (bottom[:, None] > top)
    np.fill_diagonal(touch, val=False)
    free = np.ones(len(order), np.bool_)
    for at in np.flatnonzero(touch.any(axis=1)).tolist():
        if free[at]:
            free[at + 1 :] &= ~touch[at, at + 1 :]
    return [int(at) for at in order[free]]


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
