"""Who has the keyboard is seen: every kind of control changes enough pixels by enough contrast, in both themes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.async_button import AsyncButton
from widgets.choice_box import ChoiceBox
from widgets.filled_button import FilledButton
from widgets.map_legend import LegendCategory, LegendWords, MapLegend
from widgets.seat_map import SeatMapWidget
from widgets.theme import Theme, apply_theme

Make = Callable[[Theme], QWidget]


def _inline(theme: Theme) -> QWidget:
    button = QToolButton()
    button.setProperty("role", "inline")
    button.setText("✕")
    button.setFixedSize(28, 28)
    return button


def _legend(theme: Theme) -> QWidget:
    words = LegendWords("mine", "till", "fan", "house", "sold", "blocked", "accessible", "companion", "restricted")
    legend = MapLegend(theme, words)
    legend.show_categories((LegendCategory(0, "", "Stalls", "€45.00"),))
    return legend


CONTROLS: dict[str, Make] = {
    "plain": lambda theme: QPushButton("Cancel"),
    "primary": lambda theme: AsyncButton("Hold", "primary"),
    "quiet": lambda theme: AsyncButton("Release", "quiet"),
    "filled": lambda theme: FilledButton("Take the cash", "primary"),
    "danger": lambda theme: FilledButton("Close", "danger"),
    "inline": _inline,
    "line": lambda theme: QLineEdit(),
    "choice": ChoiceBox,
    "list": lambda theme: QListWidget(),
    "chip": _legend,
    "map": SeatMapWidget,
}


def luminance(image: QImage) -> npt.NDArray[np.float64]:
    """WCAG relative luminance of each pixel."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    rgb = rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3) / 255
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    shown: npt.NDArray[np.float64] = light @ np.array([0.2126, 0.7152, 0.0722])
    return shown


def picture(window: QWidget, control: QWidget) -> npt.NDArray[np.float64]:
    """The control on its ground, as the window shows it."""
    QApplication.processEvents()
    grabbed: QPixmap = window.grab()
    corner = control.mapTo(window, QPoint(0, 0))
    return luminance(grabbed.copy(corner.x(), corner.y(), control.width(), control.height()).toImage())


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("control", CONTROLS)
def test_the_focus_is_seen_by_a_contrast_of_three_all_round(
    qapp: QApplication, qtbot: QtBot, name: str, control: str
) -> None:
    theme = Theme.light() if name == "light" else Theme.dark()
    apply_theme(qapp, theme)
    window = QWidget()
    qtbot.addWidget(window)
    inside = QVBoxLayout(window)
    other, shown = QPushButton("other"), CONTROLS[control](theme)
    made: QWidget = shown.chips[0] if isinstance(shown, MapLegend) else shown
    inside.addWidget(other)
    inside.addWidget(shown)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    other.setFocus()
    before = picture(window, made)
    made.setFocus()
    assert made.hasFocus()
    after = picture(window, made)
    low, high = np.minimum(before, after), np.maximum(before, after)
    changed = int(((high + 0.05) / (low + 0.05) >= 3.0).sum())
    assert changed >= (made.width() + made.height()) * 1.5


@pytest.mark.parametrize("theme", [Theme.light(), Theme.dark()], ids=lambda theme: theme.name)
def test_a_placeholder_is_written_in_the_muted_ink(qapp: QApplication, qtbot: QtBot, theme: Theme) -> None:
    apply_theme(qapp, theme)
    field = QLineEdit()
    qtbot.addWidget(field)
    field.ensurePolished()
    ink = field.palette().color(QPalette.ColorRole.PlaceholderText)
    assert (ink.name().upper(), ink.alpha()) == (theme.hex("text_muted"), 255)
