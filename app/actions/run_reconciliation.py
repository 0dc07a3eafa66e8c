"""The daily comparison of a provider's list, or of terminals' totals, with our ledger: started here, done elsewhere."""

from __future__ import annotations

from datetime import date

from app.actions.desk import Desk
from app.core.session import Permission, require
from backend_client.errors import BookingClientError
from backend_client.wire import ReconciliationRun, RunId, RunState


async def load_runs(desk: Desk) -> None:
    """Read the newest comparisons. Trouble is kept in the inbox, what was read before stays.

    Raises:
        NotAllowedError: the role may not read them.
        BookingClientError: they cannot be read.
    """
    require(desk.store.session, Permission.READ_ITEMS)
    try:
        answer = await desk.client.runs()
    except BookingClientError as error:
        desk.store.inbox.put_runs_trouble(error.code)
        raise
    desk.store.inbox.put_runs(answer.runs, answer.server_time)


async def start_run(desk: Desk, provider: str, day: date) -> ReconciliationRun:
    """Compare a day of a provider; one that runs for it already is taken instead.

    Raises:
        NotAllowedError: the role may not.
        BookingClientError: it did not begin.
    """
    require(desk.store.session, Permission.RECONCILE)
    run = await desk.client.start_run(provider, day, key=desk.new_key())
    desk.store.inbox.put_run(run)
    return run


async def follow_runs(desk: Desk) -> None:
    """Look at the comparisons that run until none does; then the inbox is read again.

    Raises:
        BookingClientError: one cannot be read (it goes on all the same).
    """
    running = _running(desk)
    while running:
        await desk.sleep(desk.patience.run_s)
        for run_id in running:
            if desk.store.session is None:
                return
            desk.store.inbox.put_run(await desk.client.run(run_id))
        running = _running(desk)
    desk.inbox_wake.set()


def _running(desk: Desk) -> list[RunId]:
    return [run.run_id for run in desk.store.inbox.runs if run.state is RunState.RUNNING]
