"""`python -m tests.end2end.screen_reader_scene FOLDER`: a console, a screen reader, and what the reader found, as JSON.

Runs on a display and a session bus of its own (`xvfb-run dbus-run-session`). The console is a process of this Python,
the reader (`atspi_reader.py`) one of the system's, which has the bindings.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SYSTEM_PYTHON = "/usr/bin/python3"
LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")


class Talk:
    """A process that answers each line with one line."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def hear(self) -> str:
        """The next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"{self._process.args!r} said nothing and ended with {self._process.wait(10)}")
        return line

    def ask(self, line: str) -> str:
        """Say a line and hear the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.hear()

    def end(self) -> int:
        """Close its input and wait for its end; its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(20)

    def kill(self) -> None:
        """However it goes."""
        self._process.kill()
        self._process.wait()


def main() -> int:
    """Play the scene; the report goes to standard output."""
    launcher = next(path for path in LAUNCHERS if Path(path).exists())
    with ExitStack() as stack:
        bus = subprocess.Popen([launcher, "--launch-immediately"])
        stack.callback(bus.wait)
        stack.callback(bus.terminate)
        console = Talk(sys.executable, "-m", "tests.gui.spoken_console", sys.argv[1])
        stack.callback(console.kill)
        if console.hear() != "ready":
            return 1
        reader = Talk(SYSTEM_PYTHON, str(HERE / "atspi_reader.py"))
        stack.callback(reader.kill)
        report = play(console, reader)
        report["reader ended"], report["console ended"] = reader.end(), console.end()
    print(json.dumps(report))
    return 0


def play(console: Talk, reader: Talk) -> dict[str, Any]:
    """What the reader finds, and what it hears while keys are pressed and a seat is sold elsewhere."""

    def read(line: str) -> Any:
        return json.loads(reader.ask(line))

    found: dict[str, Any] = {"map": read("find"), "sections": read("sections"), "row": read("walk 0 1")}
    for key in ("Right", "Ctrl+Down"):
        console.ask(f"key {key}")
        found[key] = read("focus")
    console.ask("key Return")
    found["picked"] = read("named in your sale")
    console.ask("key Ctrl+Right")
    found["Ctrl+Right"] = read("focus")
    console.ask("key Ctrl+Left")
    found["Ctrl+Left"] = read("focus")
    console.ask("key End")
    found["End"] = read("focus")
    console.ask("sell focused")
    found["sold"] = read("named sold")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
