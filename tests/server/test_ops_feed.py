"""The feed of figures, and `/metrics`, of real processes: two APIs and a worker, a database that goes away (R32)."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from backend_client import wire
from booking.domain.caller import Role
from booking.services import sign_in
from booking.store.database import Database
from tests.server.box_office import make_event
from tests.server.postgres_proxy import relay
from tests.server.web_process import running

WITHIN_S = 30.0
PASSWORD = "a password of the tests"


async def token_of(db: Database, role: Role) -> str:
    name = f"{role}-{uuid4()}"
    await sign_in.create_staff(db, name, f"Some {role}", role, PASSWORD)
    return (await sign_in.login(db, name, PASSWORD, uuid4(), "console")).access_token


@asynccontextmanager
async def ops_feed(url: str, token: str) -> AsyncIterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(f"ws{url[4:]}/v1/ops/feed", additional_headers=headers, proxy=None) as link:
        hello = msgspec.json.decode(await link.recv(), type=wire.OpsText)
        assert isinstance(hello, wire.OpsHello)
        yield link


async def next_where(link: ClientConnection, holds: Callable[[wire.OpsFigures], object]) -> wire.OpsFigures:
    """The first statement for which something holds."""
    last: object = None
    try:
        async with asyncio.timeout(WITHIN_S):
            while True:
                last = msgspec.json.decode(await link.recv(), type=wire.OpsText)
                if isinstance(last, wire.OpsFigures) and holds(last):
                    return last
    except TimeoutError:
        raise AssertionError(f"never: {last}") from None


async def hold(client: httpx.AsyncClient, event_id: int, seat: int) -> int:
    account = (await client.post("/v1/accounts")).json()
    headers = {"Authorization": f"Bearer {account['access_token']}", wire.IDEMPOTENCY_KEY_HEADER: str(uuid4())}
    return (await client.post(f"/v1/events/{event_id}/holds", json={"seats": [seat]}, headers=headers)).status_code


async def test_two_apis_and_a_worker_are_summed_and_one_that_is_killed_is_silent(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    event_id, token = await make_event(database), await token_of(database, Role.OPS)
    async with (
        running("serve", "--dsn", dsn, folder=tmp_path) as first,
        running("serve", "--dsn", dsn, folder=tmp_path) as second,
        running("work", "--dsn", dsn, "--only", "sequencer", folder=tmp_path) as worker,
        httpx.AsyncClient(base_url=first.url, trust_env=False) as one,
        httpx.AsyncClient(base_url=second.url, trust_env=False) as other,
        ops_feed(second.url, token) as link,
    ):
        whole = await next_where(link, lambda told: len([one for one in told.processes if one.figures]) == 3)
        assert sorted((one.kind, one.pid) for one in whole.processes) == sorted(
            [("api", first.process.pid), ("api", second.process.pid), ("worker", worker.process.pid)]
        )
        async with connect(f"ws{first.url[4:]}/v1/events/{event_id}/seats/feed", proxy=None):
            statuses = [await hold(one, event_id, 1), await hold(other, event_id, 1), await hold(other, event_id, 1)]
            assert statuses == [201, 409, 409]
            told = await next_where(
                link, lambda told: told.house.get("hold_conflict_share") == pytest.approx(2 / 3)
            )  # one process alone has 0 or 1
            parts = {one.pid: one.figures.get("hold_conflict_share") for one in told.processes if one.kind == "api"}
            assert parts == {first.process.pid: 0.0, second.process.pid: 1.0}
            told = await next_where(link, lambda told: told.house.get("feed_clients") == 1)
            assert told.events[0].figures["shoppers_active"] == 1
            assert (await next_where(link, lambda told: told.events[0].figures.get("seats_free") == 39)).house
        worker.process.kill()
        told = await next_where(link, lambda told: any(one.silent for one in told.processes))
        assert [one.pid for one in told.processes if one.silent] == [worker.process.pid]
        assert told.house["processes_silent"] == 1
        async with running("work", "--dsn", dsn, "--only", "sequencer", folder=tmp_path) as back:  # in its place
            told = await next_where(link, lambda told: told.house["processes_silent"] == 0)
            assert worker.process.pid not in {one.pid for one in told.processes}
            await next_where(link, lambda told: back.process.pid in {one.pid for one in told.processes})
        assert await first.end() == 0
        await next_where(link, lambda told: first.process.pid not in {one.pid for one in told.processes})
        later = await next_where(link, lambda told: told.second > whole.second)
        assert not later.authority_away
        async with ops_feed(second.url, token) as again:  # after a reconnect the first statement is whole
            told = await next_where(again, lambda _: True)
            assert told.second >= later.second
            assert {one.pid for one in told.processes} >= {second.process.pid}
        await _check_metrics(other, second.process.pid)


async def _check_metrics(client: httpx.AsyncClient, pid: int) -> None:
    """Read by a parser that is not ours; counts agree with what was done; no label that could grow without end."""
    page = await client.get("/metrics")
    assert page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(page.text)}
    requests = {
        (sample.labels["kind"], sample.labels["end"]): sample.value for sample in families["taquilla_requests"].samples
    }
    assert (requests["hold", "conflict"], requests["hold", "done"]) == (2, 0)
    durations = families["taquilla_request_duration_seconds"]
    assert durations.type == "histogram"
    counted = {sample.labels["kind"]: sample.value for sample in durations.samples if sample.name.endswith("_count")}
    assert counted["hold"] == 2
    for kind, whole in counted.items():
        buckets = [
            sample.value for sample in durations.samples if sample.labels.get("kind") == kind and "le" in sample.labels
        ]
        assert buckets == sorted(buckets)
        assert buckets[-1] == whole
    assert families["taquilla_authority_up"].samples[0].value == 1
    assert families["taquilla_event_seats_free"].samples[0].value == 39
    assert families["taquilla_figures_age_seconds"].samples[0].value < WITHIN_S
    labels = {name for family in families.values() for sample in family.samples for name in sample.labels}
    assert labels <= {"kind", "end", "le", "lane", "pool", "event_id", "rule", "severity"}
    assert str(pid) not in {value for one in families.values() for s in one.samples for value in s.labels.values()}


async def test_scrapers_show_their_token_where_one_is_set_and_no_proxy_lends_its_own_machine(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "TAQUILLA_METRICS_TOKEN", "scrape-me")
    async with (
        running("serve", "--dsn", dsn, "--metrics-token", folder=tmp_path) as guarded,
        running("serve", "--dsn", dsn, folder=tmp_path) as plain,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        url = f"{guarded.url}/metrics"
        assert (await client.get(url)).status_code == 401
        assert (await client.get(url, headers={"Authorization": "Bearer scrape-you"})).status_code == 401
        page = await client.get(url, headers={"Authorization": "Bearer scrape-me"})
        assert page.status_code == 200
        assert "scrape-me" not in page.text
        assert (await client.get(f"{plain.url}/metrics")).status_code == 200
        forwarded = await client.get(f"{plain.url}/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
        assert forwarded.status_code == 403


async def test_the_feed_refuses_who_may_not_look_on(dsn: str, database: Database, tmp_path: Path) -> None:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        for role, status in ((Role.CLERK, 403), (None, 401)):
            headers = {} if role is None else {"Authorization": f"Bearer {await token_of(database, role)}"}
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"ws{api.url[4:]}/v1/ops/feed", additional_headers=headers, proxy=None)
            assert refused.value.response.status_code == status


async def test_figures_go_on_when_the_authority_is_away_and_say_since_when(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    token = await token_of(database, Role.OPS)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            relay(dsn, folder) as (line, relayed),
            running("serve", "--dsn", relayed, folder=tmp_path) as api,
            httpx.AsyncClient(base_url=api.url, trust_env=False) as client,
            ops_feed(api.url, token) as link,
        ):
            before = await next_where(link, lambda told: told.second > 0 and not told.authority_away)
            line.silent = True
            away = await next_where(link, lambda told: told.authority_away)
            assert away.authority_heard_at is not None
            assert away.authority_heard_at >= before.measured_at
            assert away.measured_at <= away.authority_heard_at
            (own,) = away.processes
            assert (own.pid, own.silent) == (api.process.pid, False)
            await client.get("/healthz")
            later = await next_where(link, lambda told: told.authority_away and told.server_time > away.server_time)
            assert later.authority_heard_at == away.authority_heard_at
            assert later.processes[0].figures["requests_per_s"] >= 0
            families = {one.name: one for one in text_string_to_metric_families((await client.get("/metrics")).text)}
            assert families["taquilla_authority_up"].samples[0].value == 0
            line.silent = False
            back = await next_where(link, lambda told: not told.authority_away)
            assert back.second > before.second
