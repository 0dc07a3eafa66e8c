"""What a Valkey can do to a room: forget, fill up, fall over, answer too late. Nothing is done twice, nothing is lost
that was acknowledged, and when it cannot go on the store says why and ends."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from booking.embedded.valkey import Valkey
from booking.room import valkey_durability, valkey_link, valkey_reading, valkey_store
from booking.room.store import Batch, Change, StoreFailedError
from booking.room.valkey_link import Command
from booking.room.valkey_store import ValkeyStore
from tests.end2end.proxies import Address, FaultProxy, Trap
from tests.room.stores import FACTS, ValkeyPlace, ask, new_place, opened, ports, valkey_running, waiting


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    """A server that the test may spoil."""
    with valkey_running() as server:
        yield server


@pytest.fixture
def place(own_valkey: Valkey) -> ValkeyPlace:
    return new_place(own_valkey)


@pytest.fixture
async def store(place: ValkeyPlace) -> AsyncIterator[ValkeyStore]:
    store = await place.open()
    await store.write(Batch(FACTS, 7, [waiting(0)]))
    yield store
    await store.close()


async def configure(place: ValkeyPlace, name: str, value: str) -> None:
    assert await ask(place.address, "CONFIG", "SET", name, value) == b"OK"


# ------------------------------------------------------------------ servers that may forget


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("appendonly", "no"),
        ("appendfsync", "no"),
        ("maxmemory-policy", "allkeys-lru"),
        ("no-appendfsync-on-rewrite", "yes"),
    ],
)
async def test_a_server_that_may_forget_is_refused(place: ValkeyPlace, name: str, value: str) -> None:
    await configure(place, name, value)
    with pytest.raises(StoreFailedError, match=f"may forget what it was told: {name} is {value}"):
        await place.open()
    accepted = await place.open(accept_loss=True)
    await accepted.write(Batch(FACTS, 7, [waiting(0)]))
    assert (await accepted.load()).rooms[0].places == [waiting(0)]
    await accepted.close()


async def test_all_that_is_wrong_is_named_at_once(place: ValkeyPlace) -> None:
    await configure(place, "appendfsync", "no")
    await configure(place, "maxmemory-policy", "allkeys-random")
    with pytest.raises(StoreFailedError, match=r"maxmemory-policy is allkeys-random .*; appendfsync is no"):
        await place.open()


async def test_keys_without_a_time_to_live_may_stay_beside_those_that_have_one(place: ValkeyPlace) -> None:
    await configure(place, "maxmemory-policy", "volatile-lru")
    await (await place.open()).close()


async def test_a_server_that_syncs_every_second_is_waited_for(place: ValkeyPlace) -> None:
    await configure(place, "appendfsync", "everysec")
    store = await place.open()
    await asyncio.gather(*(store.write(Batch(FACTS, 7, [waiting(n)])) for n in range(100)))
    place.server.kill()
    place.server.start()
    await store.write(Batch(event_id=7, places=[waiting(100)]))
    assert len((await store.load()).rooms[0].places) == 101
    await store.close()


async def test_a_server_that_stops_keeping_ends_the_store(store: ValkeyStore, place: ValkeyPlace) -> None:
    await configure(place, "appendonly", "no")
    with pytest.raises(StoreFailedError, match="appendonly"):
        await store.write(Batch(event_id=7, places=[waiting(1)]))
    assert store.failed.is_set()


async def test_a_server_that_may_evict_from_now_on_ends_the_store(
    store: ValkeyStore, place: ValkeyPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey_store, "_LOOK_AGAIN_AFTER_S", -1)
    await configure(place, "maxmemory-policy", "allkeys-lfu")
    with pytest.raises(StoreFailedError, match="maxmemory-policy is allkeys-lfu"):
        await store.write(Batch(event_id=7, places=[waiting(1)]))


async def test_a_sync_that_does_not_come_ends_the_store(place: ValkeyPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_durability, "SYNCED_WITHIN_MS", 100)
    store = await place.open(patience_s=0.5)
    await configure(place, "appendfsync", "no")
    with pytest.raises(StoreFailedError, match="not synced to disk"):
        await store.write(Batch(FACTS, 7, [waiting(0)]))
    await store.close()


async def test_a_replica_that_does_not_come_ends_the_store(place: ValkeyPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_durability, "SYNCED_WITHIN_MS", 100)
    with pytest.raises(StoreFailedError, match="0 of 2 replicas have the write"):
        await opened(f"{place.text}&replicas=2", patience_s=0.5)


async def test_a_redis_without_waitaof_is_asked_for_its_replicas(
    redis: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey_durability, "SYNCED_WITHIN_MS", 100)
    with pytest.raises(StoreFailedError, match="0 of 1 replicas have the write"):
        await opened(f"{new_place(redis).text}&replicas=1", patience_s=0.5)


# ------------------------------------------------------------------ full, replaced, emptied, older


async def test_no_memory_is_an_end_and_the_batch_is_not_there(store: ValkeyStore, place: ValkeyPlace) -> None:
    await configure(place, "maxmemory", "1")
    batch = Batch(event_id=7, places=[waiting(1), waiting(5000)], notes=[("a", b"b")])
    with pytest.raises(StoreFailedError, match="maxmemory"):
        await store.write(batch)
    assert store.failed.is_set()
    await store.close()
    await configure(place, "maxmemory", "0")
    again = await place.open()
    stored = await again.load()
    assert (stored.rooms[0].places, stored.notes) == ([waiting(0)], {})
    await again.close()


async def test_a_replica_may_not_be_written_to(store: ValkeyStore, place: ValkeyPlace) -> None:
    """What the address leads to after a failover to somewhere else."""
    assert await ask(place.address, "REPLICAOF", "127.0.0.1", 1) == b"OK"
    with pytest.raises(StoreFailedError, match="read-only replica"):
        await store.write(Batch(event_id=7, places=[waiting(1)]))
    assert store.failed.is_set()
    with pytest.raises(StoreFailedError, match="read-only replica"):
        await place.open(patience_s=0.2)


async def test_a_server_with_an_older_state_is_found_out(store: ValkeyStore, place: ValkeyPlace) -> None:
    """A backup, or a replica that had not heard everything: what was acknowledged is not there."""
    server = place.server
    server.stop()
    shutil.copytree(server.folder / "appendonlydir", server.folder / "backup")
    server.start()
    await store.write(Batch(event_id=7, places=[waiting(1)]))
    server.kill()
    shutil.rmtree(server.folder / "appendonlydir")
    (server.folder / "backup").rename(server.folder / "appendonlydir")
    server.start()
    with pytest.raises(StoreFailedError, match="forgotten what it was told: it has batch 1, not 2"):
        await store.write(Batch(event_id=7, places=[waiting(2)]))
    assert store.failed.is_set()


async def test_a_forgotten_batch_is_found_out_by_a_room_that_has_nothing_to_write(
    store: ValkeyStore, place: ValkeyPlace
) -> None:
    """Only the last one is gone, and the lease is prolonged before the next: it must not pass for that batch."""
    await store.write(Batch(notes=[("two", b"2")]))
    meta, notes = (f"{{room:{place.prefix}}}:{name}" for name in ("meta", "notes"))
    await ask(place.address, "HDEL", notes, "two")
    await ask(place.address, "HSET", meta, "batch", 1)
    async with asyncio.timeout(60):
        await store.failed.wait()
    assert await ask(place.address, "HGET", meta, "batch") == b"1"
    with pytest.raises(StoreFailedError, match="forgotten what it was told: it has batch 1, not 2"):
        await store.write(Batch(notes=[("three", b"3")]))


async def test_a_dead_rooms_lease_ends_by_our_clock_too(place: ValkeyPlace) -> None:
    """The server that granted it was an hour ahead: nobody can wait for that."""
    dead = await place.open()
    await dead.write(Batch(notes=[("one", b"1")]))
    assert dead._task is not None
    dead._task.cancel()
    await asyncio.wait([dead._task])
    await ask(place.address, "HSET", f"{{room:{place.prefix}}}:meta", "until", int((time.time() + 3600) * 1000))
    async with asyncio.timeout(60):
        heir = await place.open(lease_s=0.4)
    assert (await heir.load()).notes == {"one": b"1"}
    await heir.close()


async def test_the_lease_goes_on_while_much_is_read(store: ValkeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a second room takes the store before the first has read it, and the first from the second, for ever."""
    monkeypatch.setattr(valkey_reading, "_PAGES_AT_ONCE", 1)
    await store.write(Batch(event_id=7, places=[waiting(number * 1024) for number in range(4)]))
    asked: list[object] = []
    ask_link = store._link.ask

    async def slow(*commands: Command) -> list[Any]:
        answers = await ask_link(*commands)
        asked.append(commands[0][1] if commands[0][0] == "EVALSHA" else commands[0][0])
        if asked[-1] == "MGET":
            store._renewed_at -= store._lease_s  # so long did this page take
        return answers

    monkeypatch.setattr(store._link, "ask", slow)
    await store.load()
    first = asked.index("MGET")
    assert asked[first : first + 7] == ["MGET", *[valkey_store._PROLONG, "MGET"] * 3]


async def test_a_server_that_is_restarted_while_it_is_read_is_read_from_the_beginning(
    place: ValkeyPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far a reading has come means nothing to a server that was started since: codes were left out."""
    monkeypatch.setattr(valkey_reading, "_ENTRIES_AT_ONCE", 100)
    store = await place.open(patience_s=60)
    await store.write(Batch(FACTS, 7, codes=[(7, b"code %d" % number) for number in range(5000)]))
    ask_link, asked = store._link.ask, 0

    async def restarted(*commands: Command) -> list[Any]:
        nonlocal asked
        answers = await ask_link(*commands)
        asked += commands[0][:2] == ("HSCAN", f"{{room:{place.prefix}}}:codes:7")
        if asked == 25:
            asked += 1
            place.server.kill()
            await asyncio.to_thread(place.server.start)
            store._renewed_at -= store._lease_s  # so the next thing that is asked is that the lease goes on
        return answers

    monkeypatch.setattr(store._link, "ask", restarted)
    assert len((await store.load()).rooms[0].codes) == 5000
    assert asked > 25
    await store.close()


async def test_an_emptied_server_is_found_out(store: ValkeyStore, place: ValkeyPlace) -> None:
    await ask(place.address, "FLUSHALL")
    with pytest.raises(StoreFailedError, match="nothing is there any more"):
        await store.write(Batch(event_id=7, places=[waiting(1)]))
    assert await ask(place.address, "DBSIZE") == 0


# ------------------------------------------------------------------ killed, cut off


async def test_a_killed_server_is_waited_for_and_nothing_is_lost_or_twice(place: ValkeyPlace) -> None:
    store = await place.open(patience_s=60)
    await store.write(Batch(FACTS))

    async def somebody(number: int) -> None:
        await asyncio.sleep(number / 1000)
        await store.write(Batch(event_id=7, places=[waiting(number)], changes=[entry(number)]))

    people = [asyncio.create_task(somebody(number)) for number in range(400)]
    for _ in range(3):
        await asyncio.wait(people, return_when=asyncio.FIRST_COMPLETED)
        place.server.kill()
        await asyncio.sleep(0.1)
        await asyncio.to_thread(place.server.start)
        people_left = [task for task in people if not task.done()]
        people = people_left or people
    await asyncio.gather(*people)
    assert [row.number for row in (await store.load()).rooms[0].places] == list(range(400))
    assert sorted(int(change.what) for change in await store.log()) == list(range(400))
    await store.close()


async def test_a_server_that_stood_still_does_nothing_twice(
    place: ValkeyPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given up and asked again, it finds both orders when it goes on."""
    monkeypatch.setattr(valkey_link, "ANSWERS_WITHIN_S", 0.3)
    store = await place.open(patience_s=60, lease_s=120)
    await store.write(Batch(FACTS))
    for number in range(3):
        first = store._link._connection
        os.kill(place.server.pid, signal.SIGSTOP)
        writing = asyncio.create_task(store.write(Batch(event_id=7, places=[waiting(number)], changes=[entry(number)])))
        async with asyncio.timeout(60):
            while store._link._connection is first:
                await asyncio.sleep(0.02)
        os.kill(place.server.pid, signal.SIGCONT)
        await writing
    assert [int(change.what) for change in await store.log()] == [0, 1, 2]
    await store.close()


async def test_another_server_takes_over_with_all_that_was_acknowledged() -> None:
    """Three servers, each batch on two of them: the primary is lost, another one becomes it, the room goes on."""
    with ports(3) as numbers:
        pass
    with ExitStack() as stack:
        settings = [{"port": str(port), "repl-diskless-sync-delay": "0"} for port in numbers]
        primary, heir, third = (stack.enter_context(valkey_running(one)) for one in settings)
        for replica in (heir, third):
            await ask(new_place(replica).address, "REPLICAOF", "127.0.0.1", numbers[0])
        hosts = ",".join(f"127.0.0.1:{port}" for port in numbers)
        store = await opened(f"valkey://{hosts}/0?replicas=2", patience_s=60)
        await store.write(Batch(FACTS, 7, [waiting(n) for n in range(50)]))
        primary.kill()
        writing = [asyncio.create_task(store.write(Batch(event_id=7, places=[waiting(n)]))) for n in range(50, 60)]
        await ask(new_place(heir).address, "REPLICAOF", "NO", "ONE")
        await ask(new_place(third).address, "REPLICAOF", "127.0.0.1", numbers[1])
        primary.start()
        await ask(new_place(primary).address, "REPLICAOF", "127.0.0.1", numbers[1])
        await asyncio.gather(*writing)
        assert len((await store.load()).rooms[0].places) == 60
        await store.close()


async def test_a_replica_that_refuses_does_not_hide_the_primary_behind_it() -> None:
    """Its own primary has gone, and it may not answer with what it has: another endpoint is the primary now."""
    with ports(2) as numbers:
        pass
    with ExitStack() as stack:
        orphan, _ = (stack.enter_context(valkey_running({"port": str(port)})) for port in numbers)
        await configure(new_place(orphan), "replica-serve-stale-data", "no")
        await ask(new_place(orphan).address, "REPLICAOF", "127.0.0.1", 1)
        hosts = ",".join(f"127.0.0.1:{port}" for port in numbers)
        store = await opened(f"valkey://{hosts}/0")
        await store.write(Batch(FACTS))
        await store.close()


async def test_a_writer_that_dies_hangs_nobody(store: ValkeyStore, place: ValkeyPlace) -> None:
    os.kill(place.server.pid, signal.SIGSTOP)
    writing = [asyncio.create_task(store.write(Batch(event_id=7, places=[waiting(1)])))]
    try:
        await asyncio.sleep(0.1)  # the first is under way, the second one waits for it
        writing.append(asyncio.create_task(store.write(Batch(event_id=7, places=[waiting(2)]))))
        await asyncio.sleep(0)
        assert store._task is not None
        store._task.cancel()
        async with asyncio.timeout(60):
            failures = await asyncio.gather(*writing, return_exceptions=True)
            with pytest.raises(StoreFailedError):
                await store.write(Batch())
    finally:
        os.kill(place.server.pid, signal.SIGCONT)
    assert [type(failure) for failure in failures] == [StoreFailedError, StoreFailedError]
    assert store.failed.is_set()


async def test_a_server_that_stays_away_ends_the_store(store: ValkeyStore, place: ValkeyPlace) -> None:
    place.server.kill()
    with pytest.raises(StoreFailedError, match="no answer for 2 s"):
        await store.write(Batch(event_id=7, places=[waiting(1)]))
    assert store.failed.is_set()


@dataclass
class Cutter:
    """Cuts the connection at the next write of a batch: before the server hears it, or before its answer is heard."""

    cuts: str = ""
    sprung: int = 0
    _trap: Trap = field(init=False)
    _asked: bool = False

    def __post_init__(self) -> None:
        self._trap = Trap(self._spring)

    async def _spring(self) -> None:
        self.sprung += 1

    def client_sent(self, data: bytes) -> Trap | None:
        if valkey_store._WRITE.encode() not in data:
            return None
        self._asked = True
        return self._now() if self.cuts == "request" else None

    def server_sent(self, data: bytes) -> Trap | None:
        asked, self._asked = self._asked, False
        return self._now() if asked and self.cuts == "answer" else None

    def _now(self) -> Trap:
        self.cuts, self._trap.armed = "", True
        return self._trap


def entry(number: int) -> Change:
    return Change(float(number), "ops", 7, str(number), "", "", "")


async def test_a_lost_answer_is_found_out_before_anything_else_is_written(valkey: Valkey) -> None:
    """The log tells: an entry that was written twice would be there twice."""
    place, cutter, chance = new_place(valkey), Cutter(), random.Random(7)
    async with FaultProxy(Address(path=valkey.socket), lambda: cutter, path=valkey.folder / "lost.sock") as proxy:
        store = await opened(f"unix://{valkey.folder}/lost.sock?prefix={place.prefix}", patience_s=60)
        await store.write(Batch(FACTS))
        for number in range(60):
            cutter.cuts = chance.choice(["", "request", "answer"])
            batch = Batch(event_id=7, places=[waiting(number)], changes=[entry(number)])
            await asyncio.gather(store.write(batch), store.write(Batch(notes=[("last", b"%d" % number)])))
        assert [int(change.what) for change in await store.log()] == list(range(60))
        stored = await store.load()
        assert (len(stored.rooms[0].places), stored.notes) == (60, {"last": b"59"})
        await store.close()
        await proxy.cut()
    assert cutter.sprung > 20
