"""How often the page asks for its place: as the room says, also when it keeps nobody waiting for news (R19, R41)."""

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
_COUNT_CALLS = """
return (async () => {
  const {Queue} = await import("/queue.js");
  const headers = new Headers({"Retry-After": "40", "ETag": "x"});
  const body = {state: "waiting", is_letting_in: false};
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (calls === 2) await new Promise((done) => setTimeout(done, arguments[0]));
    return calls === 1 ? {status: 200, headers, body} : {status: 304, headers};
  };
  const queue = new Queue(null, 1, {call}, "session", () => {});
  await queue.refresh();
  queue.start();
  await new Promise((done) => setTimeout(done, arguments[0] + 2600));
  queue.stop();
  return calls;
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


async def test_a_full_room_that_keeps_nobody_is_asked_as_seldom_as_it_says() -> None:
    """It answers at once: coming again in two seconds would be all who wait, every two seconds."""
    need_chromium()
    with files_of_the_page() as url, browsers() as lent:
        async with lent.lent() as page:
            await page.open(f"{url}/page.css")
            assert await page.run(_COUNT_CALLS, 0) == 2, "the place, one question, and then forty seconds"
            assert await page.run(_COUNT_CALLS, 3_200) == 3, "who was kept for news may come again at once"
