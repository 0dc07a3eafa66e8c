"""Ctrl+P: the live chart of the open event on paper or in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths
from PySide6.QtWidgets import QFileDialog

from app.actions.desk import Desk
from app.bridge.chart_print import ChartStoppedError, ChartWork, Paper, print_chart, printer_names, save_chart
from app.bridge.deeds import Deeds
from app.bridge.desktop import open_path
from app.bridge.dialogs import ask
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.models.map_plan import map_plan
from app.screens.chart_dialog import ChartDialog, ChartProgress
from app.screens.house_words import house_columns
from app.screens.main_window import MainWindow
from app.screens.map_words import left_words, legend_categories, legend_words, map_texts
from app.screens.words import Advice
from widgets.chart_page import Chart, on_paper
from widgets.theme import Theme

_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')


class ChartBindings(QObject):
    """Lives as long as the window; the screens behind it may be built anew."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self.folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
        self.progress: ChartProgress | None = None
        window.chart_requested.connect(self._on_chart_requested)

    def _on_chart_requested(self) -> None:
        if self._window.screens.current is self._window.screens.counter:
            self._deeds.start("print-chart", self._print)

    async def _print(self) -> None:
        store = self._desk.store
        if store.event is None or store.plan is None or store.seat_map is None:
            return
        dialog = ChartDialog(self._window.theme, printer_names(), self._window)
        if not await ask(dialog):
            return
        chart = chart_of(store, self._window.theme, store.clock.now() or datetime.now(UTC))
        try:
            if dialog.printer:
                with self._working() as work:
                    await print_chart(chart, Paper(dialog.paper), dialog.printer, work)
            else:
                await self._save(chart, Paper(dialog.paper))
        except ChartStoppedError:
            return  # whoever stopped it knows
        except OSError as error:
            self._window.screens.counter.panel.tell(
                Advice(_("The seat map could not be printed"), str(error.strerror or error))
            )

    async def _save(self, chart: Chart, paper: Paper) -> None:
        dialog = QFileDialog(self._window, _("Print the seat map"), str(self.folder))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("PDF (*.pdf)")
        dialog.setDefaultSuffix("pdf")
        dialog.selectFile(file_name(chart))
        if await ask(dialog):
            path = Path(dialog.selectedFiles()[0])
            with self._working() as work:
                await save_chart(chart, paper, path, work)
            open_path(path)

    @contextmanager
    def _working(self) -> Iterator[ChartWork]:
        """A chart on its way, with a word of how far it is and a way to stop it."""
        self.progress = ChartProgress(self._window.theme, self._window)
        work = ChartWork(self.progress.show_done)
        self.progress.stopped.connect(work.stop)
        try:
            yield work
        finally:
            self.progress.end()
            self.progress = None


def file_name(chart: Chart) -> str:
    """A name for the file, of event and time, that every file system takes."""
    return _UNFIT.sub(" ", f"{chart.title} {chart.stamp}").strip()[:120] + ".pdf"


def chart_of(store: ConsoleStore, theme: Theme, now: datetime) -> Chart:
    """The chart of the open event as the console knows it at this time."""
    event, plan, seat_map = store.event, store.plan, store.seat_map
    if event is None or plan is None or seat_map is None:
        raise ValueError("no event is open")
    shown = figures()
    stamp = f"{shown.date(now, event.zone)} {shown.clock(now, event.zone)}"
    lines = [shown.joined([shown.date_time(event.starts_at, event.zone), event.venue_name])]
    lines.append(left_words(event, seat_map))
    if store.map_out_of_date:
        lines.append(_("The map may be out of date"))
    return Chart(
        plan=map_plan(plan, event),
        states=seat_map.states.copy(),
        mine=tuple(sorted(seat_map.mine)),
        standing={tier.name: tier.available for tier in event.tiers},
        theme=on_paper(Theme.light()).with_patterns(theme.patterned),
        texts=map_texts(store),
        categories=legend_categories(plan, event),
        words=legend_words(),
        title=event.name,
        lines=tuple(lines),
        stamp=_("As of {time}").format(time=stamp),
        house_kinds=house_columns(store.house_kinds, seat_map.seat_count),
    )
