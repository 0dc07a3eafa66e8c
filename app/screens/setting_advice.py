"""What people read for the codes of the settings screen."""

from __future__ import annotations

from typing import Final

from app.i18n import marked

SETTING_ADVICE: Final[dict[str, tuple[str, str]]] = {
    "settings-changed": (
        marked("Somebody has changed these settings meanwhile"),
        marked("Nothing of yours was set. What is different is marked; what you typed is kept. Decide anew."),
    ),
    "event-state-conflict": (
        marked("The event does not allow this any more"),
        marked("It is cancelled, or somebody has changed its state. Nothing was set."),
    ),
    "alarm-not-found": (
        marked("The booking system does not know this alarm any more"),
        marked("Nothing was done. Read the alarms again."),
    ),
    "event-has-no-room": (
        marked("There is no waiting room that could be paused"),
        marked("To stop fans, pause the sale."),
    ),
    "settings-not-read": (
        marked("The settings have not been read yet"),
        marked("Nothing is changed that was not seen. Load them first."),
    ),
    "setting-empty": (marked("Type a value"), ""),
    "setting-unreadable": (marked("This is not a number"), ""),
    "setting-outside": (marked("This is outside of what is allowed"), ""),
    "setting-refused": (marked("The booking system does not take this value"), ""),
    "setting-zone": (marked("There is no such time zone"), ""),
    "setting-address": (marked("An address is a name or number, a colon and a port: 10.0.0.7:20007"), ""),
}
