"""Parts of the menu bar: what is chosen of a few, and single wishes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from app.i18n import LANGUAGES, _, current_language


def submenu(parent: QMenuBar | QMenu, words: str) -> QMenu:
    """A menu of `parent`, made here: one that Qt makes of words alone keeps its Python half until the parent goes."""
    made = QMenu(words, parent)
    parent.addMenu(made)
    return made


def separate(menu: QMenu) -> None:
    """A line across, made here for the same reason."""
    line = QAction(menu)
    line.setSeparator(True)
    menu.addAction(line)


def wish(parent: QMenu, words: str, wished: object, sequence: str = "") -> QAction:
    """An action that emits the signal `wished`, or calls it."""
    action = QAction(words, parent)
    if sequence:
        action.setShortcut(QKeySequence(sequence))
    action.triggered.connect(wished)
    return action


def ticked(parent: QMenu, words: str, wished: object, *, on: bool) -> QAction:
    """An action that is on or off, and emits which."""
    action = QAction(words, parent, checkable=True)
    action.setChecked(on)
    action.toggled.connect(wished)
    return action


def add_languages(menu: QMenu, chosen: Callable[[str], object]) -> None:
    """Every language, by its own name; `chosen` is given its code."""
    named = [(language.code, language.native_name) for language in LANGUAGES]
    _add_choices(menu, named, current_language().code, chosen)


def add_themes(menu: QMenu, theme_choice: str, chosen: Callable[[str], object]) -> None:
    """Light, dark, or as the computer; `chosen` is given the code."""
    named = [("system", _("As the computer")), ("light", _("Light")), ("dark", _("Dark"))]
    _add_choices(menu, named, theme_choice, chosen)


def _add_choices(menu: QMenu, named: list[tuple[str, str]], now: str, chosen: Callable[[str], object]) -> None:
    group = _ChoiceGroup(menu, chosen)
    for code, words in named:
        action = QAction(words, menu, checkable=True)
        action.setData(code)
        action.setChecked(code == now)
        group.addAction(action)
        menu.addAction(action)


class _ChoiceGroup(QActionGroup):
    def __init__(self, parent: QObject, chosen: Callable[[str], object]) -> None:
        super().__init__(parent)
        self._chosen = chosen
        self.triggered.connect(self._on_triggered)

    def _on_triggered(self, action: QAction) -> None:
        self._chosen(str(action.data()))
