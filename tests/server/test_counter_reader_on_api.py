"""Stripe Terminal from the counter: the console's actions, the real API, the official library, a reader's simulator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from app.actions.hold_seats import hold_picked
from app.actions.pay_reader import pay_reader, stop_reader
from app.actions.pick_seats import toggle_seat
from app.actions.show_event import open_event
from app.actions.sign_in import sign_in
from app.core.sale import Sale, SaleState
from backend_client.errors import BookingRefusedError
from backend_client.wire import CardReaderChange, EventId, OperationStatus, OrderStatus
from booking.domain.caller import Role
from booking.payments.pace import CheckoutPace
from booking.services.choose_provider import ProviderChoice
from booking.services.payment_desk import PaymentDesk
from booking.services.sign_in import create_staff
from booking.web.application import create_app
from booking.web.calls import ProviderServices
from tests.server.box_office import ADULT_PRICE
from tests.server.stripe_lab import House, house, lab, running
from tests.server.web_api import PASSWORD, Api
from tests.unit.counter import DEVICE, FAST, Counter, make_counter, open_journal, until

__all__ = ["house", "lab", "running"]

pytestmark = pytest.mark.timeout(120)


@dataclass(slots=True)
class ReaderTill:
    counter: Counter
    house: House
    api: Api

    async def give_reader(self, mode: str, delay_s: float = 0.1) -> None:
        """A reader that does so with its next customer, at this till."""
        reader = f"tmr_{mode}{uuid4().hex[:8]}"
        self.house.under.lab.reader(reader, mode, delay_s)
        admin = await self.api.staff(Role.ADMIN)
        change = CardReaderChange(reader_ref=reader, reason="a new reader")
        answer = await self.api.call("PUT", f"/v1/devices/{DEVICE}/reader", change, token=admin)
        assert answer.status_code == 200, answer.text

    async def hold(self, seat: int = 0) -> Sale:
        toggle_seat(self.counter.desk, seat)
        return await hold_picked(self.counter.desk)


@pytest.fixture
async def reader_till(house: House, tmp_path: Path) -> AsyncIterator[ReaderTill]:
    own = {"stripe-terminal": house.under.terminal}
    desk = PaymentDesk(house.db, own, CheckoutPace(), look_every_s=0.05)
    app = create_app(house.db, providers=ProviderServices(desk, house.webhooks, ProviderChoice(house.db)))
    app.start()
    await create_staff(house.db, "carla", "Carla", Role.CLERK, PASSWORD)
    journal = open_journal(tmp_path)
    counter = make_counter(
        journal, transport=httpx.ASGITransport(app), patience=replace(FAST, watch_s=0.05, reader_silent_s=5.0)
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        await sign_in(counter.desk, "carla", PASSWORD)
        await open_event(counter.desk, EventId(house.event_id))
        yield ReaderTill(counter, house, Api(app, client, house.db))
        await counter.desk.client.close()
    await journal.close()
    await app.stop()
    await desk.close()


async def test_a_card_at_the_reader_pays_the_sale_once(reader_till: ReaderTill) -> None:
    await reader_till.give_reader("approve")
    await reader_till.hold()
    sale = await pay_reader(reader_till.counter.desk)
    assert sale.state is SaleState.PAID
    assert sale.order is not None
    assert sale.order.status is OrderStatus.CONFIRMED
    (operation,) = (one for one in sale.order.operations if one.kind.value == "authorize")
    assert (operation.status, operation.amount_minor) == (OperationStatus.SUCCEEDED, ADULT_PRICE)
    assert reader_till.counter.terminal.payments_asked == 0


@pytest.mark.parametrize(
    ("mode", "code"), [("decline", "card-declined"), ("offline", "reader-offline"), ("busy", "reader-busy")]
)
async def test_a_reader_that_declines_keeps_the_seats(reader_till: ReaderTill, mode: str, code: str) -> None:
    await reader_till.give_reader(mode)
    await reader_till.hold()
    sale = await pay_reader(reader_till.counter.desk)
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, code)


async def test_t9_a_stop_at_the_reader_is_told_as_it_ended(reader_till: ReaderTill) -> None:
    await reader_till.give_reader("no_card")
    await reader_till.hold()
    desk = reader_till.counter.desk
    paying = asyncio.create_task(pay_reader(desk))
    await until(lambda: desk.store.terminal_progress == "present-card")
    await stop_reader(desk)
    sale = await asyncio.wait_for(paying, 60)
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, "withdrawn")


async def test_a_till_without_a_reader_is_told_so_and_keeps_the_seats(reader_till: ReaderTill) -> None:
    await reader_till.hold()
    with pytest.raises(BookingRefusedError) as caught:
        await pay_reader(reader_till.counter.desk)
    assert caught.value.problem.fields[0].pointer == "/provider"
    assert reader_till.counter.sale.state is SaleState.HELD
