"""What a manager sets at the real windows counts for the next act; two managers never go over each other unseen."""

from __future__ import annotations

from uuid import uuid4

from app.core.sale import SaleState
from app.screens.setting_controls import EntryControl
from app.screens.settings_screen import EVENT_TAB, HOUSE_TAB
from tests.end2end.http_client import Buyer, client
from tests.gui.conftest import until
from tests.gui.money_hands import mean_it
from tests.server.box_office import ADULT_PRICE
from tests.windows.shared import House
from tests.windows.stage import Till
from tests.windows.test_money_back import dialog_about, open_found

REFUND = "max_refund_by_clerk_minor"


async def settings_open(till: Till, tab: int) -> None:
    till.go("settings")
    await until(lambda: till.screens.current is till.screens.settings, "the settings")
    till.screens.settings.show_tab(tab)
    page = till.screens.settings.page
    page.reload.click()
    await until(lambda: page.form.rows, "what is set")
    await till.rest()


def type_into(till: Till, key: str, text: str) -> None:
    control = till.screens.settings.page.form.rows[key].control
    assert isinstance(control, EntryControl)
    control.edit.setText(text)
    control.edit.textEdited.emit(text)


async def save(till: Till, reason: str) -> str:
    page = till.screens.settings.page
    page.card.reason.setText(reason)
    page.card.reason.textEdited.emit(reason)
    await until(page.card.save.isEnabled, "the change to be right")
    await mean_it(page.card.save)
    await till.rest()
    await until(page.banner.isVisible, "the words")
    return page.banner.title


def test_two_managers_set_what_a_clerk_may_give_back_and_it_counts_at_once(house: House) -> None:
    async def scene(till: Till) -> None:
        sale = await till.sell_cash(2)
        await till.next_customer()
        await till.sign_out()
        await till.sign_in("ada")
        await settings_open(till, EVENT_TAB)
        till.screens.settings.event_chosen.emit(till.event_id)
        await till.rest()
        page = till.screens.settings.page
        await until(lambda: page.subject.seen is not None, "what is set for the event")
        type_into(till, REFUND, "50")
        async with client(house.stack.api_url) as http:
            other = await Buyer.staff(http, "sofia", house.stack.passwords["sofia"])
            body = {"expected_version": 1, "reason": "fraud", REFUND: 1_000, "max_per_card": 2}
            answer = await http.put(
                f"/v1/events/{till.event_id}/settings", json=body,
                headers={"Authorization": f"Bearer {other.token}", "Idempotency-Key": str(uuid4())},
            )  # fmt: skip
            assert answer.status_code == 200, answer.text
        assert await save(till, "the season") == "Somebody has changed these settings meanwhile"
        assert page.form.rows[REFUND].note.text() == "Somebody has changed this meanwhile: €200.00 → €10.00"
        assert await save(till, "the season") == "Saved"
        stands = await till.desk.client.event_settings(sale.event_id)
        assert (stands.max_refund_by_clerk_minor, stands.max_per_card, stands.version) == (5_000, 2, 3)
        audit = await house.db.fetch(
            "SELECT reason FROM audit_log WHERE action = 'settings-changed' AND subject = $1::text ORDER BY at",
            str(till.event_id),
        )
        assert [row["reason"] for row in audit] == ["fraud", "the season"]
        await till.sign_out()
        await till.sign_in("carla")
        await open_found(till, sale)
        dialog = await dialog_about(till)
        dialog.tickets[0].click()
        dialog.reason.setText("ill")
        await until(dialog.send.isEnabled, "40.00 of 50.00 to be right")
        dialog.tickets[1].click()
        assert stands.max_refund_by_clerk_minor < 2 * ADULT_PRICE
        assert not dialog.send.isEnabled(), "80.00 is more than a clerk may"
        dialog.reject()
        await till.rest()

    house.play(scene, 120)


def test_an_admin_sets_from_when_on_two_people_are_needed_in_a_currency(house: House) -> None:
    async def scene(till: Till) -> None:
        await settings_open(till, HOUSE_TAB)
        before = await till.desk.client.reconciliation_settings()
        type_into(till, "unknown_after_s", str(before.unknown_after_s + 60))
        assert await save(till, "slow provider") == "Saved"
        after = await till.desk.client.reconciliation_settings()
        assert after.unknown_after_s == before.unknown_after_s + 60
        assert after.limits_by_currency == before.limits_by_currency, "what was not touched stays"
        till.screens.settings.page.card.undo.click()
        assert await save(till, "back") == "Saved"
        assert (await till.desk.client.reconciliation_settings()).unknown_after_s == before.unknown_after_s
        assert till.state in {None, SaleState.DONE}

    house.play(scene, 90, name="ada")
