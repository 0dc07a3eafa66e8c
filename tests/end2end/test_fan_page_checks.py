"""Turnstile, hCaptcha and reCAPTCHA on the page, by stand-ins at their hosts (R21): drawn, done, expired, failed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end2end.browser import Browser, Browsers, browsers, need_chromium
from tests.end2end.fan_house import House
from tests.end2end.http_client import Buyer
from tests.end2end.processes import Process, ready
from tests.end2end.small_site import small_site
from tests.end2end.tls_site import TlsSite, tls_site

pytestmark = pytest.mark.timeout(180)

# What all three have in common; `stub` is how the test plays the visitor and the maker.
_WIDGET = """
const widget = {
  render(place, options) {
    const frame = document.createElement("iframe");
    frame.src = FRAME;
    frame.title = options.sitekey;
    place.append(frame);
    globalThis.stub.options = options;
    globalThis.stub.drawn += 1;
    return globalThis.stub.drawn;
  },
  reset(id) { if (id === globalThis.stub.drawn) globalThis.stub.resets += 1; },
  remove() { globalThis.stub.options = null; },
};
globalThis.stub ??= {drawn: 0, resets: 0};
"""
_LATE_RECAPTCHA = """
const waiting = [];
globalThis.grecaptcha = {ready: (act) => waiting.push(act)};
globalThis.drawing = () => { waiting.forEach((act) => act()); };
const more = document.createElement("script");
more.src = "https://www.gstatic.com/recaptcha/releases/x/recaptcha__en.js";
document.head.append(more);
"""
FRAMES = {
    "turnstile": "https://challenges.cloudflare.com/frame.html", "hcaptcha": "https://newassets.hcaptcha.com/frame.html",
    "recaptcha": "https://www.google.com/recaptcha/frame.html",
}  # fmt: skip
SCRIPTS = {
    "turnstile": "challenges.cloudflare.com/turnstile/v0/api.js", "hcaptcha": "js.hcaptcha.com/1/api.js",
    "recaptcha": "www.google.com/recaptcha/api.js",
}  # fmt: skip
HOSTS = ("challenges.cloudflare.com", "js.hcaptcha.com", "newassets.hcaptcha.com", "www.google.com", "www.gstatic.com")


def _script(maker: str, then: str) -> str:
    return f"(() => {{ const FRAME = '{FRAMES[maker]}';{_WIDGET}{then} }})();"


ANSWERS = {
    SCRIPTS["turnstile"]: _script("turnstile", "globalThis.turnstile = widget;"),
    SCRIPTS["hcaptcha"]: _script("hcaptcha", "globalThis.hcaptcha = widget; globalThis.grecaptcha = {};"),
    SCRIPTS["recaptcha"]: _LATE_RECAPTCHA,
    "www.gstatic.com/recaptcha/releases/x/recaptcha__en.js": _script(
        "recaptcha", "delete widget.remove; Object.assign(globalThis.grecaptcha, widget); globalThis.drawing();"
    ),
    **{url.removeprefix("https://"): "<!doctype html><title>I am not a machine</title>" for url in FRAMES.values()},
}


@dataclass
class Abroad:
    site: TlsSite
    browsers: Browsers


@pytest.fixture(scope="module")
def abroad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Abroad]:
    need_chromium()
    with ExitStack() as open_now:
        site = open_now.enter_context(tls_site(tmp_path_factory.mktemp("abroad"), ANSWERS))
        yield Abroad(site, open_now.enter_context(browsers(*site.flags(*HOSTS))))


@dataclass
class Joining:
    """Somebody who stands before the check of a room."""

    page: Browser
    url: str
    token: str

    async def come(self) -> None:
        await self.page.open(self.url)
        kept = json.dumps({"access_token": self.token})
        await self.page.run("localStorage['taquilla.account'] = arguments[0]", kept)
        await self.page.reload()

    async def until_drawn(self, maker: str) -> None:
        await self.page.until_shown("#bot-check iframe")
        assert await self.page.run("return document.querySelector('#bot-check iframe').src") == FRAMES[maker]
        assert await self.page.run("return stub.options.sitekey") == "the site's key"

    async def does(self, act: str, *words: str) -> None:
        await self.page.run(f"stub.options['{act}'](...arguments)", *words)

    async def join(self) -> None:
        await self.page.click("main .main")


@pytest.mark.parametrize("maker", SCRIPTS)
async def test_a_check_is_drawn_done_expires_and_fails(
    house: House, abroad: Abroad, tmp_path: Path, maker: str
) -> None:
    event = await house.event(admission=True)
    (tmp_path / "secret").write_text("s3cret")
    asked: list[bytes] = []
    with small_site({"/verify": '{"success": true}'}, asked) as check:
        words = ["booking", "room", "--data", str(tmp_path / "room"), "--dsn", house.stack.dsn,
                 "--booking-url", house.stack.api_url, "--bot-check-url", f"{check}/verify",
                 "--bot-check-secret-file", str(tmp_path / "secret"),
                 "--bot-check-widget", f"https://{SCRIPTS[maker]}?render=explicit",
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
            async with abroad.browsers.lent() as page:
                joining = Joining(page, f"{url}/events/{event}", token)
                await at_the_check(joining, abroad.site, maker)
                assert [line for line in await page.console() if "Content Security Policy" in line] == []
        finally:
            abroad.site.away.clear()
            await process.end()
    proofs = [body for body in asked if b"response=" in body]
    assert len(proofs) == 1
    assert b"response=a+person" in proofs[0]
    assert b"secret=s3cret" in proofs[0]


async def at_the_check(joining: Joining, site: TlsSite, maker: str) -> None:
    page = joining.page
    site.away.add(SCRIPTS[maker])
    await joining.come()
    await page.until_text("#bot-check", "does not load")
    site.away.clear()
    await page.click("#check-again")
    await joining.until_drawn(maker)
    await joining.join()
    await page.until_text("#join-problem", "Do the check first")
    await joining.does("callback", "stale")
    await joining.does("expired-callback")
    await page.until_text("#bot-check", "has expired")
    assert await page.run("return stub.resets") == 1
    await joining.join()
    await page.until_text("#join-problem", "Do the check first")
    await joining.does("error-callback", "300030")
    await page.until_text("#bot-check", "does not load")
    await page.click("#check-again")
    await joining.until_drawn(maker)
    await joining.does("callback", "a person")
    await joining.join()
    await page.until_view("waiting")
