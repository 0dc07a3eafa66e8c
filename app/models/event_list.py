"""The events on offer, for a list view: rows change one by one, never by a reset for a single change."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.i18n import _, figures, ngettext
from backend_client.wire import EventStatus, EventSummary

_LOG = logging.getLogger(__name__)
_Index = QModelIndex | QPersistentModelIndex


class EventRole(IntEnum):
    """Roles beside Qt's own."""

    EVENT_ID = Qt.ItemDataRole.UserRole + 1
    NAME = Qt.ItemDataRole.UserRole + 2
    WHEN = Qt.ItemDataRole.UserRole + 3
    WHERE = Qt.ItemDataRole.UserRole + 4
    STATUS = Qt.ItemDataRole.UserRole + 5
    TONE = Qt.ItemDataRole.UserRole + 6


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event in words; `tone` is success, muted, warn or danger."""

    event_id: int
    name: str
    when: str
    where: str
    status: str
    tone: str

    @classmethod
    def of(cls, event: EventSummary, now: datetime | None) -> EventLine:
        """Words for `event`; `now` is the server's time, None while it is not known."""
        shown = figures()
        status, tone = _status_of(event, now)
        seats = ngettext("{count} seat", "{count} seats", event.seat_count).format(count=shown.number(event.seat_count))
        if not event.seat_count:  # a hall is never empty: it has places without numbers
            seats = _("Standing places")
        return cls(
            event.event_id,
            event.name,
            shown.date_time(event.starts_at, event.zone),
            shown.joined((event.venue_name, seats)),
            status,
            tone,
        )

    def matches(self, words: str) -> bool:
        """True when each word of `words` stands somewhere in the line."""
        line = f"{self.name} {self.when} {self.where}".casefold()
        return all(word in line for word in words.casefold().split())


def _status_of(event: EventSummary, now: datetime | None) -> tuple[str, str]:
    if event.status is EventStatus.CANCELLED:
        return _("Cancelled"), "danger"
    if event.status is EventStatus.PAUSED:
        return _("Sale paused"), "warn"
    if now is not None and now < event.sale_opens_at:
        opens = figures().date_time(event.sale_opens_at, event.zone)
        return _("Sale opens {when}").format(when=opens), "muted"
    return _("On sale"), "success"


class EventListModel(QAbstractListModel):
    """Events in the order in which they start, filtered by words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[EventLine] = []
        self._shown: list[EventLine] = []
        self._words = ""

    def show_events(self, events: tuple[EventSummary, ...], now: datetime | None) -> None:
        """Replace the events; a changed one changes its row only."""
        self._all = [EventLine.of(event, now) for event in sorted(events, key=lambda event: event.starts_at)]
        self._refresh()

    def filter(self, words: str) -> None:
        """Show the events that have all of `words`."""
        self._words = words
        self._refresh()

    def row_of(self, event_id: int) -> int | None:
        """Row of an event; None when it is not shown."""
        return next((row for row, line in enumerate(self._shown) if line.event_id == event_id), None)

    def _refresh(self) -> None:
        wanted = [line for line in self._all if line.matches(self._words)]
        if [line.event_id for line in wanted] != [line.event_id for line in self._shown]:
            self.beginResetModel()
            self._shown = wanted
            self.endResetModel()
            return
        for row, line in enumerate(wanted):
            if line != self._shown[row]:
                self._shown[row] = line
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own signature
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        try:
            return self._value(self._shown[index.row()], role) if index.isValid() else None
        except Exception:  # noqa: BLE001  # it would be lost inside Qt, once for each repaint
            _LOG.exception("event row %s", index.row())
            return None

    @staticmethod
    def _value(line: EventLine, role: int) -> object:
        spoken = figures().spoken((line.name, line.when, line.where, line.status))
        values: dict[int, object] = {
            Qt.ItemDataRole.DisplayRole: line.name,
            Qt.ItemDataRole.AccessibleTextRole: spoken,
            EventRole.EVENT_ID: line.event_id,
            EventRole.NAME: line.name,
            EventRole.WHEN: line.when,
            EventRole.WHERE: line.where,
            EventRole.STATUS: line.status,
            EventRole.TONE: line.tone,
        }
        return values.get(role)
