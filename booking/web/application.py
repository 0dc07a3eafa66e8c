"""The application: the table of routes behind its gate, the seat tail beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from starlette.routing import BaseRoute, Router, WebSocketRoute
from starlette.routing import Route as HttpRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from booking.services.admission import AdmissionGate
from booking.services.choose_provider import ProviderChoice
from booking.store.database import Database
from booking.web.calls import PaymentStarter, ProviderServices, Route, Services
from booking.web.client_address import Network
from booking.web.cross_origin import CrossOrigin
from booking.web.feed_socket import serve_feed
from booking.web.gate import Endpoint, Front
from booking.web.rate_limit import RateLimits
from booking.web.routes import ROUTES
from booking.web.seat_tail import SeatTail


class Application:
    """An ASGI application. Its lifespan runs the seat tail; `db` stays the caller's to close."""

    def __init__(
        self, services: Services, routes: Iterable[Route] = ROUTES, *, page_origins: Collection[str] = ()
    ) -> None:
        self.services = services
        self._tail: asyncio.Task[None] | None = None
        self._router = Router(
            [mount for route in sorted(routes, key=_rank) for mount in _mounted(route, services)],
            redirect_slashes=False,
            lifespan=lambda _: self._lifespan(),
        )
        front: ASGIApp = Front(self._router)
        self._front = CrossOrigin(front, page_origins) if page_origins else front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # tells the router to raise for an unknown address, instead of answering in plain text
        await self._front(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self) -> AsyncIterator[None]:
        self.start()
        try:
            yield
        finally:
            await self.stop()

    def start(self) -> None:
        """Start tailing; the lifespan does it, and tests that have none."""
        self._tail = asyncio.create_task(self.services.seats.run(), name="seat-tail")

    async def stop(self) -> None:
        """Stop tailing and forget the projections."""
        tail, self._tail = self._tail, None
        if tail is not None:
            tail.cancel()
            with suppress(asyncio.CancelledError):
                await tail
        self.services.seats.close()


def create_app(
    db: Database,
    *,
    payments: PaymentStarter | None = None,
    providers: ProviderServices | None = None,
    rates: RateLimits | None = None,
    trusted_proxies: Sequence[Network] = (),
    page_origins: Collection[str] = (),
) -> Application:
    """The API over `db`. `payments` takes an opened authorization to its provider at once; by default the desk.

    Nobody is slowed down without `rates`. Pages of `page_origins` may call from browsers. From now on `db` chooses
    seats by what this process knows of them.
    """
    seats = SeatTail(db)
    db.blocks.live_free = seats.free_seats
    providers = providers or ProviderServices(choice=ProviderChoice(db))
    if payments is None and providers.desk is not None:
        payments = providers.desk.take
    services = Services(db, seats, payments, rates, tuple(trusted_proxies), providers, AdmissionGate(db))
    return Application(services, page_origins=page_origins)


_HOT = ("/holds", "/checkout", "/payments", "/v1/orders/{order_id}", "/seats", "/result", "/v1/holds/{hold_id}")


def _rank(route: Route) -> int:
    """The router looks at one route after another: those that a crowd calls come first, then words of their own.

    The address of a feed would otherwise be taken for that of a seat of this name.
    """
    if route.method == "WS":
        return len(_HOT) - 1
    return next((rank for rank, end in enumerate(_HOT) if route.path.endswith(end)), len(_HOT))


def _mounted(route: Route, services: Services) -> list[BaseRoute]:
    if route.method == "WS":
        socket = WebSocketRoute(route.path, partial(_feed, route=route, services=services))
        return [socket, HttpRoute(route.path, Endpoint(route, services), methods=["GET"])]
    return [HttpRoute(route.path, Endpoint(route, services), methods=[route.method])]


async def _feed(socket: WebSocket, *, route: Route, services: Services) -> None:
    await serve_feed(socket, route, services)
