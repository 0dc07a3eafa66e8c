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
from widgets.seat_map.label_group import LabelGroup, Placing
from widgets.seat_map.label_room import Boxes, Flags, touching
from widgets.seat_map.label_style import LabelledSections, LabelStyle
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.pills import PillForm, PillSizes
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.section_axes import section_axes

_MOST_SHARE = 0.7  # of all sections that must have room for a form
_STEP = math.log(1.02)  # of the scale, within which labels stay as they were chosen
_LAYOUTS_KEPT = 300
_MOST_AT_ONCE = 64
"""Labels that are drawn within one frame while others can stand in; a label takes about 30 us, a turned one 60."""


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

        sizes = PillSizes(labelled.names, palette)
        for form in PillForm:
            level = LabelStyle(form, labelled, palette, write, sizes, turned=False)
            self._ways[form] = [(level, False)]
            if level.any_slanted:
                along = LabelStyle(form, labelled, palette, write, sizes, turned=True)
                self._ways[form] += [(along, False), (level, True)]
        self._laid_for = (0, 0.0)
        self._layouts: dict[int, list[LabelGroup]] = {}
        self._groups: list[LabelGroup] = []
        self._view: Placing | None = None
        self._wanted: tuple[int, list[LabelGroup]] | None = None
        """Step and labels that are shown once they are drawn."""

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
        """Choose the forms, and the sections that have room for them, for this camera.

        Where many pictures of new labels would have to be drawn, the labels of a smaller scale stay for the moment,
        for what had room there has room here; `catch_up` then draws the new ones.
        """
        self._view = Placing(camera.scale, np.array(camera.to_px(0.0, 0.0)), (camera.width, camera.height), dpr)
        step = math.floor(math.log(camera.scale) / _STEP)
        wanted = self._groups if (step, dpr) == self._laid_for else self._layout(step)
        shown_step, shown_dpr = self._laid_for
        may_wait = bool(self._groups) and shown_step <= step and shown_dpr == dpr and wanted is not self._groups
        self._wanted = None
        if may_wait and self._missing(wanted) > _MOST_AT_ONCE:
            self._wanted = step, wanted
        else:
            self._laid_for, self._groups = (step, dpr), wanted
        for group in self._groups:
            group.place(self._view)

    @property
    def behind(self) -> bool:
        """Whether other labels wait to be drawn."""
        return self._wanted is not None

    def catch_up(self) -> bool:
        """Draw some of the labels that wait; True once all of them are there and shown."""
        if self._wanted is None or self._view is None:
            return False
        step, wanted = self._wanted
        left = _MOST_AT_ONCE
        for group in wanted:
            left -= group.draw(self._view, left)
            if left <= 0:
                return False
        self._wanted = None
        self._laid_for, self._groups = (step, self._view.dpr), wanted
        for group in wanted:
            group.place(self._view)
        return True

    def _missing(self, groups: list[LabelGroup]) -> int:
        """How many labels of these that are in view are not drawn."""
        assert self._view is not None
        return sum(len(group.missing(self._view)) for group in groups)

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
            if self._view and group.style.form is PillForm.NAME_AND_COUNT and len(group.boxes):
                group.draw(self._view, len(group.ranks))
                stale += [QRect(*box) for box in group.boxes[changed[group.ranks]].tolist()]
        return stale

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed labels that touch the clip."""
        painter.save()
        painter.scale(1 / dpr, 1 / dpr)
        for group in self._groups:
            draw_fragments(painter, group.touching(clip), group.pixmap(dpr))
        painter.restore()

    def _layout(self, step: int) -> list[LabelGroup]:
        """The labels of a step of the scale: what has room at its lower end has room in all of it."""
        found = self._layouts.get(step)
        if found is None:
            found = self._lay_out(math.exp(step * _STEP))
            if len(self._layouts) >= _LAYOUTS_KEPT:
                self._layouts.clear()
            self._layouts[step] = found
        return found

    def _lay_out(self, scale: float) -> list[LabelGroup]:
        """The richest form that most sections have room for, then simpler ones for the rest."""
        forms, groups = list(PillForm), list[LabelGroup]()
        least = _MOST_SHARE * len(self._sections)
        for at, form in enumerate(forms):
            groups = self._choose([form], scale, [])
            if sum(len(group.ranks) for group in groups) >= least:
                return self._choose(forms[at + 1 :], scale, groups)
        return groups

    def _choose(self, forms: list[PillForm], scale: float, groups: list[LabelGroup]) -> list[LabelGroup]:
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
                groups.append(LabelGroup(style, ranks, self._middle))
        return self._one_for_each_style(groups)

    def _one_for_each_style(self, groups: list[LabelGroup]) -> list[LabelGroup]:
        by_style: dict[LabelStyle, list[Indices]] = {}
        for group in groups:
            by_style.setdefault(group.style, []).append(group.ranks)
        return [LabelGroup(style, np.concatenate(ranks), self._middle) for style, ranks in by_style.items()]


def _with_room(style: LabelStyle, wished: Flags, scale: float, taken: Boxes) -> Indices:
    """Of the wished labels, those that touch neither each other nor a place that is taken."""
    at = np.flatnonzero(wished)
    if len(at) and len(taken):
        wished[at] = ~touching(style.boxes(scale)[at], taken).any(axis=1)
    return np.flatnonzero(style.room.kept(wished, scale))


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
