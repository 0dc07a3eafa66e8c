"""A rush through a waiting room: how the room is steered, a slow database, a till at the counter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import time
from uuid import uuid4

import asyncpg
import httpx

from booking.crowd import LOCKED_SHARE
from booking.domain.caller import Role
from booking.rush.announced import Announcement
from booking.rush.counter import CounterSales
from booking.rush.plan import Sale, Server
from booking.rush.staff import Staffer, hire
from booking.store.database import Database

_LOOKS, _LOOK_EVERY_S = 150, 0.2
_ANSWERS_WITHIN_S = 5.0
_TILL_EVERY_S = 1.5
_MOST_TRIES = 8


@dataclass(frozen=True, slots=True)
class Steering:
    """How the room is steered: by the controller, or at a fixed rate; new users a minute."""

    cap_per_minute: int
    is_automatic: bool
    least_per_minute: int = 30
    targets: Mapping[str, float] = field(default_factory=lambda: {"lock_waits": 4.0})


@dataclass(frozen=True, slots=True)
class Slowness:
    """From `at_s` on, for `lasts_s`, somebody's forgotten transaction holds the rows of most seats."""

    at_s: float
    lasts_s: float


@dataclass(slots=True)
class Beside:
    """What happens beside the fans; times are seconds of the wall clock."""

    sales: CounterSales = field(default_factory=CounterSales)
    slow_from: float | None = None
    slow_until: float | None = None
    faults: list[str] = field(default_factory=list)


async def ask_for_admission(dsn: str, event_id: int) -> Mapping[Role, Staffer]:
    """Fans of the event need the room from now on. Returns the staff, by their role."""
    db = await Database.open(dsn, lanes=False, application="taquilla rush")
    try:
        await db.fetch("UPDATE events SET admission = true WHERE event_id = $1", event_id)
        return await hire(db)
    finally:
        await db.close()


async def steer(api: Server, room: Server, sale: Sale, ops: str, steering: Steering) -> None:
    """Open the room of the event and have it steered; returns once the controller does."""
    event, headers = sale.event_id, {"Authorization": f"Bearer {ops}"}
    async with (
        httpx.AsyncClient(base_url=room.url, headers=headers, trust_env=False) as rooms,
        httpx.AsyncClient(base_url=api.url, headers=headers, trust_env=False) as booking,
    ):
        opening = {"opens_at": datetime.now(UTC).isoformat(), "reason": "a rush", "queueing": "fifo"}
        (await rooms.put(f"/v1/rooms/{event}", json=opening)).raise_for_status()
        first = {"expected_version": 1, "reason": "a rush", "new_users_per_minute": steering.least_per_minute}
        (await rooms.put(f"/v1/rooms/{event}/settings", json=first)).raise_for_status()
        wish = {
            "expected_version": 0, "reason": "a rush", "mode": "automatic" if steering.is_automatic else "manual",
            "cap_per_minute": steering.cap_per_minute, "manual_per_minute": steering.cap_per_minute,
            "least_per_minute": steering.least_per_minute, "total_active_users": 100_000,
            "targets": dict(steering.targets),
        }  # fmt: skip
        path = f"/v1/events/{event}/admission"
        (await booking.put(path, json=wish, headers={"Idempotency-Key": uuid4().hex})).raise_for_status()
        for _ in range(_LOOKS):
            if (await booking.get(path)).raise_for_status().json()["is_steered"]:
                return
            await asyncio.sleep(_LOOK_EVERY_S)
        raise TimeoutError("no controller steers the room")


@asynccontextmanager
async def beside(
    dsn: str, api: Server, sale: Sale, clerk: str | None, slow: Slowness | None, starts_at: float,
    announcement: Announcement | None = None,
) -> AsyncIterator[Beside]:  # fmt: skip
    """A till that sells as `clerk` (None: somebody else does), and a database that is slow for a while.

    Both end with the block; what kept either from its work is in `faults`. `starts_at`: when the run begins, seconds of
    the wall clock.
    """
    seen = Beside()
    tasks = []
    if clerk is not None:
        tasks.append(asyncio.create_task(_sell(api, sale, clerk, seen.sales), name="till"))
    if slow is not None:
        tasks.append(asyncio.create_task(_slow_down(dsn, sale, slow, starts_at, seen, announcement), name="slow"))
    try:
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        for task, end in zip(tasks, ends, strict=True):
            if isinstance(end, Exception):
                seen.faults.append(f"{task.get_name()}: {type(end).__name__}: {end}")
        if slow is not None and seen.slow_until is None and not seen.faults:
            seen.faults.append("slow: the run was over before the database had been slow")


async def _slow_down(
    dsn: str, sale: Sale, slow: Slowness, starts_at: float, seen: Beside, announcement: Announcement | None
) -> None:
    """Lock the rows of the seats that most people want, and do nothing."""
    await asyncio.sleep(max(0.0, starts_at + slow.at_s - time()))
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute(
                "SELECT FROM seats WHERE event_id = $1 AND seat_no < $2 AND status = 0 FOR UPDATE SKIP LOCKED",
                sale.event_id, int(LOCKED_SHARE * len(sale.prices)),
            )  # fmt: skip
            seen.slow_from = time()
            if announcement is not None:
                announcement.tell(slow_from=seen.slow_from)
            await asyncio.sleep(slow.lasts_s)
        seen.slow_until = time()
        if announcement is not None:
            announcement.tell(slow_until=seen.slow_until)
    finally:
        await connection.close()


# ---------------------------------------------------------------- the till


async def _sell(api: Server, sale: Sale, clerk: str, sales: CounterSales) -> None:
    """Two seats from the back for cash, again and again."""
    last = len(sale.prices) - 1
    async with AsyncExitStack() as stack:
        headers = {"Authorization": f"Bearer {clerk}"}
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=api.url, headers=headers, timeout=_ANSWERS_WITHIN_S, trust_env=False)
        )
        due = time()
        while last > 1:
            await asyncio.sleep(max(0.0, due - time()))
            try:
                if await _sell_two(client, sale, (last - 1, last)):
                    sales.orders, sales.tickets = sales.orders + 1, sales.tickets + 2
                else:
                    sales.refused += 1
            finally:
                sales.worst_s = max(sales.worst_s, time() - due)
            last, due = last - 2, due + _TILL_EVERY_S


async def _sell_two(client: httpx.AsyncClient, sale: Sale, seats: tuple[int, int]) -> bool:
    hold = await _call(client, f"/v1/events/{sale.event_id}/holds", {"seats": list(seats)})
    if hold is None:
        return False
    total = sum(sale.prices[seat] for seat in seats)
    lines = [{"seat_no": seat, "price_type_id": sale.price_type_id} for seat in seats]
    order = await _call(client, f"/v1/holds/{hold['hold_id']}/checkout", {"lines": lines, "shown_total_minor": total})
    if order is None:
        return False
    cash = {"kind": "cash", "provider": "cash", "amount_minor": total, "tendered_minor": total}
    paid = await _call(client, f"/v1/orders/{order['order_id']}/payments", cash)
    return paid is not None


async def _call(client: httpx.AsyncClient, path: str, body: object) -> dict[str, str] | None:
    """A call with a key, sent again as long as the API asks for it; None when it refuses."""
    key = uuid4().hex
    for _ in range(_MOST_TRIES):
        try:
            answer = await client.post(path, json=body, headers={"Idempotency-Key": key})
        except httpx.HTTPError:
            await asyncio.sleep(1.0)
            continue
        if answer.status_code in (200, 201):
            made: dict[str, str] = answer.json()
            return made
        if answer.status_code not in (429, 503):
            return None
        await asyncio.sleep(float(answer.headers.get("Retry-After", "1")))
    return None
