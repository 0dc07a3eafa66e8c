"""Marks on the map: lost seats, seats left single, what is offered instead, the light on what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from time import monotonic

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from widgets.announce import announce
from widgets.seat_map.camera import Bounds
from widgets.seat_map.floors import floor_of_seat
from widgets.seat_map.spotlight import Spotlight
from widgets.seat_map.texts import SeatMapTexts
from widgets.seat_map.view import READABLE_SEAT_PX, SeatMapView
from widgets.theme import Theme

_EDGE_PX = 4
BlockOf = Callable[[int], Sequence[int]]


def _alone(seat_no: int) -> Sequence[int]:
    return (seat_no,)


class MarkedSeatMap(SeatMapView):
    """A map that can point at seats; none of it touches the seats' picture."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: SeatMapTexts | None = None) -> None:
        super().__init__(theme, parent, texts=texts)
        self._block_of: BlockOf = _alone

    def show_lost(self, seats: Iterable[int]) -> None:
        """Flash seats that were lost to another buyer."""
        lost = tuple(seats)
        self._scene.states.slots_of(lost)
        self._overlays.lose(lost, monotonic())
        for seat in lost:
            self._update_ring(seat)
        self._animate()

    def show_offer(self, warned: Iterable[int], offered: Iterable[int]) -> None:
        """Mark seats that were lost or would be left single, and those to be had instead; none: nothing is offered."""
        marks = tuple(warned), tuple(offered)
        self._scene.states.slots_of([*marks[0], *marks[1]])
        before = self._overlays.warned, self._overlays.offered
        if marks == before:
            return
        self._overlays.warned, self._overlays.offered = marks
        for seat in {seat for group in (*before, *marks) for seat in group}:
            self._update_ring(seat)
        self.marks_changed.emit()

    def spotlight(self, seats: Iterable[int]) -> None:
        """Dim everything but these seats for a moment."""
        lit = tuple(seats)
        self._scene.states.slots_of(lit)
        sections = np.unique(self.plan.seat_section[list(lit)])
        section = int(sections[0]) if len(sections) == 1 else -1
        self._overlays.spot = Spotlight(lit, section, monotonic()) if lit else None
        self.update()
        self._animate()

    def set_block_of(self, block_of: BlockOf) -> None:
        """How the host answers which seats a click on a seat takes: several are shown under the pointer beforehand."""
        self._block_of = block_of
        self.refresh_preview()

    def refresh_preview(self) -> None:
        """Ask anew which seats a click would take: what is free, or how many are wanted, has changed."""
        overlays = self._overlays
        at = overlays.hover if overlays.hover >= 0 else overlays.focus if self.hasFocus() else -1
        block = tuple(self._block_of(at)) if at >= 0 else ()
        shown = block if len(block) > 1 else ()
        if shown == overlays.preview:
            return
        before, overlays.preview = overlays.preview, shown
        # One rectangle where blocks meet: a region of pieces costs more to paint than what lies between them.
        old, new = (reduce(QRect.united, map(self._ring_of, block), QRect()) for block in (before, shown))
        for box in (old | new,) if old.intersects(new) else (old, new):
            self.update(box)

    @property
    def previewed(self) -> tuple[int, ...]:
        """The seats that a click here would take, when they are more than one."""
        return self._overlays.preview

    @property
    def reduced_motion(self) -> bool:
        """Whether marks stand still."""
        return self._overlays.reduced_motion

    @property
    def spot(self) -> tuple[int, ...]:
        """The seats that the spotlight is on."""
        return () if self._overlays.spot is None else self._overlays.spot.seats

    def look_at(self, x: float, y: float) -> None:
        """Centre a point of the plan, at the same scale."""
        self._camera.look_at(x, y)
        self._change_view()

    def centre_on(self, seats: Sequence[int]) -> None:
        """Bring seats into the middle of the view, large enough to pick, and all of them where they fit."""
        self._scene.states.slots_of(seats)
        self.show_floor(floor_of_seat(self.plan, seats[0]))
        x, y = self.plan.x[list(seats)], self.plan.y[list(seats)]
        around = self._scene.grid.pitch * 2
        self._camera.show(
            Bounds(float(x.min()) - around, float(y.min()) - around, float(x.max()) + around, float(y.max()) + around),
            READABLE_SEAT_PX / self._scene.seat_diameter,
        )
        self._change_view()

    def reveal(self, seats: Sequence[int]) -> None:
        """Bring seats into view, large enough to pick; a view that shows them so already stays."""
        inner = self.rect().adjusted(_EDGE_PX, _EDGE_PX, -_EDGE_PX, -_EDGE_PX)
        small = self._seat_px() < READABLE_SEAT_PX * 0.5
        if seats and (small or not all(inner.contains(self.seat_rect(seat)) for seat in seats)):
            self.centre_on(seats)

    def say(self, text: str) -> None:
        """Have a screen reader say something that has happened on the map."""
        announce(self, text)

    @property
    def marked_seats(self) -> tuple[int, ...]:
        """Seats that nothing may cover: mine, the one with the keyboard, and those of an offer."""
        overlays = self._overlays
        focus = (overlays.focus,) if overlays.focus >= 0 else ()
        return (*overlays.mine, *focus, *overlays.warned, *overlays.offered)
