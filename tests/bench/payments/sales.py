"""Sales to measure: each of a fan of their own, three seats, step by step through the services."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID, uuid4

from booking.domain.caller import Caller
from booking.domain.model import CheckoutLine, OperationResult, PaymentIntent, ResultOutcome
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats
from booking.services.orders import read_order
from booking.services.take_payment import open_payment, record_result
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, digest_of, fan

SEATS_EACH = 3
PROVIDER = "sandbox"


@dataclass(slots=True)
class Sale:
    """One buyer's way; each step fills in what the next one needs."""

    caller: Caller
    event_id: int
    seats: tuple[int, ...]
    hold_id: UUID | None = None
    order_id: UUID | None = None
    operation_id: UUID | None = None

    @property
    def amount_minor(self) -> int:
        return ADULT_PRICE * len(self.seats)


def new_sales(event_id: int, count: int, first_seat: int = 0) -> list[Sale]:
    """`count` sales side by side from a seat on."""
    starts = range(first_seat, first_seat + count * SEATS_EACH, SEATS_EACH)
    return [Sale(fan(), event_id, tuple(range(start, start + SEATS_EACH))) for start in starts]


class Steps:
    """The steps of a sale against one database, each under a key of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def hold(self, sale: Sale) -> None:
        key = str(uuid4())
        outcome = await hold_seats(
            self._db, sale.caller, sale.event_id, sale.seats, key=key, digest=digest_of(sale.seats)
        )
        sale.hold_id = outcome.value.hold_id

    async def check_out(self, sale: Sale) -> None:
        assert sale.hold_id is not None
        lines = [CheckoutLine(seat, ADULT) for seat in sale.seats]
        key = str(uuid4())
        outcome = await check_out(
            self._db, sale.caller, sale.hold_id, lines, sale.amount_minor, key=key, digest=digest_of(sale.seats)
        )
        assert len(outcome.value.lines) == len(sale.seats)
        sale.order_id = outcome.value.order_id

    async def open_payment(self, sale: Sale) -> None:
        assert sale.order_id is not None
        intent = PaymentIntent(OperationKind.AUTHORIZE, PROVIDER, sale.amount_minor)
        outcome = await open_payment(
            self._db, sale.caller, sale.order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        sale.operation_id = outcome.value.operation.operation_id

    async def confirm(self, sale: Sale) -> None:
        """The provider's yes: the seats are sold, the capture is opened."""
        assert sale.operation_id is not None
        granted = OperationResult(ResultOutcome.SUCCEEDED, sale.amount_minor, provider_ref=str(sale.operation_id))
        step = await record_result(self._db, sale.operation_id, granted, source=f"provider:{PROVIDER}")
        assert step.advice == "goods-issued"

    async def read_order(self, sale: Sale) -> None:
        assert sale.order_id is not None
        order = await read_order(self._db, sale.caller, sale.order_id)
        assert order.amount_minor == sale.amount_minor


async def hold_all(db: Database, sales: list[Sale]) -> None:
    """All holds, without measuring them."""
    steps = Steps(db)
    for start in range(0, len(sales), 100):
        await asyncio.gather(*map(steps.hold, sales[start : start + 100]))
