"""From hold to order: prices, total, one bounded extension of the deadline (R7, R10)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, InvalidRequestError
from booking.domain.model import MAX_SEATS_PER_HOLD, CheckoutLine, Order
from booking.domain.order_number import new_order_number
from booking.domain.replay import Outcome
from booking.services.orders import order_told_by
from booking.services.refusals import key_use, raise_refusal
from booking.sql import query
from booking.store import sale_calls
from booking.store.database import Database


async def check_out(
    db: Database,
    caller: Caller,
    hold_id: UUID,
    lines: Sequence[CheckoutLine],
    shown_total_minor: int,
    *,
    key: str,
    digest: bytes,
) -> Outcome[Order]:
    """Make the order of a hold: one line for each of its seats, priced by the version that the hold locked.

    A replayed key answers with the order as it stands now.

    Raises:
        InvalidRequestError: the lines are not the seats of the hold.
        HoldNotFoundError, HoldExpiredError, HoldNotOpenError, TooLittleTimeError, PayingCapReachedError: as they say.
        PriceUnknownError: names the seats; PriceChangedError: the total is not `shown_total_minor`.
        KeyReusedError, BusyError, AuthorityAwayError: as for holds.
    """
    use = key_use(key, digest)
    _check_lines(lines)
    answer = await sale_calls.check_out(db, caller, hold_id, lines, shown_total_minor, new_order_number(), use)
    if answer.code:
        await raise_refusal(db, answer, await _plan_of_hold(db, hold_id))
    return Outcome(await order_told_by(db, answer), answer.replayed)


async def _plan_of_hold(db: Database, hold_id: UUID) -> tuple[UUID, int] | None:
    row = await db.fetchrow(query("read_hold"), hold_id)
    return None if row is None else (row["plan_id"], row["plan_version"])


def _check_lines(lines: Sequence[CheckoutLine]) -> None:
    seats = [line.seat_no for line in lines]
    if not 1 <= len(seats) <= MAX_SEATS_PER_HOLD or len(set(seats)) != len(seats):
        raise InvalidRequestError(
            "Each seat of the hold needs one line.", fields=(FieldFault("/lines", "one line for each seat"),)
        )
