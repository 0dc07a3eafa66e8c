"""The demo's stack: database, sandbox, card terminal, API, workers and waiting room, up and down in order."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Coroutine, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from booking.demo.child import Child, turn_log
from booking.demo.people import PEOPLE, renew_passwords
from booking.demo.progress import say, step
from booking.demo.waiting_room import open_waiting_room
from booking.embedded import Cluster
from booking.embedded.awaited import to_its_end
from booking.embedded.folder_lock import FolderLock
from booking.payments.sandbox_server import SECRET_VARIABLE
from booking.services.load_samples import load_samples
from booking.services.migrate import migrate
from booking.store.database import Database
from booking.web.listening import reserved_port

DATABASE = "taquilla"
_LOOPBACK = "127.0.0.1"
_DATABASE_CHECK_S = 0.5
_LOG_CHECK_S = 10.0


class FolderInUseError(Exception):
    """Another demo runs on the folder."""


@dataclass(frozen=True, slots=True)
class DemoFolders:
    """The paths of a demo. The folder keeps everything: removing it removes the demo."""

    home: Path

    @property
    def lock(self) -> Path:
        return self.home / "demo.lock"

    @property
    def database(self) -> Path:
        return self.home / "postgres"

    @property
    def console(self) -> Path:
        return self.home / "console"

    @property
    def terminal(self) -> Path:
        """What the simulated card terminal remembers: its stored transactions survive a restart, as a real one's do."""
        return self.home / "terminal.json"

    @property
    def sandbox(self) -> Path:
        """The payment sandbox's books."""
        return self.home / "sandbox.json"

    @property
    def room(self) -> Path:
        """The waiting room's store."""
        return self.home / "room"

    @property
    def stack(self) -> Path:
        return self.home / "stack.json"

    @property
    def tour_report(self) -> Path:
        return self.home / "tour-report.json"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.home / "logs" / f"{name}.log"

    def make(self) -> None:
        """Ours alone; only passing through is allowed, since the server may run under another account."""
        self.home.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.console.mkdir(mode=0o700, exist_ok=True)
        for name in ("run", "logs"):
            (self.home / name).mkdir(mode=0o700, exist_ok=True)


class Stack:
    """Everything but the console. An async context manager: inside, all of it works; at the end, none of it runs."""

    def __init__(self, folders: DemoFolders, *, terminal_delay_s: float | None = None) -> None:
        self.folders = folders
        self.passwords: Mapping[str, str] = {}
        home = folders.home
        ports = ["--port"]
        terminal = ["app.devices.zvt.simulator", "--state", str(folders.terminal)]
        if terminal_delay_s is not None:
            terminal += ["--delay", f"{terminal_delay_s:g}"]
        self.cluster = Cluster(folders.database)
        # Signs the sandbox's events; it lives as long as this demo, and in no file.
        self._secret = {SECRET_VARIABLE: secrets.token_hex(16)}
        sandbox = ["booking", "sandbox", "--ledger", str(folders.sandbox)]
        self.sandbox = Child("sandbox", sandbox, home, ports=ports, environment=self._secret)
        self.terminal = Child("terminal", terminal, home, ports=[*ports, "--control-port"])
        self.api: Child | None = None
        self.workers: Child | None = None
        self.room: Child | None = None
        self._lock = FolderLock(folders.lock)
        self._keepers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """Bring everything up.

        Raises:
            FolderInUseError: another demo runs here.
            EmbeddedError, ChildError, BookingError: a part did not start; what had started is stopped again.
        """
        self.folders.make()
        if not self._lock.acquire():
            raise FolderInUseError(
                f"a demo (process {self._lock.holder() or '?'}) already runs on {self.folders.home}. "
                "Stop it first, or give this one a folder of its own with --data."
            )
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def api_url(self) -> str:
        return _started(self.api).ready.address()

    @property
    def page_url(self) -> str:
        """Where fans buy."""
        return _started(self.room).ready.address()

    @property
    def terminal_address(self) -> str:
        """HOST:PORT of the card terminal."""
        return f"127.0.0.1:{self.terminal.ready.port}"

    def describe(self) -> dict[str, object]:
        """What a script needs to use the stack. It holds the demo people's passwords: write it for the owner alone."""
        children = {child.name: child for child in self._children()}
        return {
            "data": str(self.folders.home),
            "console_data": str(self.folders.console),
            "dsn": self.cluster.dsn(DATABASE),
            "api_url": self.api_url,
            "room_url": self.page_url,
            "page_url": self.page_url,
            "sandbox_url": self.sandbox.ready.address(),
            "terminal": self.terminal_address,
            "terminal_control_port": self.terminal.ready.control_port,
            "database_socket": str(self.cluster.socket_folder) if self.cluster.socket_folder else None,
            "pids": {
                "demo": os.getpid(),
                "postgres": self.cluster.pid,
                **{name: child.ready.pid for name, child in children.items()},
            },
            "logs": {name: str(child.log_file) for name, child in children.items()},
            "passwords": dict(self.passwords),
        }

    def write_description(self) -> None:
        """Write `stack.json` in one step, readable by its owner alone."""
        draft = self.folders.stack.with_suffix(".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self.describe(), file, indent=2)
        draft.replace(self.folders.stack)

    async def stop(self) -> None:
        """Stop everything in reverse order. Calling it again does nothing more."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers.clear()
        self.folders.stack.unlink(missing_ok=True)
        for child in reversed(self._children()):
            await child.stop()
        await to_its_end(self.cluster.stop)
        self._lock.release()

    async def _start(self) -> None:
        await side_by_side(
            self._start_database(),
            _start_child(self.sandbox, "payment sandbox"),
            _start_child(self.terminal, "card terminal simulator"),
        )
        await self._start_sale()
        await self._have_events_sent(f"{self.api_url}/v1/webhooks/sandbox")
        await self._open_waiting_room()
        self._keepers = [
            asyncio.create_task(child.keep_alive(), name=f"keep-{child.name}") for child in self._children()
        ]
        self._keepers.append(asyncio.create_task(self._keep_database_alive(), name="keep-database"))
        self._keepers.append(asyncio.create_task(self._keep_logs_small(), name="keep-logs"))

    async def _start_sale(self) -> None:
        """API, workers and waiting room at once. Page and API name each other, so both ports are known first."""
        home, dsn = self.folders.home, self.cluster.dsn(DATABASE)
        common = ["--dsn", dsn, "--sandbox-url", self.sandbox.ready.address()]
        with _port() as api_port, _port() as room_port:
            api = ["booking", "serve", *common, "--page-origin", f"http://{_LOOPBACK}:{room_port}"]
            room = ["booking", "room", "--dsn", dsn, "--data", str(self.folders.room), "--payments", "sandbox"]
            room += ["--booking-url", f"http://{_LOOPBACK}:{api_port}"]
            self.api = Child("api", api, home, ports={"--port": api_port}, environment=self._secret)
            self.room = Child("room", room, home, ports={"--port": room_port})
            self.workers = Child("workers", ["booking", "work", *common], home)
            await side_by_side(
                _start_child(self.api, "API"),
                _start_child(self.workers, "workers"),
                _start_child(self.room, "waiting room"),
            )

    async def _open_waiting_room(self) -> None:
        name = PEOPLE["ops"]
        try:
            await open_waiting_room(self.api_url, self.page_url, name, self.passwords[name])
        except (httpx.HTTPError, LookupError) as error:
            say(f"no event is sold through the waiting room: {error}")

    async def _have_events_sent(self, url: str) -> None:
        """The sandbox started before the API: now, and after each restart of it, it knows where its events go."""
        self.sandbox.add_words("--webhook-url", url)
        async with httpx.AsyncClient(base_url=self.sandbox.ready.address(), trust_env=False) as client:
            (await client.post("/control/webhooks", json={"url": url})).raise_for_status()

    async def _start_database(self) -> None:
        with step("database", "started"):
            await to_its_end(self.cluster.start)
            dsn = await to_its_end(lambda: self.cluster.create_database(DATABASE))
        with step("schema", "up to date"):
            await migrate(dsn)
        db = await Database.open(dsn, application="taquilla demo")
        try:
            with step("sample venues and events", "loaded"):
                await load_samples(db)
            self.passwords = await renew_passwords(db)
        finally:
            await db.close()

    async def _keep_database_alive(self) -> None:
        """A database that dies is started again: its clients reconnect by themselves."""
        while True:
            await asyncio.sleep(_DATABASE_CHECK_S)
            if not self.cluster.running:
                say("the database ended; starting it again")
                try:
                    await to_its_end(self.cluster.start)
                except Exception as error:  # noqa: BLE001 - a full disk: a keeper that ends keeps nothing
                    say(f"the database could not be started again: {str(error) or type(error).__name__}")

    async def _keep_logs_small(self) -> None:
        while True:
            for log_file in self.folders.log("any").parent.glob("*.log"):
                with suppress(OSError):  # a full disk is no reason to stop looking after the rest
                    turn_log(log_file)
            await asyncio.sleep(_LOG_CHECK_S)

    def _children(self) -> list[Child]:
        children = [self.sandbox, self.terminal, self.api, self.workers, self.room]
        return [child for child in children if child is not None]


def _port() -> AbstractContextManager[int]:
    return reserved_port(_LOOPBACK, 0, for_child=True)


def _started(child: Child | None) -> Child:
    if child is None:
        raise FolderInUseError("the stack is not started")
    return child


async def side_by_side(*works: Coroutine[object, object, None]) -> None:
    """Run them at once; the first failure cancels the others and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work, name="start")
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed


async def _start_child(child: Child, words: str) -> None:
    with step(words, "started"):
        await child.start()
