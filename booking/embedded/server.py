"""Starting and stopping one PostgreSQL server process on a cluster's folders."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlencode

from booking.embedded import settings as texts
from booking.embedded.account import ON_WINDOWS, ServerAccount
from booking.embedded.binaries import Binaries
from booking.embedded.errors import DataVersionError, FolderError, StartError, explain_failure
from booking.embedded.folders import ClusterFolders, fresh_socket_folder
from booking.embedded.orphans import PID_FILE
from booking.embedded.watchdog import Watchdog

_LARGEST_LOG_BYTES = 8 * 1024 * 1024
_READY_LINE = 7  # of postmaster.pid, counted from 0: "starting", "ready", "stopping"
_FAST_STOP_S = 30.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens: a socket folder (POSIX), or a loopback port with a password file (Windows)."""

    socket_folder: Path | None
    port: int = 5432
    password_file: Path | None = None

    def settings(self) -> dict[str, str]:
        if self.socket_folder is None:
            return {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": ""}
        return {
            "listen_addresses": "",
            "port": str(self.port),
            "unix_socket_directories": str(self.socket_folder),
            "unix_socket_permissions": "0700",
        }

    def dsn(self, database: str) -> str:
        start = f"postgresql://{texts.SUPERUSER}@"
        if self.socket_folder is not None:
            return f"{start}/{quote(database)}?{urlencode({'host': str(self.socket_folder)})}"
        return f"{start}127.0.0.1:{self.port}/{quote(database)}?{urlencode({'passfile': str(self.password_file)})}"


def choose_address(folders: ClusterFolders, account: ServerAccount) -> Address:
    """A fresh address for this start. The port is free now; a clash later shows as a failed start."""
    if not ON_WINDOWS:
        return Address(fresh_socket_folder(folders, account))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return Address(None, port, folders.passwords)


def clean_environment() -> dict[str, str]:
    """Our environment without libpq's variables, which would redirect every tool of PostgreSQL."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def make_data_folder(folders: ClusterFolders, account: ServerAccount, binaries: Binaries, *, sync: bool) -> None:
    """Run initdb unless the data are there. An interrupted initdb leaves only an unfinished folder to drop."""
    for unfinished in folders.home.glob("data.new-*"):
        shutil.rmtree(unfinished)
    marker = folders.data / "PG_VERSION"
    if marker.exists():
        found = marker.read_text(encoding="ascii").strip()
        if found != str(binaries.major):
            raise DataVersionError(
                f"{folders.data} was written by PostgreSQL {found}, this is PostgreSQL {binaries.major}. "
                f"Name a folder with PostgreSQL {found} in BOOKING_PG_BIN, or use another data folder."
            )
        return
    if folders.data.exists() and any(folders.data.iterdir()):
        raise FolderError(f"{folders.data} holds files that are no PostgreSQL data; it is left alone")
    unfinished = folders.home / f"data.new-{os.getpid()}"
    try:
        unfinished.mkdir(mode=0o700)
        account.own(unfinished)
        _run_initdb(unfinished, folders, account, binaries, sync=sync)
        if folders.data.exists():
            folders.data.rmdir()
        unfinished.rename(folders.data)
    except OSError as error:
        raise explain_failure(f"making {folders.data}", str(error)) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _run_initdb(
    target: Path, folders: ClusterFolders, account: ServerAccount, binaries: Binaries, *, sync: bool
) -> None:
    command = [binaries.program("initdb"), "-D", str(target), "-U", texts.SUPERUSER, "--encoding=UTF8"]
    command += ["--data-checksums"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"]
    command += ["--auth-host=scram-sha-256"]
    secret = _write_first_password(folders) if ON_WINDOWS else None
    command += [f"--pwfile={secret}", "--auth-local=scram-sha-256"] if secret else ["--auth-local=peer"]
    if not sync:
        command += ["--no-sync"]
    done = subprocess.run(
        command,
        cwd=target.anchor,
        check=False,
        capture_output=True,
        text=True,
        env=clean_environment(),
        **account.run_as(),
    )
    if secret is not None:
        secret.unlink()
    if done.returncode != 0:
        raise explain_failure("initdb", done.stderr or done.stdout)


def _write_first_password(folders: ClusterFolders) -> Path:
    """Where nobody vouches for a peer: a random password, kept in a password file beside the data."""
    password = secrets.token_urlsafe(24)
    folders.passwords.write_text(f"127.0.0.1:*:*:{texts.SUPERUSER}:{password}\n", encoding="ascii")
    secret = folders.passwords.with_name("first-password")
    secret.write_text(password, encoding="ascii")
    return secret


def write_configuration(
    folders: ClusterFolders, account: ServerAccount, address: Address, own_settings: Mapping[str, str]
) -> None:
    """Write the three files anew, so that a start never depends on what an earlier version wrote."""
    peers = address.socket_folder is not None
    memory = {} if shared_memory_works(account) else {"dynamic_shared_memory_type": "mmap"}
    contents = {
        "postgresql.conf": texts.settings_text(texts.BASE_SETTINGS, memory, own_settings, address.settings()),
        "pg_hba.conf": texts.peer_access_text() if peers else texts.password_access_text(),
        "pg_ident.conf": texts.ident_text(account.own_name),
    }
    try:
        for name, text in contents.items():
            path = folders.data / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o600)
            account.own(path)
    except OSError as error:
        raise explain_failure(f"writing the settings of {folders.home}", str(error)) from error


def shared_memory_works(account: ServerAccount) -> bool:
    """POSIX shared memory lives in /dev/shm on Linux; in a bare container or chroot that may be closed to us."""
    return not sys.platform.startswith("linux") or account.can_write(Path("/dev/shm"))  # noqa: S108


class Server:
    """A running server process and what belongs to it."""

    def __init__(
        self,
        folders: ClusterFolders,
        account: ServerAccount,
        binaries: Binaries,
        address: Address,
        *,
        remove_when_killed: Path | None = None,
    ) -> None:
        """Spawn the process; `wait_until_ready` must follow."""
        self.folders = folders
        self.address = address
        self.binaries = binaries
        command = [binaries.program("postgres"), "-D", str(folders.data)]
        with _open_log(folders.log) as log:
            self._log_start = log.tell()
            # A session of its own: a Ctrl-C at the terminal is for us, who then stop things in order.
            self.process = subprocess.Popen(
                command,
                cwd=folders.data.anchor,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=clean_environment(),
                start_new_session=True,
                **account.run_as(),
            )
        how = "QUIT" if remove_when_killed else "INT"
        self._watchdog = Watchdog(self.process.pid, folders.data / PID_FILE, signal_name=how, remove=remove_when_killed)

    def wait_until_ready(self, timeout_s: float) -> None:
        """Return once connections are accepted. Raises a sorted `EmbeddedError` with the end of the log."""
        deadline = time.monotonic() + timeout_s
        while not self._is_ready():
            if self.process.poll() is not None:
                raise explain_failure("PostgreSQL", self._log_text())
            if time.monotonic() > deadline:
                raise StartError(f"PostgreSQL is not ready after {timeout_s:.0f} s.\n{self._log_text()[-1500:]}")
            time.sleep(0.01)

    def stop(self, *, at_once: bool) -> None:
        """Fast shutdown (open transactions roll back); `at_once` skips the last checkpoint."""
        self._watchdog.dismiss()
        if self.process.poll() is None:
            self._ask_to_stop(at_once=at_once)
            try:
                self.process.wait(_FAST_STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        if self.address.socket_folder is not None:
            shutil.rmtree(self.address.socket_folder, ignore_errors=True)

    def _ask_to_stop(self, *, at_once: bool) -> None:
        if ON_WINDOWS:  # terminate() would be a crash there
            mode = "immediate" if at_once else "fast"
            command = [self.binaries.program("pg_ctl"), "stop", "-D", str(self.folders.data), "-m", mode]
            subprocess.run(command, check=False, capture_output=True, timeout=_FAST_STOP_S)
        else:
            self.process.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)

    def _is_ready(self) -> bool:
        try:
            lines = (self.folders.data / PID_FILE).read_text(encoding="utf-8").split("\n")
        except OSError:
            return False
        ours = ON_WINDOWS or lines[0] == str(self.process.pid)
        return ours and len(lines) > _READY_LINE and lines[_READY_LINE].strip() == "ready"

    def _log_text(self) -> str:
        with self.folders.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read(64 * 1024).decode(errors="replace")


def _open_log(path: Path) -> IO[bytes]:
    try:
        if path.exists() and path.stat().st_size > _LARGEST_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        log = path.open("ab")
    except OSError as error:
        raise explain_failure(f"opening {path}", str(error)) from error
    log.seek(0, os.SEEK_END)
    return log
