"""The application: the table of routes behind its gate, the seat tail beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from starlette.routing import BaseRoute, Router, WebSocketRoute
from starlette.routing import Route as HttpRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from booking.domain.figures import Figure
from booking.figures.collector import Collector
from booking.figures.meter import Meter
from booking.figures.model import ProcessKind
from booking.figures.watch import Watch
from booking.services.admission import AdmissionGate
from booking.services.choose_provider import ProviderChoice
from booking.store.database import Database
from booking.web.calls import OpsServices, PaymentStarter, ProviderServices, Route, Services
from booking.web.client_address import Network
from booking.web.cross_origin import CrossOrigin
from booking.web.feed_places import FeedPlaces
from booking.web.feed_socket import serve_feed
from booking.web.gate import Endpoint, Front
from booking.web.ops_broadcast import SERVERS_SEND
from booking.web.rate_limit import RateLimits
from booking.web.routes import ROUTES
from booking.web.seat_tail import SeatTail


@dataclass(frozen=True, slots=True)
class FigureSource:
    """With what figures are collected: `db` for them alone, which stays the caller's to close, and what counts.

    `metrics_token`: what a scraper has to show; without one `/metrics` answers this machine alone.
    """

    db: Database
    meter: Meter = field(default_factory=Meter)
    metrics_token: str = ""


class Application:
    """An ASGI application. Its lifespan runs the seat tail and the figures; databases stay the caller's to close."""

    def __init__(
        self,
        services: Services,
        routes: Iterable[Route] = ROUTES,
        *,
        page_origins: Collection[str] = (),
        watch: Watch | None = None,
    ) -> None:
        self.services = services
        self._tasks: list[asyncio.Task[None]] = []
        self.watch = watch
        self._router = Router(
            [mount for route in sorted(routes, key=_rank) for mount in _mounted(route, services)],
            redirect_slashes=False,
            lifespan=lambda _: self._lifespan(),
        )
        front: ASGIApp = Front(self._router)
        self._front = CrossOrigin(front, page_origins) if page_origins else front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # tells the router to raise for an unknown address, instead of answering in plain text
        if scope["type"] == "websocket":
            scope[SERVERS_SEND] = send
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
        self._tasks.append(asyncio.create_task(self.services.seats.run(), name="seat-tail"))
        if self.watch is not None:
            self._tasks.append(asyncio.create_task(self.watch.run(), name="figures"))

    async def stop(self) -> None:
        """Stop tailing and forget the projections."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        self.services.seats.close()


def create_app(
    db: Database,
    *,
    payments: PaymentStarter | None = None,
    providers: ProviderServices | None = None,
    rates: RateLimits | None = None,
    trusted_proxies: Sequence[Network] = (),
    page_origins: Collection[str] = (),
    figures: FigureSource | None = None,
    feeds: FeedPlaces | None = None,
) -> Application:
    """The API over `db`. `payments` takes an opened authorization to its provider at once; by default the desk.

    Nobody is slowed down without `rates`, no figures are collected without `figures`. Pages of `page_origins` may call
    from browsers. From now on `db` chooses seats by what this process knows of them.
    """
    seats = SeatTail(db)
    db.blocks.live_free = seats.free_seats
    providers = providers or ProviderServices(choice=ProviderChoice(db))
    if payments is None and providers.desk is not None:
        payments = providers.desk.take
    meter = Meter() if figures is None else figures.meter
    watch = None if figures is None else _watch(figures.db, db, meter, seats)
    standing = None if watch is None else watch.standing
    services = Services(
        db, seats, payments, rates, tuple(trusted_proxies), providers, AdmissionGate(db), meter,
        OpsServices.of(standing, "" if figures is None else figures.metrics_token),
        feeds or FeedPlaces(),
    )  # fmt: skip
    return Application(services, page_origins=page_origins, watch=watch)


def _watch(figures_db: Database, db: Database, meter: Meter, seats: SeatTail) -> Watch:
    """The task that tells this process's part, and adds up all of them if it is its turn."""

    def gauges() -> dict[str, float]:
        return {Figure.FEED_CLIENTS: seats.count_followers()}

    return Watch(figures_db, Collector(ProcessKind.API, meter, db=db, gauges=gauges, seats=seats.count_seats))


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
        socket = WebSocketRoute(route.path, partial(_socket, route=route, services=services))
        return [socket, HttpRoute(route.path, Endpoint(route, services), methods=["GET"])]
    return [HttpRoute(route.path, Endpoint(route, services), methods=[route.method])]


async def _socket(socket: WebSocket, *, route: Route, services: Services) -> None:
    serve = serve_feed if route.socket is None else route.socket
    await serve(socket, route, services)
