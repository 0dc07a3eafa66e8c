"""A PostgreSQL for the server tests: one throw-away cluster a session, one migrated database for each test."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator

import pytest

from booking.embedded import Cluster, temporary_cluster
from booking.services.check_invariants import check
from booking.services.migrate import migrate
from booking.store import micro_batches
from booking.store.database import Database
from tests.server.box_office import Clock
from tests.server.database_shelf import DatabaseShelf

TEMPLATE = "taquilla_template"
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that does much else is not an over-load: what a test is about is decided by its clock, not by ours."""
    monkeypatch.setattr(micro_batches, "SHED_AGE_S", 30.0)
    monkeypatch.setattr(micro_batches, "MAX_WAIT_S", 30.0)
    monkeypatch.setattr(micro_batches, "ANSWER_WITHIN_S", 60.0)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server itself; nothing survives the session."""
    with temporary_cluster(settings={"max_connections": "220"}) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """The name of a migrated, empty database that nobody is connected to."""
    asyncio.run(migrate(cluster.create_database(TEMPLATE)))
    return TEMPLATE


@pytest.fixture(scope="session")
def shelf(cluster: Cluster, template: str) -> DatabaseShelf:
    """Where clean databases come from and go back to."""
    return DatabaseShelf(cluster, template)


@pytest.fixture
def dsn(shelf: DatabaseShelf) -> Iterator[str]:
    """A migrated, empty database of the test's own; the test may do to it what it likes."""
    name = shelf.take()
    yield shelf.dsn(name)
    shelf.give_back(name)


@pytest.fixture
def empty_dsn(cluster: Cluster) -> Iterator[str]:
    """A database without any schema."""
    name = f"empty_{next(_numbers)}"
    yield cluster.create_database(name)
    cluster.drop_database(name)


@pytest.fixture
def breaks_rules() -> None:
    """For a test that leaves a breach behind on purpose: the checker is not asked at its end."""


@pytest.fixture
async def database(dsn: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """The test's own database, opened, with its lanes running. No invariant may be broken when the test ends (R39)."""
    db = await Database.open(dsn, application="test")
    yield db
    await db.close()
    if "breaks_rules" not in request.fixturenames:
        report = await check(dsn)
        # Tests move the clock, in their throw-away databases.
        assert [breach for breach in report.breaches if breach.rule != "clock-is-the-servers"] == []


@pytest.fixture
def sound_database(database: Database) -> Database:
    """The test's own database, of which the test says that it ends sound; every one must."""
    return database


@pytest.fixture
async def other_database(dsn: str, database: Database) -> AsyncIterator[Database]:
    """The same database, opened as a second API process would."""
    db = await Database.open(dsn, application="test other")
    yield db
    await db.close()


@pytest.fixture
async def clock(database: Database) -> Clock:
    """Makes booking_now() of this database movable; it runs on until it is stopped or moved."""
    clock = Clock(database)
    await clock.install()
    return clock
