"""A fan's account in the browser: renewed in time and after its end, moved once, forgotten when told so."""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from booking.domain.caller import Role
from booking.services import access_tokens
from booking.services.access_tokens import Claims
from booking.store import staff_queries
from tests.end2end.fan_house import Fan, House, fan_at

pytestmark = pytest.mark.timeout(180)

LOSES_ANSWERS = """
const real = window.fetch;
window.lost = 0;
window.fetch = async (...asked) => {
  const answer = await real(...asked);
  if (!asked[0].toString().includes("/v1/renewals/next") || window.lost > 1) return answer;
  window.lost += 1;
  throw new TypeError("the answer is lost");
};
"""

# What the page hears of calls to the paths in `window.plays`: "hold" until told otherwise, "lose", or an answer.
PLAYS = """
if (!window.plays) {
  const real = window.fetch;
  Object.assign(window, {plays: {}, played: 0, confirm: () => window.says ?? true});
  window.fetch = async (...asked) => {
    const play = Object.keys(window.plays).find((path) => asked[0].toString().includes(path));
    if (!play) return real(...asked);
    if (Array.isArray(window.plays[play])) {
      window.played += 1;
      return new Response(...window.plays[play]);
    }
    const answer = await real(...asked);
    window.played += 1;
    if (window.plays[play] === "lose") throw new TypeError("the answer is lost");
    while (window.plays[play] === "hold") await new Promise((go) => setTimeout(go, 20));
    return answer;
  };
}
window.plays = arguments[0];
"""
NEXT = "/v1/renewals/next"


async def plays(fan: Fan, **by_path: object) -> None:
    await fan.page.run(PLAYS, by_path)


async def until_played(fan: Fan, count: int = 1) -> None:
    async def is_played() -> bool:
        return bool(await fan.page.run("return window.played >= arguments[0]", count))

    await fan.page.until(is_played, f"{count} calls are played with")


async def until_nobody_asks(fan: Fan) -> None:
    """No tab is at the account any more: what was answered is written, or dropped."""
    script = "return navigator.locks.query().then(({held}) => !held.some((one) => one.name === 'taquilla.account'))"

    async def is_quiet() -> bool:
        return bool(await fan.page.run(script))

    await fan.page.until(is_quiet, "nobody asks")


async def ended_as(house: House, secret: str) -> list[str | None]:
    """Why what this secret is or was good for has ended, by the database."""
    statement = "SELECT ended_reason FROM account_renewals WHERE $1 IN (secret_digest, former_digest)"
    return [row["ended_reason"] for row in await house.db.fetch(statement, digest(secret))]


async def use_key(fan: Fan, key: str) -> None:
    """Enter a key of another device, as it was pasted."""
    await fan.page.until_view("join")
    await fan.page.run(
        "document.querySelector('details').open = true; document.querySelector('#given-key').value = arguments[0]", key
    )
    await fan.page.click("#move-here")


async def with_tickets(fan: Fan) -> None:
    await fan.pick_best()
    await fan.check_out()
    await fan.pay()
    await fan.until_tickets(1)


async def ended_token(fan: Fan) -> str:
    """A token of the fan's account that was good until a minute ago."""
    keys = await staff_queries.read_signing_keys(fan.house.db)
    key_id, secret = list(keys.items())[-1]
    account_id = UUID((await fan.kept_account())["account_id"])
    ended = int((datetime.now(UTC) - timedelta(minutes=1)).timestamp())
    claims = Claims(key_id=key_id, expires_at=ended, role=Role.FAN, account_id=account_id)
    return access_tokens.sign(claims, secret)


async def renewal_of(fan: Fan) -> tuple[bytes, bytes | None]:
    """The digests of the secret that is good now and of the one before, by the database."""
    account_id = UUID((await fan.kept_account())["account_id"])
    (row,) = await fan.house.db.fetch(
        "SELECT secret_digest, former_digest FROM account_renewals WHERE account_id = $1 AND NOT is_spare", account_id
    )
    return row["secret_digest"], row["former_digest"]


async def until_renewed(fan: Fan, secret: str) -> None:
    async def is_new() -> bool:
        return (await fan.kept_account()).get("secret") != secret

    await fan.page.until(is_new, "another secret")


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


async def test_a_token_is_renewed_before_its_end_once_for_all_tabs(house: House) -> None:
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.join()
        await page.until_view("waiting")
        (first,) = await page.tabs()
        await page.new_tab()
        await page.open(house.stack.page_url)
        await page.until_view("events")
        before = await fan.kept_account()
        half = datetime.fromisoformat(before["renew_at"]) - datetime.now(UTC)
        assert timedelta(hours=5, minutes=50) < half < timedelta(hours=6, minutes=1)
        await fan.keep_account(renew_at="2026-01-01T00:00:00Z")
        await until_renewed(fan, before["secret"])
        after = await fan.kept_account()
        assert after["account_id"] == before["account_id"]
        assert "next_secret" not in after
        assert await renewal_of(fan) == (digest(after["secret"]), digest(before["secret"]))
        await page.show_tab(first)
        asked = (
            "return performance.getEntriesByType('resource')"
            ".filter((one) => one.name.endsWith('/renewals/next')).length"
        )
        once = int(await page.run(asked))
        await page.show_tab((set(await page.tabs()) - {first}).pop())
        assert once + int(await page.run(asked)) == 1
        await page.show_tab(first)
        assert await page.shows('main[data-view="waiting"]')


async def test_a_token_that_ended_loses_neither_place_nor_tickets(house: House) -> None:
    event = await house.event_with_room()
    async with fan_at(house, event) as fan:
        await fan.join()
        await with_tickets(fan)
        before = await fan.kept_account()
        await fan.keep_account(access_token=await ended_token(fan), renew_at="2099-01-01T00:00:00Z")
        await fan.page.reload()
        await fan.until_tickets(1)
        after = await fan.kept_account()
        assert after["account_id"] == before["account_id"]
        assert after["secret"] != before["secret"]


async def test_lost_answers_and_a_reload_in_between_lose_nothing(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await with_tickets(fan)
        before = await fan.kept_account()
        added = await page.devtools("Page.addScriptToEvaluateOnNewDocument", source=LOSES_ANSWERS)
        await fan.keep_account(access_token=await ended_token(fan))
        await page.reload()

        async def lost() -> bool:
            return bool(await page.run("return window.lost > 0"))

        await page.until(lost, "an answer is lost")
        kept = await fan.kept_account()
        assert kept["secret"] == before["secret"], "nobody knows yet"
        assert (await renewal_of(fan))[0] == digest(kept["next_secret"])
        await page.reload()
        await fan.until_tickets(1)
        assert (await fan.kept_account())["secret"] == kept["next_secret"]
        await page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


async def test_a_secret_in_two_hands_is_ended_and_the_page_says_so(house: House) -> None:
    """Somebody copied this browser's memory and was faster; the fan's token had ended meanwhile."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        await fan.join()
        await fan.page.until_view("waiting")
        stolen = (await fan.kept_account())["secret"]
        body = {"secret": stolen, "next_secret": secrets.token_urlsafe(24)}
        assert (await house.http.post("/v1/renewals/next", json=body)).status_code == 200
        await fan.keep_account(access_token=await ended_token(fan))
        await fan.page.reload()
        await fan.page.until_view("join")
        await fan.page.until_text("#join-problem", "Begin again")
        thief = {"secret": body["next_secret"], "next_secret": secrets.token_urlsafe(24)}
        assert (await house.http.post("/v1/renewals/next", json=thief)).status_code == 401
        await fan.join()
        await fan.page.until_view("waiting")


async def test_tickets_of_a_lost_account_are_found_by_the_number_of_their_order(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        await with_tickets(fan)
        (order,) = await house.db.fetch("SELECT number FROM orders WHERE event_id = $1", event)
        await fan.keep_account(access_token=await ended_token(fan), secret=secrets.token_urlsafe(24))
        await fan.page.reload()
        await fan.page.until_view("pick")
        await fan.page.until_text(".note", order["number"])


async def test_a_key_moves_the_account_once(house: House) -> None:
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as first, fan_at(house, event) as second, fan_at(house, event) as third:
        await first.join()
        await first.page.click("#move-away")
        await first.page.until_shown("#move-key")
        key = await first.page.run("return document.querySelector('#move-key').value")
        assert len(key) == 32
        for fan in (second, third):
            await fan.page.click("summary")
            await fan.page.type("#given-key", key)
            await fan.page.click("#move-here")
        await third.page.until_text("details .danger", "not valid")
        await second.page.until_view("waiting")
        accounts = [(await fan.kept_account())["account_id"] for fan in (first, second)]
        assert accounts[0] == accounts[1]
        await first.page.reload()
        await first.page.until_view("waiting")


async def test_a_browser_that_others_use_can_forget(house: House) -> None:
    event = await house.event()
    async with fan_at(house, event) as fan:
        page = fan.page
        await with_tickets(fan)
        secret = (await fan.kept_account())["secret"]
        await page.open(house.stack.page_url)
        await page.until_shown("#forget")
        await page.run("window.confirm = () => true; document.querySelector('#forget').click()")

        async def is_forgotten() -> bool:
            kept = await page.run("return Object.keys(localStorage).filter((one) => one !== 'taquilla.language')")
            return bool(kept == [])

        await page.until(is_forgotten, "nothing is kept")
        await page.until_view("events")

        async def is_gone() -> bool:
            return not await page.shows("#forget")

        await page.until(is_gone, "nothing to forget")
        await fan.come()
        await page.until_view("pick")

        async def is_ended() -> bool:
            return await ended_as(house, secret) == ["forgotten"]

        await page.until(is_ended, "the secret is good for nothing")


async def test_an_answer_that_comes_after_forgetting_brings_nothing_back(house: House) -> None:
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.join()
        await page.until_view("waiting")
        (first,) = await page.tabs()
        await plays(fan, **{NEXT: "hold"})
        await fan.keep_account(renew_at="2026-01-01T00:00:00Z")
        await until_played(fan)
        kept = await fan.kept_account()
        second = await page.new_tab()
        await page.open(house.stack.page_url)
        await page.until_shown("#forget")
        await page.run("window.confirm = () => true; document.querySelector('#forget').click()")
        await page.show_tab(first)
        account = "return localStorage['taquilla.account'] ?? null"
        assert await page.run(account) is None, "at once"
        await plays(fan)
        await until_nobody_asks(fan)
        assert await page.run(account) is None

        async def is_ended() -> bool:
            return await ended_as(house, kept["next_secret"]) == ["forgotten"]

        await page.until(is_ended, "the secrets are good for nothing")
        await page.show_tab(second)

        async def is_gone() -> bool:
            return await page.shows('main[data-view="events"]') and not await page.shows("#forget")

        await page.until(is_gone, "the page begins anew")


async def test_a_key_in_place_of_an_account_is_asked_for_and_used_in_spite_of_a_reload(house: House) -> None:
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as first, fan_at(house, await house.event()) as second:
        await first.join()
        await first.page.until_view("waiting")
        await with_tickets(second)
        bought, mine = second.event_id, await second.kept_account()
        second.event_id = event
        await second.come()
        await use_key(second, "\u3042\u3044")
        await second.page.until_text("details .danger", "not valid")
        await plays(second, **{NEXT: "lose"})
        await second.page.run("window.says = false")
        key = f"\u2068{await first.spare_key()}\u2069\n"
        await use_key(second, key)
        assert await second.kept_account() == mine
        second.event_id = bought
        await second.come()
        await second.until_tickets(1)

        second.event_id = event
        await second.come()
        await plays(second, **{NEXT: "lose"})
        await use_key(second, key)
        await until_played(second)
        assert await second.kept_account() == mine, "nobody knows yet"
        await second.page.reload()
        await second.page.until_view("waiting")
        assert (await second.kept_account())["account_id"] == (await first.kept_account())["account_id"]
        assert await ended_as(house, mine["secret"]) == ["forgotten"]
        assert await second.page.run("return localStorage['taquilla.moving'] ?? null") is None


async def test_a_renewal_under_way_does_not_undo_a_move(house: House) -> None:
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as first, fan_at(house, event) as second:
        for fan in (first, second):
            await fan.join()
            await fan.page.until_view("waiting")
        await second.page.click("main .row button")
        await second.page.until_view("join")
        await plays(second, **{NEXT: "hold"})
        await second.keep_account(renew_at="2026-01-01T00:00:00Z")
        await until_played(second)
        await use_key(second, await first.spare_key())
        await plays(second)
        await second.page.until_view("waiting")
        await until_nobody_asks(second)
        assert (await second.kept_account())["account_id"] == (await first.kept_account())["account_id"]


async def test_a_refusal_by_others_than_booking_costs_no_account(house: House) -> None:
    """Something in between answers 401, then the room refuses a token that is new: the account and the place stay."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        page = fan.page
        await fan.join()
        await page.until_view("waiting")
        before = await fan.kept_account()
        await plays(fan, **{NEXT: ["", {"status": 401}]})
        await fan.keep_account(renew_at="2026-01-01T00:00:00Z")
        await until_played(fan)
        await until_nobody_asks(fan)
        assert (await fan.kept_account())["secret"] == before["secret"]
        await plays(fan, **{"/queue": [json.dumps({"code": "not-signed-in"}), {"status": 401}]})
        await fan.house.set_room(event, paused=False)
        await until_played(fan, 4)
        assert (await fan.kept_account())["account_id"] == before["account_id"]
        assert not await page.shows('main[data-view="join"]')
        await plays(fan)
        await page.until_view("pick")


async def test_who_leaves_a_place_that_is_gone_has_left(house: House) -> None:
    """The room knows of no place: nothing is left to wait for. Who has not left is told that it is gone."""
    event = await house.event_with_room(paused=True)
    async with fan_at(house, event) as fan:
        await fan.join()
        await fan.page.until_view("waiting")
        nowhere = {"/queue": [json.dumps({"code": "place-not-found"}), {"status": 404}]}
        await plays(fan, **nowhere)
        await fan.page.click("main .row button")
        await fan.page.until_view("join")
        assert await fan.page.text("#join-problem") == ""
        await plays(fan)
        await fan.join()
        await fan.page.until_view("waiting")
        await plays(fan, **nowhere)
        await house.set_room(event, paused=False)
        await fan.page.until_text("#join-problem", "not known here any more")
