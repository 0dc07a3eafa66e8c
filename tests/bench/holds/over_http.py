"""The API under a crowd in another process: holds alone as fast as they go, at a rate, and inside the full mix."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from booking.domain.caller import Role
from booking.embedded import Cluster
from booking.services import access_tokens
from booking.services.access_tokens import Claims
from booking.services.sign_in import create_account
from booking.store import staff_queries
from booking.store.database import Database
from tests.bench.holds.asks import SEATS_EACH, Ground
from tests.bench.http_crowd import Ask, CrowdPlan, CrowdReport, send_crowd
from tests.bench.measuring import CpuMeter, percentiles_ms
from tests.server.box_office import ADULT, ADULT_PRICE
from tests.server.web_process import running

TILLS = 2_000
_GOOD_FOR = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Api:
    """A `serve` process, and what a bench needs to speak to it."""

    cluster: Cluster
    db: Database
    pid: int
    host: str
    port: int
    key_id: UUID
    secret: bytes

    def fan_token(self) -> str:
        """The access token of a new account."""
        return access_tokens.sign(
            Claims(key_id=self.key_id, expires_at=self._expiry(), role=Role.FAN, account_id=uuid4()), self.secret
        )

    def till_token(self) -> str:
        """The access token of a clerk at a new till."""
        claims = Claims(
            key_id=self.key_id, expires_at=self._expiry(), role=Role.CLERK, device_id=uuid4(), staff_id=uuid4()
        )
        return access_tokens.sign(claims, self.secret)

    def _expiry(self) -> int:
        return int((access_tokens.utc_now() + _GOOD_FOR).timestamp())


@asynccontextmanager
async def serving(cluster: Cluster, db: Database) -> AsyncIterator[Api]:
    """The API over `db`, without rate limits, and the worker that numbers changes."""
    await create_account(db)  # makes the signing key
    key_id, secret = list((await staff_queries.read_signing_keys(db)).items())[-1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            running("serve", "--dsn", db.dsn, "--rate-limits", "off", folder=folder) as api,
            running("work", "--dsn", db.dsn, folder=folder),
        ):
            where = urlsplit(api.url)
            assert where.hostname is not None
            assert where.port is not None
            yield Api(cluster, db, api.process.pid, where.hostname, where.port, key_id, secret)


def figures(api: Api, kind: str, report: CrowdReport, meter: CpuMeter) -> dict[str, object]:
    """A row of the table for one kind of request; CPU is that of everything the run asked for, by request."""
    times = report.latencies_ms.get(kind, [])
    every = sum(sum(counts.values()) for counts in report.answers.values())
    use = meter.read().per_request(every)
    failed = sum(n for status, n in report.answers.get(kind, {}).items() if not status.startswith(("2", "3")))
    return {
        "done": len(times), "failed": failed, "per_s": round(len(times) / report.seconds, 1),
        **percentiles_ms([ms / 1_000 for ms in times]), "pg_us": use["pg"], "api_us": use["api"],
    }  # fmt: skip


async def holds_alone(api: Api, ground: Ground, holds: int, *, connections: int, per_s: float = 0) -> dict[str, object]:
    """`holds` holds of three seats, each of a fan of its own; closed loop without a rate."""
    asks = [Ask(api.fan_token(), tuple(range(first, first + SEATS_EACH))) for first in ground.take(holds)]
    plan = _plan(api, ground, asks, connections=connections, holds_per_s=per_s)
    meter = CpuMeter(api.cluster, [api.pid])
    return figures(api, "hold", await send_crowd(plan), meter)


async def full_mix(api: Api, ground: Ground, seconds: float, share: float = 1.0) -> dict[str, dict[str, object]]:
    """2,000 holds, 1,000 checkouts, 1,000 confirmations (cash), 2,000 status reads, 500 maps a second, or a share."""
    tills = [api.till_token() for _ in range(TILLS)]
    per_s = 2_000 * share
    starts = ground.take(int(per_s * seconds))
    asks = [
        Ask(tills[number % TILLS], tuple(range(first, first + SEATS_EACH)), ADULT_PRICE * SEATS_EACH * (number % 2))
        for number, first in enumerate(starts)
    ]
    plan = _plan(
        api, ground, asks, connections=400, holds_per_s=per_s, orders_per_s=2_000 * share, maps_per_s=500 * share
    )
    meter = CpuMeter(api.cluster, [api.pid])
    report = await send_crowd(plan)
    return {kind: figures(api, kind, report, meter) for kind in ("hold", "checkout", "pay", "order", "map")}


def _plan(api: Api, ground: Ground, asks: Sequence[Ask], *, connections: int, **rates: float) -> CrowdPlan:
    return CrowdPlan(
        host=api.host, port=api.port, event_id=ground.event_id, price_type_id=ADULT, connections=connections,
        holds=tuple(asks), first_key=str(uuid4()), **rates,
    )  # fmt: skip


async def warm(api: Api, ground: Ground) -> None:
    """Let plans, labels and connections come into being before anything is measured."""
    await holds_alone(api, ground, 600, connections=32)
    await asyncio.sleep(0.5)
