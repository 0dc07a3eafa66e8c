"""Acts on items in the real windows: what they need, refusals, lost answers, the second person (R33)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.showcase import PASSWORD
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, ItemAction, ItemState
from tests.gui.conftest import QLoop, rest, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import (
    choose,
    go,
    inbox_of,
    open_item,
    reconciliation,
    sent_posts,
    store_of,
)
from widgets.theme import Theme


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


async def _sign_in_as(showcase: Any, name: str) -> None:
    """Another person at the same console, at the inbox."""
    window = showcase.console.window
    window.sign_out_requested.emit()
    await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
    await rest(showcase)
    await _sign_in(showcase, name)
    go(showcase, "reconciliation")
    await until(lambda: bool(store_of(showcase).inbox.items), "the inbox")
