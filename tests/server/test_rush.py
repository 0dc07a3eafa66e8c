"""The verb `rush` (R41): a short opening minute on real processes, its report, and what it refuses to load."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from booking.rush import command, report
from booking.rush.shopper import AGAIN, CHECKOUT, HOLD, MAP, PAY, STATUS
from booking.services.check_invariants import check
from booking.store.database import Database
from tests.server.box_office import Desk, count, fan, make_event
from tests.server.web_process import running

NOBODY_THERE = "http://127.0.0.1:1"


def figures(capsys: pytest.CaptureFixture[str], *words: str, code: int = command.DONE) -> dict[str, Any]:
    """The verb with `--json`, after checking its exit code."""
    assert command.main([*words, "--json"]) == code, capsys.readouterr()
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


async def rush(*words: str) -> tuple[int | None, str, str]:
    """The verb as a process of its own: exit code, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", "rush", *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


def assert_counts_add_up(told: dict[str, Any]) -> None:
    """Every request ends in exactly one way, and nothing happened that nobody foresaw."""
    for part in (told, *told["kinds"].values()):
        assert part["offered"] == part["done"] + part["shed"] + part["failed"]
        assert part["p50_ms"] <= part["p99_ms"] <= told["max_ms"]
    assert told["failed"] == told["server_errors"] == 0
    assert not [answer for kind in told["kinds"].values() for answer in kind["answers"] if answer.startswith("500")]
    assert told["contradictions"] == []


def test_three_seconds_of_an_opening_minute_break_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a database, API, workers and sandbox of its own: 150 seats for some 200 buyers, groups, double clicks."""
    mine = {child.pid for child in psutil.Process().children(recursive=True)}
    words = ("--seconds", "3", "--rate", "60", "--maps", "20", "--seats", "150", "--double-clicks", "0.2")
    told = figures(capsys, *words, "--groups", "0.3", "--buyers", "0.8", "--report", str(tmp_path / "made"))
    assert_counts_add_up(told)
    assert (told["breaches"], told["breach_details"]) == (0, [])
    assert told["offered"] > 200
    kinds = told["kinds"]
    assert {HOLD, AGAIN, CHECKOUT, PAY, STATUS, MAP} <= set(kinds)
    assert kinds[HOLD]["answers"]["201"] > 20
    assert kinds[HOLD]["answers"]["409 seats-taken"] > 20
    assert told["confirmed_orders"] > 0
    assert set(told["cpu_s"]) == {"API", "workers", "sandbox", "PostgreSQL", "senders"}
    assert all(used > 0 for name, used in told["cpu_s"].items() if name != "sandbox")
    assert kinds[MAP]["answers"].keys() <= {"200", "304"}
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= mine
    _check_report(tmp_path / "made", told)


def _check_report(folder: Path, told: dict[str, Any]) -> None:
    assert json.loads((folder / report.JSON_NAME).read_text()) == told
    page = (folder / report.HTML_NAME).read_text()
    assert page.count("<svg ") == page.count("</svg>") == 4
    assert "Nothing wrong was found." in page
    # One file: it loads nothing, from nowhere.
    assert not re.search(r"(?:src|href)\s*=|url\(|<script|<link|@import", page)
    assert not re.search(r"eyJ|Bearer", page)


async def test_a_server_that_runs_already_is_rushed_and_its_database_looked_at(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    event_id = await make_event(database, seats=400)
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        words = ("--server", api.url, "--dsn", dsn, "--seconds", "1", "--rate", "40", "--buyers", "0", "--maps", "5")
        code, out, err = await rush(*words, "--accounts", "20", "--processes", "2", "--json")
    assert code == command.DONE, err
    told = json.loads(out)
    assert_counts_add_up(told)
    assert told["breaches"] == 0
    assert told["settings"]["event_id"] == event_id
    held = await count(database, "SELECT count(*) FROM holds WHERE event_id = $1", event_id)
    assert held >= 10
    assert (await check(dsn)).breaches == ()


async def test_without_a_dsn_it_says_that_nobody_looked(dsn: str, database: Database, tmp_path: Path) -> None:
    await make_event(database, seats=100)
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        words = ["--server", api.url, "--seconds", "0.5", "--rate", "10", "--maps", "0", "--buyers", "0"]
        code, out, err = await rush(*words, "--accounts", "10", "--drain", "3")
    assert code == command.DONE, err
    assert "invariants: not looked at (no --dsn)" in out
    assert re.search(r"^hold +\d", out, re.MULTILINE)
    assert re.search(r"1/0 s|1/1 s|1/0\.5 s", err), err


@pytest.mark.usefixtures("breaks_rules")
async def test_a_broken_invariant_is_found_and_is_exit_code_1(dsn: str, database: Database, tmp_path: Path) -> None:
    event_id = await make_event(database, seats=100)
    await Desk(database, fan(), event_id).hold(99)
    freed = "UPDATE seats SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL WHERE seat_no = 99"
    await database.fetch(freed)
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        words = ("--server", api.url, "--dsn", dsn, "--seconds", "0.5", "--rate", "5", "--maps", "0", "--buyers", "0")
        code, out, err = await rush(*words, "--accounts", "5", "--json")
    assert code == command.FOUND_WRONG, err
    told = json.loads(out)
    assert told["breaches"] == len(told["breach_details"]) > 0
    assert any(detail.startswith("open-hold-owns-all-its-seats: ") for detail in told["breach_details"])


async def test_a_server_with_nothing_on_sale_is_exit_code_3(dsn: str, tmp_path: Path) -> None:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        code, _, err = await rush("--server", api.url)
        other_code, _, other_err = await rush("--server", api.url, "--event", "77")
    assert (code, other_code) == (command.UNREACHABLE, command.UNREACHABLE)
    assert "has nothing on sale" in err
    assert "/v1/events/77 answered 404" in other_err


def test_nobody_at_the_server_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--server", NOBODY_THERE, "--seconds", "1"]) == command.UNREACHABLE
    assert f"{NOBODY_THERE} does not answer" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
async def test_a_rush_that_is_stopped_stops_all_that_it_started(number: signal.Signals) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", "rush", "--seconds", "60", "--rate", "5", "--seats", "50",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    async with asyncio.timeout(60):
        words = b""
        while b" 1/60 s " not in words:
            line = await process.stderr.readline()
            assert line, f"it ended too early: {words.decode()}"
            words += line
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        said = await process.stderr.read()
        assert await process.wait() == command.INTERRUPTED
    assert b"rush: stopped" in said
    assert b"Traceback" not in said
    # The database, the API, the workers, the sandbox and a sender.
    assert len(started) >= 5
    gone, alive = await asyncio.to_thread(psutil.wait_procs, started, 10)
    assert alive == []
    assert len(gone) == len(started)


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--server", "http://tickets.example"], "is another machine"),
        (["--server", "https://192.0.2.7:8443"], "is another machine"),
        (["--server", "https://tickets.example", "--i-run-this-host", "other.example"], "is another machine"),
        (["--server", "http://tickets.example", "--i-run-this-host", "tickets.example"], "https only"),
        (["--server", "ftp://127.0.0.1"], "an address like"),
        (["--server", "127.0.0.1:80"], "an address like"),
        (["--server", "http://127.0.0.1/v1"], "no path"),
        (["--server", "http://127.0.0.1.tickets.example"], "is another machine"),
        (["--event", "3"], "go with --server"),
        (["--dsn", "postgresql:///x"], "go with --server"),
        (["--i-run-this-host", "tickets.example"], "go with --server"),
    ],
)
def test_other_machines_and_wrong_addresses_are_exit_code_2(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == 2
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--rate", "0"), ("--rate", "20001"), ("--rate", "nan"), ("--rate", "inf"), ("--rate", "many"),
        ("--seconds", "0"), ("--seconds", "601"), ("--seats", "5"), ("--seats", "240001"), ("--seats", "6.5"),
        ("--maps", "-1"), ("--processes", "0"), ("--processes", "9"), ("--connections", "4001"), ("--skew", "3.1"),
        ("--groups", "1.1"), ("--buyers", "-0.1"), ("--timeout", "61"), ("--drain", "61"), ("--accounts", "200001"),
        ("--most-requests", "5000001"), ("--arrivals", "tide"),
    ],
)  # fmt: skip
def test_numbers_out_of_bounds_are_exit_code_2(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([option, value])
    assert ended.value.code == 2
    assert option in capsys.readouterr().err


def test_a_report_needs_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SystemExit) as ended:
        command.main(["--report", str(file)])
    assert ended.value.code == 2
    assert "is no folder" in capsys.readouterr().err
