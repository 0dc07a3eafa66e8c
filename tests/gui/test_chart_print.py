"""The live chart on paper: the right sheet, of the right event and time, everything of the map on it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PySide6.QtCore import Qt
from PySide6.QtPrintSupport import QPrinterInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.bridge.chart_print import (
    ChartStoppedError,
    ChartWork,
    Paper,
    chart_pdf,
    print_chart,
    printer_names,
    save_chart,
)
from app.i18n import use_language
from app.screens import chart_bindings
from app.screens.chart_bindings import chart_of, file_name
from app.screens.chart_dialog import ChartDialog
from app.screens.map_words import legend_words
from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.conftest import QLoop, counter_of, panel_of, rest, until
from tests.gui.test_seat_map_plan_parts import two_floors
from widgets.chart_page import Chart
from widgets.map_legend import LegendCategory
from widgets.seat_map import SeatMapPlan, SeatMapTexts
from widgets.theme import Theme

A4_PT, A3_PT = (842, 595), (1191, 842)


def chart(plan: SeatMapPlan) -> Chart:
    """A chart of a plan with every third seat sold."""
    states = np.where(np.arange(plan.seat_count) % 3 == 0, 3, 0).astype(np.uint8)
    return Chart(
        plan=plan, states=states, mine=(1, 2), standing={}, theme=Theme.light(), texts=SeatMapTexts(),
        categories=(LegendCategory(0, "", "Front", "€10.00"),), words=legend_words(), title="La Bohème",
        lines=("Friday", "12 seats free"), stamp="As of 12:30:05",
    )  # fmt: skip


def opened(body: bytes) -> pypdfium2.PdfDocument:
    return pypdfium2.PdfDocument(body)


@pytest.mark.parametrize(("paper", "points"), [(Paper.A4, A4_PT), (Paper.A3, A3_PT)])
def test_a_chart_fills_one_sheet_and_names_event_time_and_categories(
    qapp: QApplication, paper: Paper, points: tuple[int, int]
) -> None:
    document = opened(chart_pdf(chart(theatre()), paper))
    assert len(document) == 1
    page = document[0]
    assert tuple(round(side) for side in page.get_size()) == points
    words = page.get_textpage().get_text_range()
    for text in ("La Bohème", "Friday", "12 seats free", "As of 12:30:05", "Front", "€10.00", "Sold", "1 / 1"):
        assert text in words, text
    pixels = np.asarray(page.render(scale=1.0).to_pil().convert("RGB")).astype(int)
    margin = 12 / 25.4 * 72
    inner = pixels[int(margin) : -int(margin), int(margin) : -int(margin)]
    outer = pixels.copy()
    outer[int(margin) - 2 : -int(margin) + 2, int(margin) - 2 : -int(margin) + 2] = 255
    assert outer.min() == 255, "nothing lies in the margin"
    coloured = (inner.max(axis=2) - inner.min(axis=2)) > 60
    assert coloured.any(axis=1).mean() > 0.5
    assert coloured.any(axis=0).mean() > 0.5


def test_every_floor_has_a_page_of_its_own(qapp: QApplication) -> None:
    document = opened(chart_pdf(chart(two_floors()), Paper.A4))
    texts = [page.get_textpage().get_text_range() for page in document]
    assert len(texts) == 2
    assert "Stalls" in texts[0]
    assert "1 / 2" in texts[0]
    assert "Balcony" in texts[1]


def test_a_plan_that_is_higher_than_wide_lies_upright(qapp: QApplication) -> None:
    plan = theatre()
    turned = replace_axes(plan)
    width, height = opened(chart_pdf(chart(turned), Paper.A4))[0].get_size()
    assert width < height


def replace_axes(plan: SeatMapPlan) -> SeatMapPlan:
    narrow = (plan.x * np.float32(0.25)).astype(np.float32)
    return replace(plan, x=narrow, areas=())


def test_a_stadium_is_printed_with_sections_explained(qapp: QApplication) -> None:
    page = opened(chart_pdf(chart(bowl(20_000)), Paper.A3))[0]
    assert "La Bohème" in page.get_textpage().get_text_range()


def test_the_open_event_is_printed_as_the_console_shows_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            store = showcase.console.desk.store
            now = datetime(2026, 12, 4, 18, 30, 5, tzinfo=UTC)
            made = chart_of(store, theme, now)
            assert store.event is not None
            assert made.title == store.event.name
            assert "30:05" in made.stamp
            assert store.seat_map is not None
            assert made.lines[1] == f"{store.seat_map.counts().available} seats free"
            assert file_name(made).endswith(".pdf")
            assert not set(file_name(made)) & set('\\/:*?"<>|')
            use_language("pt")
            assert "lugares livres" in chart_of(store, theme, now).lines[1]

    qloop.run(scene())


def test_ctrl_p_asks_for_the_sheet_and_saves_the_chart_where_it_is_told(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Path] = []
    monkeypatch.setattr(chart_bindings, "open_path", shown.append)

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            window = showcase.console.window
            showcase.console.bindings.chart.folder = tmp_path
            QTest.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: window.findChild(ChartDialog), "the dialog")
            dialog = window.findChild(ChartDialog)
            assert dialog is not None
            assert dialog.paper == "A4"
            dialog.papers[1].click()
            assert (dialog.paper, dialog.printer) == ("A3", "")
            dialog.print.click()
            await until(lambda: window.findChild(QFileDialog), "the file dialog")
            files = window.findChild(QFileDialog)
            assert files is not None
            files.accept()
            await until(lambda: shown, "the file")
            assert shown[0].parent == tmp_path
            assert tuple(round(side) for side in opened(shown[0].read_bytes())[0].get_size()) == A3_PT
            await rest(showcase)

    qloop.run(scene())


def test_a_chart_that_cannot_be_saved_is_said(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(chart_bindings, "print_chart", full)
    monkeypatch.setattr(chart_bindings, "printer_names", lambda: ["Office"])

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            window = showcase.console.window
            window.chart_requested.emit()
            await until(lambda: window.findChild(ChartDialog), "the dialog")
            dialog = window.findChild(ChartDialog)
            assert dialog is not None
            dialog.target.setCurrentIndex(1)
            assert dialog.printer == "Office"
            dialog.print.click()
            banner = panel_of(showcase).banner
            await until(banner.isVisible, "the words")
            assert "No space left" in banner.detail
            await rest(showcase)

    qloop.run(scene())


def test_a_printer_that_is_gone_and_a_folder_that_is_none_are_errors(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        with pytest.raises(OSError, match="gone"):
            await print_chart(chart(theatre()), Paper.A4, "no such printer")
        with pytest.raises(OSError, match="directory"):
            await save_chart(chart(theatre()), Paper.A4, tmp_path / "none" / "chart.pdf")

    qloop.run(scene())
    assert printer_names() == sorted(printer_names(), key=lambda name: name != QPrinterInfo.defaultPrinterName())


def test_a_stadium_is_saved_while_the_loop_goes_on(qloop: QLoop, tmp_path: Path) -> None:
    """Its longest gap is a slice of the drawing, far from the whole of it; how far it is rises to the end."""
    told: list[float] = []
    made = chart(bowl(60_000))

    async def once() -> tuple[float, float]:
        told.clear()
        longest = await longest_gap(save_chart(made, Paper.A3, tmp_path / "chart.pdf", ChartWork(told.append)))
        begun = process_time()
        chart_pdf(made, Paper.A3)
        return longest, process_time() - begun

    async def scene() -> None:
        gaps, wholes = zip(*[await once() for _ in range(3)], strict=True)
        print(f"gaps {min(gaps):.3f} of {min(wholes):.3f}")
        assert min(gaps) < min(wholes) / 3

    qloop.run(scene())
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert any(0.4 < share < 1.0 for share in told)
    assert opened((tmp_path / "chart.pdf").read_bytes())[0].get_size()


async def longest_gap(deed: Coroutine[Any, Any, None]) -> float:
    """The longest time between two turns of the loop while `deed` runs, s of this thread's and the workers' CPU."""
    running, longest, last = asyncio.ensure_future(deed), 0.0, process_time()
    while not running.done():
        await asyncio.sleep(0)
        now = process_time()
        longest, last = max(longest, now - last), now
    running.result()
    return longest


def test_a_chart_that_is_stopped_is_not_written(qloop: QLoop, tmp_path: Path) -> None:
    """At any turn: while it is drawn, and while the worker packs it."""
    made = chart(bowl(20_000))

    async def scene() -> None:
        for share in (0.0, 0.3, 0.7, 0.99):
            with pytest.raises(ChartStoppedError):
                await save_chart(made, Paper.A3, tmp_path / f"{share}.pdf", StoppingWork(share))
            assert list(tmp_path.iterdir()) == []

    qloop.run(scene())


class StoppingWork(ChartWork):
    """Somebody stops it once so much is done."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def reach(self, share: float) -> None:
        if share >= self._share:
            self.stop()
        super().reach(share)


def test_who_is_cancelled_leaves_no_worker_behind(qloop: QLoop, tmp_path: Path) -> None:
    """The console closes while a chart is being saved."""

    async def scene() -> None:
        work = ChartWork()
        saving = asyncio.ensure_future(save_chart(chart(bowl(20_000)), Paper.A3, tmp_path / "chart.pdf", work))
        await until(lambda: work.done > 0.4, "the worker")
        saving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saving

    qloop.run(scene())
    assert list(tmp_path.iterdir()) == []


def test_how_far_it_is_is_shown_and_can_be_stopped(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A printer that takes its time: the word comes up, and Cancel ends it without a word of failure."""

    async def slow(_chart: Chart, _paper: Paper, _printer: str, work: ChartWork) -> None:
        while True:
            work.reach(0.25)
            work.tell()
            await asyncio.sleep(0.005)

    monkeypatch.setattr(chart_bindings, "print_chart", slow)
    monkeypatch.setattr(chart_bindings, "printer_names", lambda: ["Office"])

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            window, bindings = showcase.console.window, showcase.console.bindings.chart
            window.chart_requested.emit()
            await until(lambda: window.findChild(ChartDialog), "the dialog")
            dialog = window.findChild(ChartDialog)
            assert dialog is not None
            dialog.target.setCurrentIndex(1)
            dialog.print.click()
            await until(lambda: bindings.progress is not None and bindings.progress.isVisible(), "how far it is")
            assert bindings.progress is not None
            assert bindings.progress.bar.value() == 250
            bindings.progress.cancel.click()
            await until(lambda: bindings.progress is None, "the end")
            await rest(showcase)
            assert not panel_of(showcase).banner.isVisible()

    qloop.run(scene())
