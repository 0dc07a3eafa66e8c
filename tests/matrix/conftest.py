"""The matrix stands on the server tests' PostgreSQL. With `--long` its processes are those of a real house."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.matrix.books", "tests.matrix.cells_of_providers", "tests.matrix.cells_of_tills")

from tests.server.conftest import cluster, dsn, shelf, template  # noqa: E402 - after what they are to be

__all__ = ["cluster", "dsn", "shelf", "template"]
