"""A fan pays by a real card form: Stripe's field in its frame, the bank's question, what fails, what is never ours."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from tests.end2end.browser import Browsers, browsers, need_chromium
from tests.end2end.fan_house import Fan, House, fan_at, house_of
from tests.end2end.processes import Process, StackFacts, check_invariants, demo_folder, ready
from tests.end2end.stripe_js import ASKS, DECLINED, GOOD, HOSTS, METHODS, SCRIPT, stand_in
from tests.end2end.tls_site import TlsSite, tls_site
from tests.payments_lab.processes import HOOK_SECRET, KEY, Lab, payments_lab

pytestmark = pytest.mark.timeout(240)

PUBLISHABLE = "pk_test_of_the_page"
SECRETS = {"TAQUILLA_STRIPE_KEY": KEY, "TAQUILLA_STRIPE_WEBHOOK_SECRET": HOOK_SECRET}


@dataclass
class Abroad:
    """What is not ours: Stripe's hosts in the browsers, its API for our processes."""

    site: TlsSite
    lab: Lab
    browsers: Browsers


@pytest.fixture(scope="module")
def abroad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Abroad]:
    need_chromium()
    folder = tmp_path_factory.mktemp("abroad")
    with ExitStack() as open_now:
        lab = open_now.enter_context(payments_lab(folder))
        site = open_now.enter_context(tls_site(folder, stand_in(lab)))
        yield Abroad(site, lab, open_now.enter_context(browsers(*site.flags(*HOSTS))))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def own_stack(stack: StackFacts, abroad: Abroad) -> Iterator[StackFacts]:
    """The stack's database, with an API, a worker and a room of its own that pay by Stripe."""
    folder = demo_folder().parent
    processes: list[Process] = []
    try:
        yield asyncio.run(started(stack, abroad, folder, processes))
        assert asyncio.run(check_invariants(stack.dsn)) == []
    finally:
        abroad.lab.control("POST", "hooks", {"url": ""})
        for process in processes:
            asyncio.run(process.end())
        shutil.rmtree(folder, ignore_errors=True)


async def started(stack: StackFacts, abroad: Abroad, folder: Path, processes: list[Process]) -> StackFacts:
    stripe = ["--provider", "stripe", "--stripe-api", abroad.lab.api]
    port = free_port()
    common = ["--dsn", stack.dsn, "--parent-pid", str(os.getpid())]

    def start(name: str, *words: str) -> Process:
        own = [*words, *common, "--ready-file", str(folder / f"{name}.json")]
        processes.append(Process(["booking", *own], folder / f"{name}.txt", secrets=SECRETS))
        return processes[-1]

    api = start("api", "serve", *stripe, "--page-origin", f"http://127.0.0.1:{port}")
    start("worker", "work", "--only", "payments,webhooks", *stripe)
    api_url = (await ready(folder / "api.json", api))["url"]
    room = start("room", "room", "--data", str(folder / "room"), "--booking-url", api_url, "--port", str(port),
                 "--payments", "stripe", "--stripe-publishable-key", PUBLISHABLE)  # fmt: skip
    page_url = (await ready(folder / "room.json", room))["url"]
    abroad.lab.control("POST", "hooks", {"url": f"{api_url}/v1/webhooks/stripe"})
    return replace(stack, api_url=api_url, page_url=page_url)


@pytest.fixture
async def house(own_stack: StackFacts, abroad: Abroad) -> AsyncIterator[House]:
    async with house_of(own_stack, abroad.browsers) as house:
        yield house


async def at_the_card_form(fan: Fan) -> None:
    await fan.pick_best()
    await fan.check_out()
    await fan.page.until_shown("#pay")


async def in_frame(fan: Fan, frame: str, script: str, *arguments: object) -> object:
    """Run a script in a frame of somebody else's."""
    await fan.page.until_shown(frame)
    element = await fan.page.command("POST", "/element", {"using": "css selector", "value": frame})
    await fan.page.command("POST", "/frame", {"id": element})
    try:
        return await fan.page.run(script, *arguments)
    finally:
        await fan.page.command("POST", "/frame", {"id": None})


async def enter(fan: Fan, number: str) -> None:
    await in_frame(fan, "#card-field iframe", "document.querySelector('#number').value = arguments[0]", number)


async def bank(fan: Fan, answer: str) -> None:
    await in_frame(fan, "#bank-frame", f"document.querySelector('#{answer}').click()")


async def test_a_card_pays_and_its_number_never_comes_near_us(house: House, abroad: Abroad) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.screen(320, 640, mobile=True)
        await at_the_card_form(fan)
        assert await fan.is_well_made()
        await enter(fan, "4242")
        await page.click("#pay")
        await page.until_text("#card-problem", "incomplete")
        await enter(fan, GOOD)
        await page.click("#pay")
        await fan.until_tickets(1)
        kept = json.dumps(await page.run("return {...localStorage}"))
        asked = await page.run("return performance.getEntriesByType('resource').map((one) => one.name)")
        assert GOOD not in kept + json.dumps(asked)
    sent = abroad.site.bodies(METHODS)
    assert PUBLISHABLE.encode() in sent[-1]
    assert b"locale=en" in sent[-1]
    assert KEY.encode() not in b"".join(sent)
    rows = await house.db.fetch(
        "SELECT o.status, p.provider, p::text || coalesce(string_agg(e.body, ' '), '') AS all_there_is FROM orders o"
        " JOIN payment_operations p USING (order_id) LEFT JOIN operation_evidence e USING (operation_id)"
        " WHERE o.event_id = $1 GROUP BY o.status, p.provider, p", event,
    )  # fmt: skip
    assert {(row["status"], row["provider"]) for row in rows} == {("CONFIRMED", "stripe")}
    assert GOOD not in "".join(row["all_there_is"] for row in rows)


@pytest.mark.parametrize("passes", [True, False])
async def test_the_bank_asks_on_this_page(house: House, passes: bool) -> None:
    """With the intent's own secret, given to its buyer alone and kept nowhere."""
    event = await house.event()
    async with fan_at(house, event) as fan, fan_at(house, event) as other:
        page = fan.page
        await at_the_card_form(fan)
        await enter(fan, ASKS)
        await page.click("#pay")
        await page.until_view("action")
        await page.reload()
        await page.until_view("action")
        operation = await house.db.fetch("SELECT operation_id FROM payment_operations p JOIN orders o USING (order_id)"
                                         " WHERE o.event_id = $1", event)  # fmt: skip
        await other.pick_best()
        secret_at = f"{house.stack.api_url}/v1/payments/{operation[0]['operation_id']}/page-secret"
        assert [await seen(house, secret_at, one) for one in (other, fan)] == [404, 200]
        await page.click("#bank")
        await bank(fan, "yes" if passes else "no")
        if passes:
            await fan.until_tickets(1)
        else:
            await page.until_view("pay")
            await page.until_text("#pay-note", "Nothing was charged")
            await page.until_shown("#pay")
            await enter(fan, GOOD)
            await page.click("#pay")
            await fan.until_tickets(1)
        dump = json.dumps(await page.run("return {...localStorage}"))
    rows = await house.db.fetch("SELECT e.body FROM operation_evidence e")
    logs = "".join(log.read_text(errors="replace") for log in (house.stack.data / "logs").glob("*.log"))
    assert "_secret_" not in dump + logs + "".join(row["body"] for row in rows)
    assert await house.sold(event) == 1


async def seen(house: House, address: str, fan: Fan) -> int:
    token = (await fan.kept_account())["access_token"]
    answer = await house.http.get(address, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code != 200 or ("_secret_" in answer.text and answer.headers["Cache-Control"] == "no-store")
    return answer.status_code


async def test_a_declined_card_is_told_and_another_one_pays(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        await at_the_card_form(fan)
        await enter(fan, DECLINED)
        await fan.page.click("#pay")
        await fan.page.until_text("#pay-note", "Nothing was charged")
        await fan.page.until_shown("#pay")
        await enter(fan, GOOD)
        await fan.page.run("const pay = document.querySelector('#pay'); pay.click(); pay.click()")
        await fan.until_tickets(1)
    charges = await house.db.fetch(
        "SELECT p.status FROM payment_operations p JOIN orders o USING (order_id)"
        " WHERE o.event_id = $1 AND p.kind = 'authorize' ORDER BY p.created_at", event,
    )  # fmt: skip
    assert [row["status"] for row in charges] == ["DECLINED", "SUCCEEDED"]


async def test_a_script_that_does_not_load_loses_nothing(house: House, abroad: Abroad) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        abroad.site.away.add(SCRIPT)
        await fan.pick_best()
        await fan.check_out()
        await page.until_text("#card-state", "does not load")
        assert not await page.shows("#pay")
        abroad.site.away.clear()
        await page.click("#card-again")
        await page.until_shown("#pay")
        abroad.site.away.add(METHODS)
        await enter(fan, GOOD)
        await page.click("#pay")
        await page.until_text("#card-problem", "Stripe does not answer")
        abroad.site.away.clear()
        await page.click("#pay")
        await fan.until_tickets(1)
    assert await house.sold(event) == 1


async def test_scripts_of_anybody_else_stay_out(house: House) -> None:
    async with house.browsers.lent() as page:
        await page.open(house.stack.page_url)
        await page.until_view("events")
        refused = await page.run(
            "return new Promise((told) => {"
            " addEventListener('securitypolicyviolation', ({effectiveDirective}) => told(effectiveDirective));"
            " const script = document.createElement('script'); script.src = 'https://evil.example/x.js';"
            " document.head.append(script); })"
        )
        assert refused == "script-src-elem"
        with pytest.raises(httpx.HTTPStatusError):
            (await house.http.get(f"{house.stack.page_url}/page/none/stripe.js")).raise_for_status()
