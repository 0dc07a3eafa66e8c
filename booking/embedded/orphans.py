"""Servers that an earlier run left behind, and what they left in the data folder.

Call this only while holding the cluster's lock: then every server of this folder is an orphan. Processes are
ended one by one, each known to be of this folder; a process that merely inherited an old number is left alone.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

from booking.embedded.errors import ClusterInUseError

PID_FILE = "postmaster.pid"
_FAST_STOP_S = 20.0


def clear_leftovers(data: Path) -> bool:
    """End the orphans of `data` and drop its stale pid file. True when there was something to clear."""
    pid_file = data / PID_FILE
    if not pid_file.exists():
        return False
    leader = _leader(pid_file)
    if leader is not None and _belongs_to(leader, data):
        with contextlib.suppress(psutil.NoSuchProcess):
            _stop_in_order(leader)
    # A killed postmaster's children see its death and leave; the shared memory is free once they are gone.
    rest = [process for process in psutil.process_iter(["name"]) if _is_server_of(process, data)]
    _, alive = psutil.wait_procs(rest, timeout=3)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    _, alive = psutil.wait_procs(alive, timeout=5)
    if alive:
        raise ClusterInUseError(f"processes {[process.pid for process in alive]} still use {data} and do not end")
    pid_file.unlink(missing_ok=True)
    return True


def _leader(pid_file: Path) -> psutil.Process | None:
    try:
        return psutil.Process(int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0]))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None


def _stop_in_order(leader: psutil.Process) -> None:
    """A fast shutdown, so that the next start needs no recovery; killed when it takes too long."""
    if psutil.WINDOWS:
        leader.terminate()
    else:
        import signal

        leader.send_signal(signal.SIGINT)
    try:
        leader.wait(_FAST_STOP_S)
    except psutil.TimeoutExpired:
        leader.kill()
        leader.wait(5)


def _is_server_of(process: psutil.Process, data: Path) -> bool:
    name = process.info.get("name") if hasattr(process, "info") else None
    return bool(name) and str(name).startswith("postgres") and _belongs_to(process, data)


def _belongs_to(process: psutil.Process, data: Path) -> bool:
    """Every process of a PostgreSQL server works in its data folder; the leader also names it as an argument."""
    try:
        if not process.name().startswith("postgres"):
            return False
        with contextlib.suppress(psutil.AccessDenied):
            return Path(process.cwd()).resolve() == data.resolve()
        return str(data) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
