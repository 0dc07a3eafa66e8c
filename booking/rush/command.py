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
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from booking.domain.admission_control_signals import AdmissionLimits
from booking.domain.caller import Role
from booking.domain.errors import BookingError
from booking.embedded import EmbeddedError
from booking.rush import arrivals, plan, report
from booking.rush.accounts import RunningServer, ServerError
from booking.rush.conductor import Conductor, Run, Second, SenderFailedError, say
from booking.rush.cpu import cpu_seconds, used_between
from booking.rush.own_stack import StackError, own_stack
from booking.rush.plan import Sale, Server, Traffic
from booking.rush.steered import Steered, read_steering
from booking.rush.through_room import Beside, Slowness, Steering, beside
from booking.services.check_invariants import check
from booking.store.database import Database
from booking.web.listening import is_loopback

DONE, FOUND_WRONG, UNREACHABLE, INTERRUPTED = 0, 1, 3, 130
_FIRST_ACCOUNTS = 200
_USUAL_ACCOUNTS = 5_000
_VISIT_S = 90.0
_TARGETS = tuple(AdmissionLimits.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Target:
    """What is rushed; `dsn` is where the invariants are looked at, if anywhere; `pids` are processes of our own."""

    server: Server
    sale: Sale
    tokens: tuple[str, ...]
    dsn: str | None
    pids: Mapping[str, int]
    room: Server | None = None
    clerk: str = ""


def main(arguments: Sequence[str]) -> int:
    """Rush. Returns the exit code."""
    chosen = _parse(arguments)
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
        before = cpu_seconds(target.pids)
        async with _beside(chosen, target) as seen:
            run = await conductor.conduct(
                processes=chosen.processes, connections=chosen.connections, most_requests=chosen.most_requests,
                drain_s=_drain_s(chosen), timeout_s=chosen.timeout, seed=chosen.seed, progress=_progress(chosen),
            )  # fmt: skip
        steered = await _steered(target, conductor, run, seen)
        cpu = used_between(before, cpu_seconds(target.pids))
        breaches = details = None
        if target.dsn is not None:
            say("looking at the invariants")
            found = (await check(target.dsn)).breaches
            breaches, details = len(found), [f"{breach.rule}: {breach.detail}" for breach in found]
    return report.Verdict(run, breaches, details or (), _settings(chosen, target), cpu, steered, seen.sales)


@asynccontextmanager
async def _target(chosen: argparse.Namespace) -> AsyncIterator[Target]:
    accounts = (
        chosen.fans or chosen.accounts or min(_USUAL_ACCOUNTS, _FIRST_ACCOUNTS + int(chosen.rate * chosen.seconds))
    )
    if chosen.server is None:
        say("starting a database, sandbox, API and workers")
        async with own_stack(chosen.seats, accounts, _steering(chosen)) as stack:
            clerk = stack.staff.get(Role.CLERK, "")
            yield Target(stack.server, stack.sale, stack.tokens, stack.dsn, stack.pids, stack.room, clerk)
        return
    running = RunningServer(chosen.server)
    try:
        sale = await running.sale(chosen.event)
        say(f"opening {accounts:,} accounts")
        tokens = await running.open_accounts(accounts)
    finally:
        running.close()
    yield Target(chosen.server, sale, tokens, chosen.dsn, {})


def _steering(chosen: argparse.Namespace) -> Steering | None:
    if not chosen.fans:
        return None
    return Steering(chosen.cap, chosen.admission == "automatic", chosen.least, _targets(chosen))


def _targets(chosen: argparse.Namespace) -> dict[str, float]:
    """Four sessions that wait for locks are many here: the API's pool of sales has eight."""
    return {"lock_waits": 4.0, **dict(chosen.target)}


def _drain_s(chosen: argparse.Namespace) -> float:
    """Long enough for everybody's turn, were the rate two thirds of the cap, and for a whole visit after it."""
    drain_s: float = chosen.drain
    return drain_s if not chosen.fans else max(drain_s, _VISIT_S + 1.5 * 60 * chosen.fans / chosen.cap)


@asynccontextmanager
async def _beside(chosen: argparse.Namespace, target: Target) -> AsyncIterator[Beside]:
    """With a waiting room a till sells meanwhile, and the database may be slow."""
    if target.room is None or target.dsn is None:
        yield Beside()
        return
    async with beside(target.dsn, target.server, target.sale, target.clerk, chosen.slow, 1.0) as seen:
        yield seen


async def _steered(target: Target, conductor: Conductor, run: Run, seen: Beside) -> Steered | None:
    if target.room is None or target.dsn is None:
        return None
    db = await Database.open(target.dsn, lanes=False, application="taquilla rush")
    try:
        began = conductor.starts_at
        slow = None
        if seen.slow_from is not None and seen.slow_until is not None:
            slow = (seen.slow_from - began, seen.slow_until - began)
        return await read_steering(db, target.sale.event_id, began, run.seconds, slow)
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
        *(("fans", "admission", "cap", "least", "look", "form") if chosen.fans else ()),
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


# ---------------------------------------------------------------- the command line


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taquilla rush",
        description="Opening-minute traffic in an open loop: latency runs from the instant at which a request was meant"
        " to leave. Without --server everything that it needs is started, and stopped at the end.",
    )
    _add_target(parser)
    _add_traffic(parser)
    _add_bounds(parser)
    parser.add_argument("--report", type=Path, metavar="DIR", help=f"write {report.HTML_NAME} and {report.JSON_NAME}")
    parser.add_argument("--json", action="store_true", help="print {offered, done, p50_ms, p99_ms, shed, breaches, …}")
    chosen = parser.parse_args(arguments)
    _check_target(parser, chosen)
    if chosen.report is not None and chosen.report.exists() and not chosen.report.is_dir():
        parser.error(f"--report: {chosen.report} is no folder")
    return chosen


def _add_target(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where")
    where.add_argument("--server", metavar="URL", help="an API that runs already; on this machine unless you say more")
    where.add_argument("--i-run-this-host", metavar="HOST", help="allows a --server on another machine: name it again")
    where.add_argument("--event", type=int, help="the event to rush (default: the first on sale)")
    where.add_argument("--dsn", help="look at the invariants of this database at the end (its own: always)")
    where.add_argument(
        "--seats", type=_between(int, 6, plan.MOST_SEATS), default=20_000, help="of its own event (default: 20000)"
    )


def _add_traffic(parser: argparse.ArgumentParser) -> None:
    crowd = parser.add_argument_group("the crowd")
    crowd.add_argument(
        "--rate", type=_between(float, 0.1, plan.LARGEST_RATE_PER_S), default=200.0, help="first holds/s"
    )
    crowd.add_argument("--maps", type=_between(float, 0.0, plan.LARGEST_RATE_PER_S), default=50.0, help="map reads/s")
    crowd.add_argument("--seconds", type=_between(float, 0.5, plan.LONGEST_S), default=20.0)
    crowd.add_argument("--arrivals", choices=arrivals.SHAPES, default=arrivals.BURSTS)
    crowd.add_argument("--skew", type=_between(float, 0.0, 3.0), default=0.8, help="Zipf's exponent over the seats")
    _add_room(parser)
    share = _between(float, 0.0, 1.0)
    crowd.add_argument("--groups", type=share, default=0.1, help="share of arrivals that are friends who overlap")
    crowd.add_argument("--double-clicks", type=share, default=0.05, help="share of holds sent twice under one key")
    crowd.add_argument("--buyers", type=share, default=0.5, help="share of winners that check out and pay")
    crowd.add_argument("--patience", type=share, default=0.7, help="share of clients that do as Retry-After says")
    crowd.add_argument("--accounts", type=_between(int, 1, plan.MOST_ACCOUNTS), help="default: one an arrival, to 5000")


def _add_room(parser: argparse.ArgumentParser) -> None:
    room = parser.add_argument_group("through a waiting room of its own; --rate is then how many join in a second")
    room.add_argument("--fans", type=_between(int, 1, plan.MOST_ACCOUNTS), default=0, help="people, each comes once")
    room.add_argument(
        "--admission", choices=("automatic", "fixed"), default="automatic", help="by the controller, or at the cap"
    )
    room.add_argument("--cap", type=_between(int, 1, 600_000), default=600, metavar="PER_MINUTE", help="default: 600")
    room.add_argument("--least", type=_between(int, 0, 600_000), default=30, metavar="PER_MINUTE", help="under strain")
    room.add_argument(
        "--target", action="append", type=_target_of, default=[], metavar="NAME=VALUE",
        help=f"where a figure is at its limit; may be given again: {', '.join(_TARGETS)}",
    )  # fmt: skip
    for name, what, usual in (("look", "map", (2.0, 15.0, 5.0)), ("form", "form", (2.0, 12.0, 5.0))):
        room.add_argument(
            f"--{name}", type=_stretch, default=usual, metavar="LEAST:MOST", help=f"seconds at the {what}"
        )
    room.add_argument(
        "--slow", type=_slowness, metavar="AT:FOR", help="seconds: a forgotten transaction holds most seats' rows"
    )


def _target_of(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        AdmissionLimits(**{name: float(value)})
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(f"NAME=VALUE above 0 is needed, of {', '.join(_TARGETS)}") from None
    return name, float(value)


def _stretch(text: str) -> tuple[float, float, float]:
    """Least and most, and a third of the way between them most often."""
    least, _, most = text.partition(":")
    try:
        found = float(least), float(most)
    except ValueError:
        raise argparse.ArgumentTypeError("two numbers of seconds like 2:15 are needed") from None
    if not 0 <= found[0] <= found[1] <= plan.LONGEST_S:
        raise argparse.ArgumentTypeError(f"from 0 to {plan.LONGEST_S:g} seconds, the lesser first")
    return (*found, found[0] + (found[1] - found[0]) / 3)


def _slowness(text: str) -> Slowness:
    at, colon, lasts = text.partition(":")
    try:
        found = Slowness(float(at), float(lasts))
    except ValueError:
        raise argparse.ArgumentTypeError("two numbers of seconds like 60:20 are needed") from None
    if not colon or not (0 <= found.at_s <= plan.LONGEST_S and 0 < found.lasts_s <= plan.LONGEST_S):
        raise argparse.ArgumentTypeError(f"from 0 to {plan.LONGEST_S:g} seconds")
    return found


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    bounds = parser.add_argument_group("bounds")
    bounds.add_argument("--processes", type=_between(int, 1, plan.MOST_PROCESSES), default=1, help="sender processes")
    bounds.add_argument("--connections", type=_between(int, 1, plan.MOST_CONNECTIONS), default=1_000)
    bounds.add_argument("--timeout", type=_between(float, 0.1, 60.0), default=10.0, metavar="S", help="of one request")
    bounds.add_argument("--drain", type=_between(float, 0.0, 60.0), default=8.0, metavar="S", help="for what is open")
    bounds.add_argument("--most-requests", type=_between(int, 1, plan.MOST_REQUESTS), default=1_000_000)
    bounds.add_argument("--seed", type=_between(int, 0, 2**31 - 1), default=1)


def _between(kind: type[int | float], least: float, most: float) -> Callable[[str], float]:
    """A number within bounds, as a type of argparse. NaN is within none."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"from {least:g} to {most:g}")
        return value

    return read


def _check_target(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """Load goes to this machine alone, or to one that its operator names twice, over TLS."""
    if chosen.slow is not None and not chosen.fans:
        parser.error("--slow goes with --fans")
    if chosen.fans and chosen.least > chosen.cap:
        parser.error("--least: not above --cap")
    if chosen.fans and chosen.server is not None:
        parser.error("--fans: through the waiting room of its own stack only; leave --server out")
    if chosen.server is None:
        if chosen.event is not None or chosen.dsn is not None or chosen.i_run_this_host is not None:
            parser.error("--event, --dsn and --i-run-this-host go with --server")
        return
    try:
        chosen.server = Server.of_url(chosen.server)
    except ValueError as error:
        parser.error(f"--server: {error}")
    host = chosen.server.host
    if is_loopback(host):
        return
    if chosen.i_run_this_host != host:
        parser.error(f"--server: {host} is another machine; to load one that you run, add --i-run-this-host {host}")
    if not chosen.server.tls:
        parser.error("--server: another machine is spoken to over https only")
