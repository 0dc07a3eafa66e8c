"""A drop-down list with an arrow in the theme's own colours."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from widgets.theme import Theme

_ROOM_PX, _EDGE_PX = 26, 12
_ARROW_PX = 8
_NAME_ROLE = Qt.ItemDataRole.UserRole + 1


class ChoiceBox(QComboBox):
    """As `QComboBox`; the wheel scrolls what is around it and never changes a price by accident."""

    picked = Signal()
    """Something was chosen from the open list, another one or the same; not by the arrows of the closed box."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._was_open = QTimer(self)
        self._was_open.setSingleShot(True)
        self._was_open.setInterval(0)
        self.activated.connect(self._on_activated)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setStyleSheet(
            f"QComboBox::drop-down {{ border: 0; width: {_ROOM_PX}px; }}"
            "QComboBox::down-arrow { image: none; width: 0; height: 0; }"
        )

    @property
    def chosen_name(self) -> str:
        """What the closed box says."""
        return str(self.currentData(_NAME_ROLE) or self.currentText())

    def add_choice(self, name: str, price: str, data: object) -> None:
        """A choice that shows its price in the open list, and its name alone when it is the chosen one."""
        self.addItem(f"{name}   {price}" if price else name, data)
        self.setItemData(self.count() - 1, name, _NAME_ROLE)

    def width_of(self, name: str) -> int:
        """How wide the closed box has to be to say this name whole, px."""
        return self.fontMetrics().horizontalAdvance(name) + _ROOM_PX + 2 * _EDGE_PX

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        styled = QStylePainter(self)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        option.currentText = option.fontMetrics.elidedText(self.chosen_name, Qt.TextElideMode.ElideRight, room)
        styled.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        styled.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        styled.end()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._theme.color("text_muted" if self.isEnabled() else "text_disabled"), 1.6)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        x = _ROOM_PX / 2 if self.isRightToLeft() else self.width() - _ROOM_PX / 2
        y = self.height() / 2
        half = _ARROW_PX / 2
        painter.drawPolyline(
            QPolygonF([QPointF(x - half, y - half / 2), QPointF(x, y + half / 2), QPointF(x + half, y - half / 2)])
        )
        painter.end()

    def hidePopup(self) -> None:
        """What was chosen is told right after the list is gone."""
        super().hidePopup()
        self._was_open.start()

    def _on_activated(self) -> None:
        if self._was_open.isActive():
            self._was_open.stop()
            self.picked.emit()

    def wheelEvent(self, event: object) -> None:
        if hasattr(event, "ignore"):
            event.ignore()
