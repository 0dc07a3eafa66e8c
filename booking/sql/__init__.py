"""SQL as SQL: numbered migrations, functions that are re-applied when they change, named queries, invariants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

_MIGRATION_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file of SQL. `number` is 0 for functions, which have no order but their names'."""

    number: int
    name: str
    text: str

    @property
    def digest(self) -> bytes:
        """SHA-256 of the text, line ends as LF."""
        return sha256(self.text.replace("\r\n", "\n").encode()).digest()


def migrations() -> tuple[SqlFile, ...]:
    """All numbered migrations, in order.

    Raises:
        ValueError: a name is not `NNNN_words.sql`, or the numbers are not 1, 2, 3, ….
    """
    found = []
    for name, text in sorted(_texts("migrations")):
        matched = _MIGRATION_NAME.fullmatch(name)
        if matched is None:
            raise ValueError(f"not the name of a migration: {name}")
        found.append(SqlFile(int(matched[1]), matched[2], text))
    if [file.number for file in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations are not numbered without gaps: {[file.number for file in found]}")
    return tuple(found)


def functions() -> tuple[SqlFile, ...]:
    """All files of SQL functions, by name: a file may use what an earlier one defines."""
    return tuple(SqlFile(0, name.removesuffix(".sql"), text) for name, text in sorted(_texts("functions")))


def invariants() -> tuple[SqlFile, ...]:
    """The rules that no database may break, by name; each is one query of breaches with a column `detail`."""
    return tuple(SqlFile(0, name.removesuffix(".sql"), text) for name, text in sorted(_texts("invariants")))


@cache
def query(name: str) -> str:
    """The text of `queries/NAME.sql`."""
    return (files(__name__) / "queries" / f"{name}.sql").read_text("utf-8")


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    for entry in (files(__name__) / folder).iterdir():
        if entry.name.endswith(".sql"):
            yield entry.name, entry.read_text("utf-8")
