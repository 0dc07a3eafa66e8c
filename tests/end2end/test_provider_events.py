"""The sandbox as its own process tells the API of a payment whose answer was lost: signed, over a real line (R26)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from tests.end2end.conftest import free_seats
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import Demo, StackFacts, check_invariants, demo_folder, kill

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def running() -> AsyncIterator[tuple[Demo, StackFacts]]:
    data = demo_folder()
    demo = Demo(data, "--no-console")
    try:
        yield demo, await demo.is_up()
    finally:
        await demo.end()
        shutil.rmtree(data.parent, ignore_errors=True)


async def ordered(buyer: Buyer, event_id: int, seat: int) -> dict[str, object]:
    held = (await buyer.hold(event_id, [seat])).json()
    lines = [{"seat_no": seat, "price_type_id": 1}]
    path = f"/v1/holds/{held['hold_id']}/checkout"
    told = await buyer.post(path, {"lines": lines, "shown_total_minor": 0})
    total = int("".join(letter for letter in told.json()["detail"] if letter.isdecimal()))
    order: dict[str, object] = (await buyer.post(path, {"lines": lines, "shown_total_minor": total})).json()
    return order


async def witnessed(dsn: str, order_id: object) -> list[str]:
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch(
            "SELECT p.kind FROM operation_evidence e JOIN payment_operations p USING (operation_id)"
            " WHERE e.source = 'webhook:sandbox' AND p.order_id = $1::text::uuid ORDER BY p.kind",
            order_id,
        )
    finally:
        await connection.close()
    return [row["kind"] for row in rows]


async def test_events_of_the_sandbox_reach_the_api_also_after_it_was_killed(
    running: tuple[Demo, StackFacts],
) -> None:
    _, stack = running
    event_id, free = await free_seats(stack.api_url)
    async with client(stack.api_url) as http:
        for round_no in range(2):
            fan = await Buyer.new_fan(http)
            order = await ordered(fan, event_id, free[3 * round_no])
            payment = {
                "kind": "authorize", "provider": "sandbox", "amount_minor": order["amount_minor"],
                "payment_method": "card-answer-lost",
            }  # fmt: skip
            answer = await fan.post(f"/v1/orders/{order['order_id']}/payments", payment)
            assert answer.status_code == 201, answer.text
            async with asyncio.timeout(30):
                while await witnessed(stack.dsn, order["order_id"]) != ["authorize", "capture"]:
                    await asyncio.sleep(0.1)
            assert (await fan.get(f"/v1/orders/{order['order_id']}")).json()["status"] == "CONFIRMED"
            if round_no == 0:
                kill(stack.pids["sandbox"])
                async with asyncio.timeout(30):
                    while not await is_up(stack.sandbox_url):
                        await asyncio.sleep(0.1)
    assert await check_invariants(stack.dsn) == []


async def is_up(url: str) -> bool:
    try:
        async with client(url) as http:
            return (await http.get("/control/ledger")).status_code == 200
    except httpx.TransportError:
        return False
