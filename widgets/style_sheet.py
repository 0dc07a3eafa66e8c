"""The application's style sheet, written with theme tokens.

Widgets ask for a look through dynamic properties, set before they are shown:

- QPushButton `role`: `primary` and `danger` (see `widgets.filled_button`), `quiet`
- QToolButton `role`: `inline`, as small as its sign; `digit`, one of a few numbers to choose from; `tab`, a
  screen in the menu bar; `bar` (also of QLineEdit and QComboBox): as low as its line
- QLabel `tone`: `muted`, `success`, `warn`, `danger`, `accent`; `type`: `caption`, `lead`, `title`, `display`, `figure`
- QFrame `surface`: `card`, `sunken`, `bar`; `tone` (a banner): `info`, `success`, `warn`, `danger`

Everything else follows from the palette.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

_SHEET = Template("""
QToolTip { background: $tooltip; color: $on_tooltip; border: 0; padding: ${tight}px ${small}px; }

QPushButton, QToolButton {
  background: $surface_raised; color: $text; border: 1px solid $border_strong; border-radius: ${r_small}px;
  padding: 0 ${large}px; min-height: ${control}px;
}
QToolButton { padding: 0 ${small}px; }
QToolButton[role="inline"] { border-color: transparent; background: transparent; padding: 0; min-height: 0; }
QToolButton[role="inline"]:hover { background: $surface_sunken; }
QToolButton[role="inline"]:focus { border: ${focus_ring}px solid $focus; }
QToolButton[role="inline"]:pressed { background: $accent_soft; }
QToolButton[role="inline"]:disabled { background: transparent; border-color: transparent; }
QToolButton[role="digit"] { padding: 0; min-height: ${bar}px; max-height: ${bar}px; border-color: $border; }
QToolButton[role="bar"] { min-height: ${bar}px; max-height: ${bar}px; }
QLineEdit > QToolButton { min-height: 0; padding: 0; border: 0; background: transparent; }
QToolButton[role="digit"]:checked { background: $accent_soft; border-color: $accent; color: $accent_text;
  font-weight: bold; }
QToolButton[role="digit"]:focus { border: ${focus_ring}px solid $focus; }
QToolButton[role="tab"] { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: transparent;
  color: $text_muted; padding: 0 ${medium}px; min-height: ${wide}px; }
QToolButton[role="tab"]:hover { background: $accent_soft; color: $text; }
QToolButton[role="tab"]:checked { color: $accent_text; border-bottom-color: $accent; font-weight: bold; }
QRadioButton { spacing: ${small}px; }
QRadioButton::indicator {
  width: 12px; height: 12px; border: 2px solid $border_strong; border-radius: 8px; background: $surface;
}
QRadioButton::indicator:checked { border: 5px solid $accent; width: 6px; height: 6px; }
QRadioButton:focus { color: $accent_text; }
QTabBar::tab {
  padding: ${tight}px ${medium}px; color: $text_muted; border: none; border-bottom: 2px solid transparent;
}
QTabBar::tab:selected { color: $text; font-weight: bold; border-bottom-color: $accent; }
QTabBar::tab:hover { background: $surface_sunken; }
QTabBar:focus { background: $accent_soft; }
QPushButton:hover, QToolButton:hover { background: $surface_sunken; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked, QPushButton:checked { background: $accent_soft; }
QPushButton:focus, QToolButton:focus { border: ${focus_ring}px solid $focus; }
QPushButton:disabled, QToolButton:disabled { color: $text_disabled; border-color: $border; background: $window; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: bold; }
QPushButton[role="primary"]:hover { background: $accent_hover; }
QPushButton[role="primary"]:pressed { background: $accent_pressed; }
QPushButton[role="danger"] { background: $danger; color: $on_danger; border-color: $danger; font-weight: bold; }
QPushButton[role="danger"]:hover { background: $danger_hover; }
QPushButton[role="quiet"] { background: transparent; color: $accent_text; border-color: transparent; }
QPushButton[role="quiet"]:hover { background: $accent_soft; border-color: $accent_soft; }
QPushButton[role="quiet"][asks="true"] { background: $danger_soft; color: $danger; border-color: $danger; }
QPushButton[role="primary"]:focus { border: 1px solid $accent; }
QPushButton[role="danger"]:focus { border: 1px solid $danger; }
QPushButton[role="quiet"]:focus { border: ${focus_ring}px solid $focus; }
QPushButton[role="primary"]:disabled, QPushButton[role="danger"]:disabled, QPushButton[role="quiet"]:disabled {
  background: $surface_sunken; color: $text_disabled; border-color: $border;
}

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox, QDateTimeEdit {
  background: $surface; color: $text; border: 1px solid $border_strong; border-radius: ${r_small}px;
  padding: 0 ${small}px; min-height: ${control}px;
  selection-background-color: $accent; selection-color: $on_accent; placeholder-text-color: $text_muted;
}
QLineEdit[role="bar"], QComboBox[role="bar"] { min-height: ${bar}px; max-height: ${bar}px; }
QPlainTextEdit, QTextEdit { padding: ${small}px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QDateTimeEdit:focus { border: ${focus_ring}px solid $focus; }
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled { color: $text_disabled; background: $window; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border_strong; }

QListView, QTreeView, QTableView {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${r_small}px; padding: 1px;
  gridline-color: $border; alternate-background-color: $window;
  selection-background-color: $accent_soft; selection-color: $text; outline: 0;
}
QListView:focus, QTreeView:focus, QTableView:focus { border: ${focus_ring}px solid $focus; padding: 0; }
QListView::item, QTreeView::item { padding: ${small}px; min-height: ${wide}px; }
QListView::item:hover, QTreeView::item:hover { background: $surface_sunken; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected {
  background: $accent_soft; color: $text;
}
QHeaderView::section {
  background: $window; color: $text_muted; border: 0; border-bottom: 1px solid $border; padding: ${small}px;
}

QTabBar::tab { padding: ${small}px ${large}px; color: $text_muted; border: 0; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $accent_text; border-bottom-color: $accent; }
QTabBar::tab:focus { color: $text; border-bottom-color: $focus; }
QTabWidget::pane { border: 0; border-top: 1px solid $border; }

QMenuBar { background: $window; }
QMenuBar::item { padding: ${tight}px ${small}px; background: transparent; color: $text; }
QMenuBar::item:selected { background: $accent_soft; }
QMenu { background: $surface_raised; color: $text; border: 1px solid $border_strong; padding: ${tight}px; }
QMenu::item { padding: ${small}px ${wide}px; border-radius: ${r_small}px; }
QMenu::item:selected { background: $accent_soft; color: $text; }
QMenu::item:disabled { color: $text_disabled; }
QMenu::separator { height: 1px; background: $border; margin: ${tight}px ${small}px; }

QStatusBar { background: $surface; color: $text_muted; border-top: 1px solid $border; }
QStatusBar::item { border: 0; }
QProgressBar { background: $surface_sunken; border: 0; border-radius: ${r_small}px; text-align: center; color: $text; }
QProgressBar::chunk { background: $accent; border-radius: ${r_small}px; }
QSplitter::handle { background: $border; }
QSplitter[role="gap"]::handle { background: transparent; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QScrollBar:vertical { background: transparent; width: ${medium}px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: ${medium}px; margin: 0; }
QScrollBar::handle { background: $border_strong; border-radius: ${tight}px; min-width: ${vast}px; min-height: ${vast}px;
  margin: ${hair}px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QFrame[surface="card"] { background: $surface; border: 1px solid $border; border-radius: ${r_medium}px; }
QFrame[surface="sunken"] { background: $surface_sunken; border: 0; border-radius: ${r_medium}px; }
QFrame[surface="bar"] { background: $surface; border: 0; border-bottom: 1px solid $border; }
QFrame[tone="info"] { background: $info_soft; border: 1px solid $info; border-radius: ${r_small}px; }
QFrame[tone="success"] { background: $success_soft; border: 1px solid $success; border-radius: ${r_small}px; }
QFrame[tone="warn"] { background: $warn_soft; border: 1px solid $warn; border-radius: ${r_small}px; }
QFrame[tone="danger"] { background: $danger_soft; border: 1px solid $danger; border-radius: ${r_small}px; }

QLabel { background: transparent; border: 0; color: $text; border-radius: 0; }
QLabel[tone="muted"] { color: $text_muted; background: transparent; border: 0; }
QLabel[tone="success"] { color: $success; background: transparent; border: 0; }
QLabel[tone="warn"] { color: $warn; background: transparent; border: 0; }
QLabel[tone="danger"] { color: $danger; background: transparent; border: 0; }
QLabel[tone="accent"] { color: $accent_text; background: transparent; border: 0; }
QLabel[type="caption"] { font-size: ${t_caption}px; }
QLabel[type="lead"] { font-size: ${t_lead}px; }
QLabel[type="title"] { font-size: ${t_title}px; font-weight: bold; }
QLabel[type="display"] { font-size: ${t_display}px; font-weight: bold; }
QLabel[type="figure"] { font-size: ${t_figure}px; font-weight: bold; }
""")


def render_style_sheet(
    colors: Mapping[str, str],
    spacing: Mapping[str, int],
    radii: Mapping[str, int],
    type_px: Mapping[str, int],
    sizes: Mapping[str, int],
) -> str:
    """Tokens → style sheet; raises KeyError for a token that the sheet uses and the theme lacks."""
    lengths = {f"r_{name}": px for name, px in radii.items()} | {f"t_{name}": px for name, px in type_px.items()}
    return _SHEET.substitute({**colors, **spacing, **sizes, **lengths})
