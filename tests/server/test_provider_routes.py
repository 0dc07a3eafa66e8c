"""Providers over HTTP: events, settings of channels, readers of tills, calling off, the pace and its figures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

import httpx
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.payments.pace import CheckoutPace
from booking.payments.sandbox_faults import Fault, Planned
from booking.payments.sandbox_webhooks import SIGNATURE_HEADER
from booking.payments.signatures import sign
from booking.services.choose_provider import ProviderChoice
from booking.services.payment_desk import PaymentDesk
from booking.store import provider_queries
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.web.application import create_app
from booking.web.calls import ProviderServices
from tests.payments_lab.haste import haste
from tests.server.box_office import ADULT, ADULT_PRICE, make_event, till
from tests.server.provider_house import SECRET, ProviderHouse, provider_house
from tests.server.web_api import Api, problem, read


@asynccontextmanager
async def api_with(house: ProviderHouse, pace: CheckoutPace) -> AsyncIterator[Api]:
    desk = PaymentDesk(house.db, {"sandbox": house.provider}, pace)
    app = create_app(house.db, providers=ProviderServices(desk, house.webhooks, ProviderChoice(house.db)))
    app.start()
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            yield Api(app, client, house.db)
    finally:
        await app.stop()
        await desk.close()


@pytest.fixture
async def house(database: Database) -> AsyncIterator[ProviderHouse]:
    async with provider_house(database) as house:
        yield house


@pytest.fixture
async def api(house: ProviderHouse) -> AsyncIterator[Api]:
    async with api_with(house, CheckoutPace()) as api:
        yield api


async def hold(api: Api, event_id: int, token: str, seat: int) -> wire.Hold:
    body = wire.HoldRequest(seats=(seat,))
    return read(await api.call("POST", f"/v1/events/{event_id}/holds", body, token=token), wire.Hold, 201)


def checkout_of(held: wire.Hold) -> wire.CheckoutRequest:
    lines = tuple(wire.CheckoutLine(seat_no=seat.seat_no, price_type_id=ADULT) for seat in held.seats)
    return wire.CheckoutRequest(lines=lines, shown_total_minor=ADULT_PRICE * len(lines))


async def check_out(api: Api, event_id: int, token: str, seat: int) -> wire.Order:
    held = await hold(api, event_id, token, seat)
    response = await api.call("POST", f"/v1/holds/{held.hold_id}/checkout", checkout_of(held), token=token)
    return read(response, wire.Order, 201)


async def pay(
    api: Api, order: wire.Order, token: str, provider: str, method: str = "", *, key: str | None = None
) -> httpx.Response:
    body = wire.PaymentRequest(
        kind=wire.OperationKind.AUTHORIZE, provider=provider, amount_minor=order.amount_minor, payment_method=method
    )
    return await api.call("POST", f"/v1/orders/{order.order_id}/payments", body, token=token, key=key)


async def deliver(api: Api, event: object, *, provider: str = "sandbox", secret: bytes = SECRET) -> httpx.Response:
    body = json.dumps(event).encode()
    headers = {
        SIGNATURE_HEADER: sign(body, secret, datetime.now(UTC)),
        "Content-Type": "application/json; charset=utf-8",
    }
    return await api.client.post(f"/v1/webhooks/{provider}", content=body, headers=headers)


async def test_p11_p12_events_are_answered_by_what_became_of_them(house: ProviderHouse, api: Api) -> None:
    step = await house.open_payment()
    await house.send(step.operation)
    event = house.events[0]
    assert read(await deliver(api, event), wire.WebhookReceipt).became == "applied"
    assert read(await deliver(api, event), wire.WebhookReceipt).became == "seen"
    problem(await deliver(api, event, secret=b"wrong"), wire.ErrorCode.WEBHOOK_REFUSED)
    problem(await deliver(api, event, provider="paypal"), wire.ErrorCode.WEBHOOK_REFUSED)
    ops = await api.staff(Role.OPS)
    figures = read(await api.call("GET", "/v1/ops/payments", token=ops), wire.PaymentFigures)
    assert figures.webhooks == wire.WebhookCounts(applied=1, seen=1, refused=2)
    assert figures.pace is not None
    assert (figures.pace.cap, figures.pace.most) == (5_000, 5_000)


async def test_an_event_that_is_too_large_is_refused(api: Api) -> None:
    response = await deliver(api, {"id": "x" * 300_000})
    problem(response, wire.ErrorCode.BODY_TOO_LARGE)


async def test_a_channels_first_provider_is_its_default_and_others_are_refused(house: ProviderHouse, api: Api) -> None:
    admin, fan = await api.staff(Role.ADMIN), await api.fan()
    order = await check_out(api, house.event_id, fan, 0)
    refused = problem(await pay(api, order, fan, "default"), wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in refused.fields] == ["/provider"]
    change = wire.ChannelProvidersChange(channel=wire.SaleChannel.ONLINE, providers=("sandbox",), reason="it opens")
    listed = read(await api.call("PUT", "/v1/payment-providers", change, token=admin), wire.ChannelProvidersList)
    assert [(one.channel, one.providers, one.event_id) for one in listed.channels] == [("online", ("sandbox",), None)]
    problem(await pay(api, order, fan, "stripe"), wire.ErrorCode.INVALID_REQUEST)
    paid = read(await pay(api, order, fan, "default", "card-approve"), wire.PaymentAnswer, 201)
    assert (paid.operation.provider, paid.order.status) == ("sandbox", "CONFIRMED")


async def test_r6_a_payment_that_was_taken_is_answered_again_though_its_provider_takes_no_more(
    house: ProviderHouse, api: Api
) -> None:
    """The first answer was lost, and somebody has changed the channel's providers meanwhile."""
    admin, fan = await api.staff(Role.ADMIN), await api.fan()
    order = await check_out(api, house.event_id, fan, 0)
    paid = read(await pay(api, order, fan, "sandbox", "card-approve", key="lost"), wire.PaymentAnswer, 201)
    change = wire.ChannelProvidersChange(channel=wire.SaleChannel.ONLINE, providers=("stripe",), reason="another")
    read(await api.call("PUT", "/v1/payment-providers", change, token=admin), wire.ChannelProvidersList)
    again = read(await pay(api, order, fan, "sandbox", "card-approve", key="lost"), wire.PaymentAnswer, 201)
    assert (again.operation.operation_id, again.order.status) == (paid.operation.operation_id, "CONFIRMED")
    problem(await pay(api, order, fan, "sandbox", "card-decline", key="lost"), wire.ErrorCode.KEY_REUSED)
    problem(await pay(api, order, fan, "sandbox", "card-approve"), wire.ErrorCode.INVALID_REQUEST)


async def test_an_event_may_have_a_setting_of_its_own_until_it_is_taken_away(house: ProviderHouse, api: Api) -> None:
    admin, fan = await api.staff(Role.ADMIN), await api.fan()
    for event_id, providers in ((None, ("stripe",)), (house.event_id, ("sandbox", "stripe"))):
        change = wire.ChannelProvidersChange(
            channel=wire.SaleChannel.ONLINE, providers=providers, reason="it opens",
            event_id=None if event_id is None else wire.EventId(event_id),
        )  # fmt: skip
        read(await api.call("PUT", "/v1/payment-providers", change, token=admin), wire.ChannelProvidersList)
    order = await check_out(api, house.event_id, fan, 0)
    paid = read(await pay(api, order, fan, "default", "card-approve"), wire.PaymentAnswer, 201)
    assert paid.operation.provider == "sandbox"
    away = wire.ChannelProvidersChange(
        channel=wire.SaleChannel.ONLINE, providers=(), reason="over", event_id=wire.EventId(house.event_id)
    )
    listed = read(await api.call("PUT", "/v1/payment-providers", away, token=admin), wire.ChannelProvidersList)
    assert [one.providers for one in listed.channels] == [("stripe",)]
    rows = await house.db.fetch("SELECT action, reason FROM audit_log ORDER BY audit_id")
    assert [row["reason"] for row in rows if row["action"] == "channel-providers-changed"] == [
        "it opens", "it opens", "over",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("channel", "providers"),
    [("online", ("paypal",)), ("online", ("stripe", "stripe")), ("online", ("stripe-terminal",))],
)
async def test_providers_that_cannot_be_set_are_named(api: Api, channel: str, providers: tuple[str, ...]) -> None:
    admin = await api.staff(Role.ADMIN)
    change = wire.ChannelProvidersChange(channel=wire.SaleChannel(channel), providers=providers, reason="a try")
    refused = problem(
        await api.call("PUT", "/v1/payment-providers", change, token=admin), wire.ErrorCode.INVALID_REQUEST
    )
    assert [field.pointer for field in refused.fields] == ["/providers"]


async def test_p21_p22_prices_that_a_provider_cannot_count_are_refused_when_it_is_chosen(
    house: ProviderHouse, api: Api
) -> None:
    admin = await api.staff(Role.ADMIN)

    async def choose(event_id: int) -> httpx.Response:
        change = wire.ChannelProvidersChange(
            channel=wire.SaleChannel.ONLINE, providers=("stripe",), reason="x", event_id=wire.EventId(event_id)
        )
        return await api.call("PUT", "/v1/payment-providers", change, token=admin)

    in_dinars = await make_event(house.db, currency="KWD")
    assert (await choose(in_dinars)).status_code == 200
    await house.db.fetch("UPDATE prices SET amount_minor = 5124 WHERE event_id = $1 AND price_type_id = 1", in_dinars)
    problem(await choose(in_dinars), wire.ErrorCode.INEXACT_AMOUNT)
    problem(await choose(await make_event(house.db, currency="ARS")), wire.ErrorCode.UNKNOWN_EXPONENT)


async def test_a_reader_belongs_to_one_till_and_its_payment_names_it(house: ProviderHouse, api: Api) -> None:
    admin, device_id, other_id = await api.staff(Role.ADMIN), uuid4(), uuid4()
    till = await api.staff(Role.CLERK, device_id)
    await api.staff(Role.CLERK, other_id)
    order = await check_out(api, house.event_id, till, 0)
    refused = problem(await pay(api, order, till, "stripe-terminal"), wire.ErrorCode.INVALID_REQUEST)
    assert "no card reader" in refused.fields[0].message
    for given in (other_id, device_id):
        change = wire.CardReaderChange(reader_ref="tmr_1", reason="a new reader")
        listed = read(await api.call("PUT", f"/v1/devices/{given}/reader", change, token=admin), wire.CardReaderList)
        assert [(one.device_id, one.reader_ref) for one in listed.readers] == [(given, "tmr_1")]
    problem(await pay(api, order, till, "stripe-terminal", "pm_1"), wire.ErrorCode.INVALID_REQUEST)
    opened = read(await pay(api, order, till, "stripe-terminal"), wire.PaymentAnswer, 201)
    rows = await house.db.fetch("SELECT payment_method, device_id FROM payment_operations")
    assert [tuple(row) for row in rows] == [("tmr_1", device_id)]
    assert opened.operation.status == "CREATED", "no provider of this process has it: a worker will"
    nowhere = await api.call("PUT", f"/v1/devices/{uuid4()}/reader", wire.CardReaderChange(reader_ref="t", reason="x"),
                             token=admin)  # fmt: skip
    problem(nowhere, wire.ErrorCode.NOT_FOUND)


async def test_a_fan_cannot_use_a_reader(house: ProviderHouse, api: Api) -> None:
    fan = await api.fan()
    order = await check_out(api, house.event_id, fan, 0)
    problem(await pay(api, order, fan, "stripe-terminal"), wire.ErrorCode.FORBIDDEN)


async def withdraw(api: Api, operation_id: UUID, token: str) -> httpx.Response:
    return await api.call("POST", f"/v1/payments/{operation_id}/withdraw", token=token)


async def test_a_buyer_completes_a_challenge_on_the_providers_page(house: ProviderHouse, api: Api) -> None:
    fan = await api.fan()
    order = await check_out(api, house.event_id, fan, 0)
    opened = read(await pay(api, order, fan, "sandbox", "card-3ds"), wire.PaymentAnswer, 201)
    assert opened.operation.status == "ACTION_REQUIRED"
    page = opened.operation.next_action.removeprefix("redirect:")
    async with httpx.AsyncClient() as browser:
        assert "Approve" in (await browser.get(page)).text
        assert (await browser.post(page, content=b"answer=maybe")).status_code == 400
        answered = await browser.post(page, content=b"answer=approve")
    assert "Approved" in answered.text
    await house.deliver(house.events[-1])
    after = read(await api.call("GET", f"/v1/orders/{order.order_id}", token=fan), wire.Order)
    assert after.status == "CONFIRMED"


async def test_what_is_called_off_is_closed_for_good_and_only_its_owner_may(house: ProviderHouse, api: Api) -> None:
    fan, other = await api.fan(), await api.fan()
    order = await check_out(api, house.event_id, fan, 0)
    opened = read(await pay(api, order, fan, "sandbox", "card-3ds"), wire.PaymentAnswer, 201)
    operation_id = opened.operation.operation_id
    problem(await withdraw(api, operation_id, other), wire.ErrorCode.ORDER_NOT_FOUND)
    closed = read(await withdraw(api, operation_id, fan), wire.PaymentAnswer)
    assert (closed.operation.status, closed.operation.decline_code) == ("DECLINED", "withdrawn")
    again = read(await withdraw(api, operation_id, fan), wire.PaymentAnswer)
    assert again.operation.status == "DECLINED"
    paid = read(await pay(api, order, fan, "sandbox", "card-approve"), wire.PaymentAnswer, 201)
    assert paid.order.status == "CONFIRMED"
    stands = read(await withdraw(api, paid.operation.operation_id, fan), wire.PaymentAnswer)
    assert (stands.operation.status, stands.order.status) == ("SUCCEEDED", "CONFIRMED")


async def test_a_checkout_that_is_refused_for_its_pace_loses_nothing(house: ProviderHouse) -> None:
    async with api_with(house, CheckoutPace(most=2, least=2)) as api:
        fans = [await api.fan() for _ in range(3)]
        orders = [await check_out(api, house.event_id, token, seat) for seat, token in enumerate(fans[:2])]
        held = await hold(api, house.event_id, fans[2], 2)
        path, body, key = f"/v1/holds/{held.hold_id}/checkout", checkout_of(held), str(uuid4())
        refused = await api.call("POST", path, body, token=fans[2], key=key)
        assert problem(refused, wire.ErrorCode.BUSY).retry_after_s == 2
        assert refused.headers["retry-after"] == "2"
        assert read(await api.call("GET", f"/v1/holds/{held.hold_id}", token=fans[2]), wire.Hold).status == "HELD"
        till = await api.staff(Role.CLERK)
        await check_out(api, house.event_id, till, 3)
        read(await pay(api, orders[0], fans[0], "sandbox", "card-approve"), wire.PaymentAnswer, 201)
        made = read(await api.call("POST", path, body, token=fans[2], key=key), wire.Order, 201)
        replayed = await api.call("POST", path, body, token=fans[2], key=key)
        assert read(replayed, wire.Order, 201).order_id == made.order_id


async def test_the_cap_shrinks_while_the_sandbox_hangs_and_grows_again(house: ProviderHouse) -> None:
    now = [0.0]
    pace = CheckoutPace(most=100, slow_s=0.1, clock=lambda: now[0])
    async with api_with(house, pace) as api:
        house.sandbox.faults.planned.append(Planned("authorize", Fault.HANG_BEFORE, 6))
        tokens = [await api.fan() for _ in range(6)]
        orders = [await check_out(api, house.event_id, token, seat) for seat, token in enumerate(tokens)]
        with haste(house.provider, Fault.HANG_BEFORE):
            asked = (pay(api, o, t, "sandbox", "card-approve") for o, t in zip(orders, tokens, strict=True))
            await asyncio.gather(*asked)
        now[0] += 1.0
        figures = pace.figures()
        assert figures.cap == 5
        assert figures.unknown_share == 1.0
        now[0] += 50.0
        assert pace.figures().cap == 100


async def test_r6_a_setting_is_changed_by_one_call_and_told_again_as_a_replay(database: Database) -> None:
    admin, use = till(Role.ADMIN), KeyUse("key", b"digest")
    told = [
        await provider_queries.set_channel_providers(database, admin, None, "online", ["sandbox"], "why", use)
        for _ in range(2)
    ]
    assert [(one.code, one.replayed) for one in told] == [("", False), ("", True)]
    assert len(await database.fetch("SELECT FROM audit_log WHERE action = 'channel-providers-changed'")) == 1
