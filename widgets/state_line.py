"""One line that says how things stand: a shape, a word, what is the matter. Read from near or across a room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy

from widgets.build import label, row, set_tone
from widgets.elided_label import ElidedLabel
from widgets.theme import Theme

_SURFACES = {"danger": "danger", "warn": "warn"}


class StateLine(QFrame):
    """`tell` shows a mark, a title and a detail in a tone; without trouble it is plain, so that trouble is seen.

    `kind` is a type role of the theme: `lead` in a window, `title` and `figure` on a wall.
    """

    def __init__(self, theme: Theme, kind: str = "lead") -> None:
        super().__init__()
        self._theme = theme
        self._told: tuple[str, ...] = ()
        self.mark = QLabel()
        self.title = label()
        self.detail = ElidedLabel()
        size, large = theme.type_px[kind], kind != "lead"
        self.title.setFont(self._sized(size, bold=True))
        self.mark.setFont(self._sized(size, bold=True))
        self.detail.setFont(self._sized(theme.type_px["title" if large else "body"], bold=False))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        line = row(theme, gap="medium" if large else "small", parent=self)
        edge = theme.space("medium" if large else "small")
        line.setContentsMargins(edge, edge // 2, edge, edge // 2)
        line.addWidget(self.mark)
        line.addWidget(self.title)
        line.addWidget(self.detail, 1, Qt.AlignmentFlag.AlignVCenter)

    def _sized(self, px: int, *, bold: bool) -> QFont:
        font = self._theme.font("body", bold=bold)
        font.setPixelSize(px)
        return font

    def tell(self, mark: str, title: str, detail: str, tone: str) -> None:
        """`tone` is success, warn, danger or text_muted."""
        if (mark, title, detail, tone) == self._told:
            return
        self._told = mark, title, detail, tone
        self.mark.setText(mark)
        self.title.setText(title)
        self.detail.setText(detail)
        said = "" if tone == "text_muted" else tone
        set_tone(self.mark, said or "muted")
        set_tone(self.title, "" if tone == "success" else said or "muted")
        set_tone(self, _SURFACES.get(tone, ""))
        self.setAccessibleName(title)
        self.setAccessibleDescription(detail)
