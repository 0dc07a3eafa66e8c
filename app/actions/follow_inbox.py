"""Keeping the reconciliation inbox fresh: the whole list while somebody looks at it, the count of it otherwise."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from app.actions.desk import Desk
from app.core.inbox import MOST_ITEMS
from app.core.session import Permission, require
from app.core.store import Connection
from backend_client.errors import (
    BookingClientError,
    ForbiddenError,
    NotSignedInError,
    ServiceUnavailableError,
)
from backend_client.wire import ItemId, ReconciliationItem

PAGE = 200
"""Items in one answer; the most that the API gives."""
_SHARE = 4


async def load_inbox(desk: Desk) -> None:
    """Read the list, page by page; it is shown when it is whole, the very first page at once.

    Raises:
        NotAllowedError: the role may not read it.
        BookingClientError: it cannot be read; what was read before stays.
    """
    require(desk.store.session, Permission.READ_ITEMS)
    inbox = desk.store.inbox
    resolved = inbox.shows_resolved
    state = "resolved" if resolved else ""
    found: list[ReconciliationItem] = []
    after, first = "", True
    while True:
        page = await desk.client.items(state=state, after=after, limit=PAGE)
        if inbox.shows_resolved is not resolved or desk.store.session is None:
            return  # another list is wanted, or nobody is there any more
        found += page.items
        after = page.next
        is_last = not after or len(found) >= MOST_ITEMS
        if is_last or (first and inbox.as_of is None):
            inbox.put_items(
                tuple(found[:MOST_ITEMS]), page.open_count, page.server_time, is_cut=bool(after) and is_last
            )
        if is_last:
            return
        first = False


async def count_inbox(desk: Desk) -> None:
    """Read only how many items are open. Raises as `load_inbox`."""
    require(desk.store.session, Permission.READ_ITEMS)
    desk.store.inbox.put_count((await desk.client.items(limit=1)).open_count)


async def load_item(desk: Desk, item_id: ItemId) -> None:
    """Read an item with its evidence. Trouble is kept with the item, what was read before stays.

    Raises:
        NotAllowedError: the role may not read it.
        BookingClientError: it cannot be read.
    """
    require(desk.store.session, Permission.READ_ITEMS)
    try:
        detail = await desk.client.item(item_id)
    except BookingClientError as error:
        desk.store.inbox.put_detail_trouble(item_id, error.code)
        raise
    desk.store.inbox.put_detail(detail)


async def follow_inbox(desk: Desk, is_looked_at: Callable[[], bool]) -> None:
    """Keep the inbox, and the item that is open in it, fresh until the task ends. Trouble is told in the inbox.

    Raises:
        NotAllowedError, NotSignedInError, ForbiddenError: the person may not read it any more.
    """
    pause_s = desk.patience.inbox_s
    while True:
        desk.inbox_wake.clear()
        began = asyncio.get_running_loop().time()
        try:
            if is_looked_at():
                await load_inbox(desk)
                await _refresh_item(desk)
            else:
                await count_inbox(desk)
            took_s = asyncio.get_running_loop().time() - began
            # A list of thousands is read for a part of the time only, however long that takes.
            pause_s = max(desk.patience.inbox_s, _SHARE * took_s) if is_looked_at() else desk.patience.inbox_idle_s
        except (NotSignedInError, ForbiddenError):
            raise
        except BookingClientError as error:
            desk.store.inbox.put_trouble(error.code)
            told_s = error.retry_after_s or 0.0 if isinstance(error, ServiceUnavailableError) else 0.0
            pause_s = max(min(pause_s * 2, desk.patience.inbox_longest_s), told_s)
        await _rest(desk, pause_s * random.uniform(0.9, 1.1))  # noqa: S311  # jitter, no secret


async def _refresh_item(desk: Desk) -> None:
    """Read the open item again when the list knows a newer version of it, or has lost it."""
    inbox = desk.store.inbox
    if inbox.item_id is None:
        return
    listed = inbox.item(inbox.item_id)
    if inbox.detail is None or listed is None or listed.version != inbox.detail.item.version or _moves(desk):
        try:
            await load_item(desk, inbox.item_id)
        except (NotSignedInError, ForbiddenError):
            raise
        except BookingClientError:
            return  # kept with the item; the list is fresh all the same


def _moves(desk: Desk) -> bool:
    """Whether an operation of the open item is under way: its answer changes evidence, not always the version."""
    detail = desk.store.inbox.detail
    return detail is not None and any(
        operation.status not in {"SUCCEEDED", "DECLINED"} for operation in detail.operations
    )


async def _rest(desk: Desk, pause_s: float) -> None:
    """Wait, until woken or until the booking system answers somebody else again."""
    was_away = desk.store.connection is not Connection.ONLINE
    end = asyncio.get_running_loop().time() + pause_s
    while (left_s := end - asyncio.get_running_loop().time()) > 0:
        try:
            # Not `wait_for`: before Python 3.12 it forgets that it was cancelled in the turn in which it was woken.
            async with asyncio.timeout(min(left_s, desk.patience.ask_first_s)):
                await desk.inbox_wake.wait()
        except TimeoutError:
            if was_away and desk.store.connection is Connection.ONLINE:
                return
        else:
            return
