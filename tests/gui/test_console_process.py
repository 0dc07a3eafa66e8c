"""The console as a process: wrong use, a journal in use, signals, the end of its parent. It leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from uuid_utils.compat import uuid7

from app.core.errors import DeviceFileDamagedError
from app.core.sale import SaleId
from app.device_identity import device_of
from app.journal.journal import Journal
from app.journal.terminal_record import TerminalRecord
from backend_client.wire import OperationId

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"
DEADLINE_S = 60.0


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "app", *more]


def environment() -> dict[str, str]:
    return {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


def run(*more: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(*more), cwd=ROOT, env=environment(), input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


def until_logged(process: subprocess.Popen[str], folder: Path, text: str) -> None:
    end = time.monotonic() + DEADLINE_S
    log = folder / "console.log"
    while not (log.exists() and text in log.read_text("utf-8")):
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"the console did not say {text!r}: {process.stderr.read() if process.stderr else ''}")
        time.sleep(0.02)


@contextmanager
def console(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = words("--server", NOWHERE, "--data", str(folder), *more)
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True)
    try:
        until_logged(process, folder, "the console is open")
        yield process
    finally:
        process.kill()
        process.communicate()


def test_help_answers_at_once_without_qt() -> None:
    code = (
        "import sys, app.__main__ as m\ntry: m.main(['--help'])\nexcept SystemExit: pass\n"
        "print('PySide6' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert "--tour" in found.stdout
    assert found.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("--server", NOWHERE, "--terminal", "nonsense"), "host:port"),
        (("--server", NOWHERE, "--tour", "fly:1", "--pictures", "p", "--report", "r"), "fly:1"),
        (("--server", NOWHERE, "--tour", "sale"), "--pictures"),
        (("--server", NOWHERE, "--language", "xx"), "invalid choice"),
        ((), "--server"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_is_wrong(tmp_path: Path, more: tuple[str, ...], text: str) -> None:
    found = run("--data", str(tmp_path), *more)
    assert found.returncode == 2
    assert text in found.stderr


def test_a_password_that_cannot_be_read_from_standard_input_is_wrong_use(tmp_path: Path) -> None:
    found = run("--data", str(tmp_path), "--server", NOWHERE, "--sign-in-from-stdin", stdin="not json\n")
    assert found.returncode == 2
    assert "standard input" in found.stderr


def test_an_address_without_tls_beyond_this_machine_is_refused(tmp_path: Path) -> None:
    found = run("--data", str(tmp_path), "--server", "http://box-office.example")
    assert found.returncode == 3
    assert "not secure" in found.stderr


def test_a_damaged_journal_is_said_and_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").write_bytes(b"no database at all, and long enough to be read as one" * 50)
    before = (tmp_path / "journal.sqlite3").read_bytes()
    found = run("--data", str(tmp_path), "--server", NOWHERE)
    assert found.returncode == 3
    assert "journal" in found.stderr
    assert (tmp_path / "journal.sqlite3").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"device_id": "none"}', b'{"device_id": 7}', b"\xff\xfe"])
def test_a_damaged_device_file_is_said_by_name_and_never_replaced(tmp_path: Path, content: bytes) -> None:
    """Under another device id the card operations of the old one could never be reported."""
    file = tmp_path / "device.json"
    file.write_bytes(content)
    with pytest.raises(DeviceFileDamagedError) as caught:
        device_of(file, may_make=True)
    assert (caught.value.code, caught.value.path) == ("device-file-damaged", file)
    assert file.read_bytes() == content


def test_the_console_does_not_start_on_a_damaged_device_file(tmp_path: Path) -> None:
    (tmp_path / "device.json").write_text("{")
    found = run("--data", str(tmp_path), "--server", NOWHERE)
    assert found.returncode == 3
    assert "device file of this counter cannot be read" in found.stderr
    assert str(tmp_path / "device.json") in found.stderr
    assert (tmp_path / "device.json").read_text() == "{"


def test_a_device_file_that_is_gone_beside_a_used_journal_is_not_made_anew(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    assert not journal.has_history()
    operation_id = OperationId(uuid7())
    journal.begin_terminal_attempt(TerminalRecord(operation_id, SaleId(uuid7()), 4500, "EUR", datetime.now(UTC), None))
    assert journal.has_history()
    journal.close()
    found = run("--data", str(tmp_path), "--server", NOWHERE)
    assert found.returncode == 3
    assert "device file of this counter is gone" in found.stderr
    assert not (tmp_path / "device.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_ends_the_console_cleanly_d2(tmp_path: Path, number: signal.Signals) -> None:
    with console(tmp_path) as process:
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        assert process.wait(60) == 0
        assert children == []
    log = (tmp_path / "console.log").read_text("utf-8")
    assert "the console is closed" in log
    assert "Traceback" not in log
    assert "did not stop" not in log


def test_a_second_console_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with console(tmp_path):
        found = run("--data", str(tmp_path), "--server", NOWHERE)
        assert found.returncode == 3
        assert "Another console" in found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX parents")
def test_the_console_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    starter = (
        "import subprocess, sys, os\n"
        f"child = subprocess.Popen({words('--server', NOWHERE, '--data', str(tmp_path))!r}"
        " + ['--parent-pid', str(os.getpid())])\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.readline()\n"
        "os._exit(9)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", starter], cwd=ROOT, env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = psutil.Process(int(parent.stdout.readline()))
    until_logged(parent, tmp_path, "the console is open")
    parent.stdin.write("die\n")
    parent.stdin.flush()
    assert parent.wait(60) == 9
    psutil.wait_procs([child], timeout=60)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    assert "the console is closed" in (tmp_path / "console.log").read_text("utf-8")
    parent.communicate()


def test_the_device_identity_and_the_data_folder_stay_with_this_counter(tmp_path: Path) -> None:
    data = tmp_path / "console"
    with console(data) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    identity = json.loads((data / "device.json").read_text("utf-8"))
    with console(data) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert json.loads((data / "device.json").read_text("utf-8")) == identity
    assert data.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("stands", ["folder", "tickets"])
def test_a_data_folder_that_cannot_be_used_is_refused_in_words_and_without_a_trace_m1(
    tmp_path: Path, stands: str
) -> None:
    """A file stands where the folder should be: as with a folder that may only be read, nothing can be made there."""
    data = tmp_path / "console"
    if stands == "folder":
        data.write_text("no folder")
    else:
        data.mkdir()
        (data / "journal.lock").mkdir()
    found = run("--data", str(data), "--server", NOWHERE)
    assert found.returncode == 3
    assert "The data folder of this counter cannot be written" in found.stderr
    assert str(data) in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk_at_the_first_start_is_refused_in_words_m1(tmp_path: Path) -> None:
    code = (
        "import resource, sys, app.__main__ as m\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        f"sys.exit(m.main(['--data', {str(tmp_path / 'new')!r}, '--server', {NOWHERE!r}]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 3, found.stderr
    assert "The disk of this counter is full" in found.stderr
    assert "journal of this counter cannot be read" not in found.stderr
