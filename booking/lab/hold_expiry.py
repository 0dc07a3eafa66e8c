"""A hold of three seconds that runs out in front of you, with no job that frees anything."""

from __future__ import annotations

import asyncio
from time import perf_counter

from booking.lab.crowd import EVENT, SEAT, connect, counted, reset
from booking.lab.outcomes import Outcome
from booking.store.connection import Connection

MODE = "hold-expiry"
TTL_S = 3.0
WAIT_S = 3.5
BUYERS = 2

HELD, NOT_FREE, SOLD, REFUSED = "held", "not free", "sold", "payment refused"
EXPECTED_STEPS = (HELD, NOT_FREE, HELD, REFUSED, SOLD)
EXPECTED = "B takes the expired hold over, A's late payment is refused, B's is accepted"

SEAT_NOW = "SELECT status, held_by FROM seats WHERE event_id = $1 AND seat_id = $2"
_HOLD = (
    "UPDATE seats SET status = 'held', held_by = $1, hold_expires_at = now() + make_interval(secs => $2)"
    " WHERE event_id = $3 AND seat_id = $4"
    " AND (status = 'available' OR (status = 'held' AND hold_expires_at < now()))"
    " RETURNING to_char(hold_expires_at, 'HH24:MI:SS')"
)
_PAY = (
    "UPDATE seats SET status = 'sold', hold_expires_at = NULL"
    " WHERE event_id = $1 AND seat_id = $2 AND status = 'held' AND held_by = $3 AND hold_expires_at > now()"
    " RETURNING seat_id"
)


def told(at: str, buyer: str, step: str, until: str = "") -> str:
    """One line of the document's table."""
    words = {
        HELD: f"hold until {until}",
        NOT_FREE: "seat not free",
        SOLD: "payment accepted, seat sold",
        REFUSED: "hold expired, payment refused (refund the charge)",
    }
    return f"{at}  {buyer}  {words[step]}"


async def let_a_hold_expire(dsn: str, *, ttl_s: float, wait_s: float) -> Outcome:
    """A holds, B is refused, time passes, B holds, A pays too late, B pays."""
    link = await connect(dsn)
    started = perf_counter()
    try:
        await link.execute("SET timezone = 'UTC'")
        await reset(link)
        script = _Script(link, ttl_s)
        await script.hold("buyer-A")
        await script.hold("buyer-B")
        await asyncio.sleep(wait_s)
        await script.hold("buyer-B")
        await script.pay("buyer-A")
        await script.pay("buyer-B")
        seat = await link.fetchrow(SEAT_NOW, EVENT, SEAT)
    finally:
        await link.close(timeout=5)
    last = None if seat is None else (seat["status"], seat["held_by"])
    return Outcome(
        mode=MODE,
        buyers=BUYERS,
        winners=script.steps.count(SOLD),
        results=counted(script.steps),
        seconds=perf_counter() - started,
        expected=EXPECTED,
        as_expected=tuple(script.steps) == EXPECTED_STEPS and last == ("sold", "buyer-B"),
        lines=(*script.lines, str(last)),
    )


class _Script:
    """The steps, each with the line that it prints."""

    def __init__(self, link: Connection, ttl_s: float) -> None:
        self._link = link
        self._ttl_s = ttl_s
        self.steps: list[str] = []
        self.lines: list[str] = []

    async def hold(self, buyer: str) -> None:
        until = await self._link.fetchval(_HOLD, buyer, self._ttl_s, EVENT, SEAT)
        await self._tell(buyer, HELD if until else NOT_FREE, until or "")

    async def pay(self, buyer: str) -> None:
        paid = await self._link.fetchval(_PAY, EVENT, SEAT, buyer)
        await self._tell(buyer, SOLD if paid else REFUSED)

    async def _tell(self, buyer: str, step: str, until: str = "") -> None:
        at = await self._link.fetchval("SELECT to_char(now(), 'HH24:MI:SS')")
        self.steps.append(step)
        self.lines.append(told(at, buyer, step, until))
