"""How a program of ours listens: granian in our own event loop, on loopback or behind TLS, ready file, clean end."""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import logging
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from starlette.types import Receive, Scope, Send

from booking import own_process

_BACKLOG = 1024
_COLLECT_AFTER = 50_000
_MOST_CONNECTIONS = 8192
_HEADERS_WITHIN_MS = 10_000
_LISTENS_WITHIN_S = 10.0
_STOPS_WITHIN_S = 5.0

log = logging.getLogger(__name__)


class Stoppable(Protocol):
    """An ASGI application that can be told to stop."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One call."""
        ...

    async def stop(self) -> None:
        """Let go of what the application holds; open calls are answered first where that takes no time."""
        ...


def add_listening_arguments(parser: argparse.ArgumentParser) -> None:
    """`--host`, `--port`, `--tls-certificate`, `--tls-key`."""
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--tls-certificate", type=Path, help="PEM file")
    parser.add_argument("--tls-key", type=Path, help="PEM file")


def check_listening(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """End with the parser's error when what was chosen is no safe way to listen."""
    if (chosen.tls_certificate is None) != (chosen.tls_key is None):
        parser.error("--tls-certificate and --tls-key go together")
    if chosen.tls_certificate is None and not is_loopback(chosen.host):
        parser.error(f"plain HTTP is served on this machine only: {chosen.host} needs --tls-certificate and --tls-key")


def is_loopback(host: str) -> bool:
    """Whether `host` is one of this machine's own addresses, by its form alone: names are not looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run_loop(work: Coroutine[Any, Any, None]) -> None:
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


async def serve_until(
    end: asyncio.Event,
    chosen: argparse.Namespace,
    app: Stoppable,
    on_listening: Callable[[str], None] | None = None,
) -> None:
    """Listen as `chosen` says (`add_listening_arguments`) until `end`; the ready file is written once it works.

    `on_listening` hears the address before that.

    Raises:
        OSError: somebody listens there already.
    """
    with reserved_port(chosen.host, chosen.port) as port:
        server = _server(chosen, app, port)
        serving = asyncio.create_task(server.serve(), name="granian")
        await _wait_listening(chosen.host, port, serving)
    url = f"{'https' if chosen.tls_certificate else 'http'}://{_in_url(chosen.host)}:{port}"
    log.info("serving %s", url)
    if on_listening is not None:
        on_listening(url)
    own_process.write_ready_file(chosen.ready_file, {"port": port, "url": url})
    ending = asyncio.create_task(end.wait(), name="end")
    await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    await app.stop()
    server.stop()  # type: ignore[no-untyped-call]
    with suppress(TimeoutError):
        await asyncio.wait_for(serving, _STOPS_WITHIN_S)
    log.info("stopped")


def _server(chosen: argparse.Namespace, app: Stoppable, port: int) -> Server:
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
def reserved_port(host: str, port: int, *, for_child: bool = False) -> Iterator[int]:
    """A port that stays ours until the server listens on it; `for_child`: one that is started meanwhile as a process.

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
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(for_child))  # the child may look at it, as above
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
