"""What the page's modules ask for, and how often: as the room says, and for what it was at the time (R19, R41)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import booking.room
from tests.end2end.browser import browsers, need_chromium

_PAGE = Path(booking.room.__file__).parent / "page"
# How long is rested after an answer that took so many seconds and says so many. Time is the test's.
_REST = """
return (async () => {
  const {Queue} = await import("/queue.js");
  let now = 0, rests;
  performance.now = () => now;
  const rested = new Promise((told) => { rests = told; });
  Worker.prototype.postMessage = ([, ms]) => rests(ms / 1000);
  const answer = (status, seconds) => ({status, headers: new Headers({"Retry-After": seconds, ETag: "x"})});
  let calls = 0;
  const call = async () => {
    if (calls++ === 0) return {...answer(200, "7"), body: {state: "waiting", is_letting_in: false}};
    now += 1000 * arguments[0];
    return answer(304, arguments[1]);
  };
  const queue = new Queue(null, 1, {call}, "session", () => {});
  await queue.refresh();
  queue.start();
  const seconds = await rested;
  queue.stop();
  return seconds;
})();
"""
# A spare key while another tab renews: with a line that is dead for once. And a bank's answer when the order has gone.
_ASK_LATE = """
return (async () => {
  const files = ["/account.js", "/net.js", "/sale.js"];
  const [{Account}, {NoAnswer, Refusal}, {Sale}] = await Promise.all(files.map((one) => import(one)));
  let dead = true;
  const told = [], secretOf = () => JSON.parse(localStorage["taquilla.account"]).secret;
  localStorage["taquilla.account"] = JSON.stringify({account_id: "a", access_token: "t", secret: "s"});
  const body = {account_id: "a", access_token: "u", access_expires_at: "2027-01-01", server_time: "2026-12-01"};
  const line = {
    async call(method, path, {body: {secret}}) {
      if (path === "/v1/renewals/next") await new Promise((done) => setTimeout(done, 50));
      else if (!dead) told.push(secret === secretOf() ? "the good secret" : "a used secret");
      else {
        dead = false;
        throw new NoAnswer("no network");
      }
      return {body};
    },
  };
  const renewed = new Account(line).renew("t");
  const key = await new Account(line).spare((error) => error && told.push("trouble"));
  await renewed;
  const asked = async (_, method, path) => { told.push(path); return {body: {secret: "x"}}; };
  const sale = new Sale(null, 1, {call: asked}, {read: () => ({})}, {turn: () => ({}), changed() {}});
  await sale.pageSecret("7").catch((error) => told.push(String(error)));
  // A successor that somebody has used before: another one is named.
  const named = [], fields = [{pointer: "/next_secret"}];
  const again = new Account({
    async call(method, path, {body: {next_secret: next}}) {
      if (named.push(next) === 1) throw new Refusal(422, {code: "invalid-request", fields});
      return {body: {...body, access_token: "v"}};
    },
  });
  const failed = await again.renew("u").catch((error) => error);
  told.push(failed instanceof NoAnswer, await again.renew("u"), named[0] !== named[1] && named[1] === secretOf());
  return [key.length, ...told];
})();
"""

# The page before this one is still on its way out when this one asks for the event; later another tab takes it.
_TAKE_LATE = """
return (async () => {
  const {onlyTab} = await import("/memory.js");
  const name = "taquilla.event.1", patience = new AbortController();
  AbortSignal.timeout = () => patience.signal;
  let leaves;
  await new Promise((held) => navigator.locks.request(name, () => (held(), new Promise((go) => { leaves = go; }))));
  let has;
  const taken = new Promise((lost) => { has = onlyTab(1, lost); });
  while (!(await navigator.locks.query()).pending.length) await new Promise((go) => setTimeout(go, 5));
  leaves();
  const told = [await has];
  patience.abort();
  navigator.locks.request(name, {steal: true}, () => {});
  await Promise.race([taken, new Promise((go) => setTimeout(go, 5000)).then(() => told.push("not"))]);
  return [...told, "lost"];
})();
"""

# What a screen reader is told by who waits: a minute before the opening, then in the line. Time is the test's.
_WAIT_LONG = """
return (async () => {
  const [{waiting}, {speak}] = await Promise.all(["/view_queue.js", "/words.js"].map((one) => import(one)));
  await speak("en");
  document.body.append(Object.assign(document.createElement("div"), {id: "news"}));
  const told = [], news = document.getElementById("news");
  let now = 100000, left = 60;
  performance.now = () => now;
  const instant = "2026-12-01T10:00:00Z";
  const status = {phase: "early", availability: "available", opens_at: instant, server_time: instant, waiting: 9};
  const roomClock = {secondsUntil: () => left, now: () => 0};
  const app = {status, notice: {queueing: "random"}, roomClock, wasAwayUntil: 0};
  const view = waiting(app);
  const pass = (seconds) => {
    for (; seconds > 0; seconds--, left--, now += 1000) {
      view.update(app);
      if (news.textContent !== told.at(-1)) told.push(news.textContent);
    }
  };
  pass(60);
  const estimate = {low_s: 60, high_s: 180, basis: "set"};
  Object.assign(status, {phase: "open", is_letting_in: true, ahead: 8, estimate});
  pass(60);
  status.ahead = 7;
  pass(60);
  status.is_letting_in = false;
  pass(1);
  return told;
})();
"""

# How long is waited between the tries when a room that has said ten minutes does not answer. Time passes at once.
_ASK_THE_DEAD = """
return (async () => {
  const [{Queue}, {NoAnswer}] = await Promise.all(["/queue.js", "/net.js"].map((one) => import(one)));
  const waits = [];
  Math.random = () => 0.5;
  Worker.prototype.postMessage = function ([id, ms]) {
    waits.push(Math.round(ms / 1000));
    setTimeout(() => this.onmessage({data: id}));
  };
  const headers = new Headers({"Retry-After": arguments[0]});
  let calls = 0, over;
  const ends = new Promise((end) => { over = end; });
  const call = async () => {
    if (calls++ === 0) return {status: 200, headers, body: {state: "waiting"}};
    if (calls > 14) over();
    throw new NoAnswer("nobody is there");
  };
  const queue = new Queue(null, 1, {call}, "session", () => {});
  await queue.refresh();
  queue.start();
  await ends;
  queue.stop();
  return waits.slice(0, 12);
})();
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def files_of_the_page() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(_PAGE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_the_room_is_asked_as_seldom_as_it_says_however_slow_its_answers_are() -> None:
    """All who wait, coming again at once because a full room was slow, would keep it slow."""
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            for took, said, rest in ((0.125, "40", 39.875), (3.5, "40", 36.5), (26, "2", 0.25)):
                assert await page.run(_REST, took, said) == rest, "the last one was kept for news"


async def test_a_crowd_does_not_come_all_together_when_the_room_is_back() -> None:
    """Who is told to ask seldom is one of very many: after a long silence, too."""
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            assert await page.run(_ASK_THE_DEAD, "600") == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
            await page.open(f"{url}/page.css?near")
            assert await page.run(_ASK_THE_DEAD, "3") == [1, 2, 4, 8, 16, *[20] * 7], "near the turn"


async def test_what_is_asked_late_is_asked_about_what_it_was() -> None:
    """A spare key is asked for with the secret of the moment and in sight; a bank's answer is that to its operation."""
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            told = await page.run(_ASK_LATE)
    assert told == [32, "trouble", "the good secret", "/v1/payments/7/page-secret", True, True, True]


async def test_a_tab_that_had_to_wait_for_the_page_before_it_hears_that_another_one_has_taken_over() -> None:
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            assert await page.run(_TAKE_LATE) == [True, "lost"]


async def test_a_screen_reader_is_told_what_changes_and_no_seconds_that_pass() -> None:
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            told = await page.run(_WAIT_LONG)
    assert [" ".join(one.split()[:4]) for one in told] == [
        "The sale opens on", "8 people before you", "7 people before you", "7 people before you"
    ], told  # fmt: skip
    assert "Nobody is being let in" in told[-1]
