"""One way to label sections: how much a label says, and whether it lies along its section or level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.seat_map.label_room import Boxes, Flags, LabelRoom
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.pills import Pill, PillForm, PillSheet, PillSizes
from widgets.seat_map.plan import Indices
from widgets.seat_map.section_axes import SectionAxes, turned_size

_HIGH_SHARE = 0.72  # of a section's height that a level pill may take


@dataclass(frozen=True, slots=True)
class LabelledSections:
    """The sections that have seats, those that matter more first: numbers, names, middles, extents and axes.

    Middles and extents (width, height) in plan units.
    """

    sections: Indices
    names: Sequence[str]
    middle: Boxes
    extent: Boxes
    axes: SectionAxes


class LabelStyle:
    """Labels of one form, level or turned. `write` gives the count that a label shows, by section."""

    def __init__(
        self,
        form: PillForm,
        labelled: LabelledSections,
        palette: MapPalette,
        write: Callable[[int], str],
        sizes: PillSizes,
        *,
        turned: bool,
    ) -> None:
        self.form = form
        self.turned = turned
        self._labelled = labelled
        self._palette = palette
        self._write = write
        self._pills = sizes.of(form)
        turns = labelled.axes.turns(self._pills)
        self._slanted = turns != 0.0
        self._level_from = labelled.axes.level(self._pills)
        self._along_from = labelled.axes.along(self._pills)
        self.turns: npt.NDArray[np.float64] = turns if turned else np.zeros(len(turns))
        self.sizes = turned_size(self._pills, self.turns)
        """Boxes around the labels, turned as they are: (width, height), logical px."""
        self.room = LabelRoom(labelled.middle, self.sizes)
        self._sheet: PillSheet | None = None

    @property
    def any_slanted(self) -> bool:
        """Whether some label of this form is better turned."""
        return bool(self._slanted.any())

    def boxes(self, scale: float) -> Boxes:
        """(left, top, right, bottom) of all labels about the plan's origin, px."""
        corner = self._labelled.middle * scale - self.sizes / 2
        return np.concatenate((corner, corner + self.sizes), axis=1)

    def fits(self, scale: float, *, loosely: bool) -> Flags:
        """Which sections are large enough; `loosely` lets a level label stand over the edges of a slanted section."""
        if self.turned:
            along: Flags = self._slanted & (self._along_from <= scale)
            return along
        level: Flags = np.logical_and(*(self.sizes <= self._labelled.extent * (scale, scale * _HIGH_SHARE)).T)
        return level if loosely else level & (~self._slanted | (self._level_from <= scale))

    def sheet(self, dpr: float) -> PillSheet:
        """The sheet that the labels are drawn on."""
        if self._sheet is None or self._sheet.dpr != dpr:
            widest = np.ceil(self.sizes.max(axis=0, initial=1))
            largest, count = (int(widest[0]), int(widest[1])), len(self._pills)
            capacity = int(np.count_nonzero(self._slanted)) if self.turned else count
            self._sheet = PillSheet(self.form, dpr, self._palette, count, capacity, largest)
        return self._sheet

    def forget(self, ranks: Indices) -> None:
        """These labels say an old count."""
        if self._sheet is not None and self.form is PillForm.NAME_AND_COUNT:
            self._sheet.forget(ranks)

    def draw(self, ranks: Indices, dpr: float) -> None:
        """Draw the labels that are not on the sheet yet or say something old."""
        sheet = self.sheet(dpr)
        missing = ranks[sheet.missing(ranks)].tolist()
        if missing:
            sheet.draw([(rank, self._pill(rank), *self.sizes[rank].tolist()) for rank in missing])

    def _pill(self, rank: int) -> Pill:
        labelled = self._labelled
        count = self._write(int(labelled.sections[rank])) if self.form is PillForm.NAME_AND_COUNT else ""
        width, height = self._pills[rank].tolist()
        return Pill(labelled.names[rank], count, width, height, float(self.turns[rank]))
