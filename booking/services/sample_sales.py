"""Sales and holds of the demo, made like everybody's: hold, checkout, cash. Nothing here writes a table."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller, Role
from booking.domain.model import CheckoutLine, EventId, PaymentIntent
from booking.domain.seating_plan.model import SeatFlag, SeatingPlan
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats
from booking.services.sample_programme import PRICE_TYPES, SampleEvent
from booking.services.take_payment import open_payment
from booking.store.database import Database

_AT_ONCE = 8
_TILLS = 3


@dataclass(frozen=True, slots=True)
class _Party:
    """People who sit together: seat numbers side by side in one row, and a price type for each of them."""

    seats: tuple[int, ...]
    price_type_ids: tuple[int, ...]


async def sell_samples(
    db: Database, event_id: EventId, event: SampleEvent, plan: SeatingPlan, *, taken: frozenset[int]
) -> None:
    """Sell `event.orders` orders for cash at some tills and leave `event.open_holds` holds of fans open.

    The choice of seats depends on the event's name alone. Holds of fans run out like all holds.
    """
    parties = _parties(event.name, plan, taken)
    tills = [Caller.at_till(uuid7(), uuid7(), Role.CLERK, f"Till {number + 1}") for number in range(_TILLS)]
    prices = event.prices()
    amounts = {
        (category_no, type_no + 1): amounts[type_no]
        for category_no, category in enumerate(plan.categories)
        if (amounts := prices.get(category.name)) is not None
        for type_no in range(len(PRICE_TYPES))
    }
    category_of = [seat.category_no for seat in plan.seats()]
    steps: list[Callable[[], Awaitable[object]]] = [
        partial(_sell, db, tills[number % _TILLS], event_id, party, _total(party, category_of, amounts))
        for number, party in enumerate(islice(parties, event.orders))
    ]
    steps += [
        partial(hold_seats, db, Caller.fan(uuid7()), event_id, party.seats, key=str(uuid7()), digest=_digest(party))
        for party in islice(parties, event.open_holds)
    ]
    for start in range(0, len(steps), _AT_ONCE):
        await asyncio.gather(*(step() for step in steps[start : start + _AT_ONCE]))


def _parties(seed: str, plan: SeatingPlan, taken: frozenset[int]) -> Iterator[_Party]:
    """Parties of two to five on seats that are free and no two of them the same; wheelchair places stay free."""
    chance = random.Random(seed)  # noqa: S311 - a demo's crowd, the same each time
    rows: list[list[int]] = []
    seat_no = 0
    for _, row in plan.rows():
        reserved = SeatFlag.ACCESSIBLE | SeatFlag.COMPANION
        numbers = range(seat_no, seat_no + len(row.seats))
        rows.append([
            number for number, seat in zip(numbers, row.seats, strict=True)
            if number not in taken and not seat.flags & reserved
        ])  # fmt: skip
        seat_no += len(row.seats)
    chance.shuffle(rows)
    for row_seats in rows * 4:
        size = chance.randint(2, 5)
        start = chance.randrange(max(1, len(row_seats) - size + 1))
        seats = tuple(row_seats[start : start + size])
        if len(seats) == size and seats[-1] - seats[0] == size - 1:
            del row_seats[start : start + size]
            yield _Party(seats, tuple(chance.choice((1, 1, 1, 2, 3, 4)) for _ in seats))


def _total(party: _Party, category_of: list[int], amounts: Mapping[tuple[int, int], int]) -> int:
    return sum(
        amounts[category_of[seat], price_type_id]
        for seat, price_type_id in zip(party.seats, party.price_type_ids, strict=True)
    )


async def _sell(db: Database, till: Caller, event_id: EventId, party: _Party, total_minor: int) -> None:
    digest = _digest(party)
    held = await hold_seats(db, till, event_id, party.seats, key=str(uuid7()), digest=digest)
    lines = tuple(
        CheckoutLine(seat, price_type_id) for seat, price_type_id in zip(party.seats, party.price_type_ids, strict=True)
    )
    order = await check_out(db, till, held.value.hold_id, lines, total_minor, key=str(uuid7()), digest=digest)
    intent = PaymentIntent(OperationKind.CASH, "cash", total_minor, tendered_minor=total_minor)
    await open_payment(db, till, order.value.order_id, intent, key=str(uuid7()), digest=digest)


def _digest(party: _Party) -> bytes:
    return hashlib.sha256(repr(party).encode()).digest()
