"""What stays behind when somebody goes: no word, no question, no half-typed wish is there for the next person (R35)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.screens.chart_dialog import ChartDialog
from app.screens.keys_dialog import KeysDialog
from app.screens.plan_dialogs import NewPlanDialog
from app.screens.words import Advice
from app.showcase import Showcase
from backend_client.wire import ItemAction
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, rest, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import choose, go, inbox_of, open_item, orders_of, orders_screen, reconciliation, store_of
from widgets.status_banner import StatusBanner
from widgets.theme import Theme


async def leave(showcase: Showcase) -> None:
    window = showcase.console.window
    window.sign_out_requested.emit()
    await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
    await rest(showcase)


def told(showcase: Showcase) -> list[str]:
    """What the banners of all screens but that of signing in say."""
    screens = showcase.console.window.screens
    return [
        banner.title
        for screen in screens.all
        if screen is not screens.sign_in
        for banner in screen.findChildren(StatusBanner)
        if not banner.isHidden()
    ]


def test_what_was_said_to_one_person_is_not_read_by_the_next(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "ada", open_event=False) as showcase:
            screens, words = showcase.console.window.screens, Advice("Mine", "Mine alone")
            pages: tuple[Any, ...] = (
                screens.events, screens.ops, screens.ops.alarms, screens.ops.log, *screens.settings.pages,
                screens.reconciliation.inbox, screens.reconciliation.runs, screens.plans,
            )  # fmt: skip
            for page in pages:
                page.tell(words)
            assert told(showcase).count("Mine") == len(pages)
            await leave(showcase)
            await _sign_in(showcase, "sofia")
            assert "Mine" not in told(showcase)

    qloop.run(scene())


def test_what_one_person_looked_for_is_not_looked_for_by_the_next(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path, "sofia") as (showcase, _orders):
            screens, screen = showcase.console.window.screens, orders_screen(showcase)
            screens.events.search.setText("traviata")
            screens.reconciliation.inbox.filters.above.setText("no amount")
            provider = screens.reconciliation.runs.provider
            provider.setCurrentIndex(provider.findData("stripe"))
            assert provider.currentText() == "Stripe"
            screen.event_box.setCurrentIndex(1)
            await rest(showcase)
            screen.finder.setText("Mrs")
            assert screen._typing.isActive()
            store_of(showcase).put_session(None)
            showcase.console.bindings._go_to_sign_in()
            await until(lambda: not screen._typing.isActive(), "the end of the wish")
            await rest(showcase)
            assert not [call for call in showcase.server.calls if "Mrs" in str(call)]
            await _sign_in(showcase, "carla")
            go(showcase, "orders")
            await until(lambda: len(store_of(showcase).orders.found) == 4, "every order")
            assert (screen.finder.text(), screen.event_box.currentData()) == ("", None)
            assert screens.events.search.text() == ""
            assert screens.reconciliation.inbox.filters.above.text() == ""
            assert screens.reconciliation.runs.provider.currentText() == "Card terminal"
            await rest(showcase)

    qloop.run(scene())


@pytest.mark.parametrize("question", ["keys", "chart", "cash", "new plan"])
def test_no_question_to_who_has_gone_stays_open(qloop: QLoop, theme: Theme, tmp_path: Path, question: str) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia") as showcase:
            window = showcase.console.window
            if question == "keys":
                window.keys_requested.emit()
            elif question == "chart":
                window.chart_requested.emit()
            elif question == "cash":
                await hold(showcase)
                panel_of(showcase).sale_page.cash.click()
            else:
                window.plans_requested.emit()
                await until(lambda: window.screens.current is window.screens.plans, "the editor")
                window.screens.plans.new_requested.emit()
            await until(lambda: QApplication.activeModalWidget() is not None, "the question")
            kinds = {"keys": KeysDialog, "chart": ChartDialog, "new plan": NewPlanDialog}
            assert isinstance(QApplication.activeModalWidget(), kinds.get(question, object))
            store_of(showcase).put_session(None)
            await until(lambda: QApplication.activeModalWidget() is None, "the end of the question", 5.0)
            await rest(showcase)
            if question == "cash":
                assert not [call for call in showcase.server.calls if call.path.endswith("/payments")]

    qloop.run(scene())


def test_a_question_of_the_plan_editor_is_not_asked_over_another_screen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia", open_event=False) as showcase:
            window, deeds = showcase.console.window, showcase.console.deeds
            window.plans_requested.emit()
            await until(lambda: window.screens.current is window.screens.plans, "the editor")
            await rest(showcase)
            for wish, deed in (
                (window.screens.plans.new_requested, "new-plan"), (window.screens.plans.open_requested, "open-plan"),
            ):  # fmt: skip
                window.screens.go_to(window.screens.plans)
                showcase.server.delay("/venues", 0.2)
                wish.emit()
                assert deeds.is_running(deed)
                go(showcase, "orders")
                await until(partial(lambda wanted: not deeds.is_running(wanted), deed), "the end of the wish", 5.0)
                assert QApplication.activeModalWidget() is None

    qloop.run(scene())


def test_how_an_act_went_is_told_to_who_did_it_alone(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[0])
            await choose(showcase, ItemAction.NOTE, "half a sentence")
            showcase.server.delay("/actions", 0.3)
            reconciliation(showcase).item.form.do.click()
            await until(lambda: showcase.server.calls[-1].path.endswith("/actions"), "the act")
            store_of(showcase).put_session(None)
            await until(lambda: not showcase.console.deeds.is_running("act-on-item"), "the answer")
            await rest(showcase)
            assert not reconciliation(showcase).inbox.banner.isVisibleTo(reconciliation(showcase))

    qloop.run(scene())


def test_the_comparisons_are_read_for_the_next_person_who_finds_them_in_front(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, _items):
            reconciliation(showcase).show_tab(1)
            await until(lambda: bool(store_of(showcase).inbox.runs), "the comparisons")
            await leave(showcase)
            assert store_of(showcase).inbox.runs == ()
            await _sign_in(showcase, "omar")
            go(showcase, "reconciliation")
            await until(lambda: bool(store_of(showcase).inbox.runs), "the comparisons", 10.0)

    qloop.run(scene())
