"""The room as an ASGI application: its table of routes behind the gate, answers to faults as booking gives them."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import Route as HttpRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from booking.room.calls import Endpoint, Route, Services
from booking.room.fan_routes import FAN_ROUTES
from booking.room.operator_routes import OPERATOR_ROUTES
from booking.room.page_files import PageFiles
from booking.web.gate import Front


class RoomApplication:
    """The waiting room's HTTP. The house is the caller's to start; `stop` stops it. `page` is what fans see."""

    def __init__(
        self,
        services: Services,
        routes: Iterable[Route] = (*FAN_ROUTES, *OPERATOR_ROUTES),
        *,
        page: PageFiles | None = None,
    ) -> None:
        self.services = services
        mounted = [HttpRoute(one.path, Endpoint(one, services), methods=[one.method]) for one in routes]
        if page is not None:
            mounted += page.routes()
        self._front: ASGIApp = Front(Router(mounted, redirect_slashes=False))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # tells the router to raise for an unknown address, instead of answering in plain text
        await self._front(scope, receive, send)

    async def stop(self) -> None:
        """Time stops, those who wait are answered, what was handed over is stored."""
        await self.services.house.stop()
        if self.services.bot_check is not None:
            await self.services.bot_check.close()
