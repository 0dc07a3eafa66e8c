"""Rooms beside the authority stand on the server tests' PostgreSQL; their stores on servers of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from booking.embedded.valkey import Valkey
from tests.room.stores import SqlitePlace, StorePlace, new_place, redis_program, redis_running, valkey_running
from tests.server.conftest import clock, cluster, database, dsn, shelf, template

__all__ = ["clock", "cluster", "database", "dsn", "redis", "shelf", "store_place", "template", "valkey"]


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    """The wheel's Valkey, which syncs each write."""
    with valkey_running() as server:
        yield server


@pytest.fixture(scope="module")
def redis() -> Iterator[Valkey]:
    """Debian's Redis, which cannot be waited for."""
    with redis_running() as server:
        yield server


@pytest.fixture(params=["sqlite", "valkey", *(["redis"] if redis_program() else [])])
def store_place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    """Each kind of store, at a place where nothing is yet."""
    if request.param == "sqlite":
        return SqlitePlace(tmp_path / "room.sqlite")
    return new_place(request.getfixturevalue(request.param))
