"""The keys of the operators' screen: what buttons show as hints, and the list that F1 shows there."""

from __future__ import annotations

from typing import Final

from app.i18n import marked
from app.screens.keys import Key

LIVE: Final = Key("1", marked("What goes on now"))
BLOCKERS: Final = Key("2", marked("Who waits for whom in the database"))
ALARMS: Final = Key("3", marked("Alarms and limits"))
LOG: Final = Key("4", marked("The log of operations"))
LARGE: Final = Key("F11", marked("Large mode, for a screen on the wall"))
ADMISSION: Final = Key("S", marked("Type what admission is to be"))
REVIEW: Final = Key("Enter", marked("See what the typed admission does, then set it"))
EVENT: Final = Key("P", marked("Pause the sale of the event, or resume it"))
ROOM: Final = Key("R", marked("Pause the waiting room, or resume it"))
ACKNOWLEDGE: Final = Key("K", marked("Say that the alarm is known"))
LIMIT: Final = Key("L", marked("Change the chosen limit"))
END: Final = Key("X", marked("End the session that keeps others waiting"))

ON_SCREEN: Final = (LIVE, BLOCKERS, ALARMS, LOG, LARGE, ADMISSION, REVIEW, EVENT, ROOM, ACKNOWLEDGE, LIMIT, END)
ON_CHARTS: Final = (
    Key("↑ ↓", marked("Go from chart to chart")),
    Key("← →", marked("Read the values second by second; with Ctrl ten at a time")),
    Key("PgUp / PgDn", marked("Look at earlier, at later")),
    Key("End", marked("Back to now")),
    Key("+ / −", marked("Look at less time, at more")),
    Key(marked("Drag"), marked("Move along the time")),
)
