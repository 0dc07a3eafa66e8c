"""One page of the settings screen: the settings of a subject, and beside or under them what would be changed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core.session import Permission
from app.core.settings_desk import Subject
from app.core.store import ConsoleStore
from app.i18n import _
from app.screens.setting_text import Typing, read_typed
from app.screens.settings_card import ChangeCard
from app.screens.settings_form import SettingsForm
from app.screens.words import Advice, advice_for
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

SIDE_BY_SIDE_PX, _LOW_PX = 980, 520
"""Where there is less room, what would be changed stands under the settings and scrolls with them."""
_FORM_PX, _CARD_PX = 860, 640
_FORM_SHARE, _CARD_SHARE = 8, 5


class SettingsPage(QWidget):
    """Reads one subject of the store. `words` says what the page is about; `top` stands above everything."""

    def __init__(
        self, theme: Theme, store: ConsoleStore, name: Callable[[], str], words: str, *,
        needs_reason: bool = True, why_not: Callable[[], str] = lambda: "", top: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._store = store
        self._name = name
        self._why_not = why_not
        self.reload = AsyncButton(_("Load again"))
        self.banner = StatusBanner(theme)
        self.form = SettingsForm(theme)
        self.card = ChangeCard(theme, needs_reason=needs_reason)
        self.unread = label(_("Reading the settings…"), kind="lead", tone="muted", wrap=True)
        self.read_only = label(tone="muted", wrap=True)
        self._card_frame = frame("card")
        self._is_beside = True
        self._sides = row(theme, gap="large")
        self._build(theme, words, top)

    @property
    def subject(self) -> Subject:
        """What is known of what this page is about."""
        return self._store.settings_desk.of(self._name())

    @property
    def typing(self) -> Typing:
        """What would be changed."""
        return read_typed(self.subject)

    def is_about(self, name: str) -> bool:
        """Whether this page shows that subject."""
        return name == self._name()

    def show_subject(self) -> None:
        """Show everything as it stands."""
        subject, typing = self.subject, self.typing
        session = self._store.session

        def may(permission: Permission) -> bool:
            return session is not None and session.may(permission)

        why_not = self._why_not()
        self.form.show_subject(subject, typing, may, why_not)
        specs = () if subject.seen is None else subject.seen.specs
        settable = not why_not and any(may(spec.needs) for spec in specs)
        self.card.show_subject(subject, typing, may_set=settable)
        known = subject.seen is not None
        self.form.setVisible(known)
        self.unread.setVisible(not known and not subject.trouble)
        words = why_not or ("" if settable else _("Your role may read this and not set it."))
        self.read_only.setText(words)
        self.read_only.setVisible(known and bool(words))
        self._show_trouble(subject)

    def tell(self, words: Advice) -> None:
        """Say how it went."""
        self.banner.tell(words.tone, words.title, words.detail)
        self.banner.setProperty("about", "")

    def focus_first(self) -> None:
        """Put the keyboard where work starts."""
        self.form.focus_first()

    def _show_trouble(self, subject: Subject) -> None:
        if subject.trouble:
            words = advice_for(subject.trouble)
            detail = words.detail
            if subject.seen is not None:
                detail = _("What is shown may be old. Nothing is changed from it: the booking system would refuse.")
            self.banner.tell("warn", words.title, detail)
            self.banner.setProperty("about", "stale")
        elif self.banner.property("about") == "stale":
            self.banner.clear()

    def _build(self, theme: Theme, words: str, top: QWidget | None) -> None:
        head = row(theme, gap="medium")
        head.addWidget(label(words, tone="muted", wrap=True), 1)
        head.addWidget(self.reload)
        inside = QWidget()
        self._body = column(theme, gap="medium", parent=inside)
        self._body.setContentsMargins(0, 0, theme.space("small"), 0)
        for part in (self.read_only, self.unread, self.form):
            self._body.addWidget(part)
        self._body.addStretch(1)
        area = scrolling(inside)
        area.setMaximumWidth(_FORM_PX)
        self._card_frame.setMaximumWidth(_CARD_PX)
        column(theme, parent=self._card_frame).addWidget(self.card)
        self._sides.addWidget(area, _FORM_SHARE)
        self._sides.addWidget(self._card_frame, _CARD_SHARE)
        self._sides.addStretch(0)
        page = column(theme, gap="small", parent=self)
        if top is not None:
            page.addWidget(top)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addLayout(self._sides, 1)
        self.read_only.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= SIDE_BY_SIDE_PX and self.height() >= _LOW_PX
        if beside != self._is_beside:
            self._is_beside = beside
            self._card_frame.setMaximumWidth(_CARD_PX if beside else _FORM_PX)
            if beside:
                self._sides.insertWidget(1, self._card_frame, _CARD_SHARE)
            else:
                self._body.insertWidget(self._body.count() - 1, self._card_frame)
