"""Rooms beside the authority stand on the server tests' PostgreSQL."""

from __future__ import annotations

from tests.server.conftest import clock, cluster, database, dsn, shelf, template

__all__ = ["clock", "cluster", "database", "dsn", "shelf", "template"]
