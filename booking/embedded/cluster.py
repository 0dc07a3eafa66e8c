"""One PostgreSQL cluster that we own: made on first start, found again later, repaired after a crash."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from booking.embedded.account import ROOT_HOME, server_account
from booking.embedded.binaries import find_binaries
from booking.embedded.errors import ClusterInUseError, PsqlError, StartError
from booking.embedded.folder_lock import FolderLock
from booking.embedded.folders import cluster_folders
from booking.embedded.orphans import clear_leftovers
from booking.embedded.server import Server, choose_address, clean_environment, make_data_folder, write_configuration
from booking.embedded.settings import THROWAWAY_SETTINGS


class Cluster:
    """A PostgreSQL server with its data in one folder.

    `start()` makes the cluster if need be, clears what a crashed run left, and returns once connections are
    accepted. `dsn(database)` needs no secret on POSIX systems: the socket folder is private and the kernel names
    the peer.
    """

    def __init__(
        self,
        data_folder: Path | str,
        *,
        settings: Mapping[str, str] | None = None,
        start_timeout_s: float = 120.0,
        root_home: Path = ROOT_HOME,
        throw_away: bool = False,
    ) -> None:
        """Nothing is touched before `start()`.

        Args:
            data_folder: the cluster's own folder; it holds nothing else.
            settings: PostgreSQL settings that win over ours, such as `{"fsync": "off"}`.
            start_timeout_s: how long a start may take; recovery after a crash is part of it.
            root_home: where programs and unreachable data go when we are root.
            throw_away: the data need not outlive this process; stop at once and remove the folder even when killed.
        """
        self._wanted = Path(data_folder)
        self._settings = dict(settings or {})
        self._start_timeout_s = start_timeout_s
        self._root_home = root_home
        self._throw_away = throw_away
        self._lock: FolderLock | None = None
        self._server: Server | None = None

    @property
    def running(self) -> bool:
        """Whether the server that we started is alive."""
        return self._server is not None and self._server.process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the server's leader."""
        return self._running_server().process.pid

    @property
    def home(self) -> Path:
        """The folder that really holds the cluster (see `cluster_folders`)."""
        return self._running_server().folders.home

    @property
    def log_file(self) -> Path:
        return self._running_server().folders.log

    @property
    def socket_folder(self) -> Path | None:
        """Where the socket is; None on Windows, where the server listens on loopback."""
        return self._running_server().address.socket_folder

    def start(self) -> Self:
        """Start the server. Raises an `EmbeddedError`; nothing is left running then."""
        if self.running:
            return self
        self.stop()
        account = server_account()
        binaries = find_binaries(account, home=self._root_home)
        folders = cluster_folders(self._wanted, account, root_home=self._root_home)
        lock = FolderLock(folders.lock)
        if not lock.acquire():
            raise ClusterInUseError(f"process {lock.holder() or '?'} is running the database in {folders.home}")
        self._lock = lock
        try:
            clear_leftovers(folders.data)
            make_data_folder(folders, account, binaries, sync=not self._throw_away)
            address = choose_address(folders, account)
            defaults = THROWAWAY_SETTINGS if self._throw_away else {}
            write_configuration(folders, account, address, {**defaults, **self._settings})
            remove = folders.home if self._throw_away else None
            self._server = Server(folders, account, binaries, address, remove_when_killed=remove)
            self._server.wait_until_ready(self._start_timeout_s)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the server and wait for it. Calling it again does nothing."""
        server, self._server = self._server, None
        lock, self._lock = self._lock, None
        if server is not None:
            server.stop(at_once=self._throw_away)
        if lock is not None:
            lock.release()

    def dsn(self, database: str = "postgres") -> str:
        """A libpq URI of a database of this cluster, understood by asyncpg and psql alike."""
        return self._running_server().address.dsn(database)

    def create_database(self, name: str, *, template: str | None = None) -> str:
        """Make a database unless it is there already (with `template`: a copy of that one). Returns its DSN.

        A template must have no open connections; copying a small one takes some 20 ms.
        """
        if name not in self.run_sql("SELECT datname FROM pg_database").splitlines():
            source = f" TEMPLATE {_identifier(template)} STRATEGY wal_log" if template else ""
            self.run_sql(f"CREATE DATABASE {_identifier(name)}{source}")
        return self.dsn(name)

    def drop_database(self, name: str) -> None:
        """Drop a database, its connections too. One that is not there is fine."""
        self.run_sql(f"DROP DATABASE IF EXISTS {_identifier(name)} WITH (FORCE)")

    def run_sql(self, text: str, *, database: str = "postgres") -> str:
        """Run statements through psql and return unaligned rows. For set-up; programs use asyncpg."""
        server = self._running_server()
        command = [
            server.binaries.program("psql"),
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            server.address.dsn(database),
        ]
        done = subprocess.run(command, input=text, check=False, capture_output=True, text=True, env=clean_environment())
        if done.returncode != 0:
            raise PsqlError(done.stderr.strip())
        return done.stdout

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _running_server(self) -> Server:
        if self._server is None:
            raise StartError("the cluster is not started")
        return self._server


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
