"""A fan buys through the page: real browser, room, API, PostgreSQL and payment sandbox (R16-R19, R42)."""

from __future__ import annotations

import io
import json

import pytest
import zxingcpp
from PIL import Image

from tests.end2end.fan_house import Fan, House, fan_at
from tests.end2end.processes import kill

pytestmark = pytest.mark.timeout(180)


async def test_a_fan_waits_picks_a_seat_on_the_map_pays_and_has_a_ticket(house: House) -> None:
    """On a phone of 320 px, from the queue to a code that scans; no token is ever in an address."""
    event = await house.event_with_room(name="Night <b>of</b> lights")
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.screen(320, 640, mobile=True)
        assert await fan.is_well_made()
        await fan.join()
        await page.until_view("pick")
        assert await page.text("main .event strong") == "Night <b>of</b> lights"
        await page.until_shown(".map canvas")
        await tap_seat(fan, 7)
        await page.until_text(".basket", "row A, seat 8")
        assert await fan.is_well_made()
        await page.click("#hold")
        await page.until_view("hold")
        assert "€40.00" in await page.text("#total")
        await fan.check_out()
        assert await fan.is_well_made()
        await fan.pay()
        (code,) = await fan.until_tickets(1)
        assert await fan.is_well_made()
        assert await code_on(fan) == code
        assert await page.address() == fan.url
        await no_secret_has_leaked(fan)
    assert (await house.sold(event), await house.charges(event)) == (1, 1)


async def no_secret_has_leaked(fan: Fan) -> None:
    """Neither the account's token nor the session's secret is in any address or log."""
    kept = await fan.page.run("return [localStorage['taquilla.account'], localStorage['taquilla.session']]")
    secrets = [json.loads(kept[0])["access_token"], json.loads(kept[0])["secret"], json.loads(kept[1])]
    asked: list[str] = await fan.page.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert len(asked) > 10
    logs = [log.read_text(errors="replace") for log in (fan.house.stack.data / "logs").glob("*.log")]
    for text in [*asked, *logs]:
        assert not [secret for secret in secrets if secret in text]
        assert "tqa1." not in text


async def tap_seat(fan: Fan, seat: int) -> None:
    """A tap on the map: from afar it comes closer, then it picks."""
    place = "const r = document.querySelector('.map canvas').getBoundingClientRect(); return [r.width, r.height]"
    width, height = await fan.page.run(place)
    # The plan of these events: 20 seats a row, 10 apart, from (20, 40) on, radius 4; the page leaves 3 radii around.
    left, top, right, bottom = 8, 28, 222, 62
    scale = min(width / (right - left), height / (bottom - top))
    x = (20 + seat % 20 * 10 - (left + right - width / scale) / 2) * scale
    y = (40 + seat // 20 * 10 - (top + bottom - height / scale) / 2) * scale
    await fan.page.click_at(".map canvas", x, y)
    if not await fan.page.shows("#hold"):
        await fan.page.click_at(".map canvas", x, y)


async def code_on(fan: Fan) -> str:
    """What a scanner reads from the screen."""
    await fan.page.run("document.querySelector('.qr').scrollIntoView()")
    with Image.open(io.BytesIO(await fan.page.picture())) as picture:
        found = zxingcpp.read_barcodes(picture.convert("L"))
    assert len(found) == 1
    return found[0].text


async def test_a_second_browser_takes_the_turn_over(house: House) -> None:
    """The key moves the place; only one of both can hold (R18)."""
    event = await house.event_with_room()
    async with fan_at(house, event) as first, house.browsers.lent() as other:
        second = Fan(house, other, event)
        await first.join()
        await first.page.until_view("pick")
        key = await first.spare_key()
        await second.come()
        await other.click("summary")
        await other.type("#given-key", "not a key")
        await other.click("#move-here")
        await other.until_text("details .danger", "not valid")
        await other.run("document.querySelector('#given-key').value = ''")
        await other.type("#given-key", key)
        await other.click("#move-here")
        await other.until_view("elsewhere")
        await other.click("#take-over")
        await second.pick_best(2)
        await first.page.reload()
        await first.page.until_view("elsewhere")
    assert await house.holds(event) == 1


async def test_who_leaves_makes_room_for_the_next(house: House) -> None:
    """Once no token of the turn that was left can be good any more."""
    event = await house.event_with_room(total_active_users=1, token_life_s=15)
    async with fan_at(house, event) as first, fan_at(house, event) as second:
        await first.join()
        await first.page.until_view("pick")
        await second.join()
        await second.page.until_text("#position", "You are next")
        await first.page.click("#leave")
        await first.page.until_view("join")
        await second.page.until_view("pick")


async def test_reloading_and_clicking_again_while_paying_charges_once(house: House) -> None:
    """P1: two clicks at once, then a reload before the answer; the same key, one charge."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        await fan.pick_best(2)
        await fan.check_out()
        await fan.page.choose("#card", "card-slow")
        kept = await fan.page.run(
            "const pay = document.querySelector('#pay'); pay.click(); pay.click();"
            "const kept = localStorage['taquilla.sale.' + arguments[0]]; location.reload(); return kept", event,
        )  # fmt: skip
        assert json.loads(kept)["intent"]["name"] == "pay", "written down before it was sent"
        assert len(await fan.until_tickets(2)) == 2
        await fan.page.back()
        await fan.page.open(fan.url)
        assert len(await fan.until_tickets(2)) == 2
    assert (await house.holds(event), await house.sold(event), await house.charges(event)) == (1, 2, 1)


async def test_a_hold_that_was_under_way_goes_on_after_a_reload_in_ones_turn(house: House) -> None:
    """The page has no token yet when it goes on: it waits for its place instead of forgetting the wish and its key."""
    event = await house.event_with_room()
    async with fan_at(house, event) as fan:
        await fan.join()
        await fan.page.until_view("pick")
        wish = {
            "name": "hold", "method": "POST", "path": f"/v1/events/{event}/holds", "key": "key-of-a-hold-under-way",
            "body": {"best_available": {"count": 1}}, "prices": [],
        }  # fmt: skip
        await fan.page.run(
            "localStorage['taquilla.sale.' + arguments[0]] = JSON.stringify({intent: arguments[1]}); location.reload()",
            event, wish,
        )  # fmt: skip
        await fan.page.until_view("hold")
    assert await house.holds(event) == 1


async def test_a_late_answer_about_an_old_hold_wipes_no_newer_one(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.pick_best()
        await page.run(
            "const real = window.fetch; window.late = 0;"
            "window.fetch = async (...asked) => { const answer = await real(...asked);"
            " if (asked[0].toString().includes('/v1/holds/') && !window.late) {"
            "  window.late = 1; await new Promise((go) => { window.letGo = go; }); window.late = 2; }"
            " return answer; }; document.dispatchEvent(new Event('visibilitychange'))"
        )

        async def asked() -> bool:
            return bool(await page.run("return window.late === 1"))

        await page.until(asked, "a look at the hold is under way")
        await page.click("#release")
        await page.until_view("pick")
        await fan.pick_best()
        await page.run("window.letGo()")

        async def told() -> bool:
            return bool(await page.run("return window.late === 2"))

        await page.until(told, "the late answer")
        await page.run("return new Promise((go) => setTimeout(go, 100))")
        assert await page.shows('main[data-view="hold"]')
    assert await house.holds(event) == 2


async def test_one_tap_does_not_throw_paid_tickets_away(house: House) -> None:
    event = await house.event(max_per_account=1)
    async with fan_at(house, event) as fan:
        await fan.pick_best()
        await fan.check_out()
        await fan.pay()
        await fan.until_tickets(1)
        await fan.page.run("window.confirm = () => false; document.querySelector('#done').click()")
        assert await fan.page.shows('main[data-view="tickets"]')
        await fan.page.reload()
        await fan.until_tickets(1)


async def test_a_lost_answer_is_told_honestly_and_a_declined_card_can_be_replaced(house: House) -> None:
    """P3: declined, then without an answer: nobody knows, do not pay again; later there are tickets, paid once."""
    event = await house.event()
    async with fan_at(house, event) as fan:
        await fan.pick_best()
        await fan.check_out()
        await fan.pay("card-decline")
        await fan.page.until_text("#pay-note", "Nothing was charged")
        await house.fault("enquire", "status-503", 1)
        await house.fault("webhook", "webhook-slow", 2)
        await fan.pay("card-answer-lost")
        await fan.page.until_text("#unknown-title", "We do not know yet")
        assert "Do not pay again" in await fan.page.text("#unknown-words")
        assert not await fan.page.shows("#pay")
        await fan.until_tickets(1)
    assert (await house.sold(event), await house.charges(event)) == (1, 1)


async def test_the_bank_s_question_opens_beside_the_page_which_goes_on_by_itself(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.pick_best()
        await fan.check_out()
        await fan.pay("card-3ds")
        await page.click("#withdraw")
        await page.until_view("pay")
        await fan.pay("card-3ds")
        await page.until_view("action")
        (own,) = await page.tabs()
        await page.click("#bank")
        await page.until(lambda: has_tabs(fan, 2), "the bank's page")
        (bank,) = set(await page.tabs()) - {own}
        await page.show_tab(bank)
        await page.until_shown("button[value=approve]")
        assert await page.run("return [document.referrer, window.opener]") == ["", None]
        await page.click("button[value=approve]")
        await page.show_tab(own)
        await fan.until_tickets(1)
    assert await house.sold(event) == 1


async def has_tabs(fan: Fan, count: int) -> bool:
    return len(await fan.page.tabs()) == count


async def test_who_waits_is_told_sold_out_at_once_and_survives_a_restart_of_the_room(house: House) -> None:
    """R19, W7: paused, the room killed and back, everything in holds, sold out; the place stays the same."""
    event = await house.event_with_room(1, paused=True)
    async with fan_at(house, event) as fan, fan_at(house, event) as ahead:
        await ahead.join()
        await ahead.page.until_view("waiting")
        await fan.join()
        await fan.page.until_text("#explanation", "Nobody is being let in")
        assert await fan.page.text("#position") == "1 person before you"
        process = house.stack.pids["room"]
        kill(process)
        await fan.page.until_text("#trouble", "The waiting room does not answer")
        await fan.page.until(lambda: has_text(fan, "#trouble", ""), "the room to be back")
        assert await fan.page.text("#position") == "1 person before you"
        await house.set_room(event, paused=False, total_active_users=1)
        await ahead.pick_best()
        await fan.page.until_text("#explanation", "in other people's baskets")
        await ahead.check_out()
        await ahead.pay()
        await ahead.until_tickets(1)
        await fan.page.until_view("sold-out")


async def has_text(fan: Fan, selector: str, text: str) -> bool:
    return await fan.page.text(selector) == text


async def test_a_code_raises_the_limit_and_a_wrong_one_is_told(house: House) -> None:
    """B17: two tickets for everybody, four with the code; the field opens where the limit is met."""
    event = await house.event(max_per_account=2)
    terms = {"code": "friends-2026", "max_per_account": 4, "max_uses": 1}
    await house.api("POST", f"/v1/events/{event}/access-codes", terms)
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.until_shown("#best-go")
        assert await page.run("return document.querySelectorAll('#best-count option').length") == 2
        await page.click("#view-list")
        for seat in (0, 1, 2):
            await page.click(f"#seat-{seat}")
        await page.until_shown("#access-code")
        await page.type("#access-code", "foes-2026")
        await page.click("#access-use")
        await page.click("#seat-3")
        await page.click("#hold")
        await page.until_text(".note", "not one of this event")
        await page.screen(320, 640, mobile=True)
        assert await fan.is_well_made()
        await page.type("#access-code", " Friends-2026 ")
        await page.press("\ue007")
        await page.until_text("#access-kept", "up to 6")
        await page.reload()
        await fan.pick_best(4)
        await fan.check_out()
        await fan.pay()
        await fan.until_tickets(4)
        await page.click("#home")
        await page.until_view("events")
        await page.run("localStorage.removeItem('taquilla.sale.' + arguments[0])", event)
        await fan.come()
        await page.until_shown("#best-go")
        await page.choose("#best-count", "1")
        await page.click("#best-go")
        await page.until_text(".note", "the most tickets")
    assert await house.sold(event) == 4


async def test_what_joining_asks_for_appears_while_somebody_is_at_it(house: House) -> None:
    """The operator asks for codes after the page was loaded: the field is there at once, and what was typed stays."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        await page.until_view("join")
        assert not await page.shows("#code")
        await house.room("POST", f"/v1/rooms/{event}/codes", {"codes": ["moonlight"], "reason": "test"})
        await house.set_room(event, registration_required=True)
        await page.click("main .main")
        await page.until_shown("#code")
        await page.until_text("#join-problem", "not valid")
        await page.type("#code", "moonlight")
        await house.set_room(event, bot_check=True)
        await page.click("main .main")
        await page.until_shown("#bot-check .warn")
        assert await page.run("return document.querySelector('#code').value") == "moonlight"
        await house.set_room(event, bot_check=False)
        await page.click("main .main")
        await page.until_view("waiting")
