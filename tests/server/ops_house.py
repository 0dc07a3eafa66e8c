"""What the tests of figures share: an API that collects figures, whose seconds are made one by one, and its staff."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from booking.domain.caller import Role
from booking.figures.model import Second
from booking.figures.watch import Watch, open_for_figures
from booking.store.database import Database
from booking.web.application import Application, FigureSource, create_app
from tests.server.box_office import Clock
from tests.server.web_api import Api


class OpsHouse:
    """An API process in this one. Nothing is measured until a test asks for the next second."""

    def __init__(self, api: Api, watch: Watch, clock: Clock, figures_db: Database) -> None:
        self.api, self.watch, self.clock, self.figures_db = api, watch, clock, figures_db

    async def second(self, *, after_s: float = 1.0) -> Second:
        """Time goes on; the newest second as this process has it."""
        await self.clock.move(seconds=after_s)
        await self.watch.once()
        assert self.watch.standing.second is not None
        return self.watch.standing.second

    async def seconds(self, count: int) -> Second:
        """So many of them; the last one."""
        for _ in range(count - 1):
            await self.second()
        return await self.second()

    async def staff(self, role: Role = Role.OPS) -> str:
        """A token."""
        return await self.api.staff(role)


@asynccontextmanager
async def ops_house(db: Database, clock: Clock) -> AsyncIterator[OpsHouse]:
    """An API over `db` with figures over connections of their own; its tails do not run."""
    figures_db = await open_for_figures(db.dsn, "test")
    app: Application = create_app(db, figures=FigureSource(figures_db))
    assert app.watch is not None
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            yield OpsHouse(Api(app, client, db), app.watch, clock, figures_db)
    finally:
        await app.stop()
        await figures_db.close()
