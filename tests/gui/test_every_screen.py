"""Every screen in every language: named for screen readers, reachable by keyboard, and nothing clipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QMenuBar,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.main import Options, make_application
from app.screenshots import Photographer
from app.settings import Settings
from tests.gui.conftest import QLoop
from widgets.elided_label import ElidedLabel
from widgets.sale_line import SaleLine

_SPOKEN = (QAbstractButton, QComboBox, QLineEdit, QListView)
SIZES = {"1280x800": (1280, 800), "150 % of 1280x800": (853, 533)}


def shown(root: QWidget) -> Iterator[QWidget]:
    """Visible widgets of ours, depth first; Qt's own inner parts are left out."""
    for child in root.findChildren(QWidget):
        if child.isVisible() and not child.objectName().startswith("qt_"):
            yield child


def nameless(root: QWidget) -> list[str]:
    """Widgets that a screen reader could not name."""
    return [
        f"{type(widget).__name__} {widget.objectName()}"
        for widget in shown(root)
        if (isinstance(widget, _SPOKEN) or widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and not isinstance(widget, QMenuBar)
        and not isinstance(widget.parent(), QComboBox | QLineEdit)
        and not widget.accessibleName()
    ]


def clipped(root: QWidget) -> list[str]:
    """Texts that do not fit their widget, and widgets that stick out of the window."""
    found = []
    for widget in shown(root):
        if isinstance(widget, ElidedLabel):
            continue
        if isinstance(widget, QLabel) and widget.text() and not _fits_label(widget):
            found.append(f"label {widget.text()!r} {widget.size().toTuple()}")
        if isinstance(widget, QPushButton) and not _fits_button(widget):
            found.append(f"button {widget.text()!r} {widget.width()}")
        if not _scrolls(widget) and not _inside(widget, root):
            found.append(f"outside {type(widget).__name__} {widget.accessibleName() or widget.objectName()!r}")
    return found


def _fits_label(label: QLabel) -> bool:
    if label.wordWrap():
        return label.heightForWidth(label.width()) <= label.height() + 2
    return label.fontMetrics().horizontalAdvance(label.text()) <= label.width() + 2


def _fits_button(button: QPushButton) -> bool:
    lines = button.text().replace("&", "").split("\n")
    return max(button.fontMetrics().horizontalAdvance(line) for line in lines) <= button.width() - 20


def _scrolls(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea | QListView):
            return True
        parent = parent.parentWidget()
    return False


def _inside(widget: QWidget, root: QWidget) -> bool:
    place = QRect(widget.mapTo(root, widget.rect().topLeft()), widget.size())
    return root.rect().adjusted(-1, -1, 1, 1).contains(place)


class Inspector(Photographer):
    """Walks the same way as the photographer and looks instead of taking pictures."""

    def __init__(self, folder: Path, settings: Settings, size: tuple[int, int]) -> None:
        super().__init__(folder, settings, size)
        self.faults: list[str] = []
        self.names: list[str] = []

    def take(self, name: str, dialog: QWidget | None = None) -> None:
        self.names.append(name)
        root = dialog if dialog is not None else self._open.console.window
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.faults += [f"{name}: no name: {fault}" for fault in nameless(root)]
        self.faults += [f"{name}: clipped: {fault}" for fault in clipped(root)]
        self.faults += [f"{name}: {fault}" for fault in _focus_faults(root)]


def _focus_faults(root: QWidget) -> list[str]:
    """Tab goes round every control that listens, and comes back."""
    first = QApplication.focusWidget()
    if first is None or not root.isAncestorOf(first):
        return []
    seen, widget = set(), first
    for _step in range(5_000):
        chain = widget.nextInFocusChain()
        if chain is None or chain is first:
            break
        if chain.isVisibleTo(root) and chain.focusPolicy() & Qt.FocusPolicy.TabFocus:
            seen.add(chain)
        widget = chain
    wanted = {
        button for button in root.findChildren(QPushButton)
        if button.isVisible() and button.isEnabled() and button.focusPolicy() & Qt.FocusPolicy.TabFocus
    }  # fmt: skip
    return [f"unreachable by Tab: {button.text()!r}" for button in wanted - seen - {first}]


@pytest.mark.parametrize(
    ("language", "size"),
    [(language, SIZES["1280x800"]) for language in ("en", "pt", "ar", "ja")]
    + [(language, SIZES["150 % of 1280x800"]) for language in ("pt", "ar", "ja")],
)
def test_every_screen_is_named_reachable_and_whole(
    qloop: QLoop, tmp_path: Path, language: str, size: tuple[int, int]
) -> None:
    settings = Settings()
    make_application(settings, Options(data=tmp_path, language=language, theme="light", size=size))
    inspector = Inspector(tmp_path, settings, size)
    assert qloop.run(inspector.work(), 180) == 0
    assert len(inspector.names) == 70
    assert inspector.faults == []


def test_screenshots_writes_one_picture_of_every_screen(qloop: QLoop, tmp_path: Path) -> None:
    settings = Settings()
    make_application(settings, Options(data=tmp_path, language="pt", theme="dark"))
    photographer = Photographer(tmp_path, settings, (1280, 800))
    qloop.run(photographer.work(), 180)
    names = [path.name for path in photographer.taken]
    assert len(names) == len(set(names)) == 70
    assert names == sorted(names)
    assert {"counter", "payment-unclear", "sale-done"} <= {name[3:-4] for name in names}
    for path in photographer.taken:
        assert path.stat().st_size > 20_000
    shutil.rmtree(tmp_path)


def test_a_price_can_be_changed_with_the_keyboard_from_the_map(qloop: QLoop, theme: object, tmp_path: Path) -> None:
    from PySide6.QtTest import QTest

    from tests.gui.conftest import counter_of, panel_of, pick, rest, sale_of

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            QTest.keyClick(showcase.console.window, Qt.Key.Key_F3)
            line = panel_of(showcase).sale_page.lines[0]
            assert isinstance(line, SaleLine)
            assert line.types.hasFocus()
            before = sale_of(showcase).total_minor
            QTest.keyClick(line.types, Qt.Key.Key_Down)
            await rest(showcase)
            assert line.types.hasFocus()
            assert sale_of(showcase).total_minor < before

    qloop.run(scene())
