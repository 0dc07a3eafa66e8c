"""Hold places of general-admission tiers, alone or together with seats (R3, R11)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from booking.domain.errors import ERROR_OF_CODE, BookingError, FieldFault
from booking.domain.model import HeldPlaces, Hold, SeatRef, TierQuantity
from booking.domain.replay import Outcome
from booking.services.hold_answers import hold_of, outcome_of
from booking.services.refusals import refusal
from booking.store import tier_queries
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk
from booking.store.place_lane import PlaceAsk, PlaceVerdict
from booking.store.tier_names import TierName

_LOST = {
    "tier-unknown": "the event has no such tier",
    "tier-sold-out": "too few places of {name} are left",
    "tier-in-holds": "the last places of {name} are being bought right now: they may come back",
}


async def hold_places(db: Database, ask: HoldAsk, tiers: Sequence[TierQuantity]) -> Outcome[Hold]:
    """Hold places of tiers, all or nothing; each tier once, quantities are positive.

    Raises:
        TierSoldOutError, TierInHoldsError (may come back, W7), TierUnknownError: `fields` names the tiers.
        EventNotFoundError, EventNotOnSaleError, KeyReusedError, OpenHoldExistsError, AccountLimitError,
        AccessCodeRefusedError: as for seats.
        BusyError, AuthorityAwayError: send the same key again later.
    """
    verdict = await db.places.decide(PlaceAsk(ask, tuple(tiers)))
    names = await db.tier_names.of(ask.event_id, (wish.tier_id for wish in tiers))
    if verdict.hold.hold is None:
        raise lost(verdict, tiers, names)
    places = places_of(tiers, names)
    return Outcome(hold_of(verdict.hold.hold, (), verdict.hold.server_time, places), verdict.hold.replayed)


async def hold_mixed(db: Database, ask: HoldAsk, tiers: Sequence[TierQuantity]) -> Outcome[Hold]:
    """Hold the seats of `ask` and places of tiers in one transaction: all or nothing.

    Raises:
        SeatsTakenError, SeatUnknownError, SeatOrphanedError: with the seats, and in `fields` the tiers that had too few
            places as well.
        BookingError: else what `hold_places` raises.
    """
    verdict = await db.place_work.run_alone(PlaceAsk(ask, tuple(tiers)))
    names = await db.tier_names.of(ask.event_id, (wish.tier_id for wish in tiers))
    if verdict.hold.hold is None:
        seats: tuple[SeatRef, ...] = ()
        if verdict.hold.plan_id is not None and verdict.hold.plan_version is not None:
            seats = await db.seat_labels.refs(verdict.hold.plan_id, verdict.hold.plan_version, verdict.hold.lost)
        raise lost(verdict, tiers, names, seats)
    return await outcome_of(db, verdict.hold, places_of(tiers, names))


async def places_of_hold(db: Database, hold_id: UUID) -> tuple[HeldPlaces, ...]:
    """What a hold has, or had, of each tier."""
    return await tier_queries.read_places_of_hold(db, hold_id)


def places_of(tiers: Sequence[TierQuantity], names: Sequence[TierName]) -> tuple[HeldPlaces, ...]:
    """Places as they were asked for; a replay asked for the same, or its digest would differ."""
    held = (
        HeldPlaces(wish.tier_id, tier.name, tier.category_no, wish.quantity)
        for wish, tier in zip(tiers, names, strict=True)
    )
    return tuple(sorted(held, key=lambda places: places.tier_id))


def lost(
    verdict: PlaceVerdict, tiers: Sequence[TierQuantity], names: Sequence[TierName], seats: tuple[SeatRef, ...] = ()
) -> BookingError:
    """The refusal of a hold that wanted places: what was lost of both kinds, the tiers as members of the request."""
    if not verdict.lost_tiers:
        return refusal(verdict.hold.code, seats)
    words = _LOST.get(verdict.hold.code, _LOST["tier-sold-out"])
    fields = tuple(
        FieldFault(f"/tiers/{index}", words.format(name=names[index].name))
        for index, wish in enumerate(tiers)
        if wish.tier_id in verdict.lost_tiers
    )
    return ERROR_OF_CODE[verdict.hold.code](str(refusal(verdict.hold.code)), seats=seats, fields=fields)
