"""For roles that watch and do not sell: the map goes on, the panel says so."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.seat_map import SeatCounts
from app.i18n import _, figures
from widgets.build import column, label, trailing
from widgets.theme import Theme


class WatchPage(QWidget):
    """Counts of the open event, and a calm word about the role."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = label(tone="muted", wrap=True)
        self._figures = [label(kind="title") for _number in range(5)]
        names = (_("Free"), _("Held"), _("Being paid"), _("Sold"), _("Blocked"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.space("large"))
        grid.setVerticalSpacing(theme.space("small"))
        for line, (name, figure) in enumerate(zip(names, self._figures, strict=True)):
            grid.addWidget(label(name, kind="lead"), line, 0)
            figure.setAlignment(trailing())
            grid.addWidget(figure, line, 1)
        page = column(theme, gap="large", parent=self)
        page.addWidget(label(_("Watching"), kind="title"))
        page.addWidget(self.words)
        page.addLayout(grid)
        page.addStretch(1)

    def show_role(self, role: str) -> None:
        """Say calmly why there is nothing to sell with."""
        words = _("Your role ({role}) watches this event. Selling is for clerks and supervisors.")
        self.words.setText(words.format(role=role))

    def show_counts(self, counts: SeatCounts) -> None:
        """Seats by status."""
        values = (counts.available, counts.held, counts.paying, counts.sold, counts.blocked)
        for figure, value in zip(self._figures, values, strict=True):
            figure.setText(figures().number(value))
