"""The fans' page where browsers make it hard: another tab takes over, or nothing can be kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.end2end.browser import Browser
from tests.end2end.fan_house import Fan, House, fan_at

pytestmark = pytest.mark.timeout(180)

# The answer to the first hold is kept back until the page is told to let it go.
HOLDS_BACK = """
const real = window.fetch;
window.fetch = async (...asked) => {
  const answer = await real(...asked);
  if (!asked[0].toString().endsWith("/holds") || window.kept) return answer;
  window.kept = "back";
  await new Promise((go) => { window.letGo = go; });
  window.kept = "told";
  return answer;
};
"""
# What a browser says that is told to keep nothing.
KEEPS_NOTHING = """
for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {get() { throw new DOMException("denied", "SecurityError"); }});
}
"""


async def test_a_late_answer_in_a_tab_that_was_left_undoes_nothing_of_the_other_one(house: House) -> None:
    """The other tab has given the seats back and holds others: those are what is kept, not what comes late here."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        (first,) = await page.tabs()
        await page.until_shown("#best-go")
        await page.run(HOLDS_BACK)
        await page.click("#best-go")
        await until_runs(fan, "return window.kept === 'back'")
        second = await page.new_tab()
        await fan.come()
        await page.until_view("tab")
        await page.click("#take-tab")
        await page.until_view("hold")
        await page.click("#release")
        await page.until_view("pick")
        await fan.pick_best()
        kept = await kept_sale(fan)
        await page.show_tab(first)
        await page.run("window.letGo()")
        await until_runs(fan, "return window.kept === 'told'")
        await page.run("return new Promise((go) => setTimeout(go, 100))")
        assert await page.shows('main[data-view="tab"]')
        await page.show_tab(second)
        assert await kept_sale(fan) == kept
        await page.reload()
        await page.until_view("hold")
    assert await house.holds(event) == 2


async def until_runs(fan: Fan, script: str) -> None:
    async def is_so() -> bool:
        return bool(await fan.page.run(script))

    await fan.page.until(is_so, script)


async def kept_sale(fan: Fan) -> dict[str, object]:
    """Which hold the browser would go on with."""
    kept = json.loads(await fan.page.run("return localStorage['taquilla.sale.' + arguments[0]]", fan.event_id))
    return {name: kept.get(name) for name in ("hold_id", "order_id", "intent")}


@asynccontextmanager
async def keeping_nothing(page: Browser) -> AsyncIterator[None]:
    """Pages that are opened within are told so."""
    added = await page.devtools("Page.addScriptToEvaluateOnNewDocument", source=KEEPS_NOTHING)
    yield
    await page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


async def test_a_browser_that_keeps_nothing_speaks_another_language_without_losing_the_place(house: House) -> None:
    """It says not to reload, so it must not reload by itself."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        async with keeping_nothing(page):
            await fan.come()
            await page.until_text("#trouble", "do not reload")
            await fan.join()
            await page.until_view("waiting")
            await page.choose("#language", "pt")
            await page.until_text("h1", "fila")
            assert await page.shows('main[data-view="waiting"]')


async def test_tabs_of_a_browser_that_keeps_nothing_share_nothing_and_all_work(house: House) -> None:
    """None of them could take the event from another one: that is kept over a reload."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        async with keeping_nothing(page):
            await fan.come()
            await page.until_view("join")
        await page.new_tab()
        async with keeping_nothing(page):
            await fan.come()
            await fan.join()
            await page.until_view("waiting")


async def test_a_browser_that_keeps_nothing_goes_on_with_a_key_of_another_device(house: House) -> None:
    event = await house.event_with_room()
    async with fan_at(house, event) as first, house.browsers.lent() as other:
        second = Fan(house, other, event)
        await first.join()
        await first.page.until_view("pick")
        async with keeping_nothing(other):
            await second.come()
            await other.click("summary")
            await other.run("document.querySelector('#given-key').value = arguments[0]", await first.spare_key())
            await other.click("#move-here")
            await other.until_view("elsewhere")
            await other.click("#take-over")
            await second.pick_best()
    assert await house.holds(event) == 1


async def test_a_page_of_which_a_part_does_not_come_is_not_empty(house: House) -> None:
    """A script got lost on a bad network: something is there to read, and a way to try again."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.devtools("Network.enable")
        await page.devtools("Network.setBlockedURLs", urls=["*/plan.js"])
        await page.reload()
        await page.until_text("main", "One moment")
        await page.devtools("Network.setBlockedURLs", urls=[])
        await page.click("main a")
        await page.until_view("join")
