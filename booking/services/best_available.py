"""Best available: choose blocks of neighbours, let the database hold the first that is still free (R30).

Blocks are chosen here, from what is known of the seats (`BlockSource`), and decided there: one call tries them in order
in one transaction. When all of them were lost, the true states are read and the choice is made again, a few times;
`no-block-left` is said only of states that were read from the database.
"""

from __future__ import annotations

import asyncio

from booking.domain.best_available import BlockPlan, candidates, largest_block
from booking.domain.errors import (
    BookingError,
    BusyError,
    EventNotFoundError,
    FieldFault,
    InvalidRequestError,
    NoBlockLeftError,
    SeatsTakenError,
)
from booking.domain.model import BestAvailable, Hold, SeatRef
from booking.domain.replay import Outcome
from booking.services.hold_answers import outcome_of
from booking.store.block_calls import hold_best_block
from booking.store.block_source import BlockEvent, FreeSeats
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk, HoldVerdict

MAX_ROUNDS = 6
OFFER_WITHIN_S = 0.5
"""A refusal does not wait longer for what it offers."""


async def hold_best(db: Database, ask: HoldAsk, wish: BestAvailable) -> Outcome[Hold]:
    """Hold the best block that answers the wish. The same key gives the same block again; `ask.seats` is not used.

    Raises:
        InvalidRequestError: the plan has no such category or section.
        NoBlockLeftError: no such block is left; its words say whether a smaller one is.
        BusyError: the blocks change hands too quickly; send the same key again.
        BookingError: what every hold may be refused for.
    """
    with db.blocks.choosing(ask.event_id, wish.count):
        verdict = await _decided(db, ask, wish)
    return await outcome_of(db, verdict)


async def _decided(db: Database, ask: HoldAsk, wish: BestAvailable) -> HoldVerdict:
    turn = ask.hold_id.int  # its low bits are random
    met = db.blocks.crowd(ask.event_id, wish.count)
    is_true = False
    for _ in range(MAX_ROUNDS):
        event = await db.blocks.event(ask.event_id)
        if event is None:
            raise EventNotFoundError("There is no such event.")
        plan = await db.blocks.plan(event)
        _check(plan, wish)
        if not plan.seat_count:
            raise NoBlockLeftError("There is no seat at all: all places are without numbers.")
        if is_true:
            free = await db.blocks.true_free_seats(ask.event_id)
        else:
            free, is_true = await db.blocks.free_seats(event, plan)
        if len(free) != plan.seat_count:
            continue  # the plan changed between the two readings
        # What is known of the seats may be as old as this request: those who were choosing then are in nobody's way
        # only when they are counted, though they are done by now.
        crowd = max(met, db.blocks.crowd(ask.event_id, wish.count))
        blocks = candidates(plan, free, wish, event.orphan_rule, crowd=crowd, turn=turn)
        verdict = await hold_best_block(db, ask, event, wish.count, blocks)
        if verdict is not None and verdict.code != NoBlockLeftError.code:
            return verdict
        if verdict is not None and is_true and not blocks:
            raise NoBlockLeftError(_none_left(plan, free, wish, event))
        is_true, met = True, 1
    raise BusyError("The seats change hands too quickly.")


def _check(plan: BlockPlan, wish: BestAvailable) -> None:
    faults = [
        FieldFault(f"/best_available/{member}/{index}", f"the plan has no {word} {number}")
        for member, word, numbers, count in (
            ("categories", "category", wish.categories, plan.columns.category_count),
            ("sections", "section", wish.sections, plan.columns.section_count),
        )
        for index, number in enumerate(numbers)
        if not 0 <= number < count
    ]
    if faults:
        raise InvalidRequestError("The plan has nothing like that.", fields=tuple(faults))


def _none_left(plan: BlockPlan, free: FreeSeats, wish: BestAvailable, event: BlockEvent) -> str:
    """What is not left, and what is, in words."""
    most = largest_block(plan, free, wish, event.orphan_rule)
    wanted = f"No {wish.count} seats beside each other are left" if wish.count > 1 else "No seat is left"
    where = " where you asked for them" if wish.categories or wish.sections or wish.accessible else ""
    if most > 1:
        return f"{wanted}{where}; {most} beside each other are."
    if most == 1:
        return f"{wanted}{where}; single seats are."
    return f"{wanted}{where}."


async def offer_for(db: Database, ask: HoldAsk, refused: BookingError) -> tuple[SeatRef, ...]:
    """The block nearest to the wanted seats, as many and of their categories; nothing when none is left or known.

    It is promised to nobody. Many who lost the same seats are offered different blocks. Of a refusal for taken seats
    those are taken as lost, whatever is known of them here.
    """
    lost = tuple(seat.seat_no for seat in refused.seats) if isinstance(refused, SeatsTakenError) else ()
    try:
        async with asyncio.timeout(OFFER_WITHIN_S):
            found = await db.blocks.offers.next_block(ask.event_id, ask.seats, lost)
            if found is None:
                return ()
            event, block = found
            return await db.seat_labels.refs(event.plan_id, event.plan_version, block)
    except (BookingError, TimeoutError):
        return ()
