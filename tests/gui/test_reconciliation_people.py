"""Who sees the inbox, who may act, and what is left when somebody goes (R35)."""

from __future__ import annotations

from pathlib import Path

from backend_client.wire import ItemAction
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import (
    choose,
    go,
    inbox_of,
    open_item,
    reconciliation,
    store_of,
)
from widgets.theme import Theme


def test_screens_are_offered_by_role_and_keys_go_nowhere_else_r35(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        for number, (name, tabs) in enumerate((
            ("carla", ["counter", "orders"]),
            ("omar", ["counter", "orders", "reconciliation", "ops", "settings"]),
            ("sofia", ["counter", "orders", "reconciliation", "ops", "settings"]),
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
