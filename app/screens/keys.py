"""The key map, once: what the shortcuts do, the hints on the buttons, and the list that F1 shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.i18n import marked


@dataclass(frozen=True, slots=True)
class Key:
    """`sequence` as Qt writes it; `words` are translated where they are shown."""

    sequence: str
    words: str


HELP: Final = Key("F1", marked("Show this list of keys"))
MAP: Final = Key("F2", marked("Go to the seat map"))
PRICES: Final = Key("F3", marked("Go to the price types of the sale"))
HOLD: Final = Key("F5", marked("Hold the picked seats for the buyer"))
EXACT_CASH: Final = Key("F6", marked("Take the exact amount in cash"))
CASH: Final = Key("F7", marked("Take cash and count the change"))
CARD: Final = Key("F8", marked("Take a card"))
PARK: Final = Key("F9", marked("Put an unclear payment aside and serve the next customer"))
NEXT: Final = Key("F10", marked("Print the tickets, or go to the next customer"))
PART: Final = Key("F11", marked("Pay a part: some in cash, some by card, or by several cards"))
BACK: Final = Key("F12", marked("Go back to a payment that was put aside"))
LEAVE: Final = Key("Ctrl+F9", marked("The buyer leaves while a payment is unclear"))
DAY: Final = Key("Ctrl+Shift+D", marked("Close the day of the card terminal"))
STOP: Final = Key("Esc", marked("Let the picks go; stop the card payment; twice: release the seats"))
OFFER: Final = Key("F4", marked("Take the seats that are offered instead"))
UNDO: Final = Key("Ctrl+Z", marked("Undo the pick"))
REDO: Final = Key("Ctrl+Shift+Z", marked("Redo the pick"))
FIND_ANYWHERE: Final = Key("Ctrl+F", marked("Find a seat"))
PRINT_CHART: Final = Key("Ctrl+P", marked("Print the seat map"))
EVENTS: Final = Key("Ctrl+E", marked("Go to the list of events"))
COUNTER: Final = Key("Ctrl+1", marked("Go to the counter"))
ORDERS: Final = Key("Ctrl+2", marked("Go to the orders"))
RECONCILIATION: Final = Key("Ctrl+3", marked("Go to reconciliation"))
OPS: Final = Key("Ctrl+4", marked("Go to operations"))
SETTINGS: Final = Key("Ctrl+,", marked("Go to the settings"))
SAVE_SETTINGS: Final = Key("Ctrl+S", marked("Save the settings; again: mean it"))
PLANS: Final = Key("Ctrl+Shift+P", marked("Go to the plan editor"))
QUIT: Final = Key("Ctrl+Q", marked("Close the console"))

TOGETHER: Final = Key("1 – 6", marked("Seats that one click takes"))
BEST: Final = Key("B", marked("Best available; again: the next best"))
BEST_BEFORE: Final = Key("Ctrl+B", marked("Back to the best before"))
PLACES: Final = Key("P", marked("Places without numbers"))
WHERE: Final = Key("S", marked("Section for the best available"))
FIND: Final = Key("/", marked("Find a seat: K 12"))
DETAILS: Final = Key("I", marked("Details of the seat"))
MINIMAP: Final = Key("M", marked("Show or hide the small map"))
STEP: Final = Key("← ↑ → ↓", marked("Move from seat to seat"))
PICK: Final = Key("Enter", marked("Pick the seat, or put it back"))

ON_MAP: Final = (
    STEP,
    Key("Ctrl+← ↓ …", marked("Move by rows and sections")),
    Key("Home / End", marked("First or last seat of the row")),
    Key("Shift+A – Z", marked("Go to the row of that name")),
    PICK,
    Key("Shift+← →", marked("Pick on in the row")),
    TOGETHER,
    BEST,
    BEST_BEFORE,
    PLACES,
    WHERE,
    FIND,
    MINIMAP,
)
ZOOM: Final = (Key("+ / −", marked("Zoom in, zoom out")), Key("0", marked("Show the whole plan")))

WITH_MOUSE: Final = (
    Key(marked("Click"), marked("Pick the seat, or put it back")),
    Key(marked("Shift + click"), marked("Pick the row up to this seat")),
    Key(marked("Shift + drag"), marked("Pick the free seats under a frame")),
    Key(marked("Ctrl + drag"), marked("Pick the free seats inside a loop")),
    Key(marked("Drag"), marked("Move the map")),
    Key(marked("Wheel"), marked("Zoom in, zoom out")),
    Key(marked("Double click"), marked("Show a section near")),
)
"""On the seat map; what the hand does is a word, and translated like one."""

AT_A_NEW_SALE: Final = (STEP, PICK, TOGETHER, BEST, FIND, ZOOM[0], HOLD, EVENTS, HELP)
"""What a clerk needs before the first seat is picked."""

SALE: Final = (HELP, MAP, PRICES, HOLD, EXACT_CASH, CASH, CARD, PART, PARK, BACK, LEAVE, NEXT, STOP, EVENTS, DAY, QUIT)
SCREENS_BY_CODE: Final = {
    "counter": COUNTER, "orders": ORDERS, "reconciliation": RECONCILIATION, "ops": OPS, "settings": SETTINGS,
}  # fmt: skip
SCREENS: Final = (COUNTER, ORDERS, RECONCILIATION, OPS, SETTINGS, PLANS)
PICKING: Final = (FIND_ANYWHERE, OFFER, UNDO, REDO, PRINT_CHART)
ANYWHERE: Final = (*SALE, *PICKING, *SCREENS)

IN_LISTS: Final = (
    Key("/", marked("Find in the list")),
    Key("Enter", marked("Open; in the evidence: unfold")),
    Key("Esc", marked("Close what is open")),
    Key("Ctrl+C", marked("Copy the line")),
)
"""In the inbox, its evidence, and the orders."""

ON_PLAN: Final = (
    Key("V R B S T", marked("Choose, draw a row, a block, a stage, a text; Enter draws it in the middle")),
    Key("O H G F", marked("Draw a table, a booth, standing places; set where people look")),
    Key("N", marked("Show who sits beside whom")),
    Key("Ctrl + PgUp / PgDn", marked("Go to the next floor, to the one before")),
    Key("↑ ↓", marked("Go from row to row and to the shapes")),
    Key("← →", marked("Go along the seats of the row")),
    Key("Ctrl + ← ↑ → ↓", marked("Move what is chosen; with Shift by the smallest step")),
    Key("Shift + ↑ ↓ ← →", marked("Choose more")),
    Key("Enter", marked("Go to the words of what is chosen")),
    Key("Del", marked("Delete what is chosen")),
    Key("Ctrl+A", marked("Choose everything")),
    Key("Ctrl+D", marked("Duplicate what is chosen")),
    Key("Ctrl+Z", marked("Undo; with Shift: redo")),
    Key("Ctrl+S", marked("Save the plan as a new version")),
    Key("+ / −", marked("Zoom in, zoom out")),
    Key("0", marked("Show the whole plan")),
    Key(marked("Alt + click"), marked("Choose one seat of a row, or the picture under the drawing")),
    Key(marked("Alt + drag"), marked("Move freely, without the grid")),
)
"""In the plan editor."""
