"""Names of sections with their free seats, seen from afar.

They lie over the picture of the seats and never in it, so that a changed seat does not disturb them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from widgets.seat_map.beds import MARGIN_PITCHES, Bed
from widgets.seat_map.camera import Bounds, Camera
from widgets.seat_map.glyphs import draw_fragments
from widgets.seat_map.label_room import Boxes, Flags, touching
from widgets.seat_map.label_style import LabelledSections, LabelStyle
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.pills import PillForm
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.section_axes import section_axes

_MOST_SHARE = 0.7  # of all sections that must have room for a form
_STEP = math.log(1.02)  # of the scale, within which labels stay as they were chosen
_LAYOUTS_KEPT = 300


class SectionLabels:
    """Which sections carry a label for a camera, and where. Logical px.

    Most sections take the same form, the richest that most of them have room for beside their neighbours, so that the
    map reads evenly; a section that is left without one says less rather than nothing. In a slanted section a label
    that would stand over the edges lies along it instead.
    """

    def __init__(
        self,
        plan: SeatMapPlan,
        beds: tuple[Bed, ...],
        pitch: float,
        palette: MapPalette,
        write_count: Callable[[int], str],
    ) -> None:
        labelled = _labelled(plan, beds, pitch)
        self._sections, self._middle = labelled.sections, labelled.middle
        self._counts: list[int] = [0] * len(plan.section_name)
        self._ways: dict[PillForm, list[tuple[LabelStyle, bool]]] = {}
        """By form, the ways to try in turn: a style, and whether labels may stand over the edges."""

        def write(section: int) -> str:
            return write_count(self._counts[section])

        for form in PillForm:
            level = LabelStyle(form, labelled, palette, write, turned=False)
            self._ways[form] = [(level, False)]
            if level.any_slanted:
                along = LabelStyle(form, labelled, palette, write, turned=True)
                self._ways[form] += [(along, False), (level, True)]
        self._laid_for = (0, 0.0)
        self._layouts: dict[int, list[_Group]] = {}
        self._groups: list[_Group] = []

    @property
    def turned(self) -> dict[int, float]:
        """Sections whose name lies along them, and by how many degrees it is turned."""
        return {
            int(self._sections[rank]): float(group.style.turns[rank])
            for group in self._groups
            if group.style.turned
            for rank in group.ranks.tolist()
        }

    @property
    def shows_counts(self) -> bool:
        """Whether a present form tells the number of free seats."""
        return any(group.style.form is PillForm.NAME_AND_COUNT for group in self._groups)

    @property
    def placed(self) -> dict[int, QRect]:
        """Sections that carry a label now, and its rectangle."""
        return {
            int(self._sections[rank]): QRect(*box)
            for group in self._groups
            for rank, box in zip(group.ranks.tolist(), group.boxes.tolist(), strict=True)
        }

    def place(self, camera: Camera, dpr: float) -> None:
        """Choose the forms, and the sections that have room for them, for this camera."""
        step = math.floor(math.log(camera.scale) / _STEP)
        if (step, dpr) != self._laid_for:
            self._laid_for = step, dpr
            self._groups = self._layout(step)
        origin = np.array(camera.to_px(0.0, 0.0))
        for group in self._groups:
            group.place(self._middle, camera.scale, origin, dpr)

    def set_counts(self, counts: npt.NDArray[np.intp]) -> list[QRect]:
        """New numbers of free seats; rectangles of the labels that must be painted again."""
        before, self._counts = np.array(self._counts), counts.tolist()
        changed = (before != counts)[self._sections]
        if not changed.any():
            return []
        for style, loosely in self._ways[PillForm.NAME_AND_COUNT]:
            if not loosely:
                style.forget(np.flatnonzero(changed))
        stale: list[QRect] = []
        for group in self._groups:
            if group.style.form is PillForm.NAME_AND_COUNT and len(group.boxes):
                group.style.draw(group.ranks, self._laid_for[1])
                stale += [QRect(*box) for box in group.boxes[changed[group.ranks]].tolist()]
        return stale

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed labels that touch the clip."""
        painter.save()
        painter.scale(1 / dpr, 1 / dpr)
        for group in self._groups:
            draw_fragments(painter, group.touching(clip), group.style.sheet(dpr).pixmap)
        painter.restore()

    def _layout(self, step: int) -> list[_Group]:
        """The labels of a step of the scale: what has room at its lower end has room in all of it."""
        found = self._layouts.get(step)
        if found is None:
            found = self._lay_out(math.exp(step * _STEP))
            if len(self._layouts) >= _LAYOUTS_KEPT:
                self._layouts.clear()
            self._layouts[step] = found
        return found

    def _lay_out(self, scale: float) -> list[_Group]:
        """The richest form that most sections have room for, then simpler ones for the rest."""
        forms, groups = list(PillForm), list[_Group]()
        least = _MOST_SHARE * len(self._sections)
        for at, form in enumerate(forms):
            groups = self._choose([form], scale, [])
            if sum(len(group.ranks) for group in groups) >= least:
                return self._choose(forms[at + 1 :], scale, groups)
        return groups

    def _choose(self, forms: list[PillForm], scale: float, groups: list[_Group]) -> list[_Group]:
        """Add labels of these forms for sections that have none, beside the labels that there are."""
        groups = list(groups)
        waiting = np.ones(len(self._sections), np.bool_)
        taken = np.empty((0, 4))
        for group in groups:
            waiting[group.ranks] = False
            taken = np.concatenate((taken, group.style.boxes(scale)[group.ranks]))
        for style, loosely in (way for form in forms for way in self._ways[form]):
            ranks = _with_room(style, style.fits(scale, loosely=loosely) & waiting, scale, taken)
            if len(ranks):
                waiting[ranks] = False
                taken = np.concatenate((taken, style.boxes(scale)[ranks]))
                groups.append(_Group(style, ranks))
        return _one_for_each_style(groups)


def _one_for_each_style(groups: list[_Group]) -> list[_Group]:
    by_style: dict[LabelStyle, list[Indices]] = {}
    for group in groups:
        by_style.setdefault(group.style, []).append(group.ranks)
    return [_Group(style, np.concatenate(ranks)) for style, ranks in by_style.items()]


def _with_room(style: LabelStyle, wished: Flags, scale: float, taken: Boxes) -> Indices:
    """Of the wished labels, those that touch neither each other nor a place that is taken."""
    at = np.flatnonzero(wished)
    if len(at) and len(taken):
        wished[at] = ~touching(style.boxes(scale)[at], taken).any(axis=1)
    return np.flatnonzero(style.room.kept(wished, scale))


class _Group:
    """Labels of one style, by their ranks among all sections."""

    def __init__(self, style: LabelStyle, ranks: Indices) -> None:
        self.style = style
        self.ranks = ranks
        self.boxes = np.empty((0, 4), np.intp)
        """Left, top, width, height of each label, turned as it is; logical px."""
        self._half = style.sizes[ranks] / 2
        self._sizes = np.ceil(style.sizes[ranks])
        self._fragments: npt.NDArray[np.float64] | None = None
        self._dpr = 0.0

    def place(self, middle: Boxes, scale: float, origin: npt.NDArray[np.float64], dpr: float) -> None:
        """Where the labels are now; draws those that are not drawn yet."""
        self.style.draw(self.ranks, dpr)
        if self._fragments is None or self._dpr != dpr:
            self._dpr = dpr
            self._fragments = self.style.sheet(dpr).fragments(self.ranks)
        corners = np.rint(middle[self.ranks] * scale - self._half + origin)
        self.boxes = np.concatenate((corners, self._sizes), axis=1).astype(np.intp)
        self._fragments[:, 0:2] = np.rint(corners * dpr) + self._fragments[:, 4:6] / 2

    def touching(self, clip: QRect) -> npt.NDArray[np.float64]:
        """Fragments of the labels that touch the clip."""
        left, top, width, height = self.boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        fragments = self._fragments if self._fragments is not None else np.empty((0, 10))
        return fragments if touched.all() else fragments[touched]


def _labelled(plan: SeatMapPlan, beds: tuple[Bed, ...], pitch: float) -> LabelledSections:
    bounds = _bounds_by_section(beds)
    extent = np.array([(box.width, box.height) for box in bounds.values()]).reshape(-1, 2)
    places = np.array([_label_place(plan, section, box) for section, box in bounds.items()]).reshape(-1, 2)
    order = _large_first(extent)
    sections = np.array(list(bounds), np.intp)[order]
    names = [plan.section_name[section] for section in sections.tolist()]
    axes = section_axes(plan, sections, pitch * MARGIN_PITCHES)
    return LabelledSections(sections, names, places[order], extent[order], axes)


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
