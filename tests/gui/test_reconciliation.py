"""The supervisor's screen in the real windows: the list, the evidence, the acts, the second person, the file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from app.core.inbox_filter import SortBy
from app.models.item_table import COLUMNS
from app.screens.item_words import kind_name
from app.showcase import PASSWORD
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, ItemAction, ItemState, RunState
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.money_stage import (
    choose,
    go,
    inbox_of,
    open_item,
    press,
    reconciliation,
    sent_posts,
    store_of,
)
from tests.gui.plan_stage import choose_file
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


# ---------------------------------------------------------------- acts


def test_an_act_needs_a_reason_and_what_else_it_needs_r33(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[3])
            form = reconciliation(showcase).item.form
            await choose(showcase, ItemAction.SETTLED_OUTSIDE, reason="")
            assert not form.do.isEnabled()
            form.reason.setText("paid by transfer")
            assert not form.do.isEnabled()
            form.reference.setText("TR-88")
            assert not form.do.isEnabled(), "nobody knows yet what became of it"
            form.went_through.click()
            assert form.do.isEnabled()
            form.do.click()
            await until(lambda: showcase.server.items.entries[items[3]].item.state is ItemState.RESOLVED, "the act")
            await rest(showcase)
            done = showcase.server.items.acted[-1]
            assert (done[1].reference, done[1].reason, done[1].outcome) == ("TR-88", "paid by transfer", "succeeded")
            assert reconciliation(showcase).item.banner.title == "Settled: Settled elsewhere"

    qloop.run(scene())


def test_an_act_that_is_not_allowed_cannot_be_pressed_and_says_why(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[5])
            form = reconciliation(showcase).item.form
            assert not form.acts[ItemAction.ASK_AGAIN].isEnabled()
            assert form._why.text() == "Not now: Ask again. A card terminal is asked by its own till."
            assert form.acts[ItemAction.NOTE].isEnabled()

    qloop.run(scene())


def test_an_amount_that_cannot_go_back_is_refused_before_it_is_sent(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[10])
            form = reconciliation(showcase).item.form
            await choose(showcase, ItemAction.REFUND)
            assert form.do.isEnabled(), "an empty amount is all of it"
            for text, told in (
                ("128.01", "At most €128.00 can go back"),
                ("1,28,0", "This is not an amount"),
                ("0", "Type an amount"),
            ):
                form.amount.setText(text)
                assert (form.do.isEnabled(), form.fault.text()) == (False, told), text
            form.amount.setText("28.00")
            assert form.amount_minor == 2_800
            form.do.click()
            await until(lambda: bool(showcase.server.items.acted), "the act")
            await rest(showcase)
            assert showcase.server.items.acted[-1][1].amount_minor == 2_800

    qloop.run(scene())


def test_a_double_click_acts_once_p1(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.NOTE)
            form = reconciliation(showcase).item.form
            for _click in range(3):
                QTest.mouseClick(form.do, Qt.MouseButton.LeftButton)
            QTest.mouseDClick(form.do, Qt.MouseButton.LeftButton)
            await until(lambda: bool(showcase.server.items.acted), "the act")
            await rest(showcase)
            assert len(showcase.server.items.acted) == 1
            assert len(sent_posts(showcase, "/actions")) == 1

    qloop.run(scene())


def test_an_item_that_changed_is_read_again_shows_what_changed_and_keeps_the_reason(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[10])
            await choose(showcase, ItemAction.REFUND, "They were charged twice")
            showcase.server.items.change(items[10], amount_minor=9_900)
            page = reconciliation(showcase).item
            page.form.do.click()
            await until(page.changed.isVisible, "what changed")
            await rest(showcase)
            assert page.changed.detail == "Amount: €128.00 → €99.00\nWhat you have typed is kept."
            assert page.form.reason.text() == "They were charged twice"
            assert page.banner.title == "This item has changed meanwhile"
            assert showcase.server.items.acted == []
            page.changed.action_requested.emit()
            assert not page.changed.isVisible()
            page.form.do.click()
            await until(lambda: bool(showcase.server.items.acted), "the act on what is there now")
            await rest(showcase)
            assert page.form.reason.text() == ""

    qloop.run(scene())


def test_an_act_whose_answer_is_lost_is_done_once_when_it_is_sent_again(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.NOTE)
            showcase.server.fail(Fault.ANSWER_LOST, "/actions", times=1)
            page = reconciliation(showcase).item
            page.form.do.click()
            await until(lambda: bool(showcase.server.items.acted), "the act")
            await rest(showcase)
            assert len(showcase.server.items.acted) == 1
            assert len(sent_posts(showcase, "/actions")) == 1

    qloop.run(scene())


REFUSALS = {
    ErrorCode.ITEM_CHANGED: "This item has changed meanwhile",
    ErrorCode.ACTION_NOT_ALLOWED: "This cannot be done with it any more",
    ErrorCode.ITEM_NOT_FOUND: "This item is no longer there",
    ErrorCode.SECOND_PERSON_NEEDED: "Somebody else has to decide this",
    ErrorCode.FORBIDDEN: "Your role may not do this",
    ErrorCode.INVALID_REQUEST: "Something is missing or wrong",
    ErrorCode.RATE_LIMITED: "Too many calls at once",
    ErrorCode.KEY_REUSED: "That did not work",
    ErrorCode.UNKNOWN_EXPONENT: "That did not work",
}


def test_each_refusal_of_an_act_is_told_and_what_was_typed_stays(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.NOTE, "for the audit")
            page = reconciliation(showcase).item
            for code, title in REFUSALS.items():

                def refuse(*_arguments: object, refused: ErrorCode = code) -> None:
                    raise RefusalError(refused)

                monkeypatch.setattr(type(showcase.server.items), "act", refuse)
                page.banner.clear()
                page.form.do.click()
                await until(page.banner.isVisible, f"the refusal {code}")
                await rest(showcase)
                assert page.banner.title == title
                assert page.form.reason.text() == "for the audit"
                assert not page.form.do.busy

    qloop.run(scene())


def test_the_number_of_an_order_is_looked_up_and_must_be_the_only_one(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.ATTACH)
            page = reconciliation(showcase).item
            page.form.order.setText("T-00")
            page.form.do.click()
            await until(page.banner.isVisible, "the refusal")
            await rest(showcase)
            assert page.banner.title == "No order, or more than one, has this number"
            page.form.order.setText("t-0002")
            page.form.do.click()
            await until(lambda: bool(showcase.server.items.acted), "the act")
            await rest(showcase)
            order_id = showcase.server.items.acted[-1][1].order_id
            assert order_id is not None
            assert showcase.server.house.orders[order_id].number == "T-0002"

    qloop.run(scene())


# ---------------------------------------------------------------- the second person


def test_who_asks_waits_and_cannot_approve_and_somebody_else_decides(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            showcase.server.staff["ana"] = (PASSWORD, showcase.server.staff["sofia"][1])
            item = items[6]
            await open_item(showcase, item)
            form, page = reconciliation(showcase).item.form, reconciliation(showcase).item
            await choose(showcase, ItemAction.CAPTURE, "The hall was full")
            assert form.do.text() == "Ask a second person"
            form.do.click()
            await until(lambda: store_of(showcase).inbox.detail.approval is not None, "the wish")
            await rest(showcase)
            assert page.banner.title == "A second person is asked: Collect the money"
            assert not page.approval.approve.isVisible()
            assert page.approval.refuse.text() == "Take the wish back"
            assert "You have asked for this" in page.approval._words.text()
            assert not form.acts[ItemAction.CAPTURE].isEnabled()
            assert showcase.server.items.acted == []
            await _sign_in_as(showcase, "ana")
            await open_item(showcase, item)
            page = reconciliation(showcase).item
            assert page.approval.approve.isVisible()
            assert not page.approval.approve.isEnabled(), "a decision needs words too"
            page.approval.reason.setText("I have seen the receipt")
            page.approval.approve.click()
            await until(lambda: bool(showcase.server.items.acted), "the act")
            await rest(showcase)
            assert showcase.server.items.acted[-1][2] == "sofia"
            assert not page.approval.isVisible()

    qloop.run(scene())


def test_the_other_person_may_refuse_and_the_asker_take_the_wish_back(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[-3])
            card = reconciliation(showcase).item.approval
            assert card.refuse.text() == "Refuse"
            card.reason.setText("The receipt is missing")
            card.refuse.click()
            await until(lambda: not card.isVisible(), "the decision")
            await rest(showcase)
            assert showcase.server.items.acted == []
            assert reconciliation(showcase).item.banner.title == "Not done: Give money back"
            lines = reconciliation(showcase).item.timeline.lines.lines
            assert (lines[-1].title, lines[-1].body) == ("Refused", "The receipt is missing")

    qloop.run(scene())


# ---------------------------------------------------------------- roles and the way out


def test_screens_are_offered_by_role_and_keys_go_nowhere_else_r35(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        for number, (name, tabs) in enumerate((
            ("carla", ["counter", "orders"]), ("omar", ["counter", "orders", "reconciliation"]),
            ("sofia", ["counter", "orders", "reconciliation"]),
        )):  # fmt: skip
            (tmp_path / str(number)).mkdir()
            async with counter_of(tmp_path / str(number), name, open_event=False) as showcase:
                window = showcase.console.window
                assert window.tabs.shown == tabs
                go(showcase, "reconciliation")
                await rest(showcase)
                assert (window.screens.current is window.screens.reconciliation) == ("reconciliation" in tabs)
                assert showcase.console.deeds.is_running("follow-inbox") == ("reconciliation" in tabs)

    qloop.run(scene())


def test_ops_read_and_cannot_act(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path, "omar") as (showcase, items):
            await open_item(showcase, items[3])
            page = reconciliation(showcase).item
            assert page.timeline.lines.rowCount() == 12
            assert not any(button.isEnabled() for button in page.form.acts.values())
            assert page.form._why.text() == "Your role may read this and not act."
            reconciliation(showcase).show_tab(1)
            await until(lambda: bool(store_of(showcase).inbox.runs), "the comparisons")
            assert not reconciliation(showcase).runs.start.isEnabled()

    qloop.run(scene())


def test_signing_out_in_the_middle_leaves_nothing_for_the_next_person(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.NOTE, "half a sentence")
            showcase.server.delay("/actions", 0.3)
            reconciliation(showcase).item.form.do.click()
            showcase.console.window.sign_out_requested.emit()
            window, inbox = showcase.console.window, store_of(showcase).inbox
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            assert window.tabs.shown == []
            assert (inbox.items, inbox.detail, inbox.drafts) == ((), None, {})
            assert not showcase.console.deeds.is_running("follow-inbox")
            await rest(showcase)
            assert (inbox.items, inbox.item_id) == ((), None)
            await _sign_in(showcase, "carla")
            assert window.tabs.shown == ["counter", "orders"]
            assert not window.screens.strip.items.isVisible()

    qloop.run(scene())


def test_a_session_that_the_api_ended_leads_to_the_sign_in_screen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            showcase.server.sign_everybody_out()
            showcase.console.desk.inbox_wake.set()
            window = showcase.console.window
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            await rest(showcase)
            assert store_of(showcase).inbox.items == ()

    qloop.run(scene())


def test_a_role_that_is_taken_away_is_told_and_the_list_is_asked_for_no_more(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            session = next(iter(showcase.server._sessions))
            showcase.server._sessions[session] = (
                showcase.server._sessions[session][0],
                showcase.server.staff["carla"][1],
            )
            showcase.console.desk.inbox_wake.set()
            await until(lambda: not showcase.console.deeds.is_running("follow-inbox"), "the end of following")
            assert reconciliation(showcase).inbox.banner.title == "Your role may not do this"

    qloop.run(scene())


async def _sign_in(showcase: Any, name: str) -> None:
    screen = showcase.console.window.screens.sign_in
    screen.sign_in_requested.emit(name, PASSWORD)
    await until(lambda: store_of(showcase).session is not None and store_of(showcase).session.name == name, name)
    await rest(showcase)


async def _sign_in_as(showcase: Any, name: str) -> None:
    """Another person at the same console, at the inbox."""
    window = showcase.console.window
    window.sign_out_requested.emit()
    await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
    await rest(showcase)
    await _sign_in(showcase, name)
    go(showcase, "reconciliation")
    await until(lambda: bool(store_of(showcase).inbox.items), "the inbox")


# ---------------------------------------------------------------- the file, the daily comparison


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
            runs.provider.setCurrentIndex(runs.provider.findText("stripe"))
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


def test_a_kind_that_this_console_does_not_know_goes_by_its_own_name() -> None:
    assert kind_name("no-result") == "No result from the till"
    assert kind_name("moon-phase-differs") == "Moon phase differs"
