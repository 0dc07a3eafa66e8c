"""A timeline: who did what and when, one entry under the other, each with its evidence folded in.

Up and Down move, Enter, Space, Right and Left fold, Ctrl+C copies the entry. An entry's evidence is opened in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from widgets.theme import Theme
from widgets.timeline_marks import paint_mark

_Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = Qt.ItemDataRole.UserRole + 1
OPEN_ROLE = Qt.ItemDataRole.UserRole + 2
_MARK_PX = 22
_FOLD_PX = 16
_MOST_LETTERS = 6000
_WRAP = Qt.TextFlag.TextWrapAnywhere
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One entry in words. `mark` is one of `timeline_marks.MARKS`, `mark_words` says the same; `body` may be empty.

    `day` stands over the first entry of each day.
    """

    mark: str
    mark_words: str
    tone: str
    day: str
    time: str
    title: str
    more: str = ""
    body: str = ""

    @property
    def text(self) -> str:
        """The whole entry as plain text."""
        head = " ".join(part for part in (self.day, self.time, self.mark_words, "–", self.title) if part)
        return "\n".join(part for part in (head, self.more, self.body) if part)


class TimelineModel(QAbstractListModel):
    """Lines and which of them are open. Lines that are added at the end leave the others as they are."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: tuple[TimelineLine, ...] = ()
        self.opened: set[int] = set()

    def show_lines(self, lines: tuple[TimelineLine, ...]) -> None:
        """Show these; what was open stays open when the lines before are the same."""
        old = self.lines
        if lines == old:
            return
        if old and lines[: len(old)] == old:
            self.beginInsertRows(QModelIndex(), len(old), len(lines) - 1)
            self.lines = lines
            self.endInsertRows()
            return
        self.beginResetModel()
        self.lines, self.opened = lines, set()
        self.endResetModel()

    def toggle(self, row: int) -> None:
        """Open an entry's evidence, or fold it."""
        if 0 <= row < len(self.lines) and self.lines[row].body:
            self.opened ^= {row}
            self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        is_open = index.row() in self.opened
        if role == Qt.ItemDataRole.DisplayRole:
            return line.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = (line.mark_words, line.title, line.more, line.day, line.time, line.body if is_open else "")
            return ", ".join(part for part in parts if part)
        values: dict[int, object] = {LINE_ROLE: line, OPEN_ROLE: is_open}
        return values.get(role)


class TimelineView(QListView):
    """See the module."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = TimelineModel(self)
        self.setModel(self.lines)
        self.setItemDelegate(_LineDelegate(theme, self))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.lines.dataChanged.connect(self._on_lines_changed)

    def show_lines(self, lines: Sequence[TimelineLine]) -> None:
        """Show a timeline, the oldest entry first."""
        self.lines.show_lines(tuple(lines))

    @property
    def text(self) -> str:
        """Everything as plain text."""
        return "\n\n".join(line.text for line in self.lines.lines)

    def copy_line(self) -> None:
        """The current entry with its evidence to the clipboard."""
        row = self.currentIndex().row()
        if row >= 0:
            QGuiApplication.clipboard().setText(self.lines.lines[row].text)

    def open_all(self) -> None:
        """Open every evidence, or fold all when all are open."""
        foldable = {row for row, line in enumerate(self.lines.lines) if line.body}
        for row in sorted(foldable - self.lines.opened or foldable):
            self.lines.toggle(row)

    def _on_lines_changed(self) -> None:
        self.scheduleDelayedItemsLayout()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            self.lines.toggle(index.row())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the second half of a double click folds nothing back

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_line()
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space} and not event.isAutoRepeat():
            self.lines.toggle(row)
        elif key in {Qt.Key.Key_Right, Qt.Key.Key_Left}:
            inward = Qt.Key.Key_Left if self.isRightToLeft() else Qt.Key.Key_Right
            if (key == inward) != (row in self.lines.opened):
                self.lines.toggle(row)
        elif event.text() and event.text().isprintable():
            event.ignore()
            return
        else:
            super().keyPressEvent(event)
            return
        event.accept()


class _LineDelegate(QStyledItemDelegate):
    """Paints one entry: the sign on its rail, the time, the words, the evidence on a sunken ground when it is open."""

    def __init__(self, theme: Theme, view: TimelineView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        del option
        line, is_open = index.data(LINE_ROLE), bool(index.data(OPEN_ROLE))
        width = self._view.viewport().width()
        return QSize(width, self._laid_out(line, width, is_open=is_open).height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        theme, box = self._theme, QRect(option.rect)
        line: TimelineLine = index.data(LINE_ROLE)
        is_open = bool(index.data(OPEN_ROLE))
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        mirrored = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        laid = self._laid_out(line, box.width(), is_open=is_open)
        painter.save()
        painter.translate(box.topLeft())
        if chosen:
            painter.fillRect(QRect(0, 0, box.width(), box.height()), theme.color("accent_soft"))
        self._paint_rail(painter, laid, box, index.row(), mirrored=mirrored)
        tone = theme.color(line.tone) if line.tone else theme.color("text_muted")
        mark = laid.placed(laid.mark, mirrored=mirrored)
        paint_mark(painter, line.mark, QRectF(mark), tone, theme.color("surface"))
        self._paint_words(painter, laid, line, is_open=is_open, mirrored=mirrored)
        painter.restore()

    def _paint_rail(self, painter: QPainter, laid: _Laid, box: QRect, row: int, *, mirrored: bool) -> None:
        mark = laid.placed(laid.mark, mirrored=mirrored)
        x = mark.center().x() + 1
        painter.setPen(QPen(self._theme.color("border"), 2))
        if row > 0:
            painter.drawLine(x, 0, x, mark.top())
        if row < len(self._view.lines.lines) - 1:
            painter.drawLine(x, mark.bottom(), x, box.height())

    def _paint_words(
        self, painter: QPainter, laid: _Laid, line: TimelineLine, *, is_open: bool, mirrored: bool
    ) -> None:
        theme = self._theme
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        flags = int(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
        pieces = (
            (laid.day, line.day, theme.font("caption", bold=True), "text_muted"),
            (laid.time, line.time, theme.font("caption"), "text_muted"),
            (laid.title, line.title, theme.font("body", bold=True), "text"),
            (laid.more, line.more, theme.font("caption"), "text_muted"),
        )
        for place, text, font, token in pieces:
            if text and place.height():
                painter.setFont(font)
                painter.setPen(theme.color(token))
                painter.drawText(laid.placed(place, mirrored=mirrored), flags, text)
        if line.body:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("text_muted"))
            folded = "◂" if mirrored else "▸"
            fold = laid.placed(laid.fold, mirrored=mirrored)
            painter.drawText(fold, Qt.AlignmentFlag.AlignCenter, "▾" if is_open else folded)
        if is_open:
            self._paint_body(painter, laid.placed(laid.body, mirrored=mirrored), line.body)

    def _paint_body(self, painter: QPainter, place: QRect, body: str) -> None:
        """Evidence is written from left to right in every language, as it came over the wire."""
        theme, gap = self._theme, self._theme.space("small")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("surface_sunken"))
        painter.drawRoundedRect(place, theme.radii["small"], theme.radii["small"])
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text"))
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignTop)
        painter.drawText(place.adjusted(gap, gap, -gap, -gap), flags | int(_WRAP), body[:_MOST_LETTERS])

    def _laid_out(self, line: TimelineLine, width: int, *, is_open: bool) -> _Laid:
        theme = self._theme
        gap, tight = theme.space("small"), theme.space("tight")
        caption, bold = QFontMetrics(theme.font("caption")), QFontMetrics(theme.font("body", bold=True))
        laid = _Laid(width)
        top = tight
        if line.day:
            top += tight
            laid.day = QRect(gap, top, width - 2 * gap, caption.height())
            top += caption.height() + tight
        left = gap + _MARK_PX + gap
        time_px = caption.horizontalAdvance("00:00:00") + gap
        inner = max(width - left - time_px - _FOLD_PX - gap, 60)
        laid.mark = QRect(gap, top, _MARK_PX, _MARK_PX)
        laid.time = QRect(left, top + 3, time_px, caption.height())
        title_px = _height(bold, line.title, inner)
        laid.title = QRect(left + time_px, top + 1, inner, title_px)
        laid.fold = QRect(width - _FOLD_PX - tight, top, _FOLD_PX, _MARK_PX)
        top += max(title_px, _MARK_PX) + 1
        if line.more:
            more_px = _height(caption, line.more, inner)
            laid.more = QRect(left + time_px, top, inner, more_px)
            top += more_px
        if is_open:
            body_px = _height(caption, line.body[:_MOST_LETTERS], inner + _FOLD_PX - 2 * gap, _WRAP) + 2 * gap
            laid.body = QRect(left + time_px, top + tight, inner + _FOLD_PX, body_px)
            top += body_px + tight
        laid.height = top + gap
        return laid


@dataclass(slots=True)
class _Laid:
    """Where the parts of an entry are, from its own top left corner; `placed` mirrors them."""

    width: int
    height: int = 0
    day: QRect = field(default_factory=QRect)
    mark: QRect = field(default_factory=QRect)
    time: QRect = field(default_factory=QRect)
    title: QRect = field(default_factory=QRect)
    more: QRect = field(default_factory=QRect)
    fold: QRect = field(default_factory=QRect)
    body: QRect = field(default_factory=QRect)

    def placed(self, box: QRect, *, mirrored: bool) -> QRect:
        """`box`, on the other side where lines begin at the right."""
        return QRect(self.width - box.right() - 1, box.top(), box.width(), box.height()) if mirrored else box


def _height(metrics: QFontMetrics, text: str, width: int, wrap: Qt.TextFlag = Qt.TextFlag.TextWordWrap) -> int:
    return metrics.boundingRect(0, 0, width, 100_000, int(wrap), text).height()
