"""The call that holds the first of several blocks that is wholly free."""

from __future__ import annotations

from booking.domain.best_available import Block
from booking.sql import query
from booking.store.block_source import BlockEvent
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk, HoldVerdict, verdict_of


async def hold_best_block(
    db: Database, ask: HoldAsk, event: BlockEvent | None, size: int, blocks: tuple[Block, ...]
) -> HoldVerdict | None:
    """Hold one of the blocks, all of `size` seats, for `ask`, whose own seats are not looked at; best first.

    Without an event only the key is looked up. The verdict's code is that of a hold, or no-block-left when every block
    was lost; None: the event has another plan than `event` says.

    Raises:
        BusyError, AuthorityAwayError: as every sale step; the same key will tell.
    """
    rows = await db.call(
        query("hold_best_block"),
        ask.event_id, ask.principal, ask.channel, ask.key, ask.digest, ask.hold_id, ask.device_id, ask.staff_id,
        ask.access_code, event and event.plan_id, event and event.plan_version, size,
        [seat for block in blocks for seat in block],
    )  # fmt: skip
    return verdict_of(rows[0], ask)
