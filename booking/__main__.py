"""The command line: `taquilla VERB …`, the same as `python -m booking VERB …` and `python3 run.py VERB …`.

Each verb is a module with `main(arguments: Sequence[str]) -> int`, imported only when its verb is asked for, so that
`--help` is instant and no verb pays for another. The module owns its parser (`prog="taquilla VERB"`).
Exit codes: 0 done, 1 found something wrong, 2 wrong use, 3 could not reach what it needs. Progress goes to
standard error, results to standard output.
"""

from __future__ import annotations

import difflib
import importlib
import runpy
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One word of the command line: what it does, and the module that does it."""

    words: str
    module: str
    of_console: bool = False  # a program of its own, run as `python -m MODULE`: the two never import each other


VERBS = {
    "demo": Verb("everything embedded, then the console; --headless gives the tour", "booking.demo.command"),
    "console": Verb("the console alone, against a running API", "app", of_console=True),
    "serve": Verb("the API", "booking.web.serve"),
    "room": Verb("the waiting room: joins, turns, admission tokens", "booking.room.command"),
    "work": Verb(
        "the workers: sequencer, sweeper, expiry, tickets, payments, webhooks, reconciliation, retention",
        "booking.workers.work",
    ),
    "migrate": Verb("bring a database to the newest schema", "booking.services.migrate"),
    "check": Verb("the invariants on a live database", "booking.services.check_invariants"),
    "reconcile": Verb("compare a provider's or a terminal's day with our ledger", "booking.services.reconcile_command"),
    "lab": Verb("the documents' experiments on a PostgreSQL, beside our own functions", "booking.lab.command"),
    "rush": Verb("opening-minute load against an API: open loop, bounded, with a report", "booking.rush.command"),
    "simulate": Verb(
        "an opening of two million visitors, the laws of admission, a rush predicted", "booking.simulation.command"
    ),
    "bench": Verb("the measured tables: holds, payments, admission, feed, seat-map", "tests.bench", of_console=True),
    "plan": Verb("check, import and export seating plans", "booking.services.plan_command"),
    "sandbox": Verb("the payment sandbox", "booking.payments.sandbox_server"),
    "terminal-simulator": Verb("the card-terminal simulator", "app.devices.zvt.simulator", of_console=True),
    "screenshots": Verb("every screen with demo data, one picture each", "app", of_console=True),
}

WRONG_USE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb. Returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0 if words else WRONG_USE
    name, *rest = words
    verb = VERBS.get(name)
    if verb is None:
        print(f"taquilla: there is no verb {name!r}.{suggestion(name)} --help lists them all.", file=sys.stderr)
        return WRONG_USE
    if verb.of_console:
        return _run_program(name, verb, rest)
    result: int = importlib.import_module(verb.module).main(rest)
    return result


def usage() -> str:
    """The verbs, one a line."""
    width = max(map(len, VERBS)) + 2
    lines = [f"  {name:<{width}}{verb.words}" for name, verb in VERBS.items()]
    return "\n".join(["usage: taquilla VERB [options]     (VERB --help says more)", "", *lines])


def suggestion(name: str) -> str:
    """` Did you mean …?`, or nothing when no verb is near."""
    near = difflib.get_close_matches(name, VERBS, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _run_program(name: str, verb: Verb, rest: list[str]) -> int:
    """Become `python -m MODULE`: by name, because the booking system does not import the console."""
    words = [name, *rest] if name == "screenshots" else rest
    sys.argv = [verb.module, *words]
    try:
        runpy.run_module(verb.module, run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
            return 1
        return leaving.code or 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
