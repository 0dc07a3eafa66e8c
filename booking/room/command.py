"""The verb `room`: the waiting room in one process, with a store of its own.

    python -m booking room (--data FOLDER | --store ADDRESS) [--dsn DSN] [--host 127.0.0.1] [--port 0] [--ready-file F]
        [--bot-check-url URL --bot-check-secret-file F] [--rate-limits off] [--trusted-proxy NETWORK]… [--address URL]
        [--booking-url URL] [--payments sandbox | --payments stripe --stripe-publishable-key pk_…] [--no-page]
        [--bot-check-widget URL --bot-check-site-key KEY]
    python -m booking room --store ADDRESS --copy-from ADDRESS

The store is a file of SQLite in FOLDER, or what ADDRESS names (`store_address`); `--copy-from` moves one to another.
With `--dsn` the room listens to booking: who has bought, what is left, who may speak. While booking is away people join
and wait as before, and nobody is let in. Exit code 3: the store is another process's, or it has failed: start again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from booking import own_process
from booking.domain.errors import InvalidRequestError
from booking.room.authority import Authority
from booking.room.bot_check import BotCheck, SiteVerify
from booking.room.callers import Callers
from booking.room.calls import Limits, Services
from booking.room.figures import telling_figures
from booking.room.house import House
from booking.room.page_files import STRIPE, PageFiles, PageSettings
from booking.room.store import RoomStore, StoreFailedError
from booking.room.store_choice import add_store_arguments, check_store
from booking.room.store_copy import copy_between, refuse_copied, refuse_unfinished
from booking.room.web import RoomApplication
from booking.web.client_address import parse_network
from booking.web.listening import add_listening_arguments, check_listening, run_loop, serve_until

CANNOT_REACH = 3
T = TypeVar("T")
_ANY_HOST = {"0.0.0.0", "::"}  # noqa: S104 - compared, not listened on: nobody can be sent there


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM, SIGINT, the parent's end, or a failed store. Returns the exit code."""
    chosen = _parse(arguments)
    own_process.log_to_standard_error()
    try:
        run_loop(_serve(chosen) if chosen.copy_from is None else _copy(chosen))
    except (StoreFailedError, OSError) as error:
        sys.stderr.write(f"taquilla room: {error}\n")
        return CANNOT_REACH
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla room", description="The waiting room.")
    add_store_arguments(parser)
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="booking; default: $TAQUILLA_DSN")
    parser.add_argument("--bot-check-url", help="a siteverify address: Turnstile, hCaptcha, reCAPTCHA")
    parser.add_argument("--bot-check-secret-file", type=Path, help="holds the secret of the bot check")
    parser.add_argument(
        "--address", metavar="URL", type=_address,
        help="where fans and the controller of admission reach it; default: where it listens",
    )  # fmt: skip
    _add_page_arguments(parser)
    parser.add_argument("--rate-limits", choices=("on", "off"), default="on", help="off: for measurements")
    parser.add_argument(
        "--trusted-proxy", action="append", type=parse_network, default=[], metavar="NETWORK",
        help="a proxy whose X-Forwarded-For is believed; without one, the header is not read",
    )  # fmt: skip
    add_listening_arguments(parser)
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    if (chosen.bot_check_url is None) != (chosen.bot_check_secret_file is None):
        parser.error("--bot-check-url and --bot-check-secret-file go together")
    if (chosen.bot_check_widget is None) != (chosen.bot_check_site_key is None):
        parser.error("--bot-check-widget and --bot-check-site-key go together")
    try:
        chosen.page_settings = PageSettings(
            chosen.booking_url or "", chosen.payments, chosen.bot_check_widget or "", chosen.bot_check_site_key or "",
            chosen.stripe_publishable_key,
        )  # fmt: skip
    except InvalidRequestError as error:
        parser.error(error.detail)
    check_store(parser, chosen)
    check_listening(parser, chosen)
    return chosen


def _add_page_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--booking-url", help="where browsers find the API; default: at the page's own host")
    parser.add_argument(
        "--payments", choices=("", "sandbox", STRIPE), default="", help="how the page pays; without it, it cannot"
    )
    parser.add_argument("--stripe-publishable-key", metavar="pk_…", default="", help="with --payments stripe")
    parser.add_argument("--bot-check-widget", metavar="URL", help="the script of the bot check's widget")
    parser.add_argument("--bot-check-site-key", metavar="KEY", help="the public key of the bot check")
    parser.add_argument("--no-page", action="store_true", help="the room's calls alone: another server has the page")


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
        raise argparse.ArgumentTypeError("an address like https://wait.example.org is needed")
    return f"{parts.scheme}://{parts.netloc}"


async def _copy(chosen: argparse.Namespace) -> None:
    with own_process.ending(chosen.parent_pid) as end:
        copying = copy_between(chosen.copy_from, chosen.store, accept_copied=chosen.accept_copied_store)
        copied = await _unless_ended(end, copying)
    if copied is None:
        raise StoreFailedError("the copy was broken off; run it again")
    sys.stdout.write(f"copied from {chosen.copy_from.address} to {chosen.store.address}: {copied}\n")


async def _serve(chosen: argparse.Namespace) -> None:
    bot_check, page = _bot_check(chosen), None if chosen.no_page else PageFiles(chosen.page_settings)
    with own_process.ending(chosen.parent_pid) as end:
        async with _authority(chosen.dsn) as (authority, serves_at):
            opened = await _unless_ended(end, _opened(chosen, authority))
            if opened is None:
                return
            store, house = opened
            house.start()
            limits = Limits() if chosen.rate_limits == "on" else None
            services = Services(house, Callers(house), bot_check, limits, tuple(chosen.trusted_proxy))
            failing = asyncio.create_task(_end_when_failed(store, end), name="room-failure")
            app = RoomApplication(services, page=page)
            try:
                with telling_figures(chosen.dsn, house):
                    await serve_until(end, chosen, app, lambda url: serves_at(chosen.address or url))
            except OSError:  # nobody can be served here; the next one that starts need not wait for the store
                await app.stop()
                raise
            failing.cancel()
            if store.failed.is_set():
                raise StoreFailedError("the store has failed; start again: what was promised is in it")


async def _unless_ended(end: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work gives; None when the end came first: the work was cancelled, and has let go of what it had.

    A store is waited for as long as it takes, and a process that is told to end must not wait with it.
    """
    working, ending = asyncio.create_task(work), asyncio.create_task(end.wait())
    await asyncio.wait({working, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    working.cancel()
    await asyncio.wait({working})
    return None if working.cancelled() else working.result()


async def _opened(chosen: argparse.Namespace, authority: Authority | None) -> tuple[RoomStore, House]:
    """The rooms as they are stored, unless no room may start on that; then the store is let go of."""
    store: RoomStore = await chosen.store.open()
    try:
        stored = await store.load()
        refuse_unfinished(stored)
        await refuse_copied(store, stored, accept=chosen.accept_copied_store)
        # A long line takes seconds to take up, in which the store's lease must go on.
        house = await asyncio.to_thread(House, store, stored, authority)
        await house.prepare()
        await house.hear()
    except BaseException:
        await store.close()
        raise
    return store, house


@asynccontextmanager
async def _authority(dsn: str | None) -> AsyncIterator[tuple[Authority | None, Callable[[str], None]]]:
    """Booking, when there is an address of it, and how it is told ours; it need not be there."""
    if not dsn:
        yield None, lambda _url: None
        return
    from booking.room.booking_link import BookingLink

    link = BookingLink(dsn)
    try:
        yield link, lambda url: None if urlsplit(url).hostname in _ANY_HOST else link.serves_at(url)
    finally:
        await link.close()


def _bot_check(chosen: argparse.Namespace) -> BotCheck | None:
    if chosen.bot_check_url is None:
        return None
    secret = chosen.bot_check_secret_file.read_text(encoding="utf-8").strip()
    return SiteVerify(chosen.bot_check_url, secret)


async def _end_when_failed(store: RoomStore, end: asyncio.Event) -> None:
    await store.failed.wait()
    end.set()
