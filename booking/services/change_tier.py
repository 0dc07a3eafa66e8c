"""Give a general-admission tier another capacity while it is on sale (R11, B7)."""

from __future__ import annotations

from dataclasses import replace

from booking.domain.caller import Caller
from booking.domain.control import MAX_CAPACITY, TierWish
from booking.domain.errors import CapacityTooSmallError, FieldFault, InvalidRequestError, TierUnknownError
from booking.domain.model import Tier
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.read_events import read_tiers
from booking.services.refusals import key_use, raise_refusal
from booking.store import control_calls
from booking.store.database import Database

MAX_TIER_ID = 1_000_000


async def change_tier(db: Database, caller: Caller, wish: TierWish, *, key: str, digest: bytes) -> Outcome[Tier]:
    """Set the capacity. What expired holds still have does not count against it.

    Raises:
        InvalidRequestError: the capacity is out of bounds, or the reason cannot be stored.
        CapacityTooSmallError: more is held and sold, and nobody has accepted the overbooking.
        TierUnknownError, EventNotFoundError: there is none.
        EventStateConflictError: the event is cancelled.
        KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": wish.reason})
    if type(wish.capacity) is not int or not 0 <= wish.capacity <= MAX_CAPACITY:
        fault = FieldFault("/capacity", f"a whole number from 0 to {MAX_CAPACITY}")
        raise InvalidRequestError("No tier has such a capacity.", fields=(fault,))
    await read_tiers(db, wish.event_id)
    if not 0 <= wish.tier_id <= MAX_TIER_ID:
        raise TierUnknownError("The event has no such tier.")
    answer = await control_calls.change_tier(db, caller, replace(wish, reason=reason), use)
    if answer.code == "capacity-too-small":
        raise CapacityTooSmallError(f"{answer.detail} places are held or sold. Accept the overbooking, or give more.")
    if answer.code == "tier-unknown":
        raise TierUnknownError("The event has no such tier.")
    await raise_refusal(db, answer, None)
    return Outcome(await _tier(db, wish), answer.replayed)


async def _tier(db: Database, wish: TierWish) -> Tier:
    for tier in (await read_tiers(db, wish.event_id)).tiers:
        if tier.tier_id == wish.tier_id:
            return tier
    raise TierUnknownError("The event has no such tier.")
