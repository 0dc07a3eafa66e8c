"""A plan file of any format before it is taken: what is in it, what is wrong with it, what may be mended (I3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.i18n import _, figures, marked, ngettext
from app.screens.plan_dialogs import PlanDialog
from app.screens.plan_fields import as_it_is, captioned, show_layout
from app.screens.plan_finding_words import finding_words, place_words
from backend_client.wire import PlanFileReport, PlanFinding
from widgets.build import column, label, scrolling, set_tone, text_field
from widgets.theme import Theme
from widgets.tick_box import TickBox

_WIDTH_PX, _HEIGHT_PX = 720, 560
_REPAIRS_PX, _LINE_PX = 150, 34
_SHOWN: Final = 500
_BY_THEMSELVES: Final = frozenset({"uuid-for-guid", "set-tables-apart"})
"""Made without being asked for, because they change nothing that a buyer could tell."""
_TYPING_MS: Final = 500
REPAIR_WORDS: Final[dict[str, str]] = {
    "uuid-for-guid": marked("Where identities repeat, take each seat's own uuid"),
    "set-tables-apart": marked("Draw a table that stands upon another beside it"),
    "make-guids": marked("Make missing or repeated identities from section, row and number"),
    "number-seats": marked("Fill in missing or repeated numbers from their row"),
    "numbers-as-text": marked("Read numbers of seats and rows that are no texts"),
    "add-categories": marked("Add categories that seats name and the list lacks"),
    "drop-empty": marked("Leave out empty rows and sections"),
}
FORMAT_NAMES: Final[dict[str, str]] = {
    "taquilla": "Taquilla", "pretix": "pretix", "seatsio": "seats.io", "svg": "SVG", "csv-list": "CSV",
    "csv-grid": "CSV",
}  # fmt: skip


class ImportPlanDialog(PlanDialog):
    """Shows a report; `look_requested` when a choice needs another reading. `report` is what would be taken."""

    look_requested = Signal()

    def __init__(self, theme: Theme, file_name: str, parent: QWidget) -> None:
        super().__init__(theme, _("Import a plan file"), _("Open it in the editor"), parent)
        self._theme = theme
        self.report: PlanFileReport | None = None
        self.counts = label(kind="lead", wrap=True)
        self.verdict = label(wrap=True)
        self.repairs: dict[str, TickBox] = {}
        self._offered: set[str] = set()
        self.pattern = text_field()
        self.findings = QListWidget()
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._build(file_name)
        self.pattern.textEdited.connect(self._on_pattern_text_edited)
        self._typing.timeout.connect(self.look_requested)
        self.yes.setEnabled(False)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    @property
    def chosen_repairs(self) -> tuple[str, ...] | None:
        """Names of the repairs that may be made; None before anybody chose."""
        if not self.repairs:
            return None
        return tuple(name for name, box in self.repairs.items() if box.isChecked())

    @property
    def seat_pattern(self) -> str:
        """How seats of a drawing are named; empty: the usual ways are tried."""
        return self.pattern.text().strip()

    def show_waiting(self) -> None:
        """The file is being read."""
        self.report = None
        self.yes.setEnabled(False)
        self._say(_("Reading the file…"), "muted")

    def show_trouble(self, words: str) -> None:
        """It could not be read at all."""
        self.report = None
        self.yes.setEnabled(False)
        self._say(words, "danger")

    def show_report(self, report: PlanFileReport) -> None:
        """Show what was found; with faults it cannot be taken."""
        self.report = report if report.plan is not None else None
        self.yes.setEnabled(report.plan is not None)
        self.counts.setText(_count_words(report))
        self._show_verdict(report)
        self._show_repairs(report)
        show_layout(self._pattern_box, shown=report.format in {"svg", "unknown"} or bool(self.seat_pattern))
        self.findings.clear()
        self._list(report.faults, report.fault_count, "✕")
        self._list(report.repairs, report.repair_count, "✓")
        self._list(report.warnings, report.warning_count, "!")

    def _show_verdict(self, report: PlanFileReport) -> None:
        if report.fault_count:
            words = ngettext("{count} fault: the file cannot be taken", "{count} faults: the file cannot be taken",
                             report.fault_count)  # fmt: skip
            offered = _("Some of it can be mended: choose below.") if report.offered else ""
            shown = words.format(count=figures().number(report.fault_count))
            self._say(f"{shown}. {offered}".rstrip() if offered else shown, "danger")
            return
        if report.repair_count:
            words = ngettext("{count} thing was mended; it is kept with the plan",
                             "{count} things were mended; it is kept with the plan", report.repair_count)  # fmt: skip
            self._say(words.format(count=figures().number(report.repair_count)), "success")
            return
        self._say(_("Nothing is wrong with it."), "success")

    def _show_repairs(self, report: PlanFileReport) -> None:
        """A box for each repair that would mend something or has; one that was offered stays offered."""
        made = {finding.repair for finding in report.repairs if finding.repair}
        self._offered |= (made | set(report.offered)) & REPAIR_WORDS.keys()
        if not self._offered:
            return
        if not self.repairs:
            for name, words in REPAIR_WORDS.items():
                box = TickBox(self._theme, _(words))
                box.setChecked(name in made or name in _BY_THEMSELVES)
                box.toggled.connect(self._on_repair_toggled)
                self.repairs[name] = box
                self._boxes.addWidget(box)
            self._boxes.addStretch(1)
        for name, box in self.repairs.items():
            box.setVisible(name in self._offered)
        self._repair_area.show()
        self._repair_area.setFixedHeight(min(_REPAIRS_PX, _LINE_PX * len(self._offered)))
        self._repair_title.show()

    def _list(self, findings: Iterable[PlanFinding], count: int, sign: str) -> None:
        shown = tuple(findings)[:_SHOWN]
        for finding in shown:
            place = place_words(finding.pointer)
            words = finding_words(finding.says, finding.values, finding.message)
            item = QListWidgetItem(f"{sign} {place}\n{words}")
            item.setToolTip(f"{as_it_is(finding.code)}\n{words}")
            self.findings.addItem(item)
        if count > len(shown):
            words = _("{sign} … and {count} more")
            self.findings.addItem(words.format(sign=sign, count=figures().number(count - len(shown))))

    def _say(self, words: str, tone: str) -> None:
        self.verdict.setText(words)
        set_tone(self.verdict, tone)

    def _build(self, file_name: str) -> None:
        theme = self._theme
        self.inside.addWidget(label(file_name, tone="muted", wrap=True))
        self.inside.addWidget(self.counts)
        self.inside.addWidget(self.verdict)
        self._repair_title = label(_("What may be mended"), kind="caption", tone="muted")
        holder = QWidget()
        self._boxes = column(theme, gap="tight", parent=holder)
        self._repair_area = scrolling(holder)
        self._repair_title.hide()
        self._repair_area.hide()
        self.inside.addWidget(self._repair_title)
        self.inside.addWidget(self._repair_area)
        self._pattern_box = captioned(theme, _("How seats of the drawing are named"), self.pattern)
        self.pattern.setPlaceholderText("seat-{section}-{row}-{number}")
        self.pattern.setMaxLength(200)
        show_layout(self._pattern_box, shown=False)
        self.inside.addLayout(self._pattern_box)
        self.findings.setWordWrap(True)
        self.findings.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.findings.setAccessibleName(_("What was found in the file"))
        self.inside.addWidget(self.findings, 1)

    def _on_repair_toggled(self) -> None:
        self.look_requested.emit()

    def _on_pattern_text_edited(self) -> None:
        self._typing.start()


def _count_words(report: PlanFileReport) -> str:
    shown = figures()
    parts = [FORMAT_NAMES.get(report.format, _("Unknown format"))]
    if report.seats or not report.ga_capacity:
        parts.append(ngettext("{count} seat", "{count} seats", report.seats).format(count=shown.number(report.seats)))
    if report.ga_capacity:
        words = ngettext("{count} standing place", "{count} standing places", report.ga_capacity)
        parts.append(words.format(count=shown.number(report.ga_capacity)))
    if report.sections:
        words = ngettext("{count} section", "{count} sections", report.sections)
        parts.append(words.format(count=shown.number(report.sections)))
    words = ngettext("{count} price category", "{count} price categories", report.categories)
    parts.append(words.format(count=shown.number(report.categories)))
    return shown.joined(parts)
