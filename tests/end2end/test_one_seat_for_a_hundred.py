"""One seat, a hundred accounts, two API processes: one of them gets it, and nobody gets an error (B1–B5, R3–R6)."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from uuid import uuid4

import asyncpg
import numpy as np

from backend_client.seat_frames import PublicState, decode_snapshot
from tests.end2end.conftest import OpenEvent
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import StackFacts, api_process, check_invariants, until_async


async def test_one_of_a_hundred_gets_the_seat_and_the_others_are_told_which_one(
    stack: StackFacts, open_event: OpenEvent, tmp_path: Path
) -> None:
    (seat,) = open_event.take(1)
    async with (
        api_process(stack.dsn, stack.sandbox_url, tmp_path) as (_, second_url),
        client(stack.api_url, connections=50) as first,
        client(second_url, connections=50) as second,
    ):
        fans = [await Buyer.new_fan(http) for _ in range(50) for http in (first, second)]
        answers = await asyncio.gather(*(fan.hold(open_event.event_id, [seat]) for fan in fans))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 99}
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {problem["code"] for problem in refused} == {"seats-taken"}
    assert all([lost["seat_no"] for lost in problem["seats"]] == [seat] for problem in refused)
    assert await check_invariants(stack.dsn) == []


async def test_all_the_lost_seats_are_named_and_nothing_is_held(stack: StackFacts, open_event: OpenEvent) -> None:
    seats = open_event.take(6)
    async with client(stack.api_url) as http:
        winner, loser, third = [await Buyer.new_fan(http) for _ in range(3)]
        assert (await winner.hold(open_event.event_id, seats[1:4])).status_code == 201
        answer = await loser.hold(open_event.event_id, seats)
        assert answer.status_code == 409
        assert sorted(lost["seat_no"] for lost in answer.json()["seats"]) == sorted(seats[1:4])
        assert (await third.hold(open_event.event_id, [seats[0], *seats[4:]])).status_code == 201


async def test_key_used_again_returns_the_same_hold_unextended(stack: StackFacts, open_event: OpenEvent) -> None:
    seats = open_event.take(2)
    key = str(uuid4())
    async with client(stack.api_url) as http:
        fan = await Buyer.new_fan(http)
        first = await fan.hold(open_event.event_id, seats, key=key)
        again = await fan.hold(open_event.event_id, seats, key=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    changing = ("server_time",)
    before, after = ({k: v for k, v in answer.json().items() if k not in changing} for answer in (first, again))
    assert before == after, "the deadline too"


async def test_key_used_for_something_else_is_refused(stack: StackFacts, open_event: OpenEvent) -> None:
    seats = open_event.take(2)
    key = str(uuid4())
    async with client(stack.api_url) as http:
        fan = await Buyer.new_fan(http)
        assert (await fan.hold(open_event.event_id, seats[:1], key=key)).status_code == 201
        other = await fan.hold(open_event.event_id, seats[1:], key=key)
        assert (other.status_code, other.json()["code"]) == (409, "key-reused")
        stranger = await Buyer.new_fan(http)
        assert (await stranger.hold(open_event.event_id, seats[1:], key=key)).status_code == 201, "keys are one's own"


async def test_key_is_replayed_after_its_hold_is_over(stack: StackFacts, open_event: OpenEvent) -> None:
    seats = open_event.take(1)
    key = str(uuid4())
    async with client(stack.api_url) as http:
        fan = await Buyer.new_fan(http)
        first = await fan.hold(open_event.event_id, seats, key=key)
        assert (await fan.release(first.json()["hold_id"])).status_code == 200
        again = await fan.hold(open_event.event_id, seats, key=key)
        assert again.json()["hold_id"] == first.json()["hold_id"]
        assert again.json()["status"] == "RELEASED", "a replay makes no new hold"
        other = await Buyer.new_fan(http)
        assert (await other.hold(open_event.event_id, seats)).status_code == 201


async def test_key_is_replayed_unextended_after_its_hold_expired(stack: StackFacts) -> None:
    """An event of its own gets holds of two seconds; the key still finds the same hold, with the same deadline."""
    async with client(stack.api_url) as http:
        events = [found for found in (await http.get("/v1/events")).json()["events"] if found["status"] == "ON_SALE"]
        event = sorted(events, key=lambda found: found["seat_count"])[-2]
        await set_hold_time(stack.dsn, event["event_id"], 2)
        snapshot = decode_snapshot((await http.get(f"/v1/events/{event['event_id']}/seats")).content)
        seats = [int(np.flatnonzero(snapshot.states == PublicState.AVAILABLE)[-1])]
        fan, other, key = await Buyer.new_fan(http), await Buyer.new_fan(http), str(uuid4())
        first = await fan.hold(event["event_id"], seats, key=key)
        assert first.status_code == 201

        async def others_may_have_it() -> bool:
            return (await other.hold(event["event_id"], seats)).status_code == 201

        await until_async(others_may_have_it, 20, "the seat to be free again")
        again = await fan.hold(event["event_id"], seats, key=key)
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
        assert again.json()["status"] == "EXPIRED"
        for member in ("hold_id", "expires_at", "created_at"):
            assert again.json()[member] == first.json()[member]
    assert await check_invariants(stack.dsn) == []


async def set_hold_time(dsn: str, event_id: int, seconds: int) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(
            "UPDATE events SET hold_ttl_s = $2, min_time_to_pay_s = least(min_time_to_pay_s, $2 - 1)"
            " WHERE event_id = $1",
            event_id,
            seconds,
        )
    finally:
        await connection.close()
