"""A database, the sandbox, the API and the workers of a run's own: started as processes, and all gone at its end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from booking.child_process import end, spawn
from booking.domain.caller import Role
from booking.embedded.awaited import awaited_cluster
from booking.rush.plan import Sale, Server
from booking.rush.staff import Staffer
from booking.rush.through_room import ask_for_admission
from booking.rush.venue import open_sale

READY_WITHIN_S = 60.0
STOPS_WITHIN_S = 10.0
_POLL_S = 0.02
_LAST_WORDS = 1_500
# As in the field: what is acknowledged is on disk.
_HONEST = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "128MB"}


class StackError(Exception):
    """A part did not start; the text has its last words."""


@dataclass(frozen=True, slots=True)
class OwnStack:
    """What was started: where the API is, its database, the event on sale, accounts' tokens, and process ids.

    `room`: the waiting room's address; `staff`: an operator and a clerk by role, where there is one.
    """

    server: Server
    dsn: str
    sale: Sale
    tokens: tuple[str, ...]
    pids: Mapping[str, int]
    room: Server | None = None
    staff: Mapping[Role, Staffer] = field(default_factory=dict)


@asynccontextmanager
async def own_stack(seats: int, accounts: int, *, with_room: bool = False) -> AsyncIterator[OwnStack]:
    """Everything that a sale needs, with an event of `seats` seats; `with_room`: fans come through a waiting room.

    The room is not open yet: `through_room.steer` opens it.

    Raises:
        EmbeddedError, StackError, BookingError: a part did not start; what had started is stopped again.
    """
    async with AsyncExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="taquilla-rush-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        cluster = await stack.enter_async_context(awaited_cluster(_HONEST))
        dsn = await asyncio.to_thread(cluster.create_database, "taquilla")
        sale, tokens = await open_sale(dsn, seats, accounts)
        sandbox = await stack.enter_async_context(started("sandbox", ["--port", "0"], folder))
        common = ["--dsn", dsn, "--sandbox-url", f"http://127.0.0.1:{sandbox['port']}"]
        api = await stack.enter_async_context(started("serve", [*common, "--port", "0"], folder))
        work = await stack.enter_async_context(started("work", common, folder))
        pids = {"API": api["pid"], "workers": work["pid"], "sandbox": sandbox["pid"], "PostgreSQL": cluster.pid}
        server = Server.of_url(str(api["url"]))
        if not with_room:
            yield OwnStack(server, dsn, sale, tokens, pids)
            return
        staff = await ask_for_admission(dsn, sale.event_id)
        words = ["--dsn", dsn, "--port", "0", "--data", str(folder / "room-data"), "--rate-limits", "off"]
        room = await stack.enter_async_context(started("room", words, folder))
        yield OwnStack(server, dsn, sale, tokens, {**pids, "room": room["pid"]}, Server.of_url(str(room["url"])), staff)


@asynccontextmanager
async def started(verb: str, words: Sequence[str], folder: Path) -> AsyncIterator[dict[str, Any]]:
    """`taquilla VERB` as a process that has said that it works; its ready file's facts. Stopped at the end."""
    ready_file, log_file = folder / f"{verb}.json", folder / f"{verb}.log"
    own = ["--ready-file", str(ready_file), "--parent-pid", str(os.getpid())]
    with log_file.open("wb") as log:
        process = await spawn(["booking", verb, *words, *own], stdout=log.fileno(), stderr=log.fileno())
    try:
        yield await _facts(process, verb, ready_file, log_file)
    finally:
        await end(process, STOPS_WITHIN_S)


async def _facts(process: asyncio.subprocess.Process, verb: str, ready_file: Path, log_file: Path) -> dict[str, Any]:
    until = time.monotonic() + READY_WITHIN_S
    while (text := _read(ready_file)) is None:
        if process.returncode is not None or time.monotonic() > until:
            raise StackError(f"{verb} did not start. Its last words:\n{(_read(log_file) or '')[-_LAST_WORDS:]}")
        await asyncio.sleep(_POLL_S)
    facts: dict[str, Any] = json.loads(text)
    return facts


def _read(path: Path) -> str | None:
    """A small file of ours, or None while it is not there."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
