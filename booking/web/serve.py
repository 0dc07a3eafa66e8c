"""The verb `serve`: the API in one process, granian inside our own event loop.

    python -m booking serve --dsn DSN [--host 127.0.0.1] [--port 0] [--sandbox-url URL] [--ready-file F]
        [--rate hold-per-account=10/20]… [--rate-limits off] [--trusted-proxy NETWORK]…

Plain HTTP is served on this machine's own addresses only; any other needs `--tls-certificate` and `--tls-key`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from booking import own_process
from booking.domain.errors import BookingError
from booking.payments.pace import LEAST, MOST, CheckoutPace
from booking.payments.secrets import MissingSecretError
from booking.services.choose_provider import ProviderChoice
from booking.services.migrate import MigrationError, require_own_schema
from booking.services.payment_desk import PaymentDesk
from booking.services.providers import add_provider_arguments, is_any_chosen, open_providers, webhook_endpoints
from booking.services.webhooks import Webhooks
from booking.store.connection import ANSWER_LIMITS
from booking.store.database import Database
from booking.web.application import Application, create_app
from booking.web.calls import ProviderServices
from booking.web.client_address import parse_network
from booking.web.rate_limit import ALLOWANCES, RateLimits, parse_allowance

CANNOT_REACH = 3
_BACKLOG = 1024
_COLLECT_AFTER = 50_000
_MOST_CONNECTIONS = 8192
_HEADERS_WITHIN_MS = 10_000
_LISTENS_WITHIN_S = 10.0
_STOPS_WITHIN_S = 5.0

log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM, SIGINT or the parent's end. Returns the exit code."""
    chosen = _parse(arguments)
    own_process.log_to_standard_error()
    try:
        _run(_serve(chosen))
    except (BookingError, MigrationError, MissingSecretError, OSError) as error:
        sys.stderr.write(f"taquilla serve: {error}\n")
        return CANNOT_REACH
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla serve", description="The booking API.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    add_provider_arguments(parser)
    parser.add_argument(
        "--most-checkouts", type=int, default=MOST, metavar="N",
        help="how many online checkouts may run at once here while the provider is well",
    )  # fmt: skip
    parser.add_argument("--tls-certificate", type=Path, help="PEM file")
    parser.add_argument("--tls-key", type=Path, help="PEM file")
    _add_rate_arguments(parser)
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    if chosen.most_checkouts < LEAST:
        parser.error(f"--most-checkouts is {LEAST} or more")
    if (chosen.tls_certificate is None) != (chosen.tls_key is None):
        parser.error("--tls-certificate and --tls-key go together")
    if chosen.tls_certificate is None and not is_loopback(chosen.host):
        parser.error(f"plain HTTP is served on this machine only: {chosen.host} needs --tls-certificate and --tls-key")
    return chosen


def _add_rate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate-limits", choices=("on", "off"), default="on", help="off: for measurements")
    parser.add_argument(
        "--rate", action="append", type=parse_allowance, default=[], metavar="NAME=PER_S/BURST",
        help=f"another allowance; names: {', '.join(ALLOWANCES)}",
    )  # fmt: skip
    parser.add_argument(
        "--trusted-proxy", action="append", type=parse_network, default=[], metavar="NETWORK",
        help="a proxy whose X-Forwarded-For is believed; without one, the header is not read",
    )  # fmt: skip


def is_loopback(host: str) -> bool:
    """Whether `host` is one of this machine's own addresses, by its form alone: names are not looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _run(work: Coroutine[Any, Any, None]) -> None:
    """On uvloop where there is one: a third less CPU a request."""
    _collect_less()
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)


def _collect_less() -> None:
    """Look for cyclic garbage seldom, and never among what was loaded: it was a sixth of the CPU of a busy API.

    What a request makes dies by its reference count; only errors leave cycles behind.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 20, 100)


async def _serve(chosen: argparse.Namespace) -> None:
    with own_process.ending(chosen.parent_pid) as end:
        db = await Database.open(chosen.dsn, application="taquilla serve", limits=ANSWER_LIMITS)
        try:
            await require_own_schema(db)
            rates = RateLimits(dict(chosen.rate)) if chosen.rate_limits == "on" else None
            async with _provider_services(db, chosen) as providers:
                app = create_app(db, providers=providers, rates=rates, trusted_proxies=chosen.trusted_proxy)
                await _serve_until(end, chosen, app)
        finally:
            await db.close()


@asynccontextmanager
async def _provider_services(db: Database, chosen: argparse.Namespace) -> AsyncIterator[ProviderServices]:
    """What takes payments to their providers at once, and takes their events; other operations wait for a worker."""
    choice, endpoints = ProviderChoice(db), webhook_endpoints(chosen)
    webhooks = Webhooks(db, endpoints) if endpoints else None
    if not is_any_chosen(chosen):
        yield ProviderServices(choice=choice)
        return
    async with open_providers(db, chosen) as providers:
        desk = PaymentDesk(db, providers, CheckoutPace(most=chosen.most_checkouts))
        try:
            yield ProviderServices(desk, webhooks, choice)
        finally:
            await desk.close()


async def _serve_until(end: asyncio.Event, chosen: argparse.Namespace, app: Application) -> None:
    with _reserved_port(chosen.host, chosen.port) as port:
        server = _server(chosen, app, port)
        serving = asyncio.create_task(server.serve(), name="granian")
        await _wait_listening(chosen.host, port, serving)
    url = f"{'https' if chosen.tls_certificate else 'http'}://{_in_url(chosen.host)}:{port}"
    log.info("serving %s", url)
    own_process.write_ready_file(chosen.ready_file, {"port": port, "url": url})
    ending = asyncio.create_task(end.wait(), name="end")
    await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    await app.stop()
    server.stop()  # type: ignore[no-untyped-call]
    with suppress(TimeoutError):
        await asyncio.wait_for(serving, _STOPS_WITHIN_S)
    log.info("stopped")


def _server(chosen: argparse.Namespace, app: Application, port: int) -> Server:
    return Server(
        app,
        address=chosen.host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.auto if chosen.tls_certificate else HTTPModes.http1,
        backlog=_BACKLOG,
        backpressure=_MOST_CONNECTIONS,
        ssl_cert=chosen.tls_certificate,
        ssl_key=chosen.tls_key,
        http1_settings=HTTP1Settings(header_read_timeout=_HEADERS_WITHIN_MS),
        log_enabled=False,
    )


@contextmanager
def _reserved_port(host: str, port: int) -> Iterator[int]:
    """A port that stays ours until the server listens on it.

    Raises:
        OSError: somebody listens there already.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        free = int(probe.getsockname()[1])
    if not sys.platform.startswith("linux"):
        yield free
        return
    # On Linux the server shares its port, so a socket that never listens can keep it for us meanwhile.
    with socket.socket(family, socket.SOCK_STREAM) as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        keeper.bind((address[0], free, *address[2:]))
        yield free


async def _wait_listening(host: str, port: int, serving: asyncio.Task[None]) -> None:
    async with asyncio.timeout(_LISTENS_WITHIN_S):
        while True:
            if serving.done():
                await serving
                raise OSError(f"the server on {host}:{port} ended at once")
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                return
            await asyncio.sleep(0.01)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
