"""Who works at this counter: name and password, what is wrong, and where the sign-in is kept."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.i18n import _
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, leading, row, scrolling
from widgets.focus import take_focus
from widgets.seat_arcs import paint_seat_arcs
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_CARD_PX = 400


class SignInScreen(QWidget):
    """Asks for name and password; `sign_in_requested` carries both, and the password leaves the field at once."""

    sign_in_requested = Signal(str, str)

    def __init__(self, theme: Theme, server: str, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name = QLineEdit(name)
        self.password = QLineEdit()
        self.sign_in = AsyncButton(_("Sign in"), role="primary")
        self.banner = StatusBanner(theme)
        self._server = label(server, kind="caption", tone="muted", wrap=True)
        self._build()
        self.sign_in.action_requested.connect(self._on_sign_in_requested)
        self.name.returnPressed.connect(self._on_name_return_pressed)
        self.password.returnPressed.connect(self.sign_in.click)

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"sign-in": self.sign_in, "start": self.sign_in}

    def focus_first(self) -> None:
        """Put the keyboard where typing starts."""
        take_focus(self.password if self.name.text() else self.name)

    def tell(self, words: Advice) -> None:
        """Say what is wrong; the keyboard goes to the password, unless somebody is typing a name."""
        self.banner.tell(words.tone, words.title, words.detail)
        if not self.name.hasFocus():
            take_focus(self.password)

    def _build(self) -> None:
        theme = self._theme
        card = frame("card")
        card.setFixedWidth(_CARD_PX)
        inside = column(theme, margin="wide", gap="small", parent=card)
        inside.setContentsMargins(*[theme.space("wide") + theme.space("small")] * 4)
        inside.addWidget(label("Taquilla", kind="display"))
        inside.addWidget(label(_("Box office"), kind="lead", tone="muted"))
        inside.addSpacing(theme.space("medium"))
        inside.addWidget(self.banner)
        for caption, field in ((_("Name"), self.name), (_("Password"), self.password)):
            words = label(caption)
            words.setBuddy(field)
            field.setAccessibleName(caption)
            field.setAlignment(leading())
            inside.addWidget(words)
            inside.addWidget(field)
            inside.addSpacing(theme.space("tight"))
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        inside.addSpacing(theme.space("small"))
        self.sign_in.setMinimumHeight(theme.sizes["touch"])
        inside.addWidget(self.sign_in)
        inside.addSpacing(theme.space("small"))
        inside.addWidget(self._server)
        across = row(theme)
        across.addStretch(1)
        across.addWidget(card)
        across.addStretch(1)
        content = QWidget()
        middle = column(theme, margin="small", parent=content)
        middle.addStretch(1)
        middle.addLayout(across)
        middle.addStretch(1)
        page = column(theme, gap="", parent=self)
        page.addWidget(scrolling(content))

    def _on_name_return_pressed(self) -> None:
        take_focus(self.password, Qt.FocusReason.TabFocusReason)

    def _on_sign_in_requested(self) -> None:
        name, password = self.name.text().strip(), self.password.text()
        if not name or not password:
            self.sign_in.set_busy(False)
            self.tell(Advice(_("Type your name and your password")))
            take_focus(self.password if name else self.name)
            return
        self.banner.clear()
        self.password.clear()
        self.sign_in_requested.emit(name, password)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        paint_seat_arcs(self, self._theme)
