"""Following the figures of operators: the feed while somebody looks, alarms alone now and then while nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime

from app.actions.desk import Desk
from app.core.ops_board import EVENT_NAMES, HOUSE_NAMES
from app.core.ops_parts import MinuteHistory
from app.core.ops_series import LIVE_S, MOST_MINUTES_S, joined, table_of
from app.core.session import Permission, require
from backend_client.errors import BookingClientError, ForbiddenError, NotSignedInError
from backend_client.feed import Dial, Rhythm
from backend_client.ops_feed import OpsFeed
from backend_client.ops_feed_state import OpsFeedState
from backend_client.steady_time import steady_seconds
from backend_client.wire import EventId, OpsFigures

_HOLE_S = 2.5
"""A statement that came so long after the one before leaves something to be read from the history."""


async def follow_ops(desk: Desk, dial: Dial) -> None:
    """Keep the board fresh until the task ends; what was missed meanwhile is read from the history.

    Raises:
        NotAllowedError, NotSignedInError, ForbiddenError: the person may not see it any more.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    rhythm = Rhythm(reconnect_window_s=desk.patience.ops_window_s, silence_s=desk.patience.ops_silence_s)
    filling: set[asyncio.Task[None]] = set()
    try:
        async with aclosing(OpsFeed(desk.client, rhythm=rhythm, dial=dial).events()) as events:
            async for event in events:
                if isinstance(event, OpsFeedState):
                    board.put_state(event)
                    continue
                missed = _missed(desk, event)
                board.put_figures(event, steady_seconds())
                _choose_event(desk, event)
                if missed and not filling:
                    task = asyncio.get_running_loop().create_task(fill_seconds(desk), name="ops-seconds")
                    filling.add(task)
                    task.add_done_callback(filling.discard)
    finally:
        board.put_state(OpsFeedState.AWAY)
        for task in tuple(filling):
            task.cancel()
        await asyncio.gather(*filling, return_exceptions=True)


def _missed(desk: Desk, figures: OpsFigures) -> bool:
    newest = desk.store.ops.house.newest_s
    return newest is None or figures.measured_at.timestamp() - newest > _HOLE_S


def _choose_event(desk: Desk, figures: OpsFigures) -> None:
    """The event that is open at the counter is watched first, or the first that is told of."""
    board, store = desk.store.ops, desk.store
    told = [event.event_id for event in figures.events]
    if not told or board.event_id in told:
        return
    if board.event_id is None:
        is_open = store.event is not None and store.event.event_id in told
        board.choose_event(store.event.event_id if is_open and store.event is not None else told[0])


async def fill_seconds(desk: Desk) -> None:
    """Read the last quarter of an hour, of the house and of the watched event; trouble leaves a gap, and says so."""
    board = desk.store.ops
    events: list[EventId | None] = [None, *([] if board.event_id is None else [board.event_id])]
    for event_id in events:
        names = HOUSE_NAMES if event_id is None else EVENT_NAMES
        try:
            history = await desk.client.ops_history(step="second", event=event_id, names=[str(name) for name in names])
        except NotSignedInError:
            return  # the feed hears of it too
        except BookingClientError as error:
            if event_id in {None, board.event_id}:
                board.put_history_trouble(error.code)
            return
        board.merge_seconds(event_id, table_of(history))


async def load_minutes(desk: Desk, start_s: float, end_s: float) -> None:
    """Read the minutes of a span and of as much on both sides, as far as they are answered at once.

    What was read is told on the board, trouble as well. A span is no longer than `MOST_MINUTES_S`.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: the session has ended.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    event_id, span_s = board.event_id, end_s - start_s
    more_s = max(min(max(span_s, float(LIVE_S)), (MOST_MINUTES_S - span_s) / 2), 0.0)
    since, until = start_s - more_s, end_s + more_s
    try:
        parts = [
            await desk.client.ops_history(
                step="minute", since=_instant(since), until=_instant(until), event=one,
                names=[str(name) for name in (HOUSE_NAMES if one is None else EVENT_NAMES)],
            )
            for one in ([None] if event_id is None else [None, event_id])
        ]  # fmt: skip
    except NotSignedInError:
        raise
    except BookingClientError as error:
        if board.event_id == event_id:
            board.put_history_trouble(error.code)
        return
    if board.event_id != event_id:
        return  # another one is watched by now
    table = table_of(parts[0])
    for part in parts[1:]:
        table = joined(table, table_of(part))
    board.put_minutes(MinuteHistory(event_id, since, min(until, steady_now(desk)), table))


def steady_now(desk: Desk) -> float:
    """The server's time in seconds since 1970, or this machine's while that is not known."""
    now = desk.store.clock.now()
    return (desk.now() if now is None else now).timestamp()


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(max(seconds, 0.0), UTC)


async def load_alarms(desk: Desk) -> None:
    """Read all alarms, and when they are raised. Trouble is told on the board.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: the session has ended.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    try:
        board.put_alarm_list((await desk.client.ops_alarms()).alarms)
        board.put_rules((await desk.client.ops_alarm_rules()).rules)
    except NotSignedInError:
        raise
    except BookingClientError as error:
        board.put_alarms_trouble(error.code)


async def watch_alarms(desk: Desk, is_looked_at: Callable[[], bool]) -> None:
    """Read the alarms now and then while nobody looks at the figures; the feed brings them while somebody does.

    Raises:
        NotAllowedError, NotSignedInError, ForbiddenError: the person may not see them any more.
    """
    while True:
        if not is_looked_at():
            require(desk.store.session, Permission.SEE_OPS)
            try:
                desk.store.ops.put_alarm_list((await desk.client.ops_alarms()).alarms)
            except (NotSignedInError, ForbiddenError):
                raise
            except BookingClientError as error:
                desk.store.ops.put_alarms_trouble(error.code)
        await desk.sleep(desk.patience.ops_idle_s)
