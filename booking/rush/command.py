"""The verb `rush`: opening-minute traffic, in an open loop, bounded, with a report.

    python3 run.py rush [--rate 200] [--seconds 20] [--report DIR] [--json]
    python3 run.py rush --server http://127.0.0.1:8080 [--event 7] [--dsn DSN]

Without `--server` it starts a database, API, workers and sandbox of its own, and stops them at the end.
Exit codes: 0 done, 1 an invariant is broken, answers contradict each other or a 5xx other than 503 was seen,
2 wrong use, 3 the server or the database cannot be reached.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from booking.domain.caller import Role
from booking.domain.errors import BookingError
from booking.embedded import EmbeddedError
from booking.rush import options, report
from booking.rush.accounts import RunningServer, ServerError
from booking.rush.company import Others, company_of
from booking.rush.conductor import START_IN_S, Conductor, Run, Second, SenderFailedError, say
from booking.rush.consoles import COUNTER, OPERATIONS, WALL
from booking.rush.counter import Company, read_counter, read_pictures
from booking.rush.cpu import cpu_seconds, used_between
from booking.rush.own_stack import StackError, own_stack
from booking.rush.plan import Sale, Server, Traffic
from booking.rush.staff import Staffer
from booking.rush.steered import Steered, read_steering
from booking.rush.through_room import Beside, Steering, beside, steer
from booking.services.check_invariants import check
from booking.store.database import Database

DONE, FOUND_WRONG, UNREACHABLE, INTERRUPTED = 0, 1, 3, 130
_FIRST_ACCOUNTS = 200
_USUAL_ACCOUNTS = 5_000
_VISIT_S = 90.0


@dataclass(frozen=True, slots=True)
class Target:
    """What is rushed; `dsn` is where the invariants are looked at, if anywhere; `pids` are processes of our own."""

    server: Server
    sale: Sale
    tokens: tuple[str, ...]
    dsn: str | None
    pids: Mapping[str, int]
    room: Server | None = None
    staff: Mapping[Role, Staffer] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    """Rush. Returns the exit code."""
    chosen = options.parse(arguments)
    try:
        verdict = asyncio.run(_until_stopped(chosen))
    except (BookingError, EmbeddedError, StackError, ServerError, SenderFailedError, OSError) as error:
        say(str(error) or type(error).__name__)
        return UNREACHABLE
    except (asyncio.CancelledError, KeyboardInterrupt):
        say("stopped")
        return INTERRUPTED
    if chosen.report is not None:
        say(f"report: {report.write(verdict, chosen.report)}")
    text = json.dumps(report.as_json(verdict)) if chosen.json else "\n".join(report.as_lines(verdict))
    sys.stdout.write(text + "\n")
    if verdict.run.count("offered") == verdict.run.count("failed"):
        say("no request was answered")
        return UNREACHABLE
    return DONE if verdict.good else FOUND_WRONG


async def _until_stopped(chosen: argparse.Namespace) -> report.Verdict:
    """SIGTERM stops as Ctrl-C does: everything that was started is stopped first."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await rush(chosen)


async def rush(chosen: argparse.Namespace) -> report.Verdict:
    """The whole run: prepare, send, look at the invariants."""
    async with _target(chosen) as target:
        traffic = Traffic(
            rate=chosen.rate, maps_per_s=chosen.maps, seconds=chosen.seconds, shape=chosen.arrivals, skew=chosen.skew,
            groups=chosen.groups, double_clicks=chosen.double_clicks, buyers=chosen.buyers, patience=chosen.patience,
            fans=chosen.fans, look_s=chosen.look, form_s=chosen.form,
        )  # fmt: skip
        say(f"{len(target.sale.prices):,} seats, {len(target.tokens):,} accounts, {target.server.url}")
        conductor = Conductor(target.server, target.sale, target.tokens, traffic, target.room)
        async with company_of(chosen, target.server, target.room, target.sale, target.staff) as others:
            pids = {**target.pids, **others.pids}
            if target.room is not None:  # last of all, because the controller lets in more and more from then on
                ops = target.staff[Role.OPS].token
                await steer(target.server, target.room, target.sale, ops, _steering(chosen))
            before = cpu_seconds(pids)
            starts_at = others.open_at(time.time() + START_IN_S, chosen.slow)
            async with _beside(chosen, target, others, starts_at) as seen:
                run = await conductor.conduct(
                    processes=chosen.processes, connections=chosen.connections, most_requests=chosen.most_requests,
                    drain_s=_drain_s(chosen), timeout_s=chosen.timeout, seed=chosen.seed, progress=_progress(chosen),
                    starts_at=starts_at,
                )  # fmt: skip
            cpu = used_between(before, cpu_seconds(pids))
            company = await _sent_home(target, others, starts_at, seen)
        steered = await _steered(target, conductor, run, seen)
        breaches = details = None
        if target.dsn is not None:
            say("looking at the invariants")
            found = (await check(target.dsn)).breaches
            breaches, details = len(found), [f"{breach.rule}: {breach.detail}" for breach in found]
    sales = seen.sales if company.counter is None else company.counter.as_sales()
    settings = _settings(chosen, target)
    return report.Verdict(run, breaches, details or (), settings, cpu, steered, sales, company, seen.faults)


@asynccontextmanager
async def _target(chosen: argparse.Namespace) -> AsyncIterator[Target]:
    accounts = (
        chosen.fans or chosen.accounts or min(_USUAL_ACCOUNTS, _FIRST_ACCOUNTS + int(chosen.rate * chosen.seconds))
    )
    if chosen.server is None:
        say("starting a database, sandbox, API and workers")
        async with own_stack(chosen.seats, accounts, with_room=chosen.fans > 0) as stack:
            yield Target(stack.server, stack.sale, stack.tokens, stack.dsn, stack.pids, stack.room, stack.staff)
        return
    running = RunningServer(chosen.server)
    try:
        sale = await running.sale(chosen.event)
        say(f"opening {accounts:,} accounts")
        tokens = await running.open_accounts(accounts)
    finally:
        running.close()
    yield Target(chosen.server, sale, tokens, chosen.dsn, {})


def _steering(chosen: argparse.Namespace) -> Steering:
    return Steering(chosen.cap, chosen.admission == "automatic", chosen.least, _targets(chosen))


def _targets(chosen: argparse.Namespace) -> dict[str, float]:
    """Four sessions that wait for locks are many here: the API's pool of sales has eight."""
    return {"lock_waits": 4.0, **dict(chosen.target)}


def _drain_s(chosen: argparse.Namespace) -> float:
    """Long enough for everybody's turn, were the rate two thirds of the cap, and for a whole visit after it."""
    drain_s: float = chosen.drain
    return drain_s if not chosen.fans else max(drain_s, _VISIT_S + 1.5 * 60 * chosen.fans / chosen.cap)


@asynccontextmanager
async def _beside(
    chosen: argparse.Namespace, target: Target, others: Others, starts_at: float
) -> AsyncIterator[Beside]:
    """With a waiting room a till sells meanwhile, unless a console does, and the database may be slow."""
    if target.room is None or target.dsn is None:
        yield Beside()
        return
    clerk = None if others.sells else target.staff[Role.CLERK].token
    given = target.dsn, target.server, target.sale, clerk, chosen.slow, starts_at, others.announcement
    async with beside(*given) as seen:
        yield seen


async def _sent_home(target: Target, others: Others, starts_at: float, seen: Beside) -> Company:
    """The consoles end while the house still stands; what they say is compared with the database."""
    if not others.sells or target.dsn is None:
        return Company()
    say("the consoles end")
    told = await others.end()
    db = await Database.open(target.dsn, lanes=False, application="taquilla rush")
    try:
        clerk = target.staff[Role.CLERK].staff_id
        slow = _slow(seen, starts_at)
        counter = await read_counter(db, target.sale.event_id, clerk, told[COUNTER], starts_at, slow)
    finally:
        await db.close()
    watching = told[OPERATIONS], told[WALL]
    pictures = sorted(
        (picture for one in watching for picture in read_pictures(one, starts_at)), key=lambda picture: picture.at_s
    )
    return Company(counter, pictures, [problem for one in watching for problem in one["problems"]])


def _slow(seen: Beside, starts_at: float) -> tuple[float, float] | None:
    """From when until when it was slow, seconds of the run."""
    if seen.slow_from is None or seen.slow_until is None:
        return None
    return seen.slow_from - starts_at, seen.slow_until - starts_at


async def _steered(target: Target, conductor: Conductor, run: Run, seen: Beside) -> Steered | None:
    if target.room is None or target.dsn is None:
        return None
    db = await Database.open(target.dsn, lanes=False, application="taquilla rush")
    try:
        began = conductor.starts_at
        return await read_steering(db, target.sale.event_id, began, run.seconds, _slow(seen, began))
    finally:
        await db.close()


def _progress(chosen: argparse.Namespace) -> Callable[[Run, Second], None]:
    through_room = "" if not chosen.fans else "  in {admitted:3d}  bought {confirmed:3d}"

    def tell(run: Run, second: Second) -> None:
        say(
            f"{second.at_s + 1:4d}/{chosen.seconds:.0f} s  offered {second.offered:6,}/s  done {second.done:6,}/s"
            f"  shed {second.shed:5,}  failed {second.failed:4,}  p50 {second.p50_ms:7.1f} ms"
            f"  p99 {second.p99_ms:7.1f} ms  open {second.open:5,}  so far {run.count('offered'):,}"
            + through_room.format(admitted=second.admitted, confirmed=second.confirmed)
        )

    return tell


def _settings(chosen: argparse.Namespace, target: Target) -> dict[str, object]:
    """What the run was, without secrets."""
    names = (
        "rate", "maps", "seconds", "arrivals", "skew", "groups", "double_clicks", "buyers", "patience", "processes",
        "connections", "timeout", "drain", "most_requests", "seed",
        *(("fans", "admission", "cap", "least", "look", "form", "counter") if chosen.fans else ()),
    )  # fmt: skip
    slow = {} if chosen.slow is None else {"slow_at_s": chosen.slow.at_s, "slow_for_s": chosen.slow.lasts_s}
    return {
        "server": target.server.url if chosen.server is not None else "its own",
        "event_id": target.sale.event_id,
        "seats": len(target.sale.prices),
        "accounts": len(target.tokens),
        **{name: getattr(chosen, name) for name in names},
        **slow,
        **({"targets": _targets(chosen)} if chosen.fans else {}),
    }
