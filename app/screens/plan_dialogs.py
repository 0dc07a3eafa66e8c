"""Questions of the plan editor: which plan to open, where a new one stands, which events go on a version."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLayout, QListWidget, QListWidgetItem, QPushButton, QWidget

from app.i18n import _, figures, ngettext
from app.screens.key_list import keys_grid
from app.screens.keys import ON_PLAN
from app.screens.plan_fields import captioned, plain_button
from backend_client.wire import PlanEvent, Venue, VenuePlan, VenuePlanList
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, label, row, scrolling, text_field
from widgets.choice_box import ChoiceBox
from widgets.filled_button import FilledButton
from widgets.focus import take_focus
from widgets.theme import Theme
from widgets.tick_box import TickBox

_WIDTH_PX, _HEIGHT_PX = 560, 420
_AROUND_PX = 96
"""Margins and a scroll bar beside the lines of a dialog."""
_ROLE = Qt.ItemDataRole.UserRole


class PlanDialog(AnswerDialog):
    """A title, something in the middle, and two answers."""

    def __init__(self, theme: Theme, title: str, yes: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.yes = FilledButton(yes, "primary")
        self.no = QPushButton(_("Cancel"))
        for button in (self.yes, self.no):
            button.setAccessibleName(button.text())
            button.setMinimumHeight(theme.sizes["touch"])
        self.yes.setDefault(True)
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.reject)
        self.inside = column(theme, gap="medium")
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.no)
        end.addWidget(self.yes)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addWidget(label(title, kind="title", wrap=True))
        page.addLayout(self.inside, 1)
        page.addLayout(end)
        self.setMinimumWidth(_WIDTH_PX)


class OpenPlanDialog(PlanDialog):
    """Plans of one venue at a time, each with its versions. `chosen` is the answer."""

    venue_chosen = Signal(object)
    """A `Venue` whose plans are wanted."""

    def __init__(self, theme: Theme, venues: tuple[Venue, ...], parent: QWidget) -> None:
        super().__init__(theme, _("Open a plan"), _("Open"), parent)
        self._venues = venues
        self.venue = ChoiceBox(theme)
        self.versions = QListWidget()
        self._empty = label(tone="muted", wrap=True)
        for number, venue in enumerate(venues):
            self.venue.add_choice(venue.name, "", number)
        self.versions.setAccessibleName(_("Versions"))
        self.inside.addLayout(captioned(theme, _("Venue"), self.venue))
        self.inside.addWidget(self.versions, 1)
        self.inside.addWidget(self._empty)
        self.resize(_WIDTH_PX, _HEIGHT_PX)
        self.yes.setEnabled(False)
        self.venue.currentIndexChanged.connect(self._on_venue_changed)
        self.versions.itemActivated.connect(self.accept)
        self.versions.currentItemChanged.connect(self._on_version_changed)
        self._empty.setText(_("Loading the plans…") if venues else _("There are no venues."))

    @property
    def chosen_venue(self) -> Venue | None:
        """The venue whose plans are shown."""
        return self._venues[self.venue.currentIndex()] if self._venues else None

    @property
    def chosen(self) -> tuple[VenuePlan, int] | None:
        """The plan and version that was chosen."""
        if self.versions.currentRow() < 0:
            return None
        found: tuple[VenuePlan, int] = self.versions.currentItem().data(_ROLE)
        return found

    def show_plans(self, plans: VenuePlanList) -> None:
        """The plans of the chosen venue, every version of each."""
        self.versions.clear()
        for plan in plans.plans:
            for version in plan.versions:
                item = QListWidgetItem(_version_words(plan, version.version, version.seat_count))
                item.setData(_ROLE, (plan, version.version))
                self.versions.addItem(item)
        self._empty.setVisible(not plans.plans)
        self._empty.setText(_("There is no plan at this venue yet."))
        if self.versions.count():
            self.versions.setCurrentRow(0)
            take_focus(self.versions)

    def _on_venue_changed(self) -> None:
        self.versions.clear()
        self._empty.show()
        self._empty.setText(_("Loading the plans…"))
        self.venue_chosen.emit(self.chosen_venue)

    def _on_version_changed(self) -> None:
        self.yes.setEnabled(self.versions.currentRow() >= 0)


class NewPlanDialog(PlanDialog):
    """Where a new plan stands and what it is called."""

    def __init__(self, theme: Theme, venues: tuple[Venue, ...], parent: QWidget) -> None:
        super().__init__(theme, _("New plan"), _("Begin"), parent)
        self._venues = venues
        self.venue = ChoiceBox(theme)
        for number, venue in enumerate(venues):
            self.venue.add_choice(venue.name, "", number)
        self.name = text_field()
        self.inside.addLayout(captioned(theme, _("Venue"), self.venue))
        self.inside.addLayout(captioned(theme, _("Name of the plan"), self.name))
        self.name.textChanged.connect(self._on_name_text_changed)
        self.yes.setEnabled(False)
        take_focus(self.name)

    @property
    def chosen_venue(self) -> Venue | None:
        """The venue of the new plan."""
        return self._venues[self.venue.currentIndex()] if self._venues else None

    def _on_name_text_changed(self, text: str) -> None:
        self.yes.setEnabled(bool(text.strip()))


class EventsOnPlanDialog(PlanDialog):
    """Which events go on a version of their plan, and why. A seat under sale keeps its event where it is (I4)."""

    def __init__(self, theme: Theme, events: tuple[PlanEvent, ...], version: int, parent: QWidget) -> None:
        title = _("Put events on version {version}").format(version=figures().number(version))
        super().__init__(theme, title, _("Put them on it"), parent)
        self.boxes = {event.event_id: TickBox(theme, _event_words(event)) for event in events}
        self._events = events
        self.reason = text_field()
        self.all = plain_button(_("Choose all"))
        words = _("Seats that are sold, being paid, held or kept back keep their event where it is.")
        self.inside.addWidget(label(words, tone="muted", wrap=True))
        inner = QWidget()
        lines = column(theme, gap="small", parent=inner)
        for box in self.boxes.values():
            box.toggled.connect(self._on_changed)
            lines.addWidget(box)
        lines.addStretch(1)
        self.inside.addWidget(scrolling(inner), 1)
        widest = inner.sizeHint().width() + _AROUND_PX
        self.setMinimumWidth(min(max(widest, _WIDTH_PX), max(parent.width() - _AROUND_PX, _WIDTH_PX)))
        self.inside.addWidget(self.all)
        self.inside.addLayout(captioned(theme, _("Reason"), self.reason))
        self.reason.setMaxLength(200)
        self.reason.textChanged.connect(self._on_changed)
        self.all.clicked.connect(self._on_all_clicked)
        self._on_changed()

    @property
    def chosen(self) -> tuple[PlanEvent, ...]:
        """The events that were chosen."""
        return tuple(event for event in self._events if self.boxes[event.event_id].isChecked())

    def _on_all_clicked(self) -> None:
        for box in self.boxes.values():
            box.setChecked(True)

    def _on_changed(self) -> None:
        self.yes.setEnabled(bool(self.chosen and self.reason.text().strip()))


class PlanKeysDialog(AnswerDialog):
    """The keys of the editor."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Keys of the plan editor"))
        self.setAccessibleName(self.windowTitle())
        self.setMinimumWidth(_WIDTH_PX)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addWidget(label(self.windowTitle(), kind="title"))
        page.addLayout(keys_grid(theme, ON_PLAN, wrap=True))
        page.addStretch(1)
        close = plain_button(_("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(close)
        page.addLayout(end)

    def showEvent(self, event: QShowEvent) -> None:
        """As high as its texts are at this width: asked before, their layout reckons with narrower ones."""
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:
            layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
            self.setMinimumHeight(0)
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))


def _version_words(plan: VenuePlan, version: int, seats: int) -> str:
    shown = figures()
    parts = [
        plan.name,
        _("Version {version}").format(version=shown.number(version)),
        ngettext("{count} seat", "{count} seats", seats).format(count=shown.number(seats)) if seats else
        _("Standing places"),
    ]  # fmt: skip
    events = sum(1 for event in plan.events if event.plan_version == version)
    if events:
        parts.append(ngettext("{count} event", "{count} events", events).format(count=shown.number(events)))
    return shown.joined(parts)


def _event_words(event: PlanEvent) -> str:
    shown = figures()
    version = _("Version {version}").format(version=shown.number(event.plan_version))
    return shown.joined([event.name, shown.date_time(event.starts_at, event.zone), version])
