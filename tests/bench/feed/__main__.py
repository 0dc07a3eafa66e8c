"""`python -m tests.bench.feed`: how soon a seat that somebody takes shows on another console's feed (design §7).

Real processes: PostgreSQL with its syncs on, the API, the workers. Fans hold seats one after another, at the rate asked
for; a clerk's binary feed listens, and a public one. Time runs from before the hold is asked for, or from its answer,
until its delta has arrived. Progress goes to stderr, the table or JSON to stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from uuid import uuid4

import httpx
from websockets.asyncio.client import ClientConnection, connect

from backend_client import wire
from backend_client.seat_frames import decode_delta
from booking.domain.caller import Role
from booking.embedded import temporary_cluster
from booking.services.migrate import migrate
from booking.services.sign_in import create_staff
from booking.store.database import Database
from tests.server.box_office import make_event
from tests.server.web_process import running

SEATS = 2_000
CLERK, PASSWORD = "clerk", "only for this run"


async def _listen(link: ClientConnection, heard: dict[int, float]) -> None:
    async for frame in link:
        if isinstance(frame, bytes):
            at = perf_counter()
            for seat in decode_delta(frame).seats.tolist():
                heard.setdefault(seat, at)


async def _hold(client: httpx.AsyncClient, event_id: int, seat: int) -> tuple[float, float]:
    account = (await client.post("/v1/accounts")).json()
    headers = {"Authorization": f"Bearer {account['access_token']}", wire.IDEMPOTENCY_KEY_HEADER: str(uuid4())}
    asked = perf_counter()
    answer = await client.post(f"/v1/events/{event_id}/holds", json={"seats": [seat]}, headers=headers)
    answer.raise_for_status()
    return asked, perf_counter()


async def _sign_in(client: httpx.AsyncClient) -> dict[str, str]:
    body = {"name": CLERK, "password": PASSWORD, "device_id": str(uuid4()), "device_name": "bench"}
    answer = (await client.post("/v1/staff/login", json=body)).raise_for_status().json()
    return {"Authorization": f"Bearer {answer['access_token']}"}


async def _measure(holds: int, per_s: float) -> dict[str, list[float]]:
    with temporary_cluster(settings={"fsync": "on", "synchronous_commit": "on"}) as cluster:
        dsn = cluster.create_database("feed")
        await migrate(dsn)
        db = await Database.open(dsn, application="bench")
        event_id = await make_event(db, seats=SEATS)
        await create_staff(db, CLERK, "Clerk", Role.CLERK, PASSWORD)
        await db.close()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            async with (
                running("serve", "--dsn", dsn, folder=folder) as api,
                running("work", "--dsn", dsn, "--only", "sequencer,sweeper", folder=folder),
                httpx.AsyncClient(base_url=api.url, trust_env=False) as client,
            ):
                heard: dict[str, dict[int, float]] = {"console": {}, "public": {}}
                clerk = await _sign_in(client)
                feed = f"ws{api.url[4:]}/v1/events/{event_id}/seats/feed?form=binary"
                links = [await connect(feed, additional_headers=clerk, proxy=None), await connect(feed, proxy=None)]
                listening = [
                    asyncio.create_task(_listen(link, heard[who]), name=who)
                    for link, who in zip(links, heard, strict=True)
                ]
                times = []
                for seat in range(holds):
                    times.append(await _hold(client, event_id, seat))
                    await asyncio.sleep(1 / per_s)
                async with asyncio.timeout(10):
                    while min(len(seen) for seen in heard.values()) < holds:
                        await asyncio.sleep(0.01)
                for link, task in zip(links, listening, strict=True):
                    task.cancel()
                    await link.close()
    figures = {"hold answered": [(answered - asked) * 1000 for asked, answered in times]}
    for who, seen in heard.items():
        figures[f"{who}: asked to seen"] = [(seen[seat] - asked) * 1000 for seat, (asked, _) in enumerate(times)]
        figures[f"{who}: answered to seen"] = [(seen[seat] - told) * 1000 for seat, (_, told) in enumerate(times)]
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.feed")
    parser.add_argument("--holds", type=int, default=200)
    parser.add_argument("--per-second", type=float, default=20)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if not 2 <= chosen.holds <= SEATS:
        parser.error(f"--holds: from 2 to {SEATS}")
    sys.stderr.write(f"{chosen.holds} holds, {chosen.per_second:g} a second\n")
    figures = asyncio.run(_measure(chosen.holds, chosen.per_second))
    table = {}
    for name, values in figures.items():
        cuts = quantiles(values, n=100)
        table[name] = {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1), "max": round(max(values), 1)}
    if chosen.json:
        sys.stdout.write(json.dumps(table) + "\n")
    else:
        for name, row in table.items():
            sys.stdout.write(f"{name:28} ms p50 {row['p50']:7.1f}  p99 {row['p99']:7.1f}  max {row['max']:7.1f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
