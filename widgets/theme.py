"""The theme: every colour, distance and type size of the console, from `resources/styles/theme.toml`.

Nothing else in the project names a colour. Windows take a `Theme` and ask it for tokens: `theme.color("danger")`,
`theme.space("small")`, `theme.font("title")`. `apply_theme` dresses a whole application (Fusion style, palette, fonts,
style sheet) and may be called again at run time to switch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from resources import list_names, read_bytes, read_toml
from widgets.style_sheet import render_style_sheet

THEME_FILE = "styles/theme.toml"
FONT_FOLDER = "fonts"
_A_WINDOWS_WORTH = 500
_HEX = re.compile(r"#[0-9A-Fa-f]{6}")


class ThemeError(ValueError):
    """The theme file lacks a token or holds a value that is no colour, or a bundled font does not load."""

    code = "theme-damaged"


@dataclass(frozen=True, slots=True)
class Theme:
    """One look of the console: `name` is `light` or `dark`; colours are `#RRGGBB`, lengths px.

    `map_colors` are the seat map's own tokens; `categories` the colours of price categories that a plan leaves open,
    in the order in which they are handed out. `patterned` asks for a pattern beside each of these colours.
    """

    name: str
    colors: Mapping[str, str]
    map_colors: Mapping[str, str]
    categories: tuple[str, ...]
    spacing: Mapping[str, int]
    radii: Mapping[str, int]
    type_px: Mapping[str, int]
    sizes: Mapping[str, int]
    patterned: bool = False

    @classmethod
    def light(cls) -> Theme:
        """For bright rooms."""
        return load_theme("light")

    @classmethod
    def dark(cls) -> Theme:
        """For dark rooms and night shifts."""
        return load_theme("dark")

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"

    def with_patterns(self, patterned: bool) -> Theme:  # said by what it sets
        """The same look with or without patterns beside the colours of categories."""
        return self if patterned == self.patterned else replace(self, patterned=patterned)

    def hex(self, token: str) -> str:
        """Token → `#RRGGBB`; raises ThemeError for a token that the file lacks."""
        return _token(self.colors, token, self.name)

    def color(self, token: str) -> QColor:
        """Token → QColor; raises ThemeError for a token that the file lacks."""
        return QColor(self.hex(token))

    def map_color(self, token: str) -> QColor:
        """Token of the seat map → QColor; raises ThemeError."""
        return QColor(_token(self.map_colors, token, f"{self.name}.map"))

    def category_color(self, category_no: int) -> QColor:
        """Category → colour; beyond the list it starts again."""
        return QColor(self.categories[category_no % len(self.categories)])

    def space(self, token: str) -> int:
        """A distance of the scale, px."""
        return self.spacing[token]

    def font(self, role: str, *, bold: bool = False) -> QFont:
        """Font of a role (`caption`, `body`, `lead`, `title`, `display`, `figure`) in the bundled family."""
        font = QFont(load_fonts())
        font.setPixelSize(self.type_px[role])
        font.setBold(bold)
        return font

    def palette(self) -> QPalette:
        """The palette for the Fusion style."""
        palette = QPalette()
        for role, token in _PALETTE.items():
            palette.setColor(role, self.color(token))
        for role in _TEXT_ROLES:
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text_disabled"))
        palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Highlight, self.color("border"))
        return palette

    def style_sheet(self) -> str:
        """The application's style sheet; which properties it answers to is told in `widgets.style_sheet`."""
        return render_style_sheet(self.colors, self.spacing, self.radii, self.type_px, self.sizes)


_TEXT_ROLES = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.HighlightedText,
)
_PALETTE = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "surface_sunken",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "text_disabled",
    QPalette.ColorRole.Button: "surface_raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "danger",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Link: "accent_text",
    QPalette.ColorRole.LinkVisited: "accent_text",
    QPalette.ColorRole.ToolTipBase: "tooltip",
    QPalette.ColorRole.ToolTipText: "on_tooltip",
    QPalette.ColorRole.Light: "surface_raised",
    QPalette.ColorRole.Midlight: "surface",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_strong",
    QPalette.ColorRole.Shadow: "surface_sunken",
    QPalette.ColorRole.Accent: "accent",
}


def _token(table: Mapping[str, str], token: str, where: str) -> str:
    try:
        return table[token]
    except KeyError:
        raise ThemeError(f"{THEME_FILE} has no [{where}] {token}") from None


@cache
def load_theme(name: str) -> Theme:
    """Read `light` or `dark` from the theme file.

    Raises:
        ThemeError: no such theme, or a value of it is no `#RRGGBB`.
    """
    document = read_toml(THEME_FILE)
    if name not in {"light", "dark"}:
        raise ThemeError(f"there is no theme {name!r}; choose light or dark")
    table: dict[str, Any] = document[name]
    colors = {token: value for token, value in table.items() if isinstance(value, str)}
    map_colors: dict[str, str] = table["map"]
    categories = tuple(table["categories"])
    for value in (*colors.values(), *map_colors.values(), *categories):
        if not _HEX.fullmatch(value):
            raise ThemeError(f"{THEME_FILE} [{name}] holds {value!r}, which is no #RRGGBB colour")
    return Theme(
        name=name,
        colors=colors,
        map_colors=map_colors,
        categories=categories,
        spacing=document["spacing"],
        radii=document["radius"],
        type_px=document["type"],
        sizes=document["size"],
    )


@cache
def load_fonts() -> str:
    """Load the bundled fonts once per process and name their family; needs a QGuiApplication.

    Raises:
        ThemeError: a font is damaged or the platform refuses it; text would otherwise show as boxes.
    """
    families: list[str] = []
    for name in list_names(FONT_FOLDER, ".ttf"):
        font_id = QFontDatabase.addApplicationFontFromData(read_bytes(name))
        if font_id == -1:
            raise ThemeError(f"the bundled font {name} does not load")
        families += QFontDatabase.applicationFontFamilies(font_id)
    if not families:
        raise ThemeError("no font ships with this installation; install the program again")
    return families[0]


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Dress the application; call again to switch while it runs."""
    app.setStyle(QStyleFactory.create("Fusion"))
    app.setPalette(theme.palette())
    app.setFont(theme.font("body"))
    app.setStyleSheet(theme.style_sheet())


@contextmanager
def undressed() -> Iterator[None]:
    """Around the building of many widgets: they are dressed once, at the end.

    Qt looks a widget's part of the style sheet up whenever a parent of it gets a parent: of the building of a whole
    window that was more than half. Beside another window nothing is gained, because that is dressed anew as well.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("there is no application to dress")
    if len(app.allWidgets()) > _A_WINDOWS_WORTH:
        yield
        return
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)
