"""The daily comparison: a provider's own list, or terminals' ends of day, against our ledger and tickets (R27).

A run is a row; whoever drives it has a lease. The provider is asked page by page between two transactions, each page
commits with the place where the list goes on, and the comparison is made by the database over all of it. Killed
anywhere, the next driver goes on from the last page; a page that fails is asked for again, later and later. Each
difference becomes one item, whoever finds it however often; one that is not found any more ends its item.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from uuid import UUID, uuid4

from booking.domain.caller import Caller
from booking.domain.card_data import mask_card_data
from booking.domain.errors import FieldFault, InvalidRequestError, RunNotFoundError, UnavailableError
from booking.domain.items import BY_ITSELF, Difference, ReconciliationRun, ReconciliationRunList
from booking.domain.local_time import zone_of
from booking.domain.replay import Outcome
from booking.payments.exponents import PROVIDERS
from booking.payments.provider import MovementPage, PaymentProvider, ProviderAwayError, ProviderMovement
from booking.services.reconciliation_settings import read_settings
from booking.services.refusals import key_use, raise_refusal
from booking.services.take_payment import TERMINAL_PROTOCOLS
from booking.store import reconciliation_queries, reconciliation_queries_runs
from booking.store.database import Database
from booking.store.reconciliation_queries_runs import LeaseLostError

LEASE: Final = timedelta(minutes=5)
PAGE_WITHIN_S: Final = 60.0
MOST_FAILURES: Final = 30
"""In a row; with the back-off some two hours, and the next day has a run of its own."""
COUNTERS: Final = frozenset({"drawer", "cash"})
"""What takes money at a till without anybody who could be asked for a list."""
_LOOKED_BACK: Final = timedelta(days=8)

Providers = Mapping[str, PaymentProvider]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leased:
    """A run that we drive, and until when its list has been read."""

    run_id: UUID
    holder: UUID
    provider: str
    list_since: datetime
    list_until: datetime
    cursor: str
    is_read: bool


async def start_run(
    db: Database, caller: Caller, provider: str, day: date, *, key: str, digest: bytes
) -> Outcome[ReconciliationRun]:
    """Begin a run for the worker to drive, or find the one of that day that is running.

    Raises:
        InvalidRequestError: nobody has such a list, or the day has not begun.
        KeyReusedError, BusyError: as they say.
    """
    use = key_use(key, digest)
    since, until = await _bounds_of(db, provider, day)
    answer = await reconciliation_queries_runs.ask_for_run(db, caller, provider, day, since, until, use)
    await raise_refusal(db, answer, None)
    if answer.result_id is None:
        raise RuntimeError("the database began a comparison without saying which")
    return Outcome(await read_run(db, answer.result_id), answer.replayed)


async def read_run(db: Database, run_id: UUID) -> ReconciliationRun:
    """A run as it stands.

    Raises:
        RunNotFoundError: there is none.
    """
    found = await reconciliation_queries_runs.read_runs(db, run_id, 1)
    if not found:
        raise RunNotFoundError("There is no such comparison.")
    return found[0]


async def list_runs(db: Database, limit: int = 100) -> ReconciliationRunList:
    """The newest runs."""
    runs = await reconciliation_queries_runs.read_runs(db, None, limit)
    return ReconciliationRunList(tuple(runs), (await reconciliation_queries.count_open_items(db))[1])


async def start_due_runs(db: Database, providers: Providers, begun: date | None = None) -> date | None:
    """Begin the worker's own runs of yesterday once its hour has come. Each day has one of each provider, ever.

    Days on which no worker ran are compared with the next one.

    Returns the day whose runs have begun, to be given back the next time (`begun`): nothing is looked up for it again.
    """
    settings = await read_settings(db)
    local = settings.server_time.astimezone(zone_of(settings.zone))
    day = local.date() - timedelta(days=1)
    if local.hour < settings.run_at_hour or day == begun:
        return begun
    at_counters = await reconciliation_queries_runs.list_counter_providers(db, settings.server_time - _LOOKED_BACK)
    known = (TERMINAL_PROTOCOLS | COUNTERS) - providers.keys()
    for provider in (*providers, *(name for name in at_counters if name in known)):
        for due in await reconciliation_queries_runs.days_to_compare(db, provider, day, _LOOKED_BACK.days):
            since, until = await _bounds_of(db, provider, due)
            await reconciliation_queries_runs.start_run(db, provider, due, since, until, BY_ITSELF)
    return day


async def drive_due_run(db: Database, providers: Providers) -> bool:
    """Drive a run that is due to its end, or to where it has to wait. False: there was none."""
    run = await _claim(db, providers, None)
    if run is None:
        return False
    await _drive(db, providers, run)
    return True


async def drive_run(db: Database, providers: Providers, run_id: UUID) -> Sequence[Difference] | None:
    """Drive one run, due or not: what it found. None: its list cannot be had now, or it has another driver."""
    run = await _claim(db, providers, run_id)
    return None if run is None else await _drive(db, providers, run)


async def _drive(db: Database, providers: Providers, run: Leased) -> Sequence[Difference] | None:
    """What the run found; None when it has to wait. One that cannot be made fails in the end: no day waits for ever."""
    try:
        if run.is_read or await _read_list(db, providers.get(run.provider), run):
            return await _compare(db, run)
    except UnavailableError:
        raise  # nothing can be written down now: the lease runs out by itself
    except LeaseLostError:
        log.info("comparison %s has another driver", run.run_id)
    except Exception as error:
        log.exception("comparison %s with %s has a fault", run.run_id, run.provider)
        await _give_back(db, run, f"{type(error).__name__}: {error}")
    return None


async def _claim(db: Database, providers: Providers, run_id: UUID | None) -> Leased | None:
    holder = uuid4()
    can_drive = [*providers, *sorted((TERMINAL_PROTOCOLS | COUNTERS) - providers.keys())]
    row = await reconciliation_queries_runs.claim_run(db, can_drive, holder, LEASE, run_id)
    if row is None:
        return None
    return Leased(
        row["run_id"], holder, row["provider"], row["list_since"], row["list_until"], row["cursor"], row["is_read"]
    )


async def _bounds_of(db: Database, provider: str, day: date) -> tuple[datetime, datetime]:
    """The instants between which a day lies, in the zone of the settings."""
    if provider not in PROVIDERS | TERMINAL_PROTOCOLS | COUNTERS:
        raise _bad("/provider", "nobody here takes money by this name")
    settings = await read_settings(db)
    zone = zone_of(settings.zone)
    since, until = (datetime.combine(day + timedelta(days=n), time(), zone).astimezone(UTC) for n in (0, 1))
    if since >= settings.server_time:
        raise _bad("/day", "this day has not begun")
    return since, until


def _bad(pointer: str, words: str) -> InvalidRequestError:
    return InvalidRequestError("This day cannot be compared.", fields=(FieldFault(pointer, words),))


async def _read_list(db: Database, provider: PaymentProvider | None, run: Leased) -> bool:
    """Read what is left of the list. False: it has to wait, or somebody else drives the run by now."""
    cursor = run.cursor
    while True:
        try:
            page = await _page_of(provider, run, cursor)
        except (ProviderAwayError, TimeoutError, ValueError) as error:
            await _give_back(db, run, f"{type(error).__name__}: {error}")
            return False
        rows = [row_of(movement) for movement in page.movements]
        if not await reconciliation_queries_runs.keep_page(db, run.run_id, run.holder, LEASE, rows, page.cursor):
            log.info("comparison %s has another driver", run.run_id)
            return False
        cursor = page.cursor
        if not cursor:
            return True


async def _page_of(provider: PaymentProvider | None, run: Leased, cursor: str) -> MovementPage:
    if provider is None:  # a terminal protocol or a drawer: what there is to compare is in the database already
        return MovementPage(())
    async with asyncio.timeout(PAGE_WITHIN_S):
        return await provider.list_movements(run.list_since, run.list_until, cursor)


def row_of(movement: ProviderMovement) -> dict[str, object]:
    """A movement with the members of `run_movements`."""
    return {
        "provider_ref": movement.provider_ref, "movement_ref": movement.movement_ref,
        "idempotency_key": movement.idempotency_key, "kind": movement.kind, "status": movement.status,
        "amount_minor": movement.amount_minor, "currency": movement.currency, "at": movement.at,
    }  # fmt: skip


async def _give_back(db: Database, run: Leased, why: str) -> None:
    why = mask_card_data(why).replace("\x00", "")[:500]
    state = await reconciliation_queries_runs.note_page_failed(db, run.run_id, run.holder, why, MOST_FAILURES)
    log.warning("comparison %s with %s is %s: %s", run.run_id, run.provider, state, why)


async def _compare(db: Database, run: Leased) -> Sequence[Difference]:
    """Compare all that was read, open what is new, and end the run. Done twice it opens nothing twice.

    Each step asks whether the run is still ours: once another driver has ended it, what was read is gone, and a look
    would find all of the day with us alone.

    Raises:
        LeaseLostError: it is not.
    """
    matched = await reconciliation_queries_runs.match_run(db, run.run_id, run.holder, LEASE)
    found = await reconciliation_queries_runs.read_differences(db, run.run_id, run.holder, LEASE)
    opened, failed = await _open_all(db, run, found)
    detail = f"{failed} differences could not be kept; the next run finds them again" if failed else ""
    if not await reconciliation_queries_runs.end_run(
        db, run.run_id, run.holder, matched, Counter(each.kind for each in found), opened,
        [each.subject for each in found], detail,
    ):  # fmt: skip
        raise LeaseLostError(str(run.run_id))
    log.info(
        "comparison %s with %s: %d agree, %d differ, %d new", run.run_id, run.provider, matched, len(found), opened
    )
    return found


async def _open_all(db: Database, run: Leased, found: Sequence[Difference]) -> tuple[int, int]:
    """How many items are new, and how many differences could not be kept: one never stops the others (P32)."""
    opened = failed = 0
    for difference in found:
        try:
            opened += await reconciliation_queries_runs.open_difference(
                db, run.run_id, run.holder, LEASE, run.provider, difference
            )
        except (UnavailableError, LeaseLostError):
            raise  # the database is away: the whole comparison is made again; or another makes it
        except Exception:
            failed += 1
            log.exception("the difference %s %s could not be kept", difference.kind, difference.subject)
    return opened, failed
