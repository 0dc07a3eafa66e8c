"""From hold to order: prices, total, one bounded extension of the deadline (R7, R10)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, InvalidRequestError
from booking.domain.model import MAX_SEATS_PER_HOLD, CheckoutLine, CheckoutPlaces, Order
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
    places: Sequence[CheckoutPlaces] = (),
) -> Outcome[Order]:
    """Make the order of a hold: one line for each of its seats, priced by the version that the hold locked.

    `places` are the hold's general-admission places, tier by tier and price type by price type.

    A replayed key answers with the order as it stands now.

    Raises:
        InvalidRequestError: the lines are not the seats of the hold, or the places not its places.
        HoldNotFoundError, HoldExpiredError, HoldNotOpenError, TooLittleTimeError, PayingCapReachedError: as they say.
        PriceUnknownError: names the seats; PriceChangedError: the total is not `shown_total_minor`.
        KeyReusedError, BusyError, AuthorityAwayError: as for holds.
    """
    use = key_use(key, digest)
    _check_lines(lines, places)
    answer = await sale_calls.check_out(db, caller, hold_id, lines, shown_total_minor, new_order_number(), use, places)
    if answer.code:
        await raise_refusal(db, answer, await _plan_of_hold(db, hold_id))
    return Outcome(await order_told_by(db, answer), answer.replayed)


async def _plan_of_hold(db: Database, hold_id: UUID) -> tuple[UUID, int] | None:
    row = await db.fetchrow(query("read_hold"), hold_id)
    return None if row is None else (row["plan_id"], row["plan_version"])


def _check_lines(lines: Sequence[CheckoutLine], places: Sequence[CheckoutPlaces]) -> None:
    """Whole numbers only, as for holds (B18); whether they are those of the hold, the database says."""
    faults: list[FieldFault] = []
    seats = [line.seat_no for line in lines]
    if len(seats) > MAX_SEATS_PER_HOLD or len(set(seats)) != len(seats) or not (seats or places):
        faults.append(FieldFault("/lines", "one line for each seat"))
    for index, line in enumerate(places[: MAX_SEATS_PER_HOLD + 1]):
        if type(line.quantity) is not int or not 1 <= line.quantity <= MAX_SEATS_PER_HOLD:
            faults.append(FieldFault(f"/places/{index}/quantity", f"a whole number from 1 to {MAX_SEATS_PER_HOLD}"))
    kinds = [(line.tier_id, line.price_type_id) for line in places]
    if len(kinds) > MAX_SEATS_PER_HOLD or len(set(kinds)) != len(kinds):
        faults.append(FieldFault("/places", "one line for each tier and price type"))
    if faults:
        raise InvalidRequestError("Each seat and place of the hold needs its line.", fields=tuple(faults))
