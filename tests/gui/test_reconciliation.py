"""The inbox in the real windows: the list, what stands in it, and the evidence (R33)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from app.core.inbox_filter import SortBy
from app.models.item_table import COLUMNS
from app.screens.item_words import kind_name
from backend_client.testing import Fault
from backend_client.wire import ItemState
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import (
    inbox_of,
    open_item,
    press,
    reconciliation,
    store_of,
)
from widgets.theme import Theme


def column(screen: Any, row: int, name: SortBy) -> str:
    return str(screen.inbox.model.index(row, COLUMNS.index(name)).data())


def test_the_oldest_stands_first_with_age_money_seats_and_kind_r33(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            screen = reconciliation(showcase)
            assert screen.inbox.model.rowCount() == len(items)
            first = [column(screen, 0, name) for name in (SortBy.AGE, SortBy.KIND, SortBy.AMOUNT)]
            assert first == ["2 days 1 hr", "Only the provider has it", "€128.00"]
            assert column(screen, 3, SortBy.SEATS).startswith("2 · Row")
            assert column(screen, 6, SortBy.AMOUNT) == "¥980,000"
            assert showcase.console.window.screens.strip.items.text == "11 items wait"
            tabs = showcase.console.window.tabs
            assert tabs.current == "reconciliation"
            assert "Reconciliation (11)" in [button.text() for button in tabs.findChildren(QToolButton)]

    qloop.run(scene())


def test_the_keyboard_alone_finds_opens_reads_and_goes_back(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            screen, inbox = reconciliation(showcase), store_of(showcase).inbox
            page = screen.inbox
            page.focus_first()
            press(Qt.Key.Key_Slash, page.table)
            assert page.filters.finder.hasFocus()
            QTest.keyClicks(page.filters.finder, "charged twice")
            await until(lambda: page.model.rowCount() == 1, "one that matches")
            press(Qt.Key.Key_Down, page.filters.finder)
            assert page.table.hasFocus()
            press(Qt.Key.Key_Return, page.table)
            await until(lambda: inbox.detail is not None, "the evidence")
            assert inbox.item_id == items[-1]
            assert screen.item.timeline.hasFocus()
            press(Qt.Key.Key_Escape, screen.item.timeline)
            assert inbox.item_id is None
            assert page.table.hasFocus()
            press(Qt.Key.Key_F, page.table, Qt.KeyboardModifier.ControlModifier)
            assert page.filters.finder.hasFocus()
            press(Qt.Key.Key_Escape, page.filters.finder)
            await until(lambda: page.model.rowCount() == len(items), "all of them again")
            await rest(showcase)

    qloop.run(scene())


def test_arrows_walk_along_the_list_and_only_where_they_rest_is_anything_read(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            table = reconciliation(showcase).inbox.table
            before = len(showcase.server.calls)
            for _step in range(5):
                press(Qt.Key.Key_Down, table)
            inbox = store_of(showcase).inbox
            assert inbox.item_id == items[5]
            await until(lambda: inbox.detail is not None, "the evidence")
            await rest(showcase)
            read = [call.path for call in showcase.server.calls[before:] if call.path.count("/") == 4]
            assert [path for path in read if not path.endswith(str(items[5]))] == []

    qloop.run(scene())


def test_filters_add_up_and_the_list_says_how_many_are_shown(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            page = reconciliation(showcase).inbox
            filters = page.filters
            filters.provider.setCurrentIndex(filters.provider.findData("stripe"))
            assert page.model.rowCount() == 5
            filters.above.setText("150")
            assert page.model.rowCount() == 2
            assert "2 of 11 items" in page._count.text()
            filters.above.setText("1,5,0")
            assert not filters.fault.isHidden()
            filters.above.clear()
            filters.kind.setCurrentIndex(filters.kind.findData("no-result"))
            assert page.model.rowCount() == 0
            assert page._empty.text() == "Nothing here matches what is chosen above."
            filters.clear.click()
            assert page.model.rowCount() == 11
            filters.scope.setCurrentIndex(1)
            filters.scope.activated.emit(1)
            assert [line.item.state for line in page.shown] == [ItemState.AWAITING_APPROVAL]
            await rest(showcase)

    qloop.run(scene())


def test_a_click_on_a_head_sorts_and_the_chosen_item_stays_chosen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            page = reconciliation(showcase).inbox
            page.table.choose_row(2)
            page.table.horizontalHeader().sectionClicked.emit(2)
            assert [line.item.amount_minor for line in page.shown][:2] == [980_000, 66_000]
            assert page.shown[page.table.current_row].item.item_id == items[2]
            page.table.horizontalHeader().sectionClicked.emit(2)
            assert page.shown[0].amount == min(line.amount for line in page.shown)

    qloop.run(scene())


def test_the_list_follows_and_an_item_that_settles_leaves_without_moving_the_person(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            page = reconciliation(showcase).inbox
            resets: list[int] = []
            page.model.modelReset.connect(lambda: resets.append(1))
            page.table.choose_row(4)
            showcase.server.items.change(items[1], state=ItemState.RESOLVED)
            showcase.console.desk.inbox_wake.set()
            await until(lambda: page.model.rowCount() == 10, "the item to leave")
            assert page.shown[page.table.current_row].item.item_id == items[4]
            assert page.table.current_row == 3
            assert resets == []
            assert showcase.console.window.screens.strip.items.text == "10 items wait"

    qloop.run(scene())


def test_while_the_api_is_away_the_last_list_stays_and_says_from_when_it_is(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            page = reconciliation(showcase).inbox
            showcase.server.fail(Fault.UNREACHABLE, "/reconciliation", times=1000)
            showcase.console.desk.inbox_wake.set()
            await until(page.banner.isVisible, "the trouble")
            assert page.model.rowCount() == len(items)
            assert page.banner.title == "The booking system does not answer"
            assert page.banner.detail.startswith("This list is as of ")
            showcase.server.heal()
            showcase.console.desk.inbox_wake.set()
            await until(lambda: not page.banner.isVisible(), "the list to be fresh")

    qloop.run(scene())


def test_evidence_tells_who_spoke_in_words_and_folds_out_by_key(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[3])
            view = reconciliation(showcase).item.timeline
            lines = view.lines.lines
            assert [line.mark for line in lines[:4]] == ["sale", "sale", "request", "request"]
            assert all(line.mark_words for line in lines)
            assert lines[0].day
            assert lines[1].day == ""
            view.setCurrentIndex(view.lines.index(3))
            height = view.visualRect(view.lines.index(3)).height()
            press(Qt.Key.Key_Right, view)
            await until(lambda: view.visualRect(view.lines.index(3)).height() > height + 20, "the body")
            assert "POST /v1/charges" in str(view.lines.index(3).data(Qt.ItemDataRole.AccessibleTextRole))
            press(Qt.Key.Key_C, view, Qt.KeyboardModifier.ControlModifier)
            assert "POST /v1/charges" in QApplication.clipboard().text()
            press(Qt.Key.Key_Left, view)
            assert view.lines.opened == set()
            reconciliation(showcase).item.copy_button.click()
            assert "Money in doubt" in QApplication.clipboard().text()
            assert "Called the provider" in QApplication.clipboard().text()

    qloop.run(scene())


def test_a_kind_that_this_console_does_not_know_goes_by_its_own_name() -> None:
    assert kind_name("no-result") == "No result from the till"
    assert kind_name("moon-phase-differs") == "Moon phase differs"
