"""Which event is sold: a list to search, with day and time at the venue."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.store import ConsoleStore
from app.i18n import _
from app.models.event_list import EventListModel, EventRole
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column, label, leading, row
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_WIDEST_PX = 860


class EventsScreen(QWidget):
    """Lists the events on offer; a click or Enter opens one."""

    event_chosen = Signal(int)
    refresh_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._loaded = False
        self.model = EventListModel(self)
        self.search = _SearchEdit()
        self.list = QListView()
        self._delegate = EventDelegate(theme, self.list)
        self.refresh = AsyncButton(_("Load again"))
        self.banner = StatusBanner(theme)
        self._empty = label(kind="lead", tone="muted", wrap=True)
        self._pages = QStackedWidget()
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"load-events": self.refresh}

    def show_events(self) -> None:
        """Show the events of the store."""
        self._loaded = self._loaded or bool(self._store.events)
        self.model.show_events(self._store.events, self._store.clock.now())
        self._show_page()

    def set_loaded(self) -> None:
        """The events were asked for and the answer came, even when there are none."""
        self._loaded = True
        self._show_page()

    def show_opening(self, event_id: int | None) -> None:
        """Say at its line that this event is being opened; None: none is any more."""
        self._delegate.opening = event_id
        self.list.viewport().update()

    @property
    def opening(self) -> int | None:
        """The event that is being opened."""
        return self._delegate.opening

    def tell(self, words: Advice) -> None:
        """Say what is wrong."""
        self.banner.tell(words.tone, words.title, words.detail)

    def forget_person(self) -> None:
        """What was said and looked for here was somebody else's."""
        self.banner.clear()
        self.search.clear()

    def focus_first(self) -> None:
        """Put the keyboard on the search field; arrow keys go to the list."""
        take_focus(self.search)

    def _show_page(self) -> None:
        if self.model.rowCount():
            self._pages.setCurrentWidget(self.list)
            if not self.list.currentIndex().isValid():
                self.list.setCurrentIndex(self.model.index(0))
            return
        if not self._loaded:
            self._empty.setText(_("Loading the events…"))
        elif self.search.text():
            self._empty.setText(_("No event matches these words."))
        else:
            self._empty.setText(_("There are no events on sale. They appear here as soon as they are created."))
        self._pages.setCurrentWidget(self._empty)

    def _build(self) -> None:
        theme = self._theme
        self.search.setPlaceholderText(_("Search by name, venue or day"))
        self.search.setAccessibleName(_("Search events"))
        self.search.setClearButtonEnabled(True)
        self.search.setAlignment(leading())
        self.list.setModel(self.model)
        self.list.setItemDelegate(self._delegate)
        self.list.setAccessibleName(_("Events"))
        self.list.setUniformItemSizes(True)
        self.list.setSpacing(theme.space("hair"))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.list)
        self._pages.addWidget(self._empty)
        head = row(theme)
        head.addWidget(label(_("Events"), kind="display"), 1)
        head.addWidget(self.refresh)
        middle = QWidget()
        middle.setMaximumWidth(_WIDEST_PX)
        inside = column(theme, gap="medium", parent=middle)
        inside.addLayout(head)
        inside.addWidget(self.search)
        inside.addWidget(self.banner)
        inside.addWidget(self._pages, 1)
        page = row(theme, margin="wide", parent=self)
        page.addStretch(1)
        page.addWidget(middle, 100)
        page.addStretch(1)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._on_search_text_changed)
        self.search.list_wanted.connect(self._on_search_list_wanted)
        self.search.returnPressed.connect(self._on_search_return_pressed)
        # Not `activated` alone: whether a single click activates is a matter of the desktop.
        self.list.clicked.connect(self._on_list_chosen)
        self.list.activated.connect(self._on_list_chosen)
        self.refresh.action_requested.connect(self.refresh_requested)

    def _on_search_text_changed(self, words: str) -> None:
        self.model.filter(words)
        self._show_page()
        if self.model.rowCount():
            self.list.setCurrentIndex(self.model.index(0))

    def _on_search_list_wanted(self) -> None:
        take_focus(self.list, Qt.FocusReason.TabFocusReason)

    def _on_search_return_pressed(self) -> None:
        if self.list.currentIndex().isValid():
            self._on_list_chosen(self.list.currentIndex())

    def _on_list_chosen(self, index: QModelIndex) -> None:
        event_id = index.data(EventRole.EVENT_ID)
        if event_id is not None:
            self.banner.clear()
            self.event_chosen.emit(int(event_id))


class _SearchEdit(QLineEdit):
    """The arrow keys up and down leave for the list."""

    list_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Up}:
            self.list_wanted.emit()
        else:
            super().keyPressEvent(event)


class EventDelegate(QStyledItemDelegate):
    """Paints one event: name and time at the start, its status at the end."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.opening: int | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        del option, index
        title = QFontMetrics(self._theme.font("lead", bold=True)).height()
        line = QFontMetrics(self._theme.font("body")).height()
        return QSize(320, title + 2 * (line + self._theme.space("tight")) + 2 * self._theme.space("medium"))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, box = self._theme, QRect(option.rect)
        state = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen or hovered:
            painter.setBrush(theme.color("accent_soft" if chosen else "surface_sunken"))
            painter.drawRoundedRect(box, theme.radii["small"], theme.radii["small"])
        inside = box.adjusted(
            theme.space("large"), theme.space("medium"), -theme.space("large"), -theme.space("medium")
        )
        status_px = self._paint_status(painter, inside, index)
        words = inside.adjusted(0, 0, -status_px, 0)
        if self._mirrored(option):
            words = inside.adjusted(status_px, 0, 0, 0)
        self._paint_words(painter, words, index, mirrored=self._mirrored(option))
        painter.restore()

    def _paint_words(
        self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex, *, mirrored: bool
    ) -> None:
        theme = self._theme
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        flags = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        top = box.top()
        for role, font, token in (
            (EventRole.NAME, theme.font("lead", bold=True), "text"),
            (EventRole.WHEN, theme.font("body"), "text"),
            (EventRole.WHERE, theme.font("body"), "text_muted"),
        ):
            painter.setFont(font)
            painter.setPen(theme.color(token))
            metrics = painter.fontMetrics()
            line = QRect(box.left(), top, box.width(), metrics.height())
            text = metrics.elidedText(str(index.data(role)), Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(line, flags, text)
            top += metrics.height() + theme.space("tight")

    def _paint_status(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> int:
        """A pill at the end of the line; returns the room that it takes."""
        theme = self._theme
        tone, text = str(index.data(EventRole.TONE)), str(index.data(EventRole.STATUS))
        if self.opening is not None and index.data(EventRole.EVENT_ID) == self.opening:
            tone, text = "info", _("Opening…")
        painter.setFont(theme.font("caption", bold=True))
        metrics = painter.fontMetrics()
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width() // 2)
        width = metrics.horizontalAdvance(text) + 2 * theme.space("medium")
        height = metrics.height() + theme.space("small")
        mirrored = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = box.left() if mirrored else box.right() + 1 - width
        pill = QRect(left, box.center().y() - height // 2, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("surface_sunken" if tone == "muted" else f"{tone}_soft"))
        painter.drawRoundedRect(pill, height / 2, height / 2)
        painter.setPen(theme.color("text_muted" if tone == "muted" else tone))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
        return width + theme.space("large")

    @staticmethod
    def _mirrored(option: QStyleOptionViewItem) -> bool:
        direction = option.direction
        return bool(direction == Qt.LayoutDirection.RightToLeft)
