"""Read and cancel orders."""

from __future__ import annotations

from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import OrderNotFoundError
from booking.domain.model import Order
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.refusals import key_use, raise_refusal
from booking.store import order_queries, order_search_queries, sale_calls
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer


async def read_order(db: Database, caller: Caller, order_id: UUID) -> Order:
    """An order as it stands now.

    Raises:
        OrderNotFoundError: there is none that the caller may see.
    """
    order, principal = await _read(db, order_id)
    if not await may_see(db, caller, principal, order_id):
        raise OrderNotFoundError("There is no such order.")
    return order


async def may_see(db: Database, caller: Caller, principal: str, order_id: UUID) -> bool:
    """Whether the caller may see an order of `principal`: his own, one of which his till gives money back, or any."""
    if caller.sees_all or principal == caller.principal:
        return True
    return caller.device_id is not None and await order_search_queries.owes_at(db, order_id, caller.device_id)


async def order_as_it_stands(db: Database, order_id: UUID) -> Order:
    """An order that the caller has been let to already."""
    return (await _read(db, order_id))[0]


async def cancel_order(
    db: Database,
    caller: Caller,
    order_id: UUID,
    reason: str,
    keep_seats: bool,
    *,
    key: str | None = None,
    digest: bytes = b"",
) -> Outcome[Order]:
    """Cancel an order that is not paid; cancelled twice is cancelled.

    `keep_seats` returns the seats to the hold while time is left, else they are free at once.

    Raises:
        OrderNotFoundError: there is none that the caller may cancel.
        PaymentRunningError: a charge runs or its result is not known: the seats stay with it (R24).
        OrderNotCancellableError: it is paid, or it has ended another way.
    """
    (reason,) = storable_texts({"/reason": reason})
    use = None if key is None else key_use(key, digest)
    answer = await sale_calls.cancel_order(db, caller, order_id, reason, keep_seats=keep_seats, use=use)
    await raise_refusal(db, answer, None)
    return Outcome(await order_as_it_stands(db, order_id), answer.replayed)


async def order_told_by(db: Database, answer: SaleAnswer) -> Order:
    """The order that a step answered with: as it stands at the end of the step, and not read again."""
    if answer.picture is None:
        raise RuntimeError("the database answered without an order")
    return await order_queries.order_of(db, answer.picture)


async def _read(db: Database, order_id: UUID) -> tuple[Order, str]:
    found = await order_queries.read_order(db, order_id)
    if found is None:
        raise OrderNotFoundError("There is no such order.")
    return found
