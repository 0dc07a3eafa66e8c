"""The list of keys (F1): of the counter on three pages, or of the screen that is in front."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPushButton, QTabBar, QWidget

from app.i18n import _
from app.screens import keys, ops_keys
from app.screens.key_list import LIST_PX, keys_grid
from app.screens.keys import Key
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, label, row
from widgets.theme import Theme

_NARROW_PX = 460
_SIDES = 3


class KeysDialog(AnswerDialog):
    """Every key of the counter, its map and the mouse, and how to go elsewhere."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(_("Keys"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        third = -(-len(keys.SALE) // _SIDES)
        at_sale = [(("", keys.SALE[start : start + third]),) for start in range(0, len(keys.SALE), third)]
        on_map = (
            (("", keys.ON_MAP),),
            (("", (*keys.ZOOM, keys.DETAILS, *keys.PICKING)),),
            ((_("With the mouse"), keys.WITH_MOUSE),),
        )
        self._pages = [_page(theme, at_sale), _page(theme, on_map), _page(theme, ((("", keys.SCREENS),),))]
        for words in (_("Counter"), _("On the seat map"), _("Screens")):
            self.tabs.addTab(words)
        _build(self, theme, self.tabs, *self._pages)
        self.setFixedWidth(LIST_PX)
        self.tabs.currentChanged.connect(self._show_page)
        self._show_page(0)

    def _show_page(self, place: int) -> None:
        for number, page in enumerate(self._pages):
            page.setVisible(number == place)
        self.adjustSize()


class ListKeysDialog(AnswerDialog):
    """What the keyboard does in a list, and how to go elsewhere."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        table = (keys.HELP, *keys.IN_LISTS, *keys.SCREENS, keys.QUIT)
        _build(self, theme, _page(theme, ((("", table),),)))
        self.setMinimumWidth(_NARROW_PX)


class ScreenKeysDialog(AnswerDialog):
    """How to go elsewhere, from a screen whose fields and buttons say themselves what they do."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        _build(self, theme, _page(theme, ((("", (keys.HELP, *keys.SCREENS, keys.QUIT)),),)))
        self.setMinimumWidth(_NARROW_PX)


class OpsKeysDialog(AnswerDialog):
    """What the keyboard does on the operators' screen, and how to go elsewhere."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        beside = ((_("On the charts"), ops_keys.ON_CHARTS), ("", keys.SCREENS))
        sides = ((("", (keys.HELP, *ops_keys.ON_SCREEN)),), beside)
        _build(self, theme, _page(theme, sides))
        self.setMinimumWidth(2 * _NARROW_PX)


_Group = tuple[str, Sequence[Key]]


def _page(theme: Theme, sides: Sequence[Sequence[_Group]]) -> QWidget:
    """Columns of groups of keys, each under its heading."""
    page = QWidget()
    beside = row(theme, gap="wide", parent=page)
    beside.setContentsMargins(0, theme.space("medium"), 0, 0)
    for groups in sides:
        side = column(theme, gap="small")
        for heading, table in groups:
            if heading:
                side.addWidget(label(heading, kind="lead"))
            side.addLayout(keys_grid(theme, table, wrap=True))
        side.addStretch(1)
        beside.addLayout(side, 1)
    return page


def _build(dialog: AnswerDialog, theme: Theme, *parts: QWidget) -> None:
    """Title, parts and a button to close."""
    dialog.setWindowTitle(_("Keys"))
    dialog.setAccessibleName(_("Keys"))
    page = column(theme, margin="large", gap="small", parent=dialog)
    page.addWidget(label(_("Keys"), kind="title"))
    for part in parts:
        page.addWidget(part)
    close = QPushButton(_("Close"))
    close.setAccessibleName(close.text())
    close.setDefault(True)
    close.clicked.connect(dialog.accept)
    end = row(theme)
    end.addStretch(1)
    end.addWidget(close)
    page.addSpacing(theme.space("small"))
    page.addLayout(end)
