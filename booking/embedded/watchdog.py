"""Ends the server when the process that started it dies without stopping it (SIGKILL, a crash of Python)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from booking.embedded.account import ON_WINDOWS

# It waits for the end of its standard input, which comes when the last holder of the pipe is gone: us. It
# signals only a process that the server's own pid file, `$2`, still names. `$4` is a folder to remove, or nothing.
_SCRIPT = """
trap '' HUP INT TERM
read -r _
[ "$(head -n 1 "$2" 2>/dev/null)" = "$1" ] && kill -"$3" "$1"
[ -n "$4" ] || exit 0
tries=0
while kill -0 "$1" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf -- "$4"
"""


class Watchdog:
    """A small shell beside the server. On Windows there is none: the next start clears what was left."""

    def __init__(self, pid: int, pid_file: Path, *, signal_name: str = "INT", remove: Path | None = None) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        if ON_WINDOWS:
            return
        arguments = ["taquilla-watchdog", str(pid), str(pid_file), signal_name, str(remove or "")]
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, *arguments],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Call before an orderly stop."""
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.kill()
            shell.wait()
            if shell.stdin is not None:
                shell.stdin.close()
