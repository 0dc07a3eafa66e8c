"""The seat map: tens of thousands of live seats, drawn by numpy into one picture.

Visual grammar: fill = price category; ring = who holds the seat (unbroken: a till, broken in four: a fan, two brackets:
the house; half filled: being paid); heavy double ring = mine; faded = not sellable by this person; small grey = sold,
struck = printed, dotted = used; cross = blocked; a letter = for whom the house keeps it back. Outline: rounded
square = accessible, diamond = companion, cut disc = restricted view.

From afar sections carry names and free counts; the less of a section is left, the closer and warmer the hatching over
it. With patterns wished (`Theme.patterned`) each category has a pattern beside its colour. Floors are shown one at a
time, standing areas tell what is left, tables and booths stand between the seats, and a screen reader walks the same
map from section to row to seat (`accessible_tree`).

Hands: wheel zooms about the pointer; a drag pans (also middle button, or space and drag); a click picks; Shift or Ctrl
and click picks a range in the row; Shift and drag draws a rubber band, Ctrl and drag a lasso; from afar a double click
zooms into a section. Where a click takes several seats, they are ringed under the pointer beforehand.
Keys: arrows step from seat to seat, with Ctrl from row to row and from section to section (Page Up and Page Down, too),
Home and End go to the ends of the row and with Ctrl of the section, Shift and the letters of a row's name go to it,
Shift and an arrow picks on in the row, Space or Enter picks, + and - zoom, 0 shows the whole plan.
"""

from __future__ import annotations

from widgets.seat_map.place_in_view import PlaceInView
from widgets.seat_map.plan import MapArea, MapImage, SeatMapPlan, SeatMapPlanError, SeatOutOfPlanError
from widgets.seat_map.renderer import Level, Stats
from widgets.seat_map.seat_bits import HouseKind
from widgets.seat_map.texts import SeatMapTexts
from widgets.seat_map.widget import SeatMapWidget

__all__ = [
    "HouseKind",
    "Level",
    "MapArea",
    "MapImage",
    "PlaceInView",
    "SeatMapPlan",
    "SeatMapPlanError",
    "SeatMapTexts",
    "SeatMapWidget",
    "SeatOutOfPlanError",
    "Stats",
]
