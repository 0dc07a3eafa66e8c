"""The verb `work`: the tasks beside the API, in one process, each started again when it fails.

python -m booking work --dsn DSN [--only sequencer,sweeper,…] [--sandbox-url URL] [--provider stripe] [--ready-file F]
python -m booking work --dsn DSN --figures      what each worker has before it, as JSON
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from booking import own_process
from booking.domain.errors import BookingError
from booking.figures.collector import Collector
from booking.figures.meter import Meter
from booking.figures.model import ProcessKind
from booking.figures.watch import Watch, open_for_figures
from booking.payments.secrets import MissingSecretError
from booking.services import (
    expire_holds,
    issue_tickets,
    retention,
    sequence_feed,
    sweep_expired,
    webhooks,
    worker_figures,
)
from booking.services.keep_running import keep_running
from booking.services.migrate import MigrationError, require_own_schema
from booking.services.providers import add_provider_arguments, check_secrets, is_any_chosen
from booking.store.database import Database

TASKS = (
    "sequencer", "sweeper", "expiry", "tickets", "payments", "webhooks", "reconciliation", "retention", "admission",
)  # fmt: skip
CANNOT_REACH = 3

Task = Callable[[], Awaitable[None]]
log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Run the chosen tasks until SIGTERM, SIGINT or the parent's end. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="taquilla work", description="The workers beside the API.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    parser.add_argument("--only", type=_chosen_tasks, default=TASKS, help=f"some of {','.join(TASKS)}")
    add_provider_arguments(parser)
    parser.add_argument("--figures", action="store_true", help="print each worker's lag and backlog as JSON, and end")
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    own_process.log_to_standard_error()
    try:
        asyncio.run(_print_figures(chosen.dsn) if chosen.figures else _work(chosen))
    except (BookingError, MigrationError, MissingSecretError) as error:
        sys.stderr.write(f"taquilla work: {error}\n")
        return CANNOT_REACH
    return 0


def _chosen_tasks(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in TASKS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"no such task: {', '.join(unknown) or text!r}; there are {', '.join(TASKS)}")
    return names


async def _print_figures(dsn: str) -> None:
    db = await Database.open(dsn, lanes=False, application="taquilla work figures")
    try:
        found = await worker_figures.figures(db)
    finally:
        await db.close()
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")


async def _work(chosen: argparse.Namespace) -> None:
    with own_process.ending(chosen.parent_pid) as end:
        db = await Database.open(chosen.dsn, lanes=False, application="taquilla work")
        try:
            await require_own_schema(db)
            check_secrets(chosen)
            figures_db = await open_for_figures(chosen.dsn, "taquilla work")
            try:
                await _work_with(chosen, db, figures_db, end)
            finally:
                await figures_db.close()
        finally:
            await db.close()


async def _work_with(chosen: argparse.Namespace, db: Database, figures_db: Database, end: asyncio.Event) -> None:
    meter = Meter()
    tasks = tasks_of(db, chosen.only, chosen if is_any_chosen(chosen) else None, meter)
    watch = Watch(figures_db, Collector(ProcessKind.WORKER, meter, db=db, tasks=tasks))
    figures: dict[str, Task] = {"figures": watch.run, "figures log": lambda: worker_figures.log_figures(db)}
    facts: dict[str, object] = {"tasks": list(tasks)}
    await run_tasks({**tasks, **figures}, end, lambda: own_process.write_ready_file(chosen.ready_file, facts))


def tasks_of(
    db: Database, names: Sequence[str], providers: argparse.Namespace | None, meter: Meter | None = None
) -> Mapping[str, Task]:
    """The tasks by name. Payments need a provider to speak to: what `add_provider_arguments` read, or None.

    `meter` counts the providers' answers.
    """
    known: dict[str, Task] = {
        "sequencer": lambda: sequence_feed.run(db),
        "sweeper": lambda: sweep_expired.run(db),
        "expiry": lambda: expire_holds.run(db),
        "tickets": lambda: issue_tickets.run(db),
        "retention": lambda: retention.run(db),
        "webhooks": lambda: webhooks.run(db),
        "reconciliation": _reconciliation(db, providers),
        "admission": _admission(db),
    }
    if providers is not None:
        known["payments"] = _payments(db, providers, meter or Meter())
    return {name: known[name] for name in names if name in known}


def _payments(db: Database, providers: argparse.Namespace, meter: Meter) -> Task:
    from booking.workers import payment_worker

    return lambda: payment_worker.run(db, providers, meter.provider_answered)


def _admission(db: Database) -> Task:
    from booking.workers import admission_worker

    return lambda: admission_worker.run(db)


def _reconciliation(db: Database, providers: argparse.Namespace | None) -> Task:
    from booking.workers import reconciliation_worker

    return lambda: reconciliation_worker.run(db, providers)


async def run_tasks(tasks: Mapping[str, Task], end: asyncio.Event, on_started: Callable[[], None]) -> None:
    """Run all tasks until `end`, each under `keep_running`."""
    running = [asyncio.create_task(keep_running(name, task), name=name) for name, task in tasks.items()]
    on_started()
    log.info("working: %s", ", ".join(tasks) or "nothing")
    await end.wait()
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    log.info("stopped")
