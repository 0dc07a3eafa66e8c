"""Whose clock the instants of the operators' pages are told by: that of the venue of the event that is watched."""

from __future__ import annotations

from datetime import UTC, datetime

from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.screens.inbox_page import event_zone
from backend_client.wire import EventId


def times_words(store: ConsoleStore, event_id: EventId | None) -> str:
    """`Times: Japan Standard Time`."""
    now = store.clock.now() or datetime.now(UTC)
    return _("Times: {zone}").format(zone=figures().zone(now, event_zone(store, event_id)))
