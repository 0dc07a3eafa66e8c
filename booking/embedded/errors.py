"""What can go wrong with the embedded PostgreSQL.

EmbeddedError
 ├─ NoBinariesError    postgres-missing         no PostgreSQL 17 or later was found
 ├─ AccountError       server-account-missing   root cannot run PostgreSQL and no account for it could be made
 ├─ FolderError        folder-not-usable        the data folder cannot be made, entered or written
 ├─ DiskFullError      disk-full                no space where the data lives
 ├─ ClusterInUseError  cluster-in-use           another live program runs this very cluster
 ├─ DataVersionError   data-of-other-version    the data were written by another major version
 ├─ StartError         postgres-did-not-start   anything else; the end of its log is in the text
 └─ PsqlError          sql-refused              a statement given to `Cluster.run_sql` was refused
"""

from __future__ import annotations

from typing import ClassVar


class EmbeddedError(Exception):
    """Base of this package's errors. The text is meant for the person at the keyboard."""

    code: ClassVar[str] = "embedded-postgres"


class NoBinariesError(EmbeddedError):
    code = "postgres-missing"


class AccountError(EmbeddedError):
    code = "server-account-missing"


class FolderError(EmbeddedError):
    code = "folder-not-usable"


class DiskFullError(EmbeddedError):
    code = "disk-full"


class ClusterInUseError(EmbeddedError):
    code = "cluster-in-use"


class DataVersionError(EmbeddedError):
    code = "data-of-other-version"


class StartError(EmbeddedError):
    code = "postgres-did-not-start"


class PsqlError(EmbeddedError):
    code = "sql-refused"


def explain_failure(what: str, output: str) -> EmbeddedError:
    """Sort the output of a failed initdb or postgres by what the person can do about it."""
    tail = "\n".join(output.strip().splitlines()[-12:])
    lowered = output.lower()
    if "no space left on device" in lowered or "disk quota exceeded" in lowered:
        return DiskFullError(f"{what}: the disk is full. Free some space and start again.\n{tail}")
    if "permission denied" in lowered or "read-only file system" in lowered:
        return FolderError(f"{what}: a folder may not be written.\n{tail}")
    if "database files are incompatible with server" in lowered:
        return DataVersionError(f"{what}: the data were written by another PostgreSQL.\n{tail}")
    return StartError(f"{what} failed.\n{tail}" if tail else f"{what} failed and said nothing.")
