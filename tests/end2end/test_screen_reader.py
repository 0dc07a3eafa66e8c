"""D10 from outside: another process reads the seats of a running console over AT-SPI, as Orca does.

It needs an X server (Xvfb), a session bus, the AT-SPI bus (Debian: xvfb, dbus, at-spi2-core) and AT-SPI bindings for
the system's own Python (python3-gi, gir1.2-atspi-2.0). Where one is missing the test says which and is skipped;
under CI it fails.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end2end.screen_reader_scene import LAUNCHERS, SYSTEM_PYTHON

ROOT = Path(__file__).parents[2]
_HAS_BINDINGS = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
SEAT = re.compile(
    r"^Stalls left, Row [A-Z], Seat \d+, €\d+\.\d\d, (?:.+, )?(?:free|sold|held .+|blocked|being paid).*$"
)

pytestmark = pytest.mark.timeout(180)


def missing() -> str:
    """What this machine lacks; empty when nothing."""
    lacks = [tool for tool in ("xvfb-run", "dbus-run-session") if shutil.which(tool) is None]
    lacks += [] if any(Path(path).exists() for path in LAUNCHERS) else ["at-spi-bus-launcher"]
    if not lacks and subprocess.run([SYSTEM_PYTHON, "-c", _HAS_BINDINGS], capture_output=True, check=False).returncode:
        lacks = ["AT-SPI bindings of the system's Python"]
    return ", ".join(lacks)


def report_of(folder: Path) -> dict[str, Any]:
    """The scene played on a display and a bus of its own."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {
        **os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(folder), "GTK_MODULES": "", "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    }  # fmt: skip
    display = ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", "dbus-run-session", "--"]
    command = [*display, sys.executable, "-m", "tests.end2end.screen_reader_scene", str(folder / "console")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=350, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Traceback" not in done.stderr, done.stderr[-4000:]
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def test_a_screen_reader_reads_the_seats_from_outside(tmp_path: Path) -> None:
    lacks = missing()
    assert not (lacks and os.environ.get("CI")), f"CI wants its referee: {lacks} is missing"
    if lacks:
        pytest.skip(f"not on this machine: {lacks}")
    report = report_of(tmp_path)
    assert report["map"]["name"] == "Seat map"
    assert len(report["sections"]) == 4
    assert all(re.fullmatch(r".+, [\d,]+ seats? free", name) for name in report["sections"])
    row = report["row"]
    assert row["row"]["role"] == "list"
    assert re.fullmatch(r"Row B, \d+ seats? free", row["row"]["name"])
    assert len(row["seats"]) == row["row"]["children"] > 4
    assert all(SEAT.match(name) for name in row["seats"]), row["seats"]
    for key, beginning in (("Right", "Stalls left, Row A, Seat 2, "), ("Ctrl+Down", "Stalls left, Row B, ")):
        assert report[key]["name"].startswith(beginning), report[key]
        assert "focused" in report[key]["is"]
        assert report[key]["role"] == "list item"
    assert not report["Ctrl+Right"]["name"].startswith("Stalls left, ")
    assert report["picked"]["name"].endswith("in your sale")
    assert "selected" in report["picked"]["is"]
    assert report["Ctrl+Left"]["name"].startswith("Stalls left, Row A, Seat 1, ")
    assert report["End"]["name"].startswith("Stalls left, Row A, Seat ")
    assert report["sold"]["name"].endswith("sold")
    assert "selectable" not in report["sold"]["is"]
    assert (report["reader ended"], report["console ended"]) == (0, 0)
