"""Rooms beside the authority stand on the server tests' PostgreSQL."""

from __future__ import annotations

from tests.server.conftest import cluster, database, dsn, shelf, template

__all__ = ["cluster", "database", "dsn", "shelf", "template"]
