"""The room as a process: joins that survive a kill, long polls, limits, operators, and who may call (R16–R21)."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from backend_client import wire
from booking.domain.admission_token import read, session_digest
from booking.domain.caller import Role
from tests.room.room_process import (
    SESSION,
    Room,
    access_token,
    know_booking,
    know_booking_at,
    let_in,
    refused,
    room_running,
    status_of,
)
from tests.room.stores import StorePlace


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    await know_booking(folder)
    return folder


@pytest.fixture
async def room(folder: Path) -> AsyncIterator[Room]:
    async with room_running(folder) as room:
        yield room
        assert await room.process.end() == 0


async def test_every_answered_join_survives_a_kill(tmp_path: Path, store_place: StorePlace) -> None:
    """Killed in the middle of a rush: whoever was answered stands where he was told."""
    await know_booking_at(store_place)
    arguments = (*store_place.arguments, "--rate-limits", "off")
    async with room_running(tmp_path / "data", *arguments) as room:
        await room.open(600)
        fans = [room.fan() for _ in range(150)]
        joining = [asyncio.create_task(fan.join()) for fan in fans]
        await asyncio.wait(joining[:40])
        await room.process.end(signal.SIGKILL)
        answers = await asyncio.gather(*joining, return_exceptions=True)
    told = {
        index: status_of(answer).ahead
        for index, answer in enumerate(answers)
        if not isinstance(answer, BaseException) and answer.status_code == 201
    }
    assert len(told) >= 40
    async with room_running(tmp_path / "data", *arguments) as again:
        for fan in fans:
            fan.client = again.client
        found = {index: status_of(await fans[index].join()).ahead for index in told}
    assert found == told


async def test_the_turn_comes_with_a_token_for_this_session(room: Room) -> None:
    await room.open(new_users_per_minute=60_000)
    fan = room.fan()
    assert status_of(await fan.join()).state in (wire.QueueState.WAITING, wire.QueueState.ADMITTED)
    status = await let_in(fan)
    keys = (await room.client.get("/v1/admission-keys")).json()["keys"]
    public = {name: Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)) for name, key in keys.items()}
    admission = read(status.admission_token, public, status.server_time.timestamp())
    assert (admission.event_id, admission.session) == (7, session_digest(SESSION))
    other = room.fan(admission.account_id, session="another-browser-of-mine")
    elsewhere = status_of(await other.look())
    assert (elsewhere.is_elsewhere, elsewhere.admission_token) == (True, "")
    taken = status_of(await other.call("POST", "/v1/events/7/queue/take-over"))
    newer = read(taken.admission_token, public, status.server_time.timestamp())
    assert newer.generation > admission.generation
    assert status_of(await fan.look()).is_elsewhere


async def test_a_long_poll_ends_with_the_news(room: Room) -> None:
    """Nothing changed → 304 with Retry-After; paused → resumed: all who wait hear at once (R19)."""
    await room.open(paused=True)
    fan = room.fan()
    await fan.join()
    tag = await fan.settled_tag()
    for known in (tag, f"W/{tag}"):  # the second as a proxy leaves it that packs answers
        unchanged = await fan.look(If_None_Match=known)
        assert unchanged.status_code == 304
        assert int(unchanged.headers["Retry-After"]) >= 1
    waiting = asyncio.create_task(fan.look(wait=20, If_None_Match=tag))
    done, _ = await asyncio.wait([waiting], timeout=0.5)
    assert not done
    await room.set(paused=False, new_users_per_minute=60_000)
    status = status_of(await asyncio.wait_for(waiting, 60))
    assert status.is_letting_in
    assert (await let_in(fan)).state is wire.QueueState.ADMITTED


async def test_who_waits_for_news_is_answered_when_the_room_ends(folder: Path) -> None:
    """Not cut off: who waits in line, and who was told of a turn that he has not come for."""
    async with room_running(folder) as room:
        await room.open(new_users_per_minute=60_000, total_active_users=1)
        inside, waits = room.fan(), room.fan()
        await inside.join()
        await let_in(inside)
        await waits.join()
        tag = await waits.settled_tag()
        waiting = asyncio.create_task(waits.look(wait=25, If_None_Match=tag))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        assert await room.process.end() == 0
        assert (await asyncio.wait_for(waiting, 60)).status_code in (200, 304, 503)


async def test_the_lot_can_be_checked(room: Room) -> None:
    """R17: the hash is told before the opening, the seed after it."""
    await room.open(600, queueing="random")
    early = (await room.client.get("/v1/events/7/room")).json()
    assert (early["queueing"], early["phase"], early.get("lot_seed", "")) == ("random", "early", "")
    assert len(early["lot_commitment"]) == 64
    ahead = status_of(await room.fan().join()).ahead
    assert ahead is None


async def test_who_leaves_is_out_and_a_stranger_has_no_place(room: Room) -> None:
    await room.open(600)
    fan = room.fan()
    refused(await fan.look(), wire.ErrorCode.PLACE_NOT_FOUND)
    await fan.join()
    assert (await fan.call("DELETE", "/v1/events/7/queue")).status_code == 204
    assert status_of(await fan.look()).state is wire.QueueState.LEFT
    refused(await fan.join(8), wire.ErrorCode.EVENT_NOT_FOUND)


async def test_bad_calls_name_what_is_wrong(room: Room) -> None:
    await room.open(600)
    fan = room.fan()
    cases = [
        (await fan.call("POST", "/v1/events/7/queue", {"code": "x"}), "/code"),
        (await fan.call("POST", "/v1/events/7/queue", {"registration_code": "x" * 65}), "/registration_code"),
        (await fan.call("POST", "/v1/events/0/queue", {}), "path:event_id"),
        (await fan.call("GET", "/v1/events/7/queue?wait=99"), "query:wait"),
        (await fan.call("GET", "/v1/events/7/queue?wait=-1"), "query:wait"),
        (await room.fan(session="short").join(), "header:Admission-Session"),
        (await room.staff().call("PUT", "/v1/rooms/7/settings", {"expected_version": 1, "reason": "r",
                                                                 "token_life_s": 5}), "/token_life_s"),
        (await room.staff().call("PUT", "/v1/rooms/9", {"opens_at": "9999-12-31T23:00:00-05:00", "reason": "r"}),
         "/opens_at"),
    ]  # fmt: skip
    for answer, pointer in cases:
        problem = refused(answer, wire.ErrorCode.INVALID_REQUEST)
        assert [fault.pointer for fault in problem.fields] == [pointer]
    refused(await fan.call("POST", "/v1/events/7/queue", {"bot_proof": "x" * 9000}), wire.ErrorCode.BODY_TOO_LARGE)
    refused(await fan.call("PATCH", "/v1/events/7/queue"), wire.ErrorCode.METHOD_NOT_ALLOWED)
    refused(await fan.call("GET", "/v1/nothing"), wire.ErrorCode.NOT_FOUND)


async def test_each_role_may_do_its_own(room: Room) -> None:
    await room.open(600)
    opening = {"opens_at": "2026-12-01T10:00:00Z", "reason": "r"}
    refused(await room.fan().call("GET", "/v1/rooms"), wire.ErrorCode.FORBIDDEN)
    refused(await room.staff(Role.CLERK).call("PUT", "/v1/rooms/8", opening), wire.ErrorCode.FORBIDDEN)
    refused(await room.staff().call("POST", "/v1/admission-keys", {"reason": "r"}), wire.ErrorCode.FORBIDDEN)
    refused(await room.staff().join(), wire.ErrorCode.FORBIDDEN)
    refused(await room.client.get("/v1/rooms"), wire.ErrorCode.NOT_SIGNED_IN)
    forged = room.fan()
    forged.token = access_token(secret=b"x" * 32)
    refused(await forged.join(), wire.ErrorCode.NOT_SIGNED_IN)
    rotated = await room.staff(Role.ADMIN).call("POST", "/v1/admission-keys", {"reason": "stolen", "at_once": True})
    assert len(rotated.json()["keys"]) == 1
    codes = {"codes": ["abcdef", "AB Cdef", "ghijkl"], "reason": "sent out"}
    counted = await room.staff(Role.SUPERVISOR).call("POST", "/v1/rooms/7/codes", codes)
    assert counted.json()["codes"] == 2
    log = (await room.staff().call("GET", "/v1/rooms/7/changes")).json()["changes"]
    assert [change["what"] for change in log] == ["codes-added", "room-made"]


async def test_one_account_that_asks_too_often_is_slowed_down(room: Room) -> None:
    await room.open(600)
    fan = room.fan(uuid4())
    await fan.join()
    answers = [await fan.look() for _ in range(60)]
    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in limited)
    assert status_of(await room.fan().join()).state is wire.QueueState.WAITING


async def test_a_second_process_on_the_same_store_ends_with_a_word(room: Room, folder: Path) -> None:
    with pytest.raises(AssertionError, match=r"taquilla room: .*room\.sqlite"):
        async with room_running(folder):
            raise AssertionError("it must not start")
