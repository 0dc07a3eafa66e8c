"""The details of one seat, over the map: who has it and since when, what it costs, and its whole history.

It lies at the side of the map where the seat is not, keeps the keyboard on the map while a clerk walks from seat to
seat, and can be reached with Tab. Esc closes it.
"""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImageReader, QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTextBrowser,
    QToolButton,
    QWidget,
)

from app.i18n import _
from app.screens.seat_detail_words import SeatFace, copied_text, spoken_face
from app.screens.seat_history_page import history_html
from app.screens.words import Advice
from widgets.build import column, label, leading, row, set_tone
from widgets.focus import take_focus
from widgets.seat_map import SeatMapWidget
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

WIDTH_PX = 340
_VIEW_PX = 150
_EDGE_PX = 12
_FINE = 2
_HISTORY_PX = 150
_MOST_PX = 40_000_000
_TEXT = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


class SeatDetails(QFrame):
    """Hidden until a seat is shown. `seat_no` is the seat that it is about, -1 for none."""

    again_requested = Signal()
    """The person wants the booking system to be asked once more."""
    closed = Signal()

    def __init__(self, theme: Theme, seat_map: SeatMapWidget) -> None:
        super().__init__(seat_map)
        self.seat_no = -1
        self._theme = theme
        self._map = seat_map
        self._face = SeatFace("", "", "", ())
        self._view: QPixmap | None = None
        self._height_before = 0
        self.setProperty("surface", "card")
        self.setAutoFillBackground(True)
        # The map itself is never mirrored; what lies over it follows the direction of the window.
        self.setLayoutDirection(QApplication.layoutDirection())
        self.name = label(kind="lead", wrap=True)
        self.standing = label(wrap=True)
        self.view = QLabel()
        self.banner = StatusBanner(theme)
        self.waiting = label(_("Asking the booking system…"), tone="muted")
        self.empty = label(_("Nothing has happened to this seat yet."), tone="muted", wrap=True)
        self.history = QTextBrowser()
        self.close_button = QToolButton()
        self.copy_button = QPushButton(_("Copy"))
        self.again = QPushButton(_("Ask again"))
        self._caption = label(_("History"), kind="caption", tone="muted")
        self._facts = QGridLayout()
        self._build()
        seat_map.view_changed.connect(self._place)
        seat_map.installEventFilter(self)
        self.hide()

    # ------------------------------------------------------------ what is shown

    def show_waiting(self, seat_no: int, face: SeatFace, view: bytes = b"") -> None:
        """Show what is known already, while the booking system is being asked. `view`: an image from the seat."""
        self.seat_no = seat_no
        self._height_before = self.height() if self.isVisible() else 0
        self._show_view(view)
        self._show_face(face)
        self.banner.clear()
        self._show_parts(waiting=True)
        self.show()
        self.raise_()
        self._place()

    def show_detail(self, face: SeatFace, *, aloud: bool = True) -> None:
        """Show the answer. It is spoken for screen readers, unless it was asked for by nobody."""
        self._show_face(face)
        self.banner.clear()
        self._show_history()
        self._show_parts(waiting=False)
        self._place()
        if aloud:
            self._map.say(spoken_face(face))

    def show_trouble(self, words: Advice) -> None:
        """Say why there is no answer, with a way to ask again; what is known stays."""
        self.banner.tell(words.tone, words.title, words.detail)
        self._show_parts(waiting=False)
        self._place()
        self._map.say(f"{words.title}. {words.detail}")

    def dismiss(self) -> None:
        """Hide; the keyboard goes back to the map if it was here."""
        had_keyboard = self.has_keyboard
        self.seat_no = -1
        self.hide()
        if had_keyboard:
            take_focus(self._map)
        self.closed.emit()

    @property
    def has_keyboard(self) -> bool:
        """Whether the keyboard is on a part of this."""
        return self.isAncestorOf(QApplication.focusWidget() or QWidget())

    @property
    def shown_facts(self) -> list[tuple[str, str]]:
        """Caption and value of each line of the upper part."""
        return [(fact.caption, fact.value) for fact in self._face.facts]

    # ------------------------------------------------------------ parts

    def _show_face(self, face: SeatFace) -> None:
        self._face = face
        self.name.setText(face.name)
        self.standing.setText(face.standing)
        set_tone(self.standing, face.tone)
        self.setAccessibleName(_("Details of {seat}").format(seat=face.name))
        self.setAccessibleDescription(spoken_face(face))
        while (item := self._facts.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for line, fact in enumerate(face.facts):
            caption, value = label(fact.caption, tone="muted"), label(fact.value, wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleName(f"{fact.caption}: {fact.value}")
            self._facts.addWidget(caption, line, 0, Qt.AlignmentFlag.AlignTop)
            self._facts.addWidget(value, line, 1)
            caption.show()  # a layout shows what it takes up a turn later, and the height is asked for now
            value.show()

    def _show_history(self) -> None:
        self.history.setHtml(history_html(self._face, self._theme, mirrored=self.isRightToLeft()))
        self.history.verticalScrollBar().setValue(0)

    def _show_parts(self, *, waiting: bool) -> None:
        told = bool(self._face.history)
        troubled = not self.banner.isHidden()
        self.waiting.setVisible(waiting)
        self.again.setVisible(troubled)
        self.copy_button.setVisible(not waiting and not troubled)
        self._caption.setVisible(not waiting and not troubled)
        self.empty.setVisible(not waiting and not troubled and not told)
        self.history.setVisible(not waiting and not troubled and told)

    def _show_view(self, view: bytes) -> None:
        self._view = _picture(view)
        self.view.setVisible(self._view is not None)
        if self._view is not None:
            self.view.setPixmap(self._view)

    def _build(self) -> None:
        theme = self._theme
        self.name.setFont(theme.font("lead", bold=True))
        self.standing.setFont(theme.font("body", bold=True))
        for text in (self.name, self.standing):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.close_button.setText("✕")
        self.close_button.setProperty("role", "inline")
        self.close_button.setFixedSize(theme.space("wide"), theme.space("wide"))
        close = _("Close")
        self.close_button.setAccessibleName(close)
        self.close_button.setToolTip(f"{close} (Esc)")
        self.close_button.clicked.connect(self.dismiss)
        self.copy_button.setProperty("role", "quiet")
        self.copy_button.setAutoDefault(False)
        self.copy_button.setAccessibleName(_("Copy all of it as text"))
        self.copy_button.clicked.connect(self._on_copy_clicked)
        self.again.setAutoDefault(False)
        self.again.setAccessibleName(self.again.text())
        self.again.clicked.connect(self.again_requested)
        self.view.setAccessibleName(_("View from this seat"))
        self.view.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.history.setAccessibleName(_("History"))
        self.history.setOpenLinks(False)
        self.history.document().setDocumentMargin(0)
        ring, focus = theme.sizes["focus_ring"], theme.color("focus").name()
        self.history.setStyleSheet(
            f"QTextBrowser {{ border: {ring}px solid transparent; padding: 0; background: transparent; }}"
            f"QTextBrowser:focus {{ border-color: {focus}; }}"
        )
        self.history.setTextInteractionFlags(_TEXT)
        self.history.setMinimumHeight(_HISTORY_PX)
        self.history.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.history.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        head = row(theme, gap="small")
        head.addWidget(self.name, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self._facts.setHorizontalSpacing(theme.space("medium"))
        self._facts.setVerticalSpacing(theme.space("tight"))
        self._facts.setColumnStretch(1, 1)
        end = row(theme, gap="small")
        end.addWidget(self._caption, 1, leading())
        end.addWidget(self.copy_button)
        inside = column(theme, margin="medium", gap="small", parent=self)
        inside.addLayout(head)
        inside.addWidget(self.standing)
        inside.addWidget(self.view)
        inside.addLayout(self._facts)
        inside.addWidget(self.waiting)
        inside.addWidget(self.banner)
        inside.addWidget(self.again)
        inside.addLayout(end)
        inside.addWidget(self.empty)
        inside.addWidget(self.history, 1)
        inside.addStretch(0)

    def _place(self) -> None:
        """At the side of the map where the seat is not, as high as its texts want and the map allows."""
        if self.isHidden() or self.seat_no < 0:
            return
        edge = self._theme.space("medium")
        room = self._map.rect().adjusted(edge, edge, -edge, -edge)
        width = min(WIDTH_PX, room.width())
        self.setFixedWidth(width)
        layout = self.layout()
        if layout is not None:
            layout.activate()
        wanted = layout.totalHeightForWidth(width) if layout is not None and layout.hasHeightForWidth() else -1
        height = wanted if wanted > 0 else self.sizeHint().height()
        if not self.waiting.isHidden():
            height = max(height, self._height_before)  # it stands still while a clerk walks from seat to seat
        if not self.history.isHidden():
            height += max(0, self._history_height() - _HISTORY_PX)
        seat_x = self._map.seat_rect(self.seat_no).center().x()
        begins_right = self.isRightToLeft()
        covered = seat_x > room.right() - width - edge if begins_right else seat_x < room.left() + width + edge
        at_right = begins_right != covered
        left = room.right() + 1 - width if at_right else room.left()
        self.setGeometry(left, room.top(), width, min(height, room.height()))

    def _history_height(self) -> int:
        document = self.history.document()
        document.setTextWidth(WIDTH_PX - 2 * self._theme.space("medium") - self._theme.space("wide"))
        return int(document.size().height()) + 2 * self._theme.space("medium")

    # ------------------------------------------------------------ hands and keys

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(copied_text(self._face))
        self._map.say(_("Copied"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """With the map: its size, and Esc, which closes this before it does anything else there."""
        if watched is self._map:
            if event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
                self._place()
            elif self._is_escape(event) and not self.isHidden():
                return self._take_escape(event)
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Keys that mean something here mean nothing to the map below."""
        if event.type() == QEvent.Type.ShortcutOverride and self._is_escape(event):
            return self._take_escape(event)
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        event.accept()

    @staticmethod
    def _is_escape(event: QEvent) -> bool:
        return (
            isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and event.type() in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress}
        )

    def _take_escape(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress:
            self.dismiss()
        event.accept()
        return True


def _picture(data: bytes) -> QPixmap | None:
    """An image in the size in which it is shown, fine enough for dense screens; None for none, and for a huge one."""
    buffer = QBuffer()
    buffer.setData(data)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    size = reader.size()
    if not data or not size.isValid() or size.width() * size.height() > _MOST_PX:
        return None
    room = QSize(WIDTH_PX - 2 * _EDGE_PX, _VIEW_PX) * _FINE
    reader.setScaledSize(size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio))
    picture = QPixmap.fromImage(reader.read())
    picture.setDevicePixelRatio(_FINE)
    return None if picture.isNull() else picture
