"""The demo's own decisions, without its processes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from booking.demo import child as child_module
from booking.demo.child import Child, ChildError, Ready, exit_words, last_words, turn_log
from booking.demo.command import ROLES, default_folder
from booking.demo.console import ConsoleRun, tour_words
from booking.demo.people import PEOPLE
from booking.demo.progress import step
from booking.demo.session import has_screen, who_may_sign_in
from booking.demo.stack import DemoFolders

# Stands for a process of the demo: says that it works, and ends when told to, by a file or by a signal.
PROGRAM = """
import json, os, sys, time
from pathlib import Path
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if Path("refuse").exists():
    print("no such thing", file=sys.stderr)
    sys.exit(4)
port = int(words.get("--port", 0)) or 4711
draft = Path(words["--ready-file"] + ".new")
draft.write_text(json.dumps({"pid": os.getpid(), "port": port, "asked": words["--port"]}))
draft.replace(words["--ready-file"])
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ("darwin", {}, True),
        ("win32", {}, True),
    ],
)
def test_screen_is_where_a_window_can_be_shown(platform: str, environment: dict[str, str], expected: bool) -> None:
    assert has_screen(platform, environment) is expected


def test_roles_of_the_command_are_the_people_of_the_demo() -> None:
    assert set(ROLES) == set(PEOPLE)


def test_root_s_demo_lives_where_the_database_s_account_can_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_folder() == Path("/var/lib/taquilla/demo")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert default_folder().name == "demo"
    assert not default_folder().is_relative_to("/var")


def test_folders_are_closed_to_others(tmp_path: Path) -> None:
    folders = DemoFolders(tmp_path / "d")
    folders.make()
    assert folders.home.stat().st_mode & 0o777 == 0o711, "others may pass to the database's folder, and see nothing"
    assert folders.console.stat().st_mode & 0o777 == 0o700
    assert (folders.home / "run").stat().st_mode & 0o777 == 0o700


def test_password_is_not_in_the_words_about_a_console() -> None:
    run = ConsoleRun("http://127.0.0.1:1", Path("/d"), "127.0.0.1:2", "carla", "very secret")
    assert "very secret" not in repr(run)


def test_tour_is_told_in_amounts_that_people_read(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    common = {"state": "DONE"}
    sales = [
        {"kind": "card", "seats": [1, 2, 3], "amount_minor": 19500, "currency": "EUR", "order_number": "A", **common},
        {"kind": "cash", "seats": [4], "amount_minor": 900, "currency": "JPY", "order_number": "B", **common},
    ]
    report.write_text(json.dumps({"sales": sales, "problems": ["a problem"]}))
    words = tour_words(report, tmp_path / "pictures")
    assert "card: 3 seats, 195.00 EUR, DONE, order A" in words
    assert "cash: 1 seats, 900 JPY" in words
    assert "problem: a problem" in words
    assert f"pictures: {tmp_path / 'pictures'}" in words


def test_tour_that_wrote_no_report_still_names_the_folders(tmp_path: Path) -> None:
    assert tour_words(tmp_path / "none.json", tmp_path) == f"pictures: {tmp_path}\nreport: {tmp_path / 'none.json'}\n"


def test_end_of_a_process_is_named() -> None:
    assert exit_words(3) == "exit code 3"
    assert exit_words(-9) == "SIGKILL"
    assert exit_words(-200) == "signal 200"


def test_last_words_are_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    assert "wrote nothing" in last_words(log)
    log.write_text("\n".join(f"line {number}" for number in range(20)))
    assert last_words(log, lines=2).endswith("line 18\nline 19")


def test_log_that_grew_large_is_turned_while_its_process_goes_on_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "LARGEST_LOG_BYTES", 10)
    log = tmp_path / "x.log"
    with log.open("ab", buffering=0) as writing:
        writing.write(b"short")
        turn_log(log)
        assert log.read_bytes() == b"short"
        writing.write(b", and then long")
        turn_log(log)
        writing.write(b"next")
    assert log.read_bytes() == b"next"
    assert (tmp_path / "x.log.1").read_bytes() == b"short, and then long"
    turn_log(tmp_path / "none.log")


def test_step_says_what_was_done_or_that_it_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with step("database", "started"):
        pass
    with pytest.raises(ValueError, match="x"), step("API", "started"):
        raise ValueError("x")
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("demo: database started (")
    assert said[1].startswith("demo: API: failed after ")


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    (tmp_path / "stand_in_program.py").write_text(PROGRAM)
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Child("stand-in", ["stand_in_program"], tmp_path, ports=["--port"])


async def test_child_that_dies_is_started_again_at_the_same_port(
    child: Child, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("booking.demo.child.FIRST_BACK_OFF_S", 0.01)
    first = await child.start()
    keeper = asyncio.create_task(child.keep_alive(), name="keeper")
    os.kill(first.pid, 9)
    async with asyncio.timeout(20):
        while child.ready.pid == first.pid:
            await asyncio.sleep(0.01)
    assert child.ready == Ready(child.ready.pid, 4711)
    assert child.ready.address() == "http://127.0.0.1:4711"
    await child.stop()
    await keeper
    assert "stand-in ended (SIGKILL); starting it again" in capsys.readouterr().err


async def test_child_whose_start_fails_in_any_way_comes_back(
    child: Child, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No memory for another process, once: the part must not stay dead without a word."""
    monkeypatch.setattr("booking.demo.child.FIRST_BACK_OFF_S", 0.01)
    first = await child.start()
    starts, start = [], child.start

    async def fails_once() -> Ready:
        starts.append(1)
        if len(starts) == 1:
            raise BlockingIOError("Resource temporarily unavailable")
        return await start()

    monkeypatch.setattr(child, "start", fails_once)
    keeper = asyncio.create_task(child.keep_alive(), name="keeper")
    os.kill(first.pid, 9)
    async with asyncio.timeout(60):
        while child.ready.pid == first.pid:
            await asyncio.sleep(0.01)
    await child.stop()
    await keeper
    assert "could not be started again: Resource temporarily unavailable" in capsys.readouterr().err


async def test_a_ready_file_that_is_half_written_is_read_again(child: Child, tmp_path: Path) -> None:
    facts = tmp_path / "run" / "stand-in.json"
    (tmp_path / "stand_in_program.py").write_text("import time; time.sleep(60)")
    starting = asyncio.create_task(child.start())
    async with asyncio.timeout(60):
        while not (tmp_path / "logs" / "stand-in.log").exists():
            await asyncio.sleep(0.01)
        facts.write_text('{"pid": 1')
        await asyncio.sleep(0.1)
        assert not starting.done()
        facts.write_text('{"pid": 1, "port": 4711}')
        assert (await starting).port == 4711
    await child.stop()


async def test_child_that_does_not_start_is_told_with_its_last_words(child: Child, tmp_path: Path) -> None:
    (tmp_path / "refuse").touch()
    with pytest.raises(ChildError, match=r"(?s)exit code 4.*no such thing"):
        await child.start()
    await child.stop()


async def test_child_that_does_not_listen_to_sigterm_is_ended(child: Child, tmp_path: Path) -> None:
    stubborn = PROGRAM.replace("import json", "import signal; signal.signal(15, signal.SIG_IGN)\nimport json", 1)
    (tmp_path / "stand_in_program.py").write_text(stubborn)
    ready = await child.start()
    await child.stop(timeout_s=0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(ready.pid, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_child_that_is_stopped_is_not_started_again(child: Child) -> None:
    ready = await child.start()
    keeper = asyncio.create_task(child.keep_alive(), name="keeper")
    await asyncio.sleep(0)
    await child.stop()
    async with asyncio.timeout(60):
        await keeper
    assert child.ready == ready


def test_at_a_terminal_it_says_with_what_others_sign_in_and_elsewhere_nothing_secret() -> None:
    passwords = {name: f"secret-of-{name}" for name in PEOPLE.values()}
    told = who_may_sign_in(passwords, in_terminal=True)
    for role, name in PEOPLE.items():
        assert re.search(rf"{name} +{role} +secret-of-{name}$", told, re.MULTILINE)
    assert "secret" not in who_may_sign_in(passwords, in_terminal=False)
