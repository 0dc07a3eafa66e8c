"""The verb `lab`: an experiment of the documents on a real PostgreSQL, and the project's own functions beside it.

    python3 run.py lab MODE [BUYERS] [--dsn DSN] [--json]

Exit codes: 0 it came out as the document says, 1 it did not, 2 wrong use, 3 no PostgreSQL to run on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import asyncpg

from booking.domain.errors import BookingError
from booking.embedded import EmbeddedError
from booking.lab import general_admission, hold_expiry
from booking.lab.outcomes import Outcome, Own
from booking.lab.own_functions import OwnExperiments
from booking.lab.place import Place, PlaceMissingError, PlaceRefusedError, embedded_place, given_place
from booking.lab.seat_ways import WAYS, sell_one_seat

DONE, FOUND_WRONG, WRONG_USE, UNREACHABLE = 0, 1, 2, 3
DEFAULT_BUYERS = 50
MOST_BUYERS = 500
MOST_PLACES_BUYERS = 100_000
ALL, OURS = "all", "ours"
EXPERIMENTS = (*WAYS, hold_expiry.MODE, general_admission.MODE)
MODES = (*EXPERIMENTS, ALL, OURS)


def main(arguments: Sequence[str]) -> int:
    """Run one experiment or all of them. Returns the exit code."""
    chosen = _parse(arguments)
    try:
        outcomes = asyncio.run(_run(chosen))
    except PlaceRefusedError as error:
        return _fail(str(error), WRONG_USE)
    except (PlaceMissingError, EmbeddedError, BookingError, asyncpg.PostgresError, OSError) as error:
        return _fail(str(error) or type(error).__name__, UNREACHABLE)
    except ExceptionGroup as errors:
        return _fail(str(errors.exceptions[0]), UNREACHABLE)
    if chosen.json:
        told = [outcome.as_json() for outcome in outcomes]
        sys.stdout.write(json.dumps(told if chosen.mode == ALL else told[0]) + "\n")
    return DONE if all(outcome.good for outcome in outcomes) else FOUND_WRONG


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taquilla lab",
        description="An experiment of the documents on a real PostgreSQL, with our own functions beside it. Each buyer"
        " is a task with a connection of its own, where the document has a thread.",
    )
    parser.add_argument("mode", choices=MODES, metavar="MODE", help=", ".join(MODES))
    parser.add_argument(
        "buyers", nargs="?", type=int, metavar="BUYERS",
        help=f"1 to {MOST_BUYERS} (default: {DEFAULT_BUYERS}); for general-admission 2 to {MOST_PLACES_BUYERS}"
        f" (default: {general_admission.BUYERS}), with half as many tickets",
    )  # fmt: skip
    parser.add_argument("--dsn", help="a database to make schemas of the lab's own in; default: a throw-away cluster")
    parser.add_argument("--json", action="store_true", help="print {mode, buyers, winners, results, seconds, …} alone")
    chosen = parser.parse_args(arguments)
    least, most = (2, MOST_PLACES_BUYERS) if chosen.mode == general_admission.MODE else (1, MOST_BUYERS)
    if chosen.buyers is not None and not least <= chosen.buyers <= most:
        parser.error(f"BUYERS: {least} to {most} for {chosen.mode}")
    if chosen.mode == hold_expiry.MODE and chosen.buyers not in (None, hold_expiry.BUYERS):
        sys.stderr.write(f"lab: {hold_expiry.MODE} is about two buyers, A and B: {chosen.buyers} is not used\n")
    return chosen


async def _run(chosen: argparse.Namespace) -> list[Outcome]:
    async with _place(chosen.dsn, _buyers_of(ALL, chosen)) as place:
        _say(f"PostgreSQL {place.server}; each buyer is a task with a connection of its own")
        async with OwnExperiments.open(place.own) as own:
            modes = EXPERIMENTS if chosen.mode == ALL else (chosen.mode,)
            outcomes = []
            for mode in modes:
                outcomes.append(await run_mode(place, own, mode, _buyers_of(mode, chosen)))
                if not chosen.json:
                    _print(outcomes[-1])
            return outcomes


def _buyers_of(mode: str, chosen: argparse.Namespace) -> int:
    """As many as were asked for. `all` has its crowds in that size, and the document's 2,000 for places."""
    if mode == general_admission.MODE and (chosen.buyers is None or chosen.mode == ALL):
        return general_admission.BUYERS
    buyers: int = chosen.buyers or DEFAULT_BUYERS
    return buyers


def _place(dsn: str | None, buyers: int) -> AbstractAsyncContextManager[Place]:
    return embedded_place(min(buyers, MOST_BUYERS)) if dsn is None else given_place(dsn)


async def run_mode(place: Place, own: OwnExperiments, mode: str, buyers: int) -> Outcome:
    """One experiment as the document has it, then the same through our functions."""
    if mode == OURS:
        return _of_own(await own.rush_at_seat(buyers))
    if mode == hold_expiry.MODE:
        ttl_s, wait_s = hold_expiry.TTL_S, hold_expiry.WAIT_S
        found = await hold_expiry.let_a_hold_expire(place.documents, ttl_s=ttl_s, wait_s=wait_s)
        beside = await own.let_a_hold_expire(ttl_s=int(ttl_s), wait_s=wait_s)
        return replace(found, own=beside)
    if mode == general_admission.MODE:
        found = await general_admission.sell_places(place.documents, buyers)
        return replace(found, own=await own.sell_places(buyers, general_admission.capacity_for(buyers)))
    return replace(await sell_one_seat(place.documents, mode, buyers), own=await own.rush_at_seat(buyers))


def _of_own(own: Own) -> Outcome:
    """Our functions alone, as an experiment of their own."""
    return Outcome(
        OURS, own.buyers, own.winners, own.results, own.seconds, "one buyer has the seat, every other is told so",
        own.as_expected, own.lines, {"breaches": own.breaches},
    )  # fmt: skip


def _print(outcome: Outcome) -> None:
    words = [*outcome.lines]
    if outcome.own is not None:
        words += outcome.own.lines
    verdict = "as expected" if outcome.good else "NOT AS EXPECTED"
    words += [f"{verdict}: {outcome.expected}", ""]
    sys.stdout.write("\n".join(words) + "\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"lab: {text}\n")
    sys.stderr.flush()


def _fail(text: str, code: int) -> int:
    _say(text)
    return code
