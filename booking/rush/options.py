"""What may be said on the command line of `rush`, and what is refused: load goes nowhere by mistake."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from booking.domain.admission_control_signals import AdmissionLimits
from booking.rush import arrivals, plan, report
from booking.rush.announced import JOIN_NAME
from booking.rush.counter import CONSOLE, TILL
from booking.rush.plan import Server
from booking.rush.through_room import Slowness
from booking.web.listening import is_loopback

_TARGETS = tuple(AdmissionLimits.__dataclass_fields__)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; exits with code 2 and words when they cannot be."""
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
        "--counter", choices=(TILL, CONSOLE), default=TILL,
        help="who sells for cash meanwhile: a till that speaks HTTP, or a real console; then an operator's console"
        " takes pictures before, during and after the slowness (needs --report)",
    )  # fmt: skip
    room.add_argument(
        "--announce", type=Path, metavar="FILE", help=f"how others join (default with a console: {JOIN_NAME} in DIR)"
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


def _check_room(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """What has a meaning with a waiting room alone, and what that needs."""
    for name, usual in (("slow", None), ("announce", None), ("counter", TILL)):
        if getattr(chosen, name) != usual and not chosen.fans:
            parser.error(f"--{name} goes with --fans")
    if chosen.counter == CONSOLE and chosen.report is None:
        parser.error("--counter console: its pictures need --report")
    if chosen.fans and chosen.least > chosen.cap:
        parser.error("--least: not above --cap")
    if chosen.fans and chosen.server is not None:
        parser.error("--fans: through the waiting room of its own stack only; leave --server out")


def _check_target(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """Load goes to this machine alone, or to one that its operator names twice, over TLS."""
    _check_room(parser, chosen)
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
