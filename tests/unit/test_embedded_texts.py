"""The embedded PostgreSQL without a server: its settings' text, its folders, its lock, its errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from booking.embedded import DataVersionError, DiskFullError, FolderError, NoBinariesError, StartError
from booking.embedded.account import ServerAccount
from booking.embedded.binaries import BIN_VARIABLE, find_binaries
from booking.embedded.errors import EmbeddedError, explain_failure
from booking.embedded.folder_lock import FolderLock
from booking.embedded.folders import (
    SOCKET_NAME,
    SOCKET_PATH_LIMIT,
    ClusterFolders,
    cluster_folders,
    fresh_socket_folder,
)
from booking.embedded.server import Address
from booking.embedded.settings import ident_text, peer_access_text, settings_text

OURSELVES = ServerAccount(own_name="me")


def test_later_settings_win_and_quotes_are_doubled() -> None:
    text = settings_text({"fsync": "on", "a": "x"}, {"fsync": "off", "b": "it's"})
    assert "fsync = 'off'" in text
    assert "fsync = 'on'" not in text
    assert "b = 'it''s'" in text


def test_access_is_by_peer_and_never_by_trust() -> None:
    assert peer_access_text().split() == ["local", "all", "all", "peer", "map=taquilla"]
    assert ident_text("root") == 'taquilla "root" all\n'


def test_dsn_of_a_socket_folder_quotes_what_a_uri_must() -> None:
    address = Address(Path("/tmp/a folder"))
    assert address.dsn("shop") == "postgresql://taquilla@/shop?host=%2Ftmp%2Fa+folder"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ('FATAL:  could not write to file "x": No space left on device', DiskFullError),
        ("initdb: error: could not create directory: Permission denied", FolderError),
        ("FATAL:  database files are incompatible with server", DataVersionError),
        ("something else", StartError),
        ("", StartError),
    ],
)
def test_failures_are_sorted_by_what_the_person_can_do(output: str, kind: type[EmbeddedError]) -> None:
    error = explain_failure("PostgreSQL", output)
    assert type(error) is kind
    assert output.strip() in str(error)


def test_codes_of_the_errors_differ() -> None:
    kinds = EmbeddedError.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_folder_lock_is_exclusive_between_processes_and_ends_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import sys; from pathlib import Path; from booking.embedded.folder_lock import FolderLock\n"
        "assert FolderLock(Path(sys.argv[1])).acquire(); lock = FolderLock(Path(sys.argv[1]))\n"
        "print(lock.acquire(), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        # The first lock object was collected, but its descriptor lives on: the second try is refused.
        assert holder.stdout.readline().strip() == "False"
        lock = FolderLock(path)
        assert not lock.acquire()
        assert lock.holder() == holder.pid
        holder.kill()
        holder.wait()
        assert lock.acquire()
        assert lock.holder() == os.getpid()
        lock.release()


def test_socket_lies_beside_the_data_when_the_path_is_short(tmp_path: Path) -> None:
    folders = ClusterFolders(tmp_path / "c")
    folders.home.mkdir()
    socket_folder = fresh_socket_folder(folders, OURSELVES)
    assert socket_folder == folders.home / "socket"
    assert socket_folder.stat().st_mode & 0o777 == 0o700


def test_socket_moves_to_a_short_private_folder_when_the_path_is_long(tmp_path: Path) -> None:
    folders = ClusterFolders(tmp_path / ("long-" * 16) / ("deep-" * 10))
    folders.home.mkdir(parents=True)
    first = fresh_socket_folder(folders, OURSELVES)
    try:
        assert len(os.fsencode(first / SOCKET_NAME)) <= SOCKET_PATH_LIMIT
        assert not first.is_relative_to(folders.home)
        assert first.stat().st_mode & 0o777 == 0o700
        assert fresh_socket_folder(folders, OURSELVES) == first, "the same cluster finds the same folder"
    finally:
        first.rmdir()


def test_socket_folder_that_others_may_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = ClusterFolders(tmp_path / ("long-" * 16) / ("deep-" * 10))
    folders.home.mkdir(parents=True)
    planted = fresh_socket_folder(folders, OURSELVES)
    planted.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/tmp")
    try:
        with pytest.raises(FolderError, match="TMPDIR"):
            fresh_socket_folder(folders, OURSELVES)
    finally:
        planted.rmdir()


def test_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="file"):
        cluster_folders(tmp_path / "file" / "cluster", OURSELVES)


def test_named_binaries_that_are_none_are_refused_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BIN_VARIABLE, str(tmp_path))
    with pytest.raises(NoBinariesError, match=BIN_VARIABLE):
        find_binaries(OURSELVES)


def test_postgres_older_than_17_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "postgres"
    program.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 15.9 (Debian)'\n")
    program.chmod(0o755)
    monkeypatch.setenv(BIN_VARIABLE, str(tmp_path))
    with pytest.raises(NoBinariesError, match="17 or later"):
        find_binaries(OURSELVES)
