"""`serve` and `work` as real processes: ready files, clean ends, refused addresses."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from booking.services import sequence_feed
from booking.store.database import Database
from booking.web import listening, serve
from booking.workers import work
from tests.server.box_office import make_event
from tests.server.web_process import ENDS_WITHIN_S, READY_WITHIN_S, running


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_serve_answers_once_it_is_ready_and_ends_cleanly(
    dsn: str, tmp_path: Path, number: signal.Signals
) -> None:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"{api.url}/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ready")
        assert answer.json()["detail"].startswith("No sequencer has run yet")
        assert api.ready["pid"] == api.process.pid
        assert {
            one.laddr.ip for one in psutil.Process(api.process.pid).net_connections() if one.status == "LISTEN"
        } == {"127.0.0.1"}
        assert await api.end(number) == 0


async def test_serve_and_work_end_when_the_process_that_started_them_is_gone(dsn: str, tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mine = ("--dsn", dsn, "--parent-pid", str(parent.pid))
    async with running("serve", *mine, folder=tmp_path) as api, running("work", *mine, folder=tmp_path) as worker:
        parent.kill()
        parent.wait()
        assert parent.stdin is not None
        parent.stdin.close()
        assert await asyncio.to_thread(api.process.wait, ENDS_WITHIN_S) == 0
        assert await asyncio.to_thread(worker.process.wait, ENDS_WITHIN_S) == 0


async def test_work_sequences_and_ends_cleanly(dsn: str, database: Database, tmp_path: Path) -> None:
    event_id = await make_event(database)
    async with running("work", "--dsn", dsn, "--only", "sequencer,sweeper", folder=tmp_path) as worker:
        assert worker.ready["tasks"] == ["sequencer", "sweeper"]
        await database.fetch(
            "SELECT announce_seats($1, 'seats-held', gen_random_uuid(), '{1}', NULL, booking_now())", event_id
        )
        async with asyncio.timeout(READY_WITHIN_S):
            while not await database.fetch("SELECT FROM seat_feed WHERE event_id = $1", event_id):
                await asyncio.sleep(0.01)
        assert await worker.end() == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "::"])
def test_plain_http_is_refused_for_every_address_but_this_machines_own(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        serve.main(["--dsn", "postgresql:///x", "--host", host])
    assert ended.value.code == 2
    assert "plain HTTP is served on this machine only" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_addresses_of_this_machine_are_known_by_their_form(host: str) -> None:
    assert listening.is_loopback(host)


def test_nobody_at_the_dsn_is_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nobody = f"postgresql:///x?host={tmp_path}"
    assert serve.main(["--dsn", nobody]) == 3
    assert work.main(["--dsn", nobody]) == 3
    assert "cannot be reached" in capsys.readouterr().err


def test_a_port_that_is_taken_is_exit_code_3(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert serve.main(["--dsn", dsn, "--port", str(taken.getsockname()[1])]) == 3
    assert "taquilla serve:" in capsys.readouterr().err


@pytest.mark.parametrize("only", ["", "sequencer,painter", ","])
def test_a_task_that_there_is_not_is_wrong_use(only: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        work.main(["--dsn", "postgresql:///x", "--only", only])
    assert ended.value.code == 2
    assert f"there are {', '.join(work.TASKS)}" in capsys.readouterr().err


async def test_a_task_that_fails_is_started_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    async def fail(db: Database) -> None:
        tries.append(1)
        raise ZeroDivisionError

    monkeypatch.setattr(sequence_feed, "run", fail)
    end = asyncio.Event()
    tasks = work.tasks_of(database, ["sequencer"], None)
    running_tasks = asyncio.create_task(work.run_tasks(tasks, end, lambda: None))
    async with asyncio.timeout(60):
        while len(tries) < 3:
            await asyncio.sleep(0.01)
    end.set()
    await running_tasks
