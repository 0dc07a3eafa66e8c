"""The documents' experiments through the project's own functions, on its own schema, beside the documents' ways.

A crowd goes through the hold lane as HTTP requests do, without HTTP. Nobody sleeps between reading and writing, because
nothing is read and then written: prices and limits are looked up in the transaction that decides.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from time import perf_counter
from uuid import UUID, uuid4

from booking.domain.caller import Caller, Role
from booking.domain.errors import BookingError, ConflictError
from booking.domain.model import CheckoutLine, Hold, Order, PaymentIntent, TierQuantity
from booking.domain.replay import Outcome
from booking.domain.seating_plan.generators import HALL_CATEGORIES, small_hall
from booking.domain.states import OperationKind, OrderStatus
from booking.lab import general_admission
from booking.lab.crowd import counted
from booking.lab.hold_expiry import EXPECTED_STEPS, HELD, NOT_FREE, REFUSED, SOLD, told
from booking.lab.outcomes import Own, table_lines
from booking.services import sign_in
from booking.services.check_invariants import check
from booking.services.check_out import check_out
from booking.services.create_event import EventSpec, create_event
from booking.services.hold_seats import hold_seats
from booking.services.import_plan import import_plan
from booking.services.migrate import migrate
from booking.services.take_payment import open_payment
from booking.store.database import Database

NAME = "ours"
SEAT_NO = 0
_WARM_SEAT = 100
_PRICE = 4_000
_PRICE_TYPE = 1
_TIER = 1
_DAYS_AHEAD = 30


class OwnExperiments:
    """The project's schema in the lab's place, and the experiments on it."""

    def __init__(self, dsn: str, db: Database) -> None:
        self._dsn = dsn
        self._db = db

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str) -> AsyncIterator[OwnExperiments]:
        """Bring the schema there and connect."""
        await migrate(dsn)
        db = await Database.open(dsn, application="taquilla lab")
        try:
            yield cls(dsn, db)
        finally:
            await db.close()

    async def rush_at_seat(self, buyers: int) -> Own:
        """All buyers at once want one seat: one hold, and every other buyer is told that it is taken."""
        event_id = await self._new_event()
        fans = [Caller.fan((await sign_in.create_account(self._db)).account_id) for _ in range(buyers)]
        # The lanes connect at their first request; the document's buyers have connected before they start, too.
        await self._try_hold(Caller.fan(uuid4()), event_id, _WARM_SEAT)
        gate = asyncio.Barrier(buyers)

        async def run(fan: Caller) -> str:
            await gate.wait()
            return await self._try_hold(fan, event_id, SEAT_NO)

        started = perf_counter()
        answers = await asyncio.gather(*map(run, fans))
        seconds = perf_counter() - started
        rows = await self._db.fetch(
            "SELECT principal FROM holds WHERE event_id = $1 AND $2 = ANY(seats)", event_id, SEAT_NO
        )
        first = f"buyer-{[fan.principal for fan in fans].index(rows[0]['principal']):02d}" if rows else "-"
        results = counted(answers)
        winners = results.get(HELD, 0)
        breaches = await self._breaches()
        good = winners == 1 == len(rows) and results.get("seats-taken", 0) == buyers - 1 and not breaches
        below = f"holds for the seat: {len(rows)}  first={first}  invariants broken: {breaches}"
        lines = table_lines(NAME, buyers, seconds, results, below)
        return Own(buyers, winners, results, seconds, breaches, lines, good)

    async def let_a_hold_expire(self, *, ttl_s: int, wait_s: float) -> Own:
        """The script of two buyers at two tills, with no sweeper running: A's payment comes after B's takeover."""
        event_id = await self._new_event()
        # The script pays within its three seconds; usually the last ten are refused for being too short to pay in.
        await self._db.fetch(
            "UPDATE events SET hold_ttl_s = $2, min_time_to_pay_s = 0 WHERE event_id = $1", event_id, ttl_s
        )
        script = _Script(self._db, event_id)
        started = perf_counter()
        await script.hold("buyer-A")
        await script.hold("buyer-B")
        await asyncio.sleep(wait_s)
        await script.hold("buyer-B")
        await script.pay("buyer-A")
        await script.pay("buyer-B")
        seconds = perf_counter() - started
        breaches = await self._breaches()
        good = tuple(script.steps) == EXPECTED_STEPS and not breaches
        results = counted(script.steps)
        lines = (f"{NAME}: no sweeper runs; A and B are two tills", *script.lines, f"invariants broken: {breaches}")
        return Own(2, results.get(SOLD, 0), results, seconds, breaches, lines, good)

    async def sell_places(self, buyers: int, capacity: int) -> Own:
        """A tier of `capacity` places, one for each buyer, 32 at a time; the 5 ms of work hold nobody up."""
        event_id = await self._new_event()
        await self._db.fetch(
            "INSERT INTO ga_tiers (event_id, tier_id, name, category_no, capacity) VALUES ($1, $2, $3, 0, $4)",
            event_id, _TIER, "Standing", capacity,
        )  # fmt: skip
        queue = [Caller.fan(uuid4()) for _ in range(buyers)]
        answers: list[str] = []

        async def work() -> None:
            while queue:
                answers.append(await self._try_place(queue.pop(), event_id))
                if answers[-1] == HELD:
                    await asyncio.sleep(general_admission.WORK_S)

        started = perf_counter()
        await asyncio.gather(*(work() for _ in range(min(general_admission.CONNECTIONS, buyers))))
        seconds = perf_counter() - started
        row = await self._db.fetchrow("SELECT sum(held + sold) AS taken FROM ga_tiers WHERE event_id = $1", event_id)
        taken = int(row["taken"]) if row is not None else 0
        results = counted(answers)
        winners, breaches = results.get(HELD, 0), await self._breaches()
        line = (
            f"{NAME:<16} held={winners}  time={seconds:.2f}s  ({buyers / seconds:.0f} buyers/s)"
            f"  db: tier={taken}  invariants broken: {breaches}"
        )
        good = winners == taken == min(capacity, buyers) and not breaches
        return Own(buyers, winners, results, seconds, breaches, (line,), good)

    async def _try_hold(self, fan: Caller, event_id: int, seat: int) -> str:
        return await _outcome(hold_seats(self._db, fan, event_id, [seat], key=str(uuid4()), digest=_digest(seat)))

    async def _try_place(self, fan: Caller, event_id: int) -> str:
        tiers = (TierQuantity(_TIER, 1),)
        key, digest = str(uuid4()), _digest(tiers)
        return await _outcome(hold_seats(self._db, fan, event_id, (), key=key, digest=digest, tiers=tiers))

    async def _breaches(self) -> int:
        """How many invariants' breaches `check` finds; they are named on standard error."""
        breaches = (await check(self._dsn)).breaches
        for breach in breaches:
            sys.stderr.write(f"lab: {breach.rule}: {breach.detail}\n")
        return len(breaches)

    async def _new_event(self) -> int:
        plan = await import_plan(self._db, "The lab's hall", "UTC", small_hall())
        row = await self._db.fetchrow("SELECT booking_now() AS now")
        if row is None:
            raise LookupError("the database's clock answered nothing")
        starts_at: datetime = row["now"] + timedelta(days=_DAYS_AHEAD)
        spec = EventSpec(
            name="An experiment",
            plan_id=plan.plan_id,
            plan_version=plan.version,
            starts_at=starts_at.replace(tzinfo=None),
            zone="UTC",
            currency="EUR",
            price_types=("Adult",),
            prices={category.name: (_PRICE,) for category in HALL_CATEGORIES},
            hold_ttl_s=600,
        )
        return await create_event(self._db, spec)


class _Script:
    """The steps of the hold that expires, each with the line that it prints."""

    def __init__(self, db: Database, event_id: int) -> None:
        self._db = db
        self._event_id = event_id
        self._tills: dict[str, Caller] = {}
        self._holds: dict[str, Hold] = {}
        self.steps: list[str] = []
        self.lines: list[str] = []

    async def hold(self, buyer: str) -> None:
        """Hold the seat, or be told that it is not free."""
        try:
            outcome = await hold_seats(
                self._db, self._till(buyer), self._event_id, [SEAT_NO], key=str(uuid4()), digest=_digest(buyer)
            )
        except ConflictError:
            await self._tell(buyer, NOT_FREE)
            return
        self._holds[buyer] = outcome.value
        await self._tell(buyer, HELD, f"{outcome.value.expires_at:%H:%M:%S}")

    async def pay(self, buyer: str) -> None:
        """Check out and pay cash, or be refused because the hold is over."""
        till, hold_id = self._till(buyer), self._holds[buyer].hold_id
        try:
            order = (await self._check_out(till, hold_id)).value
            intent = PaymentIntent(OperationKind.CASH, "drawer", order.amount_minor, order.amount_minor)
            step = await open_payment(
                self._db, till, order.order_id, intent, key=str(uuid4()), digest=_digest(buyer, "pay")
            )
        except ConflictError:
            await self._tell(buyer, REFUSED)
            return
        await self._tell(buyer, SOLD if step.value.order.status is OrderStatus.CONFIRMED else REFUSED)

    async def _check_out(self, till: Caller, hold_id: UUID) -> Outcome[Order]:
        lines = [CheckoutLine(SEAT_NO, _PRICE_TYPE)]
        return await check_out(self._db, till, hold_id, lines, _PRICE, key=str(uuid4()), digest=_digest(hold_id))

    def _till(self, buyer: str) -> Caller:
        return self._tills.setdefault(buyer, Caller.at_till(uuid4(), uuid4(), Role.CLERK, buyer))

    async def _tell(self, buyer: str, step: str, until: str = "") -> None:
        row = await self._db.fetchrow("SELECT to_char(booking_now(), 'HH24:MI:SS') AS at")
        self.steps.append(step)
        self.lines.append(told(row["at"] if row else "-", buyer, step, until))


async def _outcome(holding: Awaitable[object]) -> str:
    """`held`, or the code of the refusal."""
    try:
        await holding
    except BookingError as error:
        return error.code
    return HELD


def _digest(*words: object) -> bytes:
    return sha256(repr(words).encode()).digest()
