"""What tests of the controller share: a room and figures that say what they are told to, and a desk to set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from backend_client import wire
from booking.domain.admission_causes import Cause
from booking.domain.admission_control_signals import AdmissionSignals
from booking.domain.admission_steering import RoomSight
from booking.services.service_account import ServiceAccount
from booking.sql import query
from booking.store.database import Database
from booking.workers.admission_worker import Controller
from tests.server.box_office import Clock
from tests.server.web_api import Api

CALM = AdmissionSignals(queue_age_ms=5.0, hold_p99_ms=20.0, lock_waits=0.0)
STRAINED = replace(CALM, lock_waits=20.0)
URL = "http://room.test"


@dataclass
class FakeRoom:
    """A room as a line reaches it; `told` has every order."""

    sight: RoomSight = field(
        default_factory=lambda: RoomSight(
            url=URL, is_there=True, new_users_per_minute=120, total_active_users=200, version=1, waiting=500, active=10
        )
    )
    is_silent: bool = False
    refuses: bool = False
    told: list[Mapping[str, int | bool]] = field(default_factory=list)

    async def look(self, _url: str, _event_id: int, before: RoomSight | None) -> RoomSight:
        known = before or RoomSight(url=URL)
        if self.is_silent:
            return replace(known, is_there=False, problem="silent")
        return replace(self.sight, pause_told=known.pause_told and self.sight.is_paused)

    async def tell(self, room: RoomSight, _event_id: int, orders: Mapping[str, int | bool], _reason: str) -> RoomSight:
        assert room.version == self.sight.version
        if self.refuses:
            return replace(
                room, problem="it answered 403", problem_cause=Cause("room-refused", numbers={"status": 403.0})
            )
        self.told.append(orders)
        names = {"paused": "is_paused"}
        changed = {names.get(name, name): value for name, value in orders.items()}
        self.sight = replace(self.sight, version=room.version + 1, **changed)  # type: ignore[arg-type]
        return replace(self.sight, pause_told=bool(orders.get("paused", room.pause_told)))

    @property
    def rate(self) -> int:
        return self.sight.new_users_per_minute


class Told:
    """Figures that the test names."""

    def __init__(self, db: Database) -> None:
        self.db, self.signals = db, CALM
        self.is_old = False

    async def refresh(self) -> None:
        """Nothing to be read."""

    async def read(self, _event_id: int) -> tuple[AdmissionSignals, datetime]:
        row = await self.db.fetchrow("SELECT booking_now() - make_interval(secs => $1) AS at", 60.0 * self.is_old)
        assert row is not None
        return self.signals, row["at"]


@dataclass
class Desk:
    """One event with a room, an operator, and controllers whose seconds the test counts."""

    api: Api
    event: int
    ops: str
    clock: Clock
    room: FakeRoom
    figures: Told

    def controller(self) -> Controller:
        return Controller(self.api.db, ServiceAccount(self.api.db), self.room, self.figures)

    async def set(self, **change: object) -> None:
        version = (await self.read()).settings.version
        body = {"expected_version": version, "reason": "test", **change}
        done = await self.api.call("PUT", f"/v1/events/{self.event}/admission", body, token=self.ops)
        assert done.status_code == 200, done.text

    async def read(self) -> wire.AdmissionControl:
        answer = await self.api.call("GET", f"/v1/events/{self.event}/admission", token=self.ops)
        return msgspec.json.decode(answer.content, type=wire.AdmissionControl)

    async def changes(self) -> list[wire.AdmissionChange]:
        """Oldest first."""
        answer = await self.api.call("GET", f"/v1/events/{self.event}/admission/changes?limit=500", token=self.ops)
        return list(reversed(msgspec.json.decode(answer.content, type=wire.AdmissionChangeList).changes))

    async def seconds(self, controller: Controller, count: int) -> None:
        for _ in range(count):
            await self.clock.move(seconds=1)
            await controller.once()

    async def unsteered_s(self) -> float | None:
        """What the alarm about rooms that nobody steers looks at."""
        found = {row["event_id"]: row["unsteered_s"] for row in await self.api.db.fetch(query("read_unsteered"))}
        return found.get(self.event)
