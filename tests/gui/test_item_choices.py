"""Taking an order back and handing money to a till, in the real windows: what is chosen is what is sent (R25, R33)."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from app.actions.find_orders import find_orders
from app.core.order_search import OrderQuery
from backend_client.testing import Fault
from backend_client.wire import (
    AllowedAction,
    DeviceId,
    ItemAction,
    ItemActionRequest,
    ItemState,
    OperationKind,
    OperationStatus,
    RefundWay,
    Till,
)
from tests.gui.conftest import QLoop, calm, rest, until
from tests.gui.money_stage import choose, inbox_of, open_item, orders_of, orders_screen, reconciliation, store_of
from widgets.theme import Theme

FAILED_CAPTURE, FAILED_REFUND = 6, 4
FOYER = DeviceId(UUID(int=72))


def sent(showcase: object) -> ItemActionRequest:
    """The act that was done last."""
    return showcase.server.items.acted[-1][1]  # type: ignore[attr-defined, no-any-return]


def test_the_seats_of_an_order_that_is_taken_back_stay_blocked_if_chosen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            showcase.server.items.second_person_above = None
            entry = showcase.server.items.entries[items[FAILED_CAPTURE]]
            entry.actions = tuple(replace(act, needs_second_person=False) for act in entry.actions)
            await open_item(showcase, items[FAILED_CAPTURE])
            form = reconciliation(showcase).item.form
            await choose(showcase, ItemAction.CAPTURE)
            assert form.seats.isHidden()
            await choose(showcase, ItemAction.TAKE_BACK, "Never paid")
            assert not form.seats.isHidden()
            assert form.tills.isHidden()
            assert form.seats.to_sale.isChecked()
            form.seats.blocked.click()
            form.do.click()
            await until(lambda: len(showcase.server.items.acted) == 1, "the act")
            assert sent(showcase) == ItemActionRequest(
                action=ItemAction.TAKE_BACK, version=1, reason="Never paid", seats_to_sale=False
            )
            assert store_of(showcase).inbox.detail.item.state is ItemState.RESOLVED
            await rest(showcase)

    qloop.run(scene())


def test_a_till_and_its_way_are_chosen_before_money_is_handed_to_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            both = AllowedAction(
                action=ItemAction.HAND_TO_TILL, most_minor=19_200, ways=(RefundWay.SAME, RefundWay.CASH)
            )
            showcase.server.items.entries[items[FAILED_REFUND]].actions = (both,)
            own = store_of(showcase).session.device_id
            shelf = showcase.server.items
            shelf.tills.append(Till(device_id=own, name="Zoo gate", staff_name="Sofia", since=shelf.now()))
            await open_item(showcase, items[FAILED_REFUND])
            form = reconciliation(showcase).item.form
            await choose(showcase, ItemAction.HAND_TO_TILL, "The buyer is here")
            await until(lambda: len(store_of(showcase).inbox.tills) == 3, "the tills")
            offered = [form.tills.tills.itemText(place) for place in range(form.tills.tills.count())]
            assert offered[0].startswith("Zoo gate · this till")  # one's own stands first
            assert form.tills.device_id is None
            assert not form.do.isEnabled()
            form.tills.tills.setCurrentIndex(2)
            form.tills.tills.activated.emit(form.tills.tills.currentIndex())
            assert not form.do.isEnabled()
            form.tills.cash.click()
            form.amount.setText("50")
            assert form.do.isEnabled()
            form.do.click()
            await until(lambda: len(showcase.server.items.acted) == 1, "the act")
            assert sent(showcase) == ItemActionRequest(
                action=ItemAction.HAND_TO_TILL, version=1, reason="The buyer is here", amount_minor=5_000,
                device_id=FOYER, way=RefundWay.CASH,
            )  # fmt: skip
            await rest(showcase)

    qloop.run(scene())


def test_the_one_way_that_there_is_is_chosen_and_tills_that_cannot_be_read_are_told(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            await open_item(showcase, items[FAILED_REFUND])
            form = reconciliation(showcase).item.form
            showcase.server.fail(Fault.UNREACHABLE, "/tills", times=500)
            await choose(showcase, ItemAction.HAND_TO_TILL)
            await until(lambda: store_of(showcase).inbox.tills_trouble != "", "the trouble")
            assert not form.tills.trouble.isHidden()
            assert form.tills.terminal.isHidden()
            assert form.tills.way is RefundWay.CASH
            showcase.server.heal()
            await rest(showcase)
            await calm(form.tills.reload)
            form.tills.reload.click()
            await until(lambda: form.tills.tills.count() == 2, "the tills")
            assert form.tills.trouble.isHidden()
            await rest(showcase)
            showcase.server.items.tills.clear()
            await calm(form.tills.reload)
            form.tills.reload.click()
            await until(lambda: form.tills.tills.count() == 0, "nobody at work")
            assert form.tills.trouble.text() == "Nobody is signed in at any till."
            await rest(showcase)

    qloop.run(scene())


def test_a_second_person_reads_which_till_gives_it_and_how(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            shelf = showcase.server.items
            shelf.second_person_above = 0
            await open_item(showcase, items[FAILED_REFUND])
            form = reconciliation(showcase).item.form
            await choose(showcase, ItemAction.HAND_TO_TILL)
            await until(lambda: form.tills.tills.count() == 2, "the tills")
            form.tills.tills.setCurrentIndex(1)
            form.tills.tills.activated.emit(1)
            form.do.click()
            card = reconciliation(showcase).item.approval
            await until(card.isVisible, "the wish")
            facts = dict(pair[:2] for pair in card._facts.facts)
            assert facts["Till"] == "Foyer · In cash, out of its drawer"
            assert shelf.acted == []
            await rest(showcase)

    qloop.run(scene())


def test_a_till_is_told_of_money_that_it_has_to_give_back_and_opens_that_order(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            screen, desk = orders_screen(showcase), showcase.console.desk
            assert screen.returns.isHidden()
            house, own = showcase.server.house, store_of(showcase).session.device_id
            row = house.orders[orders[2].order_id]
            (charge,) = [one for one in row.operations if one.kind is OperationKind.CASH]
            handed = replace(house.refund_of(row, charge), device_id=own, status=OperationStatus.SENT)
            row.operations.append(handed)
            await find_orders(desk, OrderQuery())
            assert not screen.returns.isHidden()
            screen.returns.action_requested.emit()
            await until(lambda: store_of(showcase).orders.detail is not None, "the order")
            assert store_of(showcase).orders.order_id == orders[2].order_id
            assert not screen.page.give.isHidden()
            screen.page.give.click()
            await until(lambda: row.operations[-1].status is OperationStatus.SUCCEEDED, "the money to be given")
            await until(screen.returns.isHidden, "nothing more to be told")
            await rest(showcase)
            QApplication.processEvents()

    qloop.run(scene())
