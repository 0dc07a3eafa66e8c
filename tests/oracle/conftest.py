"""The oracle stands on the server tests' PostgreSQL."""

from __future__ import annotations

from tests.server.conftest import cluster, dsn, shelf, template

__all__ = ["cluster", "dsn", "shelf", "template"]
