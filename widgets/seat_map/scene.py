"""One plan on the map: index, states, picture and names, built together and replaced together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from widgets.seat_map.beds import lay_beds
from widgets.seat_map.camera import Bounds, Camera
from widgets.seat_map.floors import floor_bounds, seats_on_floor
from widgets.seat_map.heat import SectionHeat
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.place_in_view import PlaceInView, place_in_view
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.renderer import Level, Renderer, Stamps, Stats
from widgets.seat_map.row_labels import ROW_LABELS_FROM_PX, RowLabels
from widgets.seat_map.seat_grid import SeatGrid
from widgets.seat_map.seat_states import SeatStates
from widgets.seat_map.section_labels import SectionLabels
from widgets.seat_map.standing import StandingPlaces
from widgets.seat_map.veil import Veil
from widgets.theme import Theme

_MARGIN_PITCHES = 1.4


class Scene:
    """Everything that belongs to the shown plan."""

    def __init__(self, plan: SeatMapPlan, theme: Theme, write_count: Callable[[int], str], stats: Stats) -> None:
        self.plan = plan
        self.grid = SeatGrid(plan)
        self.states = SeatStates(plan, self.grid)
        self.beds = lay_beds(plan, self.grid.pitch)
        self.renderer = Renderer(plan, self.grid, self.states, self.beds, theme, stats)
        self.floor = 0
        self._floor_seats = seats_on_floor(plan, 0)
        self.bounds: Bounds = floor_bounds(plan, 0, self.grid.pitch * _MARGIN_PITCHES)
        self.standing = StandingPlaces(plan)
        self._write_count = write_count
        self._row_labels: RowLabels | None = None
        self._sections = self._section_labels()
        self.heat = self._section_heat()
        self._veil = Veil(self._paint_far_labels)
        self._counts = np.zeros(len(plan.section_name), np.intp)
        self._counted = -1

    @property
    def seat_diameter(self) -> float:
        """Diameter of a seat, plan units."""
        return self.renderer.seat_diameter

    @property
    def palette(self) -> MapPalette:
        return self.renderer.palette

    def show_floor(self, floor: int) -> None:
        """Another floor is the whole plan from now on."""
        self.floor = floor
        self._floor_seats = seats_on_floor(self.plan, floor)
        self.bounds = floor_bounds(self.plan, floor, self.grid.pitch * _MARGIN_PITCHES)

    def set_theme(self, theme: Theme) -> None:
        """Other colours from the next redraw on."""
        self.renderer.set_theme(theme)
        self._row_labels = None
        self._sections = self._section_labels()
        self.heat = self._section_heat()
        self._counted = -1

    def set_house_letters(self, letters: Sequence[str]) -> None:
        """Other letters on the house's seats from the next redraw on."""
        self.renderer.set_house_letters(letters)

    def set_count_writer(self, write_count: Callable[[int], str]) -> None:
        """How a number of free seats is written."""
        self._write_count = write_count
        self._sections = self._section_labels()
        self._counted = -1

    def position(self, seat_no: int) -> tuple[float, float]:
        """Centre of a seat, plan units."""
        return float(self.plan.x[seat_no]), float(self.plan.y[seat_no])

    def section_bounds(self, section: int) -> Bounds:
        """Bounds of a section's beds; of the whole plan for a section without seats."""
        boxes = [bed.bounds for bed in self.beds if bed.section == section]
        if not boxes:
            return self.bounds
        return Bounds(
            min(box.left for box in boxes), min(box.top for box in boxes),
            max(box.right for box in boxes), max(box.bottom for box in boxes),
        )  # fmt: skip

    def redraw(self, camera: Camera, dpr: float, *, moved: bool = False) -> PlaceInView | None:
        """Draw all seats and place all names for this camera; section and rows that a near view shows.

        `moved` says that no seat looks otherwise than it is drawn, so that a part of the picture may be used again.
        None from afar, where sections carry their names, and where the whole floor is in view.
        """
        if not (moved and self.renderer.move_to(camera)):
            self.renderer.full(camera)
        if self.renderer.level is Level.FAR:
            self.recount()
            self._sections.place(camera, dpr)
            self.heat.place(camera)
            self._veil.lift()
            return None
        seats = self._seats_in_view(camera)
        self._place_row_labels(camera, dpr, seats)
        return None if len(seats) == self._floor_seats else place_in_view(self.plan, seats)

    def _place_row_labels(self, camera: Camera, dpr: float, seats: Indices) -> None:
        seat_px = self.seat_diameter * camera.scale
        if self._row_labels is not None or seat_px >= ROW_LABELS_FROM_PX:
            self._row_labels_of().place(camera, dpr, seat_px, seats)

    def _row_labels_of(self) -> RowLabels:
        if self._row_labels is None:
            self._row_labels = RowLabels(self.plan, self.grid, self.palette)
        return self._row_labels

    def _seats_in_view(self, camera: Camera) -> Indices:
        view = camera.view()
        return self.grid.seats_inside(view.left, view.top, view.right, view.bottom)

    @property
    def behind(self) -> bool:
        """Whether labels wait to be drawn, simpler ones standing in."""
        return self.renderer.level is Level.FAR and self._sections.behind

    def catch_up(self) -> bool:
        """Draw some of the labels that wait; True once all must be painted anew."""
        done = self._sections.catch_up()
        if done:
            self._veil.spoil()
        return done

    def recount(self) -> list[QRect]:
        """Refresh the numbers of free seats; rectangles to paint again."""
        if self.renderer.level is not Level.FAR or self._counted == self.states.changes:
            return []
        self._counts, self._counted = self.states.free_by_section(), self.states.changes
        return self.show_counts(self._counts)

    def show_counts(self, free: npt.NDArray[np.intp]) -> list[QRect]:
        """Hatching and numbers for so many free seats by section; rectangles to paint again."""
        stale = [*self.heat.set_counts(free), *self._sections.set_counts(free)]
        if stale:
            self._veil.spoil()
        return stale

    def partial(self, slots: Indices, dpr: float) -> Stamps:
        """Draw these seats again where they are in view; where they were stamped."""
        stamps = self.renderer.partial(slots)
        if self.renderer.level is Level.FAR and len(stamps.left):
            self._veil.follow(self.renderer.canvas, self.renderer.written(stamps), dpr)
        return stamps

    @property
    def needs_settling(self) -> bool:
        """Whether one full redraw must follow partial ones: sprites overlap, or they were mixed with the veil."""
        return self.renderer.overlaps or self.renderer.level is Level.FAR

    def rest(self) -> None:
        """No change for a while: what only changes need is let go; a full redraw follows."""
        self._veil.rest()

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """The picture of the seats and the names that lie over it."""
        if self.renderer.level is Level.FAR:
            self._veil.paint(painter, self.renderer.canvas, clip, dpr)
            return
        self.renderer.canvas.copy_to(painter, dpr)
        if self._row_labels is not None:
            painter.save()
            painter.scale(1 / dpr, 1 / dpr)
            self._row_labels.paint(painter, clip, dpr)
            painter.restore()

    def _paint_far_labels(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        self.heat.paint(painter, clip, dpr)
        self._sections.paint(painter, clip, dpr)

    def _section_heat(self) -> SectionHeat:
        return SectionHeat(self.beds, self.renderer.far_beds, self.states.seats_by_section(), self.palette)

    def _section_labels(self) -> SectionLabels:
        return SectionLabels(self.plan, self.beds, self.grid.pitch, self.palette, self._write_count)
