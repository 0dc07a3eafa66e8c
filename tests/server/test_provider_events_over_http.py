"""Events of a provider over a real line: the database goes away, strays are evidence, and amounts agree to the cent."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import pytest
from uuid_utils.compat import uuid7

from backend_client import wire
from booking.domain.caller import Role
from booking.payments import sandbox_events
from booking.payments.pace import CheckoutPace
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.sandbox_webhooks import SIGNATURE_HEADER, WebhookSender
from booking.payments.signatures import sign
from booking.services.payment_desk import PaymentDesk
from booking.services.webhooks import Webhooks
from booking.store.connection import Limits
from booking.store.database import Database
from booking.web.application import create_app
from booking.web.calls import ProviderServices
from tests.server.box_office import Clock, count, make_event
from tests.server.postgres_proxy import Relay, relay
from tests.server.provider_house import SECRET, ProviderHouse, provider_house
from tests.server.web_api import Api, problem, read

PATH = "/v1/webhooks/sandbox"
SHORT_LIMITS = Limits(lock_ms=300, statement_ms=500, idle_in_transaction_ms=500, transaction_ms=500)
CENTS = 100_000
PRICE_TYPES = 12
BASKETS, ALL_BASKETS = 25, 1_000


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def house(database: Database) -> AsyncIterator[ProviderHouse]:
    async with provider_house(database) as house:
        yield house


@asynccontextmanager
async def api_of(db: Database, house: ProviderHouse) -> AsyncIterator[Api]:
    """The API over `db`, with a desk that takes payments to the sandbox and an endpoint for its events."""
    desk = PaymentDesk(db, {"sandbox": house.provider}, CheckoutPace())
    webhooks = Webhooks(db, {"sandbox": sandbox_events.endpoint(SECRET)})
    app = create_app(db, providers=ProviderServices(desk, webhooks, None))
    app.start()
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            yield Api(app, client, db)
    finally:
        await app.stop()
        await desk.close()


@dataclass
class Line:
    """What the provider's deliveries were answered, over loopback."""

    url: str = ""
    answers: list[int] = field(default_factory=list)


@asynccontextmanager
async def line_to(api: Api) -> AsyncIterator[Line]:
    """A socket in front of the API, to which the sandbox's own sender delivers."""
    line = Line()

    async def forward(call: Call) -> Reply:
        response = await api.client.request(call.method, call.target, content=call.body, headers=call.headers)
        line.answers.append(response.status_code)
        return Reply(response.status_code, response.json())

    server = LoopbackServer(forward)
    await server.start()
    line.url = f"http://127.0.0.1:{server.port}{PATH}"
    yield line
    await server.close()


async def until(line: Line, status: int, times: int) -> None:
    async with asyncio.timeout(60):
        while line.answers.count(status) < times:
            await asyncio.sleep(0.01)


def signed(body: bytes) -> dict[str, str]:
    return {SIGNATURE_HEADER: sign(body, SECRET, datetime.now(UTC)), "Content-Type": "application/json"}


async def go_away(relaying: Relay) -> None:
    """Every connection to the database is lost, and none can be made."""
    relaying.away = True
    for task in list(relaying._tasks):
        task.cancel()
    await asyncio.sleep(0)


async def test_p12_the_database_is_away_the_provider_sends_again_and_it_is_applied_once(
    house: ProviderHouse, dsn: str, short_folder: str
) -> None:
    step = await house.open_payment()
    await house.send(step.operation)  # its answer is lost: the event alone tells
    (event,) = house.events
    async with relay(dsn, short_folder) as (relaying, through):
        db = await Database.open(through, limits=SHORT_LIMITS)
        async with api_of(db, house) as api, line_to(api) as line:
            sender = WebhookSender(SECRET, lambda: None, slow_s=0.0, first_pause_s=0.02)
            sender.url = line.url
            await go_away(relaying)
            body = json.dumps(event).encode()
            refused = await api.client.post(PATH, content=body, headers=signed(body))
            assert problem(refused, wire.ErrorCode.AUTHORITY_AWAY).status == 503
            assert int(refused.headers["retry-after"]) >= 1
            sender.tell(event)
            await until(line, 503, 2)
            assert await house.stored() == {}
            assert (await house.statuses(step.order.order_id))["order"] == "PENDING"
            relaying.away = False
            await until(line, 200, 1)
            assert sender.sent == 1
            again = await api.client.post(PATH, content=body, headers=signed(body))
            assert read(again, wire.WebhookReceipt).became == "seen"
            await sender.close()
        await db.close()
    assert list((await house.stored()).values()) == ["applied"]
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    told = "SELECT count(*) FROM operation_evidence WHERE source = 'webhook:sandbox'"
    assert await count(house.db, told) == 1


async def test_a_stray_event_is_evidence_of_the_item_about_its_charge(house: ProviderHouse, clock: Clock) -> None:
    """While it waits for its order, and after nobody waits for it any more."""
    (key, charge), other = (str(uuid4()), "ch_000900"), "ch_000901"
    event = {
        "id": "evt_stray", "type": "authorize.succeeded", "created": 0,
        "data": {
            "operation_id": key, "kind": "authorize", "status": "succeeded", "charge": charge, "amount": 4_200,
            "currency": "EUR", "movement": "mv_1", "decline_code": "",
        },
    }  # fmt: skip
    made = {}
    for ref in (charge, other):
        made[ref] = uuid7()
        await house.db.fetch(
            "SELECT open_item_about($1, 'provider-only', 'sandbox:' || $2, NULL, NULL, NULL, 'sandbox', 4200, 'EUR',"
            " jsonb_build_object('provider_ref', $2::text), booking_now())",
            made[ref], ref,
        )  # fmt: skip
    async with api_of(house.db, house) as api:
        body = json.dumps(event).encode()
        told = await api.client.post(PATH, content=body, headers=signed(body))
        assert read(told, wire.WebhookReceipt).became == "parked"
        for state, days in (("parked", 0), ("stray", 4)):
            await clock.move(seconds=days * 86_400)
            await house.work()
            assert await house.stored() == {"evt_stray": state}
            token = await api.staff(Role.SUPERVISOR)  # a token of before the move is over
            shown = {
                ref: read(await api.call("GET", f"/v1/reconciliation/items/{made[ref]}", token=token), wire.ItemDetail)
                for ref in made
            }
            (entry,) = [one for one in shown[charge].timeline if one.title == "webhook-received"]
            assert (entry.kind, entry.source) == (wire.TimelineKind.WEBHOOK, "sandbox")
            assert (entry.amount_minor, entry.currency) == (4_200, "EUR")
            assert entry.body.startswith(state)
            assert [one for one in shown[other].timeline if one.title == "webhook-received"] == []


async def check_out(api: Api, token: str, hold: wire.Hold, types: list[int], shown: int) -> httpx.Response:
    chosen = zip(hold.seats, types, strict=True)
    lines = tuple(wire.CheckoutLine(seat_no=seat.seat_no, price_type_id=kind) for seat, kind in chosen)
    body = wire.CheckoutRequest(lines=lines, shown_total_minor=shown)
    return await api.call("POST", f"/v1/holds/{hold.hold_id}/checkout", body, token=token)


async def priced_event(db: Database, draw: random.Random) -> tuple[int, dict[int, int]]:
    """An event of 400 seats with random prices, by price type."""
    event_id = await make_event(db, seats=400, price_version=2)
    prices = {kind: draw.randrange(1, CENTS) for kind in range(1, PRICE_TYPES + 1)}
    for kind, amount in prices.items():
        if kind > 2:
            await db.fetch("INSERT INTO price_types VALUES ($1, $2, 'Another')", event_id, kind)
        await db.fetch("INSERT INTO prices VALUES ($1, 2, 0, $2, $3)", event_id, kind, amount)
    return event_id, prices


async def sell_basket(
    house: ProviderHouse, api: Api, token: str, event_id: int, prices: dict[int, int], first: int, draw: random.Random
) -> None:
    """A random basket from its hold to the provider's books."""
    seats = tuple(range(first, first + draw.randint(1, 6)))
    types = [draw.choice(list(prices)) for _ in seats]
    held = await api.call("POST", f"/v1/events/{event_id}/holds", wire.HoldRequest(seats=seats), token=token)
    hold, shown = read(held, wire.Hold, 201), sum(prices[kind] for kind in types)
    off = await check_out(api, token, hold, types, shown + draw.choice((-1, 1)))
    assert str(shown) in problem(off, wire.ErrorCode.PRICE_CHANGED).detail
    order = read(await check_out(api, token, hold, types, shown), wire.Order, 201)
    assert order.amount_minor == shown == sum(line.amount_minor for line in order.lines)
    asked = wire.PaymentRequest(
        kind=wire.OperationKind.AUTHORIZE, provider="sandbox", amount_minor=shown, payment_method="card-approve"
    )
    path = f"/v1/orders/{order.order_id}/payments"
    paid = read(await api.call("POST", path, asked, token=token), wire.PaymentAnswer, 201)
    assert (paid.operation.amount_minor, paid.order.status) == (shown, "CONFIRMED")
    charge = house.sandbox.ledger.charges[paid.operation.provider_ref]
    assert (charge.amount, charge.captured) == (shown, shown)


@pytest.mark.parametrize("baskets", [BASKETS, pytest.param(ALL_BASKETS, marks=pytest.mark.long)])
async def test_p24_shown_authorized_and_the_sum_of_the_lines_are_one(house: ProviderHouse, baskets: int) -> None:
    """Through the API to the provider's own books, for random prices and price types; a cent off is refused."""
    draw = random.Random(24)
    async with api_of(house.db, house) as api:
        for _ in range(baskets // BASKETS):
            event_id, prices = await priced_event(house.db, draw)
            token = await api.staff(Role.CLERK)
            for basket in range(BASKETS):
                await sell_basket(house, api, token, event_id, prices, 6 * basket, draw)
