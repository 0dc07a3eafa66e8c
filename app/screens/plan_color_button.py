"""A colour of the theme's categories, chosen from a menu of swatches."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QToolButton

from widgets.theme import Theme

_SWATCH_PX = 16


class ColorButton(QToolButton):
    """Shows a colour; `color_chosen` (`#rrggbb`, or empty for none) when another is taken."""

    color_chosen = Signal(str)

    def __init__(self, theme: Theme, name: str, none: str = "") -> None:
        """`none`: words for no colour of its own; without them there is always one."""
        super().__init__()
        self._theme = theme
        self._none = none
        self.color = ""
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setIcon(swatch(theme, ""))
        self.clicked.connect(self._on_clicked)

    def show_color(self, color: str) -> None:
        """Show this one."""
        if color != self.color or self.icon().isNull():
            self.color = color
            self.setIcon(swatch(self._theme, color))

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        if self._none:
            menu.addAction(swatch(self._theme, ""), self._none).setData("")
        for color in self._theme.categories:
            menu.addAction(swatch(self._theme, color), color).setData(color.lower())
        menu.triggered.connect(self._on_triggered)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _on_triggered(self, action: object) -> None:
        self.color_chosen.emit(str(getattr(action, "data", str)()))


def swatch(theme: Theme, color: str) -> QIcon:
    """A disc of a colour; that of edges where there is none."""
    picture = QPixmap(_SWATCH_PX, _SWATCH_PX)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    known = QColor.isValidColorName(color[:7])
    painter.setBrush(QColor(color[:7]) if known else theme.color("border_strong"))
    painter.setPen(theme.color("border_strong"))  # a dark colour is to be seen on a dark button as well
    painter.drawEllipse(1, 1, _SWATCH_PX - 2, _SWATCH_PX - 2)
    painter.end()
    return QIcon(picture)
