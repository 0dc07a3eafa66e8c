"""The verb `reconcile`: compare one day of one provider with our ledger, now, and say what differs.

    python -m booking reconcile --dsn DSN --provider sandbox --sandbox-url URL [--day 2026-11-29] [--json]
    python -m booking reconcile --dsn DSN --provider zvt|cash [--day …]    terminals' ends of day; tickets paid in cash

Prints a line for each difference, or as JSON `run` and `differences`, a list of {kind, subject, order_id, operation_id,
amount_minor, currency, words}. Each is an item of the inbox as well. Progress goes to stderr.
Exit codes: 0 all agree, 1 differences, 2 wrong use, 3 the database or the provider cannot be reached.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import date, timedelta
from uuid import uuid4

import msgspec

from booking.domain.caller import Caller, Channel, Role
from booking.domain.errors import BookingError, InvalidRequestError
from booking.domain.item_words import major, words_of
from booking.domain.items import Difference, ReconciliationRun, RunState
from booking.domain.local_time import zone_of
from booking.payments.secrets import MissingSecretError
from booking.services import daily_reconciliation
from booking.services.migrate import MigrationError, require_own_schema
from booking.services.providers import STRIPE, open_providers
from booking.services.reconciliation_settings import read_settings
from booking.store.database import Database

WRONG_USE, CANNOT_REACH = 2, 3
TRIES = 5
_PAUSE_S = 1.0
_OPERATOR = Caller("operator:reconcile", Role.ADMIN, Channel.TILL)


def main(arguments: Sequence[str]) -> int:
    """Run one comparison to its end. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="taquilla reconcile", description="Compare a provider's day with our ledger.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    parser.add_argument("--provider", dest="compared", metavar="NAME", required=True, help="sandbox, stripe, zvt, cash")
    parser.add_argument("--day", type=_day, help="default: yesterday, in the zone of the settings")
    parser.add_argument("--json", action="store_true", help="print the run and its differences as JSON")
    parser.add_argument("--sandbox-url", metavar="URL", help="address of the payment sandbox")
    parser.add_argument("--stripe-api", metavar="URL", help="another address of Stripe's API, for tests")
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    if chosen.compared == "sandbox" and not chosen.sandbox_url:
        parser.error("the sandbox is asked at --sandbox-url")
    chosen.provider = [STRIPE] if chosen.compared.startswith(STRIPE) else []
    chosen.stripe_return_url = ""
    try:
        return asyncio.run(_reconcile(chosen))
    except InvalidRequestError as error:
        sys.stderr.write(f"taquilla reconcile: {'; '.join(f'{f.pointer} {f.message}' for f in error.fields)}\n")
        return WRONG_USE
    except (BookingError, MigrationError, MissingSecretError, OSError) as error:
        sys.stderr.write(f"taquilla reconcile: {error}\n")
        return CANNOT_REACH


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day like 2026-11-29") from None


async def _reconcile(chosen: argparse.Namespace) -> int:
    db = await Database.open(chosen.dsn, lanes=False, application="taquilla reconcile")
    try:
        await require_own_schema(db)
        async with open_providers(db, chosen) as providers:
            day = chosen.day or await _yesterday(db)
            compared = await _compare(db, providers, chosen.compared, day)
        if compared is None:
            return CANNOT_REACH
        run, found = compared
        sys.stdout.write(_as_json(run, found) if chosen.json else _in_words(run, found))
        return 1 if found else 0
    finally:
        await db.close()


async def _yesterday(db: Database) -> date:
    settings = await read_settings(db)
    return settings.server_time.astimezone(zone_of(settings.zone)).date() - timedelta(days=1)


async def _compare(
    db: Database, providers: daily_reconciliation.Providers, provider: str, day: date
) -> tuple[ReconciliationRun, Sequence[Difference]] | None:
    """The run that we drove to its end, and the differences; None: no list can be had, or another driver keeps the run.

    One that a worker has ended before us is made anew: its differences are known to that worker alone.
    """
    run: ReconciliationRun | None = None
    for attempt in range(1, TRIES + 1):
        if run is None or run.state is RunState.DONE:
            key = str(uuid4())
            run = (await daily_reconciliation.start_run(db, _OPERATOR, provider, day, key=key, digest=b"")).value
        found = await daily_reconciliation.drive_run(db, providers, run.run_id)
        run = await daily_reconciliation.read_run(db, run.run_id)
        if found is not None:
            return run, found
        sys.stderr.write(f"try {attempt} of {TRIES}: {run.detail or 'another process drives this comparison'}\n")
        if run.state is RunState.FAILED:
            return None
        await asyncio.sleep(_PAUSE_S * attempt)
    return None


def _as_json(run: ReconciliationRun, found: Sequence[Difference]) -> str:
    differences = [
        {
            "kind": each.kind, "subject": each.subject, "order_id": each.order_id, "operation_id": each.operation_id,
            "amount_minor": each.amount_minor, "currency": each.currency,
            "words": words_of(each.kind, each.detail, each.currency),
        }
        for each in found
    ]  # fmt: skip
    return msgspec.json.encode({"run": run, "differences": differences}).decode() + "\n"


def _in_words(run: ReconciliationRun, found: Sequence[Difference]) -> str:
    lines = [
        f"{each.kind:<24}{major(each.amount_minor, each.currency):>14} {each.currency}  "
        f"{words_of(each.kind, each.detail, each.currency)}"
        for each in found
    ]  # fmt: skip
    lines.append(
        f"{run.provider}, {run.day}: {run.read} read, {run.matched} agree, {len(found)} differ, "
        f"{run.opened_items} new items"
    )
    return "\n".join(lines) + "\n"
