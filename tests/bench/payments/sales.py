"""Sales to measure: three seats each, step by step through the services, each buyer a fan of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
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
HELD_AT_ONCE = 100


@dataclass(slots=True)
class Sale:
    """One buyer's way; each step fills in what the next one needs. `token`: who calls over HTTP."""

    event_id: int
    seats: tuple[int, ...]
    caller: Caller
    token: str = ""
    hold_id: UUID | None = None
    order_id: UUID | None = None
    operation_id: UUID | None = None

    @property
    def amount_minor(self) -> int:
        return ADULT_PRICE * len(self.seats)


class SaleSteps(Protocol):
    """The steps of a sale, each under a key of its own; an answer that is not what it should be raises."""

    def new_sale(self, event_id: int, seats: tuple[int, ...]) -> Sale: ...
    async def hold(self, sale: Sale) -> None: ...
    async def check_out(self, sale: Sale) -> None: ...
    async def open_payment(self, sale: Sale) -> None: ...
    async def confirm(self, sale: Sale) -> None: ...
    async def read_order(self, sale: Sale) -> None: ...


class Steps:
    """The steps through the services of this process: paid at a provider, whose yes confirms and opens the capture."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def new_sale(self, event_id: int, seats: tuple[int, ...]) -> Sale:
        return Sale(event_id, seats, fan())

    async def hold(self, sale: Sale) -> None:
        outcome = await hold_seats(
            self._db, sale.caller, sale.event_id, sale.seats, key=str(uuid4()), digest=digest_of(sale.seats)
        )
        sale.hold_id = outcome.value.hold_id

    async def check_out(self, sale: Sale) -> None:
        assert sale.hold_id is not None
        lines = [CheckoutLine(seat, ADULT) for seat in sale.seats]
        key, digest = str(uuid4()), digest_of(sale.seats)
        outcome = await check_out(
            self._db, sale.caller, sale.hold_id, lines, sale.amount_minor, key=key, digest=digest
        )  # fmt: skip
        assert len(outcome.value.lines) == len(sale.seats)
        sale.order_id = outcome.value.order_id

    async def open_payment(self, sale: Sale) -> None:
        assert sale.order_id is not None
        intent = PaymentIntent(OperationKind.AUTHORIZE, PROVIDER, sale.amount_minor)
        # One key for the payment, however often it is asked for: the one that was not answered may have been opened.
        outcome = await open_payment(
            self._db, sale.caller, sale.order_id, intent, key=f"pay-{sale.order_id}", digest=digest_of(intent)
        )
        sale.operation_id = outcome.value.operation.operation_id

    async def confirm(self, sale: Sale) -> None:
        assert sale.operation_id is not None
        granted = OperationResult(ResultOutcome.SUCCEEDED, sale.amount_minor, provider_ref=str(sale.operation_id))
        step = await record_result(self._db, sale.operation_id, granted, source=f"provider:{PROVIDER}")
        assert step.advice == "goods-issued"

    async def read_order(self, sale: Sale) -> None:
        assert sale.order_id is not None
        order = await read_order(self._db, sale.caller, sale.order_id)
        assert order.amount_minor == sale.amount_minor


async def held_sales(steps: SaleSteps, event_id: int, count: int, first_seat: int) -> Sequence[Sale]:
    """`count` sales side by side from a seat on, with their holds; nothing of this is measured."""
    starts = range(first_seat, first_seat + count * SEATS_EACH, SEATS_EACH)
    sales = [steps.new_sale(event_id, tuple(range(start, start + SEATS_EACH))) for start in starts]
    for start in range(0, count, HELD_AT_ONCE):
        await asyncio.gather(*map(steps.hold, sales[start : start + HELD_AT_ONCE]))
    return sales
