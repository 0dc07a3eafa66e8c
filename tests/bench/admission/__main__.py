"""`python3 run.py bench admission`: twice as many buyers as places, by the lane and by the ways of the documents.

The documents' counter and SKIP LOCKED rows work 5 ms inside their transactions and keep no hold, no key and no outbox;
ours keep all three. So there are three comparisons in one run on one server: the documents' two ways as they stand, the
same two without the work inside, and our own function called once for each buyer. Progress on stderr, table on stdout.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress

import uvloop

from booking.domain.errors import BookingError, BusyError
from booking.domain.model import TierQuantity
from booking.embedded import Cluster
from booking.lab import general_admission
from booking.services.check_invariants import check
from booking.store.database import Database
from booking.store.place_lane import PlaceAsk
from tests.bench.holds.asks import ask
from tests.bench.measuring import (
    Run,
    closed_loop,
    measured_cluster,
    printed_settings,
    seed_event,
    seeded_database,
    table,
)
from tests.server.general_admission import make_tier

_ONE_CALL_SHARE = 8
_DOCUMENT_BUYERS = 2_000


def main() -> int:
    """Measure and print. Returns the exit code: 1 when a way sold more or less than there was."""
    parser = argparse.ArgumentParser(prog="taquilla bench admission", description=__doc__)
    parser.add_argument("--buyers", type=int, default=20_000, help="of the lane; half as many places (default: 20000)")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with measured_cluster() as cluster:
        found = uvloop.run(_measure(cluster, chosen.buyers))
    if chosen.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        rows = found.pop("rows")
        assert isinstance(rows, dict)
        text = [table(rows, "buyers"), "", *(f"{name}: {value}" for name, value in found.items())]
        sys.stdout.write("\n".join(text) + "\n")
    return 1 if found["breaches"] or not found["exact"] else 0


async def _measure(cluster: Cluster, buyers: int) -> dict[str, object]:
    rows, exact = await _documents(cluster)
    async with seeded_database(cluster) as db:
        settings = await printed_settings(db)
        _say("one call a buyer")
        few = buyers // _ONE_CALL_SHARE
        alone, sold_alone = await _sell(cluster, db, few, at_once=64, lanes=False)
        rows["ours, one call a buyer"] = dict(alone.figures())
        _say("the lane")
        await _sell(cluster, db, 1_000, at_once=128, lanes=True)
        lane, sold = await _sell(cluster, db, buyers, at_once=256, lanes=True)
        rows["ours, the lane"] = dict(lane.figures())
        answered = {}
        for name, run in (("ours, one call a buyer", alone), ("ours, the lane", lane)):
            answers = len(run.latencies_s) + sum(run.failed.values())  # who gets no place is answered as well
            answered[name] = answers / run.seconds
            use = run.cpu.per_request(answers)
            rows[name] |= {"per_s": round(answered[name], 1), "pg_us": use["pg"], "api_us": use["api"]}
        breaches = len((await check(db.dsn)).breaches)
    ours = answered["ours, the lane"]
    return {
        "settings": settings,
        "lane_per_s": round(ours, 1),
        "vs_counter": round(ours / float(str(rows["document: counter"]["per_s"])), 2),
        "vs_skip_locked": round(ours / float(str(rows["document: SKIP LOCKED"]["per_s"])), 2),
        "vs_counter_without_work": round(ours / float(str(rows["counter, no work inside"]["per_s"])), 2),
        "vs_skip_locked_without_work": round(ours / float(str(rows["SKIP LOCKED, no work inside"]["per_s"])), 2),
        "vs_one_call": round(ours / answered["ours, one call a buyer"], 2),
        "exact": exact and sold == buyers // 2 and sold_alone == few // 2,
        "breaches": breaches,
        "rows": rows,
    }


async def _documents(cluster: Cluster) -> tuple[dict[str, dict[str, object]], bool]:
    """Both ways of the document, with the work inside their transactions and without it."""
    rows: dict[str, dict[str, object]] = {}
    exact = True
    kept = general_admission.WORK_S
    try:
        for words, work_s in (("document: {}", kept), ("{}, no work inside", 0.0)):
            _say(words.format("the documents' ways"))
            general_admission.WORK_S = work_s
            outcome = await general_admission.sell_places(
                cluster.create_database(f"lab_{int(work_s * 1_000)}"), _DOCUMENT_BUYERS
            )
            exact = exact and outcome.as_expected
            ways = outcome.figures["ways"]
            assert isinstance(ways, dict)
            for way, figures in ways.items():
                name = "SKIP LOCKED" if way == "SKIP LOCKED" else "counter"
                rows[words.format(name)] = {"done": figures["sold"], "per_s": figures["buyers_per_s"]}
    finally:
        general_admission.WORK_S = kept
    return rows, exact


async def _sell(cluster: Cluster, db: Database, buyers: int, *, at_once: int, lanes: bool) -> tuple[Run, int]:
    """Half as many places as buyers, each of whom wants one. Returns the run, and how many were sold."""
    event_id = await seed_event(db, 20)
    await make_tier(db, event_id, 1, buyers // 2)
    asks = [PlaceAsk(ask(event_id, 0, 0), (TierQuantity(1, 1),)) for _ in range(buyers)]

    async def claim(one: PlaceAsk) -> None:
        verdict = None
        while verdict is None:
            with suppress(BusyError):  # shed: the same key again, as a client does
                verdict = await (db.places.decide(one) if lanes else db.place_work.run_alone(one))
        if verdict.hold.code:
            raise _LostError(verdict.hold.code)

    run = await closed_loop(cluster, asks, claim, at_once=at_once)
    held = await db.fetch("SELECT sum(held)::int AS held FROM ga_tiers WHERE event_id = $1", event_id)
    return run, held[0]["held"]


class _LostError(Exception):
    """A buyer got no place; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BookingError as error:
        sys.stderr.write(f"bench: {error}\n")
        sys.exit(3)
