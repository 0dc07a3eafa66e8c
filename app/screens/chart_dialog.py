"""What the live chart is printed on: sheet and printer, or a file."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QProgressBar, QPushButton, QRadioButton, QWidget

from app.i18n import _
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, label, row
from widgets.choice_box import ChoiceBox
from widgets.filled_button import FilledButton
from widgets.focus import take_focus
from widgets.theme import Theme

PAPERS = ("A4", "A3")
_SHOWN_AFTER_MS = 400
_FINE = 1000


class ChartDialog(AnswerDialog):
    """`paper` and `printer` are the answer; an empty printer means a PDF file."""

    def __init__(self, theme: Theme, printers: list[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Print the seat map"))
        self.setAccessibleName(_("Print the seat map"))
        self._group = QButtonGroup(self)
        self.papers = [QRadioButton(name) for name in PAPERS]
        self.target = ChoiceBox(theme)
        self.target.setAccessibleName(_("Printer"))
        self.target.addItem(_("PDF file"), "")
        for name in printers:
            self.target.addItem(name, name)
        self.print = FilledButton(_("Print"), "primary")
        self.cancel = QPushButton(_("Cancel"))
        for button in (*self.papers, self.print, self.cancel):
            button.setAccessibleName(button.text())
        self.print.setDefault(True)
        self.print.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self._build(theme)

    @property
    def paper(self) -> str:
        """Name of the sheet."""
        return next(button.text() for button in self.papers if button.isChecked())

    @property
    def printer(self) -> str:
        """Name of the printer; empty for a PDF file."""
        return str(self.target.currentData())

    def _build(self, theme: Theme) -> None:
        sheets = row(theme)
        for button in self.papers:
            self._group.addButton(button)
            sheets.addWidget(button)
        self.papers[0].setChecked(True)
        sheets.addStretch(1)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.cancel)
        end.addWidget(self.print)
        page = column(theme, margin="wide", gap="small", parent=self)
        page.addWidget(label(_("Print the seat map"), kind="title"))
        page.addWidget(label(_("Paper")))
        page.addLayout(sheets)
        page.addWidget(label(_("Printer")))
        page.addWidget(self.target)
        page.addSpacing(theme.space("medium"))
        page.addLayout(end)
        self.setMinimumWidth(420)
        take_focus(self.print)


class ChartProgress(AnswerDialog):
    """How far the chart is, and the way to stop it; it comes up only where that takes a while."""

    stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Print the seat map"))
        self.setAccessibleName(_("Print the seat map"))
        self.bar = QProgressBar()
        self.bar.setRange(0, _FINE)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(_("Print the seat map"))
        self.cancel = QPushButton(_("Cancel"))
        self.cancel.setAccessibleName(self.cancel.text())
        self.cancel.clicked.connect(self.reject)
        self.rejected.connect(self.stopped)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addWidget(label(_("Print the seat map"), kind="title"))
        page.addWidget(self.bar)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.cancel)
        page.addLayout(end)
        self.setMinimumWidth(420)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.open)
        self._soon.start(_SHOWN_AFTER_MS)

    def show_done(self, share: float) -> None:
        """How far it is, from 0 to 1."""
        self.bar.setValue(round(share * _FINE))

    def end(self) -> None:
        """The chart is done, or is not to be."""
        self._soon.stop()
        self.rejected.disconnect(self.stopped)
        self.close()
        self.deleteLater()
