"""What a request for a hold may say: checked member by member, before anything is asked of the database (B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller, Channel
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError
from booking.domain.model import MAX_SEAT_NO, MAX_SEATS_PER_HOLD, BestAvailable, TierQuantity
from booking.store.hold_lane import HoldAsk
from booking.store.sale_calls import KeyUse

MAX_TIER_ID = 1_000_000
ACCESS_CODE = re.compile(r"[a-z0-9][a-z0-9._-]{3,59}")
"""An access code as it is kept: lower case."""


@dataclass(frozen=True, slots=True)
class HoldWish:
    """A request as it was made: seats or the best available ones, places of tiers, and what allows them."""

    seats: Sequence[int] = ()
    best_available: BestAvailable | None = None
    tiers: Sequence[TierQuantity] = ()
    access_code: str = ""
    house_hold_id: UUID | None = None


def check_wish(caller: Caller, wish: HoldWish) -> None:
    """Refuse what no event could ever answer.

    Raises:
        InvalidRequestError: naming each member that is wrong.
        ForbiddenError: a house hold is asked for by somebody who is not at a till.
    """
    faults = [*_faults_of_seats(wish), *_faults_of_best(wish), *_faults_of_tiers(wish), *_faults_of_leave(caller, wish)]
    if not faults and _places(wish) > MAX_SEATS_PER_HOLD:
        faults.append(FieldFault("/tiers", f"1 to {MAX_SEATS_PER_HOLD} seats and places together"))
    if faults:
        raise InvalidRequestError("These are not places that can be held together.", fields=tuple(faults))
    if wish.house_hold_id is not None and caller.channel is not Channel.TILL:
        raise ForbiddenError("Only staff may take seats that the house keeps back.")


def ask_of(caller: Caller, event_id: int, wish: HoldWish, use: KeyUse) -> HoldAsk:
    """The request as the lanes take it, with an id for the hold that it may become."""
    return HoldAsk(
        event_id=event_id,
        principal=caller.principal,
        channel=caller.channel,
        key=use.key,
        digest=use.digest,
        hold_id=uuid7(),
        device_id=caller.device_id,
        staff_id=caller.staff_id,
        seats=tuple(sorted(wish.seats)),
        access_code=folded_code(wish.access_code),
        house_hold_id=wish.house_hold_id,
    )


def folded_code(code: str) -> str:
    """An access code as it is kept: upper and lower case are the same, blanks around it nothing."""
    return code.strip().lower()


def _places(wish: HoldWish) -> int:
    best = 0 if wish.best_available is None else wish.best_available.count
    return len(wish.seats) + best + sum(tier.quantity for tier in wish.tiers)


def _faults_of_seats(wish: HoldWish) -> list[FieldFault]:
    """Whole numbers only: a bool, a float or a text that looks like one is refused."""
    faults: list[FieldFault] = []
    nothing_else = wish.best_available is None and not wish.tiers
    if len(wish.seats) > MAX_SEATS_PER_HOLD or (not wish.seats and nothing_else):
        faults.append(FieldFault("/seats", f"1 to {MAX_SEATS_PER_HOLD} seats"))
    for index, seat in enumerate(wish.seats[: MAX_SEATS_PER_HOLD + 1]):
        if not _is_whole(seat, 0, MAX_SEAT_NO):
            faults.append(FieldFault(f"/seats/{index}", f"a whole number from 0 to {MAX_SEAT_NO}"))
    if not faults and len(set(wish.seats)) != len(wish.seats):
        faults.append(FieldFault("/seats", "each seat once"))
    return faults


def _faults_of_best(wish: HoldWish) -> list[FieldFault]:
    best = wish.best_available
    if best is None:
        return []
    faults: list[FieldFault] = []
    if not _is_whole(best.count, 1, MAX_SEATS_PER_HOLD):
        faults.append(FieldFault("/best_available/count", f"a whole number from 1 to {MAX_SEATS_PER_HOLD}"))
    elif not _is_whole(best.accessible, 0, best.count):
        faults.append(FieldFault("/best_available/accessible", "a whole number from 0 to the count"))
    if wish.seats:
        faults.append(FieldFault("/best_available", "not together with seats"))
    if wish.tiers:
        faults.append(FieldFault("/tiers", "not together with best_available: name the seats"))
    return faults


def _faults_of_tiers(wish: HoldWish) -> list[FieldFault]:
    faults: list[FieldFault] = []
    for index, tier in enumerate(wish.tiers):
        if not _is_whole(tier.tier_id, 0, MAX_TIER_ID):
            faults.append(FieldFault(f"/tiers/{index}/tier_id", f"a whole number from 0 to {MAX_TIER_ID}"))
        if not _is_whole(tier.quantity, 1, MAX_SEATS_PER_HOLD):
            faults.append(FieldFault(f"/tiers/{index}/quantity", f"a whole number from 1 to {MAX_SEATS_PER_HOLD}"))
    if not faults and len({tier.tier_id for tier in wish.tiers}) != len(wish.tiers):
        faults.append(FieldFault("/tiers", "each tier once"))
    return faults


def _faults_of_leave(caller: Caller, wish: HoldWish) -> list[FieldFault]:
    faults: list[FieldFault] = []
    if wish.access_code and caller.channel is Channel.TILL:
        faults.append(FieldFault("/access_code", "a till has no ticket limit that a code could raise"))
    if wish.house_hold_id is not None and (not wish.seats or wish.tiers):
        faults.append(FieldFault("/house_hold_id", "only together with the seats to take, and with nothing else"))
    return faults


def _is_whole(number: object, least: int, most: int) -> bool:
    return type(number) is int and least <= number <= most
