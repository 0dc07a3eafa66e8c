"""The inbox as a file, and comparisons of a day (R27, I5)."""

from __future__ import annotations

import csv
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from backend_client.wire import RunState
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import (
    inbox_of,
    press,
    reconciliation,
)
from tests.gui.plan_stage import choose_file
from widgets.theme import Theme


def test_the_list_is_saved_as_it_is_shown_without_holding_the_loop_i5(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            showcase.server.items.change(items[0], event_name="=1+1")
            showcase.console.desk.inbox_wake.set()
            page = reconciliation(showcase).inbox
            await until(lambda: page.shown[0].item.event_name == "=1+1", "the name")
            page.filters.finder.setText("stripe")
            page.export.click()
            target = tmp_path / "out.csv"
            await choose_file(target)
            await until(target.exists, "the file")
            await rest(showcase)
            assert page.banner.title == "5 items are in out.csv"
            read = list(csv.reader(target.read_text("utf-8-sig").splitlines()))
            assert len(read) == 6
            assert read[0][1] == "Kind"
            assert {line[8] for line in read[1:]} == {"stripe"}
            assert read[1][6] == "'=1+1"
            assert not list(tmp_path.glob("*.part"))

    qloop.run(scene())


def test_a_file_that_cannot_be_written_is_told(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            page = reconciliation(showcase).inbox
            (tmp_path / "taken.csv.part").mkdir()
            page.export.click()
            await choose_file(tmp_path / "taken.csv")
            await until(page.banner.isVisible, "the trouble")
            await rest(showcase)
            assert page.banner.title == "The file could not be written"
            assert not (tmp_path / "taken.csv").exists()

    qloop.run(scene())


def test_a_comparison_is_started_followed_and_leads_to_its_items(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            screen = reconciliation(showcase)
            shelf = showcase.server.items
            shelf.runs.clear()
            screen.show_tab(1)
            await rest(showcase)
            runs = screen.runs
            assert runs._empty.text() == "No day has been compared yet."
            runs.provider.setCurrentIndex(runs.provider.findData("stripe"))
            runs.day.setText("2026-02-30")
            assert (runs.start.isEnabled(), runs.fault.isHidden()) == (False, False)
            runs.day.setText("2099-01-01")
            assert not runs.start.isEnabled()
            runs.day.setText("2026-11-02")
            press(Qt.Key.Key_Up, runs.day)
            assert runs.day.text() == "2026-11-03"
            QTest.mouseClick(runs.start, Qt.MouseButton.LeftButton)
            QTest.mouseDClick(runs.start, Qt.MouseButton.LeftButton)
            await until(lambda: len(shelf.runs) == 1, "the comparison")
            run_id = next(iter(shelf.runs))
            assert (shelf.runs[run_id].provider, shelf.runs[run_id].day.isoformat()) == ("stripe", "2026-11-03")
            shelf.advance_run(run_id, read=100, matched=99)
            await until(lambda: "100 of 400" in dict(runs.facts.facts).values(), "progress")
            assert runs.progress.value() == 100
            shelf.advance_run(
                run_id, state=RunState.DONE, read=400, matched=399, differences={"provider-only": 1}, opened_items=1
            )
            await until(lambda: not showcase.console.deeds.is_running("follow-runs"), "the end")
            assert [button.text() for button in runs.kinds if button.isVisible()] == ["Only the provider has it · 1"]
            runs.kinds[0].click()
            await rest(showcase)
            assert [(line.item.kind, line.item.provider) for line in screen.inbox.shown] == [
                ("provider-only", "stripe")
            ]

    qloop.run(scene())
