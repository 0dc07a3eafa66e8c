"""The fans' page under what people, browsers and others do to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.end2end.fan_house import Fan, House, fan_at
from tests.end2end.http_client import Buyer
from tests.end2end.processes import Process, ready
from tests.end2end.small_site import small_site

pytestmark = pytest.mark.timeout(180)

MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
TEN_MINUTES_FAST = """
const Old = Date;
Date = class extends Old {
  constructor(...given) { given.length ? super(...given) : super(Old.now() + 6e5) }
  static now() { return Old.now() + 6e5 }
}
"""


async def test_names_are_text_whatever_is_in_them(house: House) -> None:
    event = await house.event(name=MARKUP)
    await house.db.fetch("UPDATE price_types SET name = $2 WHERE event_id = $1", event, MARKUP)
    await house.db.fetch("UPDATE price_categories SET name = $2 WHERE event_id = $1", event, MARKUP)
    await house.db.fetch(
        "UPDATE venues v SET name = $2 || v.venue_id FROM events e WHERE e.venue_id = v.venue_id AND e.event_id = $1",
        event, MARKUP,
    )  # fmt: skip
    async with fan_at(house, event) as fan:
        await fan.pick_best()
        assert MARKUP in await fan.page.text("#type-0")
        assert await fan.page.text("main .event strong") == MARKUP
        assert await fan.page.run("return [window.hacked ?? null, document.querySelectorAll('main img').length]") == [
            None, 0,
        ]  # fmt: skip
        await fan.page.click("#release")
        await fan.page.until_view("pick")


async def test_prices_that_change_or_are_tampered_with_are_shown_anew_and_never_believed(house: House) -> None:
    """R10: the price is that of the moment of the hold; a total that was made up is refused, and the true one shown."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.until_shown("#best-go")
        await house.db.fetch("INSERT INTO prices SELECT event_id, 2, category_no, price_type_id, amount_minor + 500"
                             " FROM prices WHERE event_id = $1 AND price_version = 1", event)  # fmt: skip
        await house.db.fetch("UPDATE events SET price_version = 2 WHERE event_id = $1", event)
        await fan.pick_best()
        await page.until_text("#total", "€45.00")
        cheaper = (
            "const name = 'taquilla.sale.' + arguments[0], sale = JSON.parse(localStorage[name]);"
            "sale.prices.forEach((one) => { one.amount_minor = 1 }); localStorage[name] = JSON.stringify(sale)"
        )
        await page.run(cheaper, event)
        await page.reload()
        await page.until_text("#total", "€0.01")
        await page.click("#checkout")
        await page.until_text(".danger", "The price has changed")
        await page.until_text("#total", "€45.00")
        await fan.check_out()
        await page.until_text("h1", "€45.00")


async def test_a_browser_whose_clock_is_wrong_counts_by_the_server_s(house: House) -> None:
    event = await house.event(hold_ttl_s=300)
    async with fan_at(house, event) as fan:
        added = await fan.page.devtools("Page.addScriptToEvaluateOnNewDocument", source=TEN_MINUTES_FAST)
        await fan.page.reload()
        await fan.pick_best()
        left = await fan.page.text(".turn")
        assert left.startswith(("Held for 05:00", "Held for 04:5")), left
        await fan.page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


async def test_of_two_tabs_one_works_and_the_other_says_so(house: House) -> None:
    """The second tab goes on with the same sale; the first one does nothing more."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.pick_best()
        (first,) = await page.tabs()
        second = await page.new_tab()
        await fan.come()
        await page.until_view("tab")
        await page.show_tab(first)
        assert await page.shows("#checkout")
        await page.show_tab(second)
        await page.click("#take-tab")
        await fan.check_out()
        await page.show_tab(first)
        await page.until_view("tab")
    assert await house.holds(event) == 1


async def test_back_and_forward_lose_nothing_and_leaving_frees_the_seats(house: House) -> None:
    event = await house.event(1)
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.pick_best()
        await fan.check_out()
        await page.click("#home")
        await page.until_view("events")
        await page.back()
        await page.until_view("pay")
        await page.click("#release")
        await page.until_view("pick")
        await page.until_text(".note", "The seats were given back")
        await fan.pick_best()
    assert await house.holds(event) == 2


async def test_nobody_can_put_the_page_into_a_frame(house: House) -> None:
    async with house.browsers.lent() as page:
        await page.open(f"data:text/html,<iframe src='{house.stack.page_url}'></iframe>")

        await page.command("POST", "/frame", {"id": 0})
        assert await page.run("return location.href") == "chrome-error://chromewebdata/"
        await page.command("POST", "/frame", {"id": None})
        await page.open(house.stack.page_url)
        await page.until_view("events")


async def test_a_ticket_is_bought_without_a_mouse(house: House) -> None:
    """D10: the list says what the map says; keys alone reach everything."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.until_view("pick")
        await page.tab_to("#view-map")
        await page.press("\ue014")
        await page.until_shown("#seat-list")
        await page.tab_to("#seat-3")
        await page.press(" ")
        await page.until_text("#news", "row A, seat 4")
        await page.tab_to("#seat-4")
        await page.press(" ")
        await page.until_text("#hold", "Hold 2 places")
        await page.tab_to(".basket li button")
        await page.press("\ue007")
        await page.until_text("#hold", "Hold this seat")
        assert await page.run("return document.activeElement.matches('.basket li button')"), "where it was"
        await page.tab_to("#hold")
        await page.press("\ue007")
        await page.until_view("hold")
        assert await page.run("return document.activeElement.tagName") == "H1"
        await page.tab_to("#checkout")
        await page.press("\ue007")
        await page.until_view("pay")
        await page.tab_to("#pay")
        await page.press("\ue007")
        await fan.until_tickets(1)
        await page.until_text("#alert", "Your ticket is here")
    assert await house.sold(event) == 1


async def test_codes_are_asked_for_and_a_cut_network_is_told(house: House) -> None:
    event = await house.event_with_room(paused=True, registration_required=True)
    await house.room("POST", f"/v1/rooms/{event}/codes", {"codes": ["moonlight"], "reason": "test"})
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.type("#code", "sunlight")
        await page.press("\ue007")
        await page.until_text("#join-problem", "not valid")
        await page.run("document.querySelector('#code').value = ''")
        await page.type("#code", "Moon light")
        await page.click("main .main")
        await page.until_view("waiting")
        await page.network(offline=True)
        await page.until_text("#trouble", "You are offline")
        await page.network(offline=False)
        await page.until(lambda: is_calm(fan), "the page to go on")
        await page.run("localStorage['taquilla.account'] = '{\"access_token\": \"tq1.forged.token\"}'")
        await page.reload()
        await page.until_view("join")
        await page.until_text("#join-problem", "no longer valid")


async def is_calm(fan: Fan) -> bool:
    return not await fan.page.text("#trouble")


WIDGET = """
globalThis.turnstile = {
  render(place, {sitekey, callback}) { place.textContent = sitekey; callback("a person"); },
};
"""


async def test_the_bot_check_of_an_operator_is_drawn_and_its_proof_sent(house: House, tmp_path: Path) -> None:
    """R21. Booking does not let this page in, as if it were away: people join and wait all the same (R16)."""
    event = await house.event(admission=True)
    (tmp_path / "secret").write_text("s3cret")
    asked: list[bytes] = []
    with small_site({"/widget.js": WIDGET, "/verify": '{"success": true}'}, asked) as check:
        words = ["booking", "room", "--data", str(tmp_path / "room"), "--dsn", house.stack.dsn,
                 "--booking-url", house.stack.api_url, "--bot-check-url", f"{check}/verify",
                 "--bot-check-secret-file", str(tmp_path / "secret"), "--bot-check-widget", f"{check}/widget.js",
                 "--bot-check-site-key", "the site's key", "--ready-file", str(tmp_path / "ready.json"),
                 "--parent-pid", str(os.getpid())]  # fmt: skip
        process = Process(words, tmp_path / "room.txt")
        try:
            url = (await ready(tmp_path / "ready.json", process))["url"]
            headers = {"Authorization": f"Bearer {house.token}"}
            opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test"}
            settings = {"expected_version": 1, "reason": "test", "bot_check": True, "paused": True}
            await house.http.put(f"{url}/v1/rooms/{event}", json=opening, headers=headers)
            done = await house.http.put(f"{url}/v1/rooms/{event}/settings", json=settings, headers=headers)
            assert done.status_code == 200, done.text
            token = (await Buyer.new_fan(house.http)).token
            async with house.browsers.lent() as page:
                await page.open(f"{url}/events/{event}")
                await page.run(
                    f"localStorage['taquilla.account'] = JSON.stringify({json.dumps({'access_token': token})})"
                )
                await page.reload()
                await page.until_text("#bot-check", "the site's key")
                await page.click("main .main")
                await page.until_view("waiting")
                await page.until_text("#trouble", "The booking system does not answer")
        finally:
            await process.end()
    assert b"response=a+person" in b"".join(asked)
