"""Who used the processor while the crowd was there: the first thing to know when a figure falls short."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import psutil

SENDERS = "senders"


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Seconds used so far by each process and its children that live, and by our own children that have ended."""
    used = {name: _of_family(pid) for name, pid in pids.items()}
    if sys.platform != "win32":
        import resource

        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        used[SENDERS] = ended.ru_utime + ended.ru_stime
    return used


def used_between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What each used meanwhile, in seconds; one that has gone used nothing that could be known."""
    return {name: round(max(0.0, seconds - before.get(name, 0.0)), 2) for name, seconds in after.items()}


def allow_connections(count: int) -> None:
    """Raise this process's own limit of open files as far as it may, for `count` connections."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + 256
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _of_family(pid: int) -> float:
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_of_one(one) for one in family)


def _of_one(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
