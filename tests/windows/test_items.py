"""What only a person can settle, at the real windows against the real API: every act, two people, a day compared (R33).

The items are real: the sandbox loses answers on command, or has a charge of which the booking system never heard.
"""

from __future__ import annotations

import csv
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.screens.item_page import ItemPage
from app.screens.reconciliation_screen import ReconciliationScreen
from backend_client.wire import ItemAction, ItemId, ItemState, OperationKind, OperationStatus, OrderStatus, RunState
from booking.services import settle_items
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import StackFacts, check_invariants
from tests.end2end.test_provider_events import ordered
from tests.gui.conftest import QLoop, calm, until
from tests.gui.plan_stage import choose_file
from tests.server.box_office import make_event
from tests.windows.stage import LEFT, NONE, Till, console_on, database_of
from widgets.theme import Theme

Json = dict[str, Any]
CURRENCY = "CHF"
"""Of these tests alone: the limit of a second person is set by currency."""


async def plan_faults(stack: StackFacts, *faults: tuple[str, str, int]) -> None:
    """The sandbox's next answers go wrong: (on, fault, times). None: all is well again."""
    async with client(stack.sandbox_url) as http:
        (await http.delete("/control/faults")).raise_for_status()
        for on, fault, times in faults:
            body = {"on": on, "fault": fault, "times": times}
            (await http.post("/control/faults", json=body)).raise_for_status()


async def limit(stack: StackFacts, above_minor: int | None) -> None:
    """From which sum of our currency a second person is needed."""
    value = "null" if above_minor is None else above_minor
    async with database_of(stack) as db:
        await db.fetch(
            "INSERT INTO reconciliation_settings (limits_by_currency) VALUES (jsonb_build_object($1::text, $2::jsonb))"
            " ON CONFLICT (one_row) DO UPDATE SET limits_by_currency ="
            " reconciliation_settings.limits_by_currency || excluded.limits_by_currency",
            CURRENCY, str(value),
        )  # fmt: skip


async def order_to_pay(stack: StackFacts, event_id: int, seat: int) -> dict[str, Any]:
    """A fan's order whose authorization was asked for; what became of it is the provider's."""
    async with client(stack.api_url) as http:
        fan = await Buyer.new_fan(http)
        order = await ordered(fan, event_id, seat)
        body = {"kind": "authorize", "provider": "sandbox", "amount_minor": order["amount_minor"],
                "payment_method": "card-approve"}  # fmt: skip
        answer = await fan.post(f"/v1/orders/{order['order_id']}/payments", body)
        assert answer.status_code == 201, answer.text
    return order


async def lost_authorization(stack: StackFacts, event_id: int, seat: int) -> Json:
    """A fan's order whose authorization was granted and whose answer never came; nobody answers about it since."""
    always = 1_000
    await plan_faults(stack, ("authorize", "drop-after", 1), ("enquire", "status-500", always),
                      ("withdraw", "status-500", always), ("webhook", "webhook-lost", always))  # fmt: skip
    order = await order_to_pay(stack, event_id, seat)
    async with database_of(stack) as db:
        await db.fetch(
            "UPDATE payment_operations SET created_at = created_at - $2::interval WHERE order_id = $1::text::uuid",
            order["order_id"], timedelta(minutes=20),
        )  # fmt: skip
        await settle_items.note_silence(db)
    return order


def screen_of(till: Till) -> ReconciliationScreen:
    return till.screens.reconciliation


def page_of(till: Till) -> ItemPage:
    return screen_of(till).item


async def open_item(till: Till, words: str) -> ItemId:
    """Go to the inbox, wait for the item about these words, and open it."""
    till.go("reconciliation")
    inbox = till.store.inbox

    def found() -> list[ItemId]:
        return [one.item_id for one in inbox.items if words in (one.order_number, str(one.amount_minor), one.kind)]

    await until(lambda: till.screens.current is screen_of(till) and found(), f"an item about {words}", 30)
    item_id = found()[0]
    screen_of(till).inbox.item_opened.emit(item_id)
    await until(lambda: inbox.detail is not None and inbox.detail.item.item_id == item_id, "the evidence")
    await till.rest()
    return item_id


async def choose(till: Till, action: ItemAction, reason: str) -> None:
    form = page_of(till).form
    await until(lambda: action in form.acts and form.acts[action].isEnabled(), f"{action} to be allowed")
    if till.store.inbox.draft.action is not action:
        form.acts[action].click()
    await until(lambda: till.store.inbox.draft.action is action, "the act")
    form.reason.setText(reason)


async def act(till: Till, *, clicks: int = 1) -> str:
    """Press the button, and wait for the words."""
    form = page_of(till).form
    await until(form.do.isEnabled, f"the act to be right: {form.fault.text()}")
    await calm(form.do)
    page_of(till).banner.clear()
    for _click in range(clicks):
        QTest.mouseClick(form.do, LEFT, NONE)
    await until(page_of(till).banner.isVisible, "the words")
    await till.rest()
    return page_of(till).banner.title


async def said_of(stack: StackFacts, item_id: ItemId, action: ItemAction) -> int:
    async with client(stack.api_url) as http:
        boss = await Buyer.staff(http, "sofia", stack.passwords["sofia"])
        detail = (await boss.get(f"/v1/reconciliation/items/{item_id}")).json()
    return sum(entry["title"] == f"act-{action}" for entry in detail["timeline"])


def test_two_people_settle_what_no_provider_answers(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Noted, asked again, changed meanwhile by somebody else, settled by two, saved as a file."""

    async def scene() -> None:
        await limit(stack, 0)
        async with database_of(stack) as db:
            event_id = await make_event(db, 20, currency=CURRENCY)
        order = await lost_authorization(stack, event_id, 0)
        async with console_on(stack, tmp_path / "sofia", "sofia") as till:
            item_id = await open_item(till, order["number"])
            await choose(till, ItemAction.NOTE, "The buyer rang at nine")
            await act(till, clicks=3)
            assert await said_of(stack, item_id, ItemAction.NOTE) == 1, "three clicks note once"
            assert till.store.inbox.draft.reason == "", "done: nothing of it is left over"

            await choose(till, ItemAction.ASK_AGAIN, "The provider is back, they say")
            await act(till)

            await choose(till, ItemAction.SETTLED_OUTSIDE, "Their support has said so, in writing")
            page_of(till).form.reference.setText("mail of 9:14")
            page_of(till).form.went_through.click()
            await note_by_somebody_else(stack, item_id)
            title = await act(till)
            assert page_of(till).changed.isVisible() or "changed" in title.lower(), title
            assert page_of(till).form.reason.text() == "Their support has said so, in writing"
            assert page_of(till).form.reference.text() == "mail of 9:14"
            assert await act(till) == "A second person is asked: Settled elsewhere"
            assert not page_of(till).approval.approve.isVisible(), "who asks does not decide"

            await save_list(till, tmp_path / "inbox.csv", order["number"])
            await till.sign_out()
            await till.sign_in("ada")
            await open_item(till, order["number"])
            card = page_of(till).approval
            await until(card.approve.isVisible, "the word of the second person")
            card.reason.setText("I have seen the mail")
            await calm(card.approve)
            for _click in range(2):
                QTest.mouseClick(card.approve, LEFT, NONE)
            await until(lambda: not card.isVisible(), "the decision")
            await till.rest()
            detail = till.store.inbox.detail
            assert detail is not None
            assert (detail.item.item_id, detail.item.state) == (item_id, ItemState.RESOLVED)
            assert detail.order is not None
            assert detail.order.status is OrderStatus.CONFIRMED
        await plan_faults(stack)
        assert await check_invariants(stack.dsn) == []

    qloop.run(scene(), 120)


async def note_by_somebody_else(stack: StackFacts, item_id: ItemId) -> None:
    async with client(stack.api_url) as http:
        boss = await Buyer.staff(http, "ada", stack.passwords["ada"])
        version = (await boss.get(f"/v1/reconciliation/items/{item_id}")).json()["item"]["version"]
        body = {"action": "note", "version": version, "reason": "I am looking at it as well"}
        answer = await boss.post(f"/v1/reconciliation/items/{item_id}/actions", body)
        assert answer.status_code == 200, answer.text


async def save_list(till: Till, path: Path, number: str) -> None:
    inbox = screen_of(till).inbox
    await calm(inbox.export)
    inbox.export.click()
    await choose_file(path)
    await until(path.exists, "the file")
    await till.rest()
    read = list(csv.reader(path.read_text("utf-8-sig").splitlines()))
    (line,) = [line for line in read if number in line]
    assert CURRENCY in line
    assert "sofia" in " ".join(line).lower()


def test_a_day_is_compared_and_a_charge_of_nobody_goes_back(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """A charge that the provider alone has: found, attached to an order, paid back (R27, P17)."""

    async def scene() -> None:
        await plan_faults(stack)
        await limit(stack, None)
        async with database_of(stack) as db:
            event_id = await make_event(db, 20, currency=CURRENCY)
        async with client(stack.api_url) as http:
            order = await ordered(await Buyer.new_fan(http), event_id, 3)
        amount = 5_000 + time.time_ns() // 1_000 % 3_000  # of this run alone
        async with client(stack.sandbox_url) as http:
            made = {"kind": "authorize", "amount": amount, "currency": CURRENCY}
            charge = (await http.post("/control/by-hand", json=made)).json()["charge"]
            (await http.post("/control/by-hand", json={"kind": "capture", "charge": charge})).raise_for_status()
        async with console_on(stack, tmp_path / "sofia", "sofia") as till:
            till.go("reconciliation")
            screen = screen_of(till)
            screen.show_tab(1)
            await till.rest()
            runs = screen.runs
            runs.provider.setCurrentIndex(runs.provider.findData("sandbox"))
            now = till.store.clock.now()
            assert now is not None
            runs.day.setText(now.date().isoformat())
            before = {run.run_id for run in till.store.inbox.runs}
            await calm(runs.start)
            for _click in range(2):
                QTest.mouseClick(runs.start, LEFT, NONE)

            def ours() -> list[RunState]:
                return [run.state for run in till.store.inbox.runs if run.run_id not in before]

            await until(lambda: RunState.DONE in ours(), "the comparison", 60)
            assert ours() == [RunState.DONE], "two clicks compare once"
            await until(lambda: any("provider has it" in button.text() for button in runs.kinds), "the difference")
            screen.show_tab(0)
            await open_item(till, str(amount))
            await choose(till, ItemAction.ATTACH, "The buyer paid at the provider's page")
            page_of(till).form.order.setText(str(order["number"]))
            await act(till)
            detail = till.store.inbox.detail
            assert detail is not None
            assert detail.item.order_number == order["number"]
            await choose(till, ItemAction.REFUND, "Nothing was bought for it")
            assert page_of(till).form.amount.placeholderText().endswith(f"{amount / 100:.2f}")
            await act(till)

            def back() -> bool:
                seen = till.store.inbox.detail
                return seen is not None and any(
                    one.kind is OperationKind.REFUND and one.status is OperationStatus.SUCCEEDED
                    for one in seen.operations
                )

            await until(lambda: back() or _reload(till), "the money to go back", 40)
            await until(lambda: _settled(till) or _reload(till), "the item to end", 40)
        async with client(stack.sandbox_url) as http:
            (told,) = [one for one in (await http.get("/control/ledger")).json()["charges"] if one["charge"] == charge]
        assert told["refunded"] == amount

    qloop.run(scene(), 150)


def _settled(till: Till) -> bool:
    detail = till.store.inbox.detail
    return detail is not None and detail.item.state is ItemState.RESOLVED


def _reload(till: Till) -> bool:
    """Look again, as a person who waits does."""
    page_of(till).reload.click()
    return False


def test_the_keyboard_settles_an_item_alone(stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """Enter held down in a field does not send; what was typed is kept while one looks elsewhere."""

    async def scene() -> None:
        await limit(stack, None)
        async with database_of(stack) as db:
            event_id = await make_event(db, 20, currency=CURRENCY)
        order = await lost_authorization(stack, event_id, 0)
        async with console_on(stack, tmp_path / "sofia", "sofia") as till:
            item_id = await open_item(till, order["number"])
            await choose(till, ItemAction.NOTE, "typed by hand")
            field = page_of(till).form.reason
            field.setFocus()
            for _press in range(10):
                QTest.keyClick(field, Qt.Key.Key_Return)
            await till.rest()
            assert await said_of(stack, item_id, ItemAction.NOTE) == 0
            till.go("orders")
            await till.rest()
            till.console.window.language_chosen.emit("pt")
            await till.rest()
            till.console.window.theme_chosen.emit("dark")
            await till.rest()
            till.go("reconciliation")
            await until(lambda: page_of(till).isVisible(), "the item again")
            assert page_of(till).form.reason.text() == "typed by hand"
            till.console.window.language_chosen.emit("en")
            await till.rest()
            await act(till)
            assert await said_of(stack, item_id, ItemAction.NOTE) == 1
        await plan_faults(stack)

    qloop.run(scene(), 120)
