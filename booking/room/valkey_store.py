"""The room's store in Valkey (or Redis): whatever has queued up is one script, one sync, one answer.

One task owns the connection. It holds a lease on the store that is checked in the same atomic step as each write, so
two rooms cannot both write; and it numbers its batches. When an answer is lost, the batch is sent again under the same
number: it is there already, or it is stored now, before anything else is. A number that does not follow the last one
says that the server has forgotten something, and ends the store as a full disk does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha1
from itertools import groupby
from typing import Any, Final, Self

from booking.room.store import Batch, Change, Stored, StoreFailedError
from booking.room.store_address import ValkeyAddress
from booking.room.valkey_durability import Wait, waits_for
from booking.room.valkey_layout import SCHEMA, Names, Operations, operations
from booking.room.valkey_link import Command, LinkLostError, ValkeyLink
from booking.room.valkey_reading import ValkeyReading
from booking.room.valkey_script import PROBE, PROLONG, RELEASE, TAKE, WRITE

LEASE_S: Final = 8.0
PATIENCE_S: Final = 10.0
"""How long a server may be away, for a restart or while another one takes over, before the room gives up."""

_MOST_BATCHES = 4096
_MOST_ROWS = 20_000
_TRY_AGAIN_AFTER_S = 0.1
_LOOK_AGAIN_AFTER_S = 10.0
_LETS_GO_WITHIN_S = 2.0
_DEAD_AFTER_LEASES = 1.5
"""A room that lives prolongs its lease four times in each: one that has stood still for so many is a dead room's."""
_Reading = Callable[[], Awaitable[Any]]
_Work = tuple[Batch | _Reading, "asyncio.Future[Any]"]


log = logging.getLogger(__name__)


def _sha(script: str) -> str:
    return sha1(script.encode(), usedforsecurity=False).hexdigest()


_PROBE, _TAKE, _WRITE, _PROLONG, _RELEASE = map(_sha, (PROBE, TAKE, WRITE, PROLONG, RELEASE))


class ValkeyStore:
    """A `RoomStore` in Valkey. Made by `open`, used from one event loop."""

    def __init__(
        self, address: ValkeyAddress, password: str | None, *, accept_loss: bool = False, lease_s: float = LEASE_S,
        patience_s: float = PATIENCE_S,
    ) -> None:  # fmt: skip
        self._address, self._accept_loss, self._lease_s, self._patience_s = address, accept_loss, lease_s, patience_s
        self._names = Names(address.prefix)
        self._meta = self._names("meta")
        self._link = ValkeyLink(address, self._meta, password)
        self._reading = ValkeyReading(self._ask_keeping, self._names)
        self._owner = secrets.token_hex(16)
        self._wait = Wait()
        self._looked_at = self._renewed_at = 0.0
        self._number = 0
        self._queue: deque[_Work] = deque()
        self._news = asyncio.Event()
        self._closes = False
        self._task: asyncio.Task[None] | None = None
        self.batches = self.commits = 0
        self.failed = asyncio.Event()
        self._failure = ""

    @classmethod
    async def open(
        cls, address: ValkeyAddress, password: str | None = None, *, accept_loss: bool = False,
        lease_s: float = LEASE_S, patience_s: float = PATIENCE_S,
    ) -> Self:  # fmt: skip
        """Take the store for this process. A lease that nobody prolongs is waited for.

        Raises:
            StoreFailedError: no such server, it may forget, another room has it, or it is of another version.
        """
        store = cls(address, password, accept_loss=accept_loss, lease_s=lease_s, patience_s=patience_s)
        try:
            await store._take()
        except BaseException as error:
            await store._link.close()
            if isinstance(error, StoreFailedError):
                raise StoreFailedError(f"{address}: {error}") from error
            raise
        store._task = asyncio.create_task(store._run(), name="room-store")
        return store

    async def write(self, batch: Batch) -> None:
        """See `RoomStore.write`. Whoever waits may be cancelled: the batch is written all the same."""
        await self._do(batch)

    async def load(self) -> Stored:
        """See `RoomStore.load`."""
        stored: Stored = await self._do(self._reading.everything)
        return stored

    async def changes(self, event_id: int, limit: int) -> list[Change]:
        """See `RoomStore.changes`."""
        found: list[Change] = await self._do(lambda: self._reading.changes(event_id, limit))
        return found

    async def log(self) -> list[Change]:
        """See `RoomStore.log`."""
        found: list[Change] = await self._do(self._reading.log)
        return found

    async def close(self) -> None:
        """See `RoomStore.close`. The lease ends, so that the next room need not wait for it."""
        self._closes = True
        self._news.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _do(self, work: Batch | _Reading) -> Any:  # noqa: ANN401 - what the reading gives
        if self._failure or self._closes:
            raise StoreFailedError(self._failure or "the store is closed")
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((work, done))
        self._news.set()
        return await asyncio.shield(done)

    # ------------------------------------------------------------ the task

    async def _run(self) -> None:
        try:
            while not (self._closes and not self._queue):
                await self._hear()
                await self._settle(self._gathered())
                if not self._failure and _now() >= self._due_at:
                    await self._guarded([], self._prolong)
            await self._release()
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._tell(self._queue)  # whatever ended this task, nobody may wait for it
            self._queue.clear()
            await self._link.close()

    def _gathered(self) -> list[_Work]:
        """What is done next: as much as a server takes in one command, also after it was away for a while."""
        works: list[_Work] = []
        rows = 0
        while self._queue and len(works) < _MOST_BATCHES and rows < _MOST_ROWS:
            works.append(self._queue.popleft())
            work = works[-1][0]
            rows += len(work.places) + len(work.codes) if isinstance(work, Batch) else 0
        return works

    @property
    def _lease_ms(self) -> int:
        return int(self._lease_s * 1000)

    @property
    def _due_at(self) -> float:
        return self._renewed_at + self._lease_s / 4

    async def _hear(self) -> None:
        """Until there is something to do, or the lease is to be prolonged; after a failure it never is."""
        if self._queue:
            return
        try:
            async with asyncio.timeout_at(None if self._failure else self._due_at):
                await self._news.wait()
        except TimeoutError:
            return
        if not self._closes:
            self._news.clear()

    async def _settle(self, works: Sequence[_Work]) -> None:
        """Batches that follow each other in one write; readings see what came before them."""
        for are_batches, group in groupby(works, lambda work: isinstance(work[0], Batch)):
            some = list(group)
            if are_batches:
                await self._guarded(some, partial(self._store, [one for one, _ in some if isinstance(one, Batch)]))
                continue
            for reading, done in some:
                if not isinstance(reading, Batch):
                    await self._guarded([(reading, done)], partial(self._patiently, reading))

    async def _guarded(self, works: Sequence[_Work], doing: _Reading) -> None:
        """Do it and tell who waits; the first fault is the last thing that is done."""
        result: Any = None
        try:
            if not self._failure:
                result = await doing()
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._tell(works, result)

    def _fail(self, error: BaseException) -> None:
        """Whatever it is, memory says more than the store from now on."""
        self._failure = self._failure or f"{self._address}: {str(error) or type(error).__name__}"
        self.failed.set()

    def _tell(self, works: Iterable[_Work], result: object = None) -> None:
        for _, done in works:
            if done.done():
                continue
            if self._failure:
                done.set_exception(StoreFailedError(self._failure))
                done.exception()  # who waited may be gone
            else:
                done.set_result(result)

    async def _patiently(self, doing: _Reading) -> Any:  # noqa: ANN401 - what it gives
        """Again until it is answered, while patience lasts."""
        until = _now() + self._patience_s
        while True:
            try:
                return await doing()
            except LinkLostError as error:
                if _now() >= until:
                    raise StoreFailedError(f"no answer for {self._patience_s:.0f} s: {error}") from error
                await asyncio.sleep(_TRY_AGAIN_AFTER_S)

    # ------------------------------------------------------------ writing

    async def _store(self, batches: Sequence[Batch]) -> None:
        await self._told(self._write_command(operations(self._names, batches), self._number + 1))
        self._number += 1
        self.batches += len(batches)
        self.commits += 1

    async def _prolong(self, *, is_patient: bool = True) -> None:
        """The lease goes on, if the server still knows the last batch: nobody else would hear that it does not."""
        command = ("EVALSHA", _PROLONG, 1, self._meta, self._owner, self._number, self._lease_ms)
        await self._told(command, is_patient=is_patient)

    async def _ask_keeping(self, *commands: Command) -> list[Any]:
        """A part of a reading: a long line takes longer to read than a lease lasts.

        Once the line was lost nothing goes on: a cursor means nothing to another server, or to one started since.
        """
        if _now() >= self._due_at:
            await self._prolong(is_patient=False)
        return await self._link.ask(*commands)

    async def _told(self, command: Command, *, is_patient: bool = True) -> None:
        asking = self._patiently if is_patient else _once
        answer = await asking(lambda: self._ask_durably(command))
        if answer[0] not in (b"stored", b"here", b"prolonged"):
            raise StoreFailedError(_why_refused(answer, self._number))
        self._renewed_at = _now()
        if self._renewed_at - self._looked_at > _LOOK_AGAIN_AFTER_S:
            await asking(self._look)

    def _write_command(self, done: Operations, number: int) -> Command:
        keys = done.kinds
        head: Command = ("EVALSHA", _WRITE, 1 + len(keys), self._meta, *keys, self._owner, number, self._lease_ms)
        return (*head, *keys.values(), *done.words)

    async def _ask_durably(self, command: Command) -> list[Any]:
        """The answer of a script, once what it wrote is where it must be: both are asked on one connection."""
        wait = self._wait
        if wait.command is None:
            return list((await self._link.ask(command))[0])
        answer, waited = await self._link.ask(command, wait.command)
        wait.check(waited)
        return list(answer)

    async def _look(self) -> None:
        """Whether the server still keeps what it is told: its settings can be changed while it runs."""
        self._wait = await waits_for(self._link, self._address.replicas, accept_loss=self._accept_loss)
        self._looked_at = _now()

    # ------------------------------------------------------------ the lease

    async def _take(self) -> None:
        await self._patiently(self._look)
        probe = ("EVALSHA", _PROBE, 1, self._names("probe"))
        await self._patiently(lambda: self._link.ask(probe))
        name = f"{socket.gethostname()} pid {os.getpid()}"
        head: Command = ("EVALSHA", _TAKE, 1, self._meta, self._owner, name, self._lease_ms, SCHEMA)
        seen: bytes | None = None
        seen_at = _now()
        while True:
            # A lease ends by the server's clock, which another server may not share: ours says what has stood still.
            stands_still = _now() - seen_at > _DEAD_AFTER_LEASES * self._lease_s
            command = (*head, seen if stands_still and seen is not None else "")
            answer = await self._patiently(partial(self._ask_durably, command))
            if answer[0] == b"taken":
                break
            if answer[0] == b"schema":
                raise StoreFailedError(f"it has version {answer[1].decode()}, this program writes {SCHEMA}")
            if seen not in (None, answer[2]):
                raise StoreFailedError(f"another room writes here: {answer[1].decode(errors='replace')}")
            if seen is None:
                log.info("waits for the end of a lease on the store: %s", answer[1].decode(errors="replace"))
                seen_at = _now()
            seen = answer[2]
            await asyncio.sleep(min(_TRY_AGAIN_AFTER_S, self._lease_s / 8))
        self._number, self._renewed_at = int(answer[1]), _now()

    async def _release(self) -> None:
        """After a failure, too, if the server can be asked: else the lease ends by itself."""
        with suppress(LinkLostError, StoreFailedError, TimeoutError):
            async with asyncio.timeout(_LETS_GO_WITHIN_S):
                await self._link.ask(("EVALSHA", _RELEASE, 1, self._meta, self._owner))


def _why_refused(answer: Sequence[bytes], number: int) -> str:
    status, *words = [word.decode(errors="replace") for word in answer]
    if status == "gone":
        return "nothing is there any more: the server was emptied, or has started with an older state"
    if status == "lost":
        return f"another room has taken the store: {words[0] or 'it has ended again'}"
    if status == "forgot":
        return f"the server has forgotten what it was told: it has batch {words[0]}, not {number}"
    return f"{words[0]} is a {words[1]} of somebody else's"


async def _once(doing: _Reading) -> Any:  # noqa: ANN401 - what it gives
    return await doing()


def _now() -> float:
    return asyncio.get_running_loop().time()
