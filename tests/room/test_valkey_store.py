"""The store in Valkey: the same as SQLite's for any history, small, for one writer, with the servers of all kinds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from booking.embedded.valkey import Valkey
from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store import Batch, Change, CodeUse, KeyRow, Stored, StoreFailedError
from booking.room.store_choice import PASSWORD_VARIABLE, StoreChoice
from tests.end2end.proxies import Address, FaultProxy
from tests.room.stores import FACTS, ValkeyPlace, ask, new_place, opened, ports, redis_running, valkey_running, waiting

# ------------------------------------------------------------------ the same as SQLite's

EVENTS = st.sampled_from([1, 2, 2**40])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
TIMES = st.floats(0, 4e9)
SMALL = st.binary(max_size=4)
PLACES = st.builds(
    PlaceRow, st.integers(0, 3000), st.binary(min_size=16, max_size=16), st.integers(0, 5),
    st.integers(-1, 2**31 - 1), TIMES, st.integers(0, 2**32 - 1), st.binary(max_size=16), TIMES, TEXTS, st.booleans(),
)  # fmt: skip
CODES = st.sampled_from([b"c1", b"c2", b"c3"])
BATCHES = st.builds(
    Batch,
    facts=st.none() | st.builds(RoomFacts, EVENTS, TIMES, SMALL, st.builds(Settings), st.sampled_from(Phase)),
    event_id=EVENTS,
    places=st.lists(PLACES, max_size=6),
    changes=st.lists(st.builds(Change, TIMES, TEXTS, EVENTS, TEXTS, TEXTS, TEXTS, TEXTS), max_size=2),
    codes=st.lists(st.tuples(EVENTS, CODES), max_size=2),
    code_uses=st.lists(st.builds(CodeUse, EVENTS, CODES, st.binary(min_size=1, max_size=4)), max_size=2),
    keys=st.lists(st.builds(KeyRow, st.sampled_from("abc"), SMALL, TIMES, st.none() | TIMES), max_size=2),
    notes=st.lists(st.tuples(st.sampled_from("xyz"), SMALL), max_size=2),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(BATCHES, max_size=6))
async def test_any_history_reads_as_from_sqlite(valkey: Valkey, tmp_path: Path, batches: list[Batch]) -> None:
    place = new_place(valkey)
    (tmp_path / "room.sqlite").unlink(missing_ok=True)
    judge, store = SqliteStore(tmp_path / "room.sqlite"), await place.open()
    for batch in batches:
        await judge.write(batch)
    await asyncio.gather(*(store.write(batch) for batch in batches))
    assert _comparable(await store.load()) == _comparable(await judge.load())
    for event_id in (1, 2, 2**40):
        assert await store.changes(event_id, 3) == await judge.changes(event_id, 3)
    await judge.close()
    await store.close()


def _comparable(stored: Stored) -> Stored:
    """Of rooms that are not there SQLite keeps places that nobody can read; both give rooms by event."""
    stored.rooms.sort(key=lambda room: room.facts.event_id)
    return stored


# ------------------------------------------------------------------ small


async def test_a_waiting_visitor_takes_few_bytes(valkey: Valkey) -> None:
    place = new_place(valkey)
    store = await place.open()
    await store.write(Batch(FACTS, 7))
    for first in range(0, 40_960, 500):
        await store.write(Batch(event_id=7, places=[waiting(n) for n in range(first, min(first + 500, 40_960))]))
    await store.close()
    keys = await ask(place.address, "KEYS", f"{{room:{place.prefix}}}:page*")
    used = sum([await ask(place.address, "MEMORY", "USAGE", key) for key in keys])
    assert len(keys) == 41
    assert 34 <= used / 40_960 < 42


async def test_slots_that_are_over_take_no_room(valkey: Valkey) -> None:
    place = new_place(valkey)
    store = await place.open()
    rows = [PlaceRow(n, bytes(16), 2, n, 1.5, 3, b"slot", 2.5) for n in range(50)]
    await store.write(Batch(FACTS, 7, rows))
    await store.write(Batch(event_id=7, places=[waiting(n) for n in range(49)]))
    await store.close()
    assert await ask(place.address, "HKEYS", f"{{room:{place.prefix}}}:slots:7") == [b"49"]


async def test_a_long_backlog_is_several_writes(valkey: Valkey) -> None:
    """A server takes a million words in one command. What has gathered while it was away may be more."""
    store = await new_place(valkey).open()
    scattered = [[waiting(n) for n in range(first, 100_000, 20)] for first in range(0, 20, 2)]
    await store.write(Batch(FACTS))
    before = store.commits
    await asyncio.gather(*(store.write(Batch(event_id=7, places=rows)) for rows in scattered))
    assert store.commits - before == 3
    (room,) = (await store.load()).rooms
    assert [row.number for row in room.places] == list(range(0, 100_000, 2))
    await store.close()


# ------------------------------------------------------------------ one writer


async def test_rooms_of_other_names_are_no_neighbours(valkey: Valkey) -> None:
    places = [new_place(valkey), new_place(valkey)]
    stores = [await place.open() for place in places]
    await stores[0].write(Batch(FACTS, 7, [waiting(0)]))
    assert (await stores[1].load()).rooms == []
    for store in stores:
        await store.close()


async def test_a_lease_that_nobody_prolongs_is_waited_for(valkey: Valkey) -> None:
    """A room that was killed: the next one has the store as soon as its lease is over."""
    place = new_place(valkey)
    killed = await place.open(lease_s=0.5)
    await killed.write(Batch(FACTS, 7, [waiting(0)]))
    assert killed._task is not None
    killed._task.cancel()
    next_one = await place.open()
    assert (await next_one.load()).rooms[0].places == [waiting(0)]
    await next_one.close()


async def test_who_lost_the_lease_writes_nothing_and_ends(valkey: Valkey) -> None:
    """Cut off for longer than its lease, while another room has taken the store: it notices, though nobody joins."""
    place = new_place(valkey)
    async with FaultProxy(Address(path=valkey.socket), path=valkey.folder / "cut.sock") as proxy:
        text = f"unix://{valkey.folder}/cut.sock?prefix={place.prefix}"
        cut_off = await opened(text, lease_s=0.5, patience_s=30)
        await cut_off.write(Batch(FACTS, 7, [waiting(0)]))
        proxy.point_at(Address(path=valkey.folder / "nobody.sock"))
        await proxy.cut()
        writing = asyncio.create_task(cut_off.write(Batch(event_id=7, places=[waiting(1)])))
        other = await place.open()
        await other.write(Batch(event_id=7, places=[waiting(1), waiting(2)]))
        proxy.point_at(Address(path=valkey.socket))
        with pytest.raises(StoreFailedError, match="another room has taken the store"):
            await writing
        assert cut_off.failed.is_set()
        await cut_off.close()
    assert (await other.load()).rooms[0].places == [waiting(0), waiting(1), waiting(2)]
    await other.write(Batch(event_id=7, places=[waiting(3)]))
    await other.close()


async def test_that_another_room_had_the_store_meanwhile_is_noticed_too(valkey: Valkey) -> None:
    place = new_place(valkey)
    meta = f"{{room:{place.prefix}}}:meta"
    store = await place.open()
    await ask(place.address, "HDEL", meta, "owner", "until", "name")
    with pytest.raises(StoreFailedError, match="another room has taken the store: it has ended again"):
        await store.write(Batch(FACTS))
    await store.close()


async def test_an_idle_room_notices_that_the_store_is_another_one_s(valkey: Valkey) -> None:
    place = new_place(valkey)
    idle = await place.open(lease_s=0.4)
    await ask(place.address, "HSET", f"{{room:{place.prefix}}}:meta", "owner", "somebody", "name", "host pid 1")
    await asyncio.wait_for(idle.failed.wait(), 60)
    with pytest.raises(StoreFailedError, match="host pid 1"):
        await idle.write(Batch())
    await idle.close()
    assert await ask(place.address, "HGET", f"{{room:{place.prefix}}}:meta", "owner") == b"somebody"


# ------------------------------------------------------------------ other data


async def test_a_store_of_another_version_is_left_alone(valkey: Valkey) -> None:
    place = new_place(valkey)
    meta = f"{{room:{place.prefix}}}:meta"
    await (await place.open()).close()
    await ask(place.address, "HSET", meta, "schema", 2)
    with pytest.raises(StoreFailedError, match="version 2, this program writes 1"):
        await place.open()
    assert await ask(place.address, "HGET", meta, "owner") is None


async def test_keys_of_somebody_else_are_left_alone_and_nothing_is_half_done(valkey: Valkey) -> None:
    place = new_place(valkey)
    store = await place.open()
    notes = f"{{room:{place.prefix}}}:notes"
    await ask(place.address, "SET", notes, "mine")
    with pytest.raises(StoreFailedError, match=f"{notes} is a string of somebody else's"):
        await store.write(Batch(FACTS, 7, [waiting(0)], notes=[("a", b"b")]))
    await store.close()
    await ask(place.address, "DEL", notes)
    again = await place.open()
    assert (await again.load()).rooms == []
    await again.close()
    await ask(place.address, "SET", f"{{room:{place.prefix}-2}}:meta", "mine")
    with pytest.raises(StoreFailedError, match="WRONGTYPE"):
        await ValkeyPlace(valkey, f"{place.prefix}-2").open()


async def test_damaged_data_are_said_to_be_damaged(valkey: Valkey) -> None:
    place = new_place(valkey)
    store = await place.open()
    await store.write(Batch(FACTS, 7, [waiting(0)]))
    await ask(place.address, "DEL", f"{{room:{place.prefix}}}:page:7:0")
    with pytest.raises(StoreFailedError, match="page 0 of event 7 is missing"):
        await store.load()
    await store.close()


# ------------------------------------------------------------------ who may come in, and where


async def test_a_password_is_needed_where_there_is_one() -> None:
    """An account of few rights is enough, without CONFIG where WAITAOF is; one of too few is refused at once."""
    rights = "~{room:* -@all +@read +@write +@connection +@scripting +time +info +config|get +wait +waitaof"
    users = f"taquilla on >geheim {rights} -config\nuser less on >geheim {rights} -rpush"
    with valkey_running({"requirepass": "secret", "user": users}) as server:
        place = new_place(server)
        for text, password in ((place.text, None), (place.text, "wrong"), (place.text, "geheim")):
            with pytest.raises(StoreFailedError, match=r"(?i)does not let us in"):
                await opened(text, password)
        for text, password in ((place.text, "secret"), (place.text.replace("//", "//taquilla@"), "geheim")):
            store = await opened(text, password)
            await store.write(Batch(FACTS, 7, [waiting(0)], [Change(1.0, "o", 7, "a", "b", "c", "d")], [(7, b"x")]))
            assert len((await store.load()).rooms[0].places) == 1
            await store.close()
        with pytest.raises(StoreFailedError, match="rpush"):
            await opened(place.text.replace("//", "//less@"), "geheim")


async def test_the_password_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("of the file\n")
    with valkey_running({"requirepass": '"of the file"'}) as server:
        address = new_place(server).address
        monkeypatch.setenv(PASSWORD_VARIABLE, "of the environment")
        await (await StoreChoice(address, tmp_path / "secret").open()).close()
        with pytest.raises(StoreFailedError, match="does not let us in"):
            await StoreChoice(address).open()
        monkeypatch.setenv(PASSWORD_VARIABLE, "of the file")
        await (await StoreChoice(address).open()).close()


async def test_a_database_that_is_not_there_is_named(valkey: Valkey) -> None:
    with pytest.raises(StoreFailedError, match="DB index is out of range"):
        await opened(f"unix://{valkey.socket}?db=99")


async def test_nobody_there() -> None:
    with pytest.raises(StoreFailedError, match=r"valkey://127.0.0.1:1/0 \(prefix main\): no answer for 0 s"):
        await opened("valkey://127.0.0.1:1", patience_s=0.1)


async def test_the_primary_is_found_among_several_hosts() -> None:
    """As after a failover: the first address is a replica now."""
    with ports(2) as (first, second):
        pass
    with (
        valkey_running({"port": str(first)}) as replica,
        valkey_running({"port": str(second), "repl-diskless-sync-delay": "0"}),
    ):
        await ask(new_place(replica).address, "REPLICAOF", "127.0.0.1", second)
        store = await opened(f"valkey://127.0.0.1:{first},127.0.0.1:{second}/0?replicas=1", patience_s=20)
        await store.write(Batch(FACTS, 7, [waiting(0)]))
        assert (await store.load()).rooms[0].places == [waiting(0)]
        await store.close()


async def test_a_cluster_sends_us_to_the_node_that_has_the_keys() -> None:
    with ports(4) as numbers:
        pass
    nodes = [
        {"port": str(port), "cluster-enabled": "yes", "cluster-port": str(bus), "cluster-node-timeout": "5000"}
        for port, bus in (numbers[:2], numbers[2:])
    ]
    with valkey_running(nodes[0]) as first, valkey_running(nodes[1]) as second:
        await _make_cluster(first, second, numbers)
        seen = set()
        for name in ("main", "north", "south", "east"):
            store = await opened(f"valkey://127.0.0.1:{numbers[0]}/0?prefix={name}", patience_s=30)
            await store.write(Batch(FACTS, 7, [waiting(0)], [Change(1.0, "o", 7, "a", "b", "c", "d")]))
            assert (await store.load()).rooms[0].places == [waiting(0)]
            assert store._link._connection is not None
            seen.add(store._link._connection.port)  # type: ignore[attr-defined]
            await store.close()
        assert seen == {numbers[0], numbers[2]}
        await _follow_the_keys(first, second, numbers)


async def _follow_the_keys(first: Valkey, second: Valkey, numbers: list[int]) -> None:
    """Keys move to the other node while the room writes."""
    nodes = [_Plain(first), _Plain(second)]
    ids = [(await node.ask("CLUSTER", "MYID")).decode().strip() for node in nodes]
    slot = int((await nodes[0].ask("CLUSTER", "KEYSLOT", "{room:main}:meta")).strip(b":\r\n"))
    here = slot > 8191
    store = await opened(f"valkey://127.0.0.1:{numbers[0]}", patience_s=60)
    await nodes[here].ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", ids[not here])
    connected = store._link._connection
    async with asyncio.timeout(60):
        number = 0
        while store._link._connection is connected:
            number += 1
            await store.write(Batch(event_id=7, places=[waiting(number)]))
    assert len((await store.load()).rooms[0].places) == number + 1
    await store.close()


async def _make_cluster(first: Valkey, second: Valkey, numbers: list[int]) -> None:
    """Two nodes, half of the slots each."""
    port, _, other_port, other_bus = numbers
    plain = [_Plain(first), _Plain(second)]
    await plain[0].ask("CLUSTER", "ADDSLOTSRANGE", 0, 8191)
    await plain[1].ask("CLUSTER", "ADDSLOTSRANGE", 8192, 16383)
    await plain[0].ask("CLUSTER", "MEET", "127.0.0.1", other_port, other_bus)
    async with asyncio.timeout(60):
        for node in plain:
            while b"cluster_state:ok" not in await node.ask("CLUSTER", "INFO"):
                await asyncio.sleep(0.05)
    assert port != other_port


class _Plain:
    """Somebody who asks a node itself, wherever the keys are."""

    def __init__(self, server: Valkey) -> None:
        self._path = str(server.socket)

    async def ask(self, *words: str | int) -> bytes:
        reader, writer = await asyncio.open_unix_connection(self._path)
        writer.write((" ".join(map(str, words)) + "\r\n").encode())
        answer = await reader.readline()
        if answer.startswith(b"$"):
            answer = await reader.readexactly(int(answer[1:]))
        writer.close()
        assert not answer.startswith(b"-"), answer
        return answer


async def test_redis_is_as_good() -> None:
    with redis_running() as server:
        place = new_place(server)
        store = await place.open()
        await store.write(Batch(FACTS, 7, [waiting(0)]))
        await store.close()
        await ask(place.address, "CONFIG", "SET", "appendfsync", "everysec")
        with pytest.raises(StoreFailedError, match=r"appendfsync is everysec .*no WAITAOF"):
            await place.open()
