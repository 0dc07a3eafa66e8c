"""The baseline: pgbench, prepared, one function call a hold, with the same replay, limits and outbox as the lane's.

The call is made from the lane's own statement and columns, so that it stays what the API would send if it sent one
request a statement; only what differs from hold to hold becomes a variable.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from booking.embedded.account import server_account
from booking.embedded.binaries import find_binaries
from booking.sql import query
from booking.store.database import Database
from booking.store.hold_lane import columns
from tests.bench.holds.asks import SEATS_EACH, Ground, ask, literal

CLIENTS = (8, 16, 32, 64)
_FRESH = "gen_random_uuid()"


async def script_of(db: Database, event_id: int) -> str:
    """A pgbench script: `:base`, `:span` and `:n` say which seats are next."""
    one = ask(event_id, 0)
    values = [*columns([one]), True, False]
    kinds = await db.fetch(
        "SELECT format_type(t, NULL) AS kind FROM pg_proc p"
        " CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, n)"
        " WHERE p.proname = 'hold_seats_batch' ORDER BY n"
    )
    texts = []
    for value, row in zip(values, kinds[: len(values)], strict=True):
        text = literal(value)
        if value == list(one.seats):
            text = "ARRAY[" + ", ".join(f":first + {place}" for place in range(SEATS_EACH)) + "]"
        text = text.replace(literal(one.principal), f"'account:' || {_FRESH}").replace(literal(one.hold_id), _FRESH)
        text = text.replace(literal(one.key), f"{_FRESH}::text")
        texts.append(f"({text})::{row['kind']}")
    statement = query("hold_seats_batch")
    call = re.sub(r"\$(\d+)(?:::[a-z]+(?:\[\])?)?", lambda found: texts[int(found[1]) - 1], statement)
    return f"\\set n :n + 1\n\\set first :base + :client_id * :span + (:n - 1) * {SEATS_EACH}\n{call.strip()}\n"


async def run_pgbench(db: Database, ground: Ground, clients: int, holds: int, folder: Path) -> dict[str, float]:
    """Hold `holds` times from `clients` connections. Returns per_s, and the mean latency in ms.

    Raises:
        RuntimeError: pgbench failed, or a hold did not win.
    """
    each = holds // clients
    base = ground.take(each * clients)[0]
    script = folder / f"holds-{clients}.sql"
    script.write_text(await script_of(db, ground.event_id))
    before = (await db.fetch("SELECT count(*) AS holds FROM holds"))[0]["holds"]
    output = await _pgbench(
        db.dsn, "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-t", str(each), "-D", "n=0",
        "-D", f"base={base}", "-D", f"span={each * SEATS_EACH}", "-f", str(script),
    )  # fmt: skip
    held = (await db.fetch("SELECT count(*) AS holds FROM holds"))[0]["holds"] - before
    if held != each * clients:
        raise RuntimeError(f"{held} of {each * clients} holds were won:\n{output}")
    rate = re.search(r"tps = ([\d.]+)", output)
    latency = re.search(r"latency average = ([\d.]+)", output)
    if rate is None or latency is None:
        raise RuntimeError(output)
    return {"per_s": float(rate[1]), "mean_ms": float(latency[1])}


async def _pgbench(dsn: str, *arguments: str) -> str:
    program = find_binaries(server_account()).program("pgbench")
    process = await asyncio.create_subprocess_exec(
        program, *arguments, dsn, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    text = output.decode()
    if process.returncode:
        sys.stderr.write(text)
        raise RuntimeError(f"pgbench ended with {process.returncode}: {text[-500:]}")
    return text
