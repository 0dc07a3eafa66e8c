"""A throw-away cluster for tests: no fsync, gone at the end, gone too when the tests are killed.

A session-scoped fixture is all it takes; initdb and start need about a second::

    @pytest.fixture(scope="session")
    def cluster() -> Iterator[Cluster]:
        with temporary_cluster() as cluster:
            yield cluster

Then make one migrated template database, and one copy of it per test (about 30 ms)::

    template_dsn = cluster.create_database("template")      # migrate it, then close every connection to it
    dsn = cluster.create_database("test_7", template="template")
    …
    cluster.drop_database("test_7")

`dsn` is a plain libpq URI for `asyncpg.connect(dsn)` or `Database.open(dsn)`; there is no password.
Being root makes no difference to the caller.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from booking.embedded.cluster import Cluster


@contextmanager
def temporary_cluster(*, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Start a cluster in a new temporary folder, and stop and remove it at the end.

    Args:
        settings: PostgreSQL settings; `{"fsync": "on", "synchronous_commit": "on"}` for a crash test that is honest.
    """
    folder = Path(tempfile.mkdtemp(prefix="taquilla-pg-"))
    # The server's account must be able to pass; what lies inside is closed on its own.
    folder.chmod(0o711)
    try:
        with Cluster(folder, settings=settings, throw_away=True) as cluster:
            home = cluster.home
            try:
                yield cluster
            finally:
                cluster.stop()
                shutil.rmtree(home, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
