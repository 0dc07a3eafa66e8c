"""The senders of a rush against a server that misbehaves: open loop, patience, bounds, contradictions (R41)."""

from __future__ import annotations

import asyncio
from collections import Counter
from uuid import uuid4

import pytest

from booking.plain_http.link import Links
from booking.plain_http.message import BrokenAnswerError, request_bytes
from booking.rush import office
from booking.rush.conductor import Run
from booking.rush.report import Verdict, as_json, as_lines
from booking.rush.shopper import AGAIN, CHECKOUT, HOLD, MAP, PAY, RELEASE, STATUS
from tests.server.small_api import Asked, Counted, Said, send, sender_plan, small_api

TAKEN = Said(409, {"code": "seats-taken"})


def totals(counted: Counted) -> tuple[int, int, int, int]:
    """offered, done, shed, failed over all kinds."""
    tallies = counted.kinds.values()
    return (
        sum(one.offered for one in tallies), sum(one.done for one in tallies),
        sum(one.shed for one in tallies), sum(one.failed for one in tallies),
    )  # fmt: skip


async def refuse(_: Asked) -> Said:
    return Said(409, {"code": "event-not-on-sale"})


# ---------------------------------------------------------------- no coordinated omission


@pytest.mark.parametrize("connections", [2, 400])
async def test_a_server_that_stalls_once_is_charged_for_all_who_came_meanwhile(connections: int) -> None:
    """A closed loop would have seen one slow request; here four in ten waited, whatever the number of connections."""
    loop = asyncio.get_running_loop()
    stall_until = 0.0
    begun = loop.time()

    async def stall_once(_: Asked) -> Said:
        nonlocal stall_until
        if stall_until == 0.0 and loop.time() > begun + 0.5:
            stall_until = loop.time() + 1.0
        await asyncio.sleep(stall_until - loop.time())
        return Said(409, {"code": "event-not-on-sale"})

    async with small_api(stall_once) as api:
        counted, _ = await send(sender_plan(api.server, connections=connections, rate=200.0, seconds=2.5))
    latency = counted.kinds[HOLD].latency
    assert counted.kinds[HOLD].failed == 0
    assert latency.total == counted.kinds[HOLD].offered > 350
    assert 800 < latency.quantile_ms(0.99) < 1_600
    assert latency.quantile_ms(0.80) > 200
    assert latency.quantile_ms(0.25) < 200


async def test_requests_leave_at_their_instants_even_when_none_is_answered() -> None:
    async def never(_: Asked) -> Said:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async with small_api(never) as api:
        counted, _ = await send(sender_plan(api.server, connections=400, rate=200.0, drain_s=0.2))
        seen = len(api.asked)
    offered, done, shed, failed = totals(counted)
    assert (done, shed, failed) == (0, 0, offered)
    assert seen == offered > 120
    assert counted.kinds[HOLD].answers == Counter({office.UNANSWERED: offered})


# ---------------------------------------------------------------- how requests end


async def test_who_waits_longer_than_the_timeout_has_failed_and_its_wait_counts() -> None:
    async def slow(_: Asked) -> Said:
        await asyncio.sleep(1.0)
        return TAKEN

    async with small_api(slow) as api:
        counted, _ = await send(sender_plan(api.server, rate=20.0, seconds=0.5, timeout_s=0.2))
    tally = counted.kinds[HOLD]
    assert tally.answers == Counter({office.TIMED_OUT: tally.offered})
    assert tally.latency.quantile_ms(0.01) >= 195


async def test_a_connection_that_breaks_fails_its_request_alone() -> None:
    async def every_third_is_cut(asked: Asked) -> Said:
        return Said(raw=b"SSH-2.0\r\n\r\n") if asked.headers["idempotency-key"][0] in "01234" else await refuse(asked)

    async with small_api(every_third_is_cut) as api:
        counted, _ = await send(sender_plan(api.server))
    tally = counted.kinds[HOLD]
    cut = sum(asked.headers["idempotency-key"][0] in "01234" for asked in api.asked)
    assert tally.answers == Counter({office.CUT: cut, "409 event-not-on-sale": tally.offered - cut})
    assert (tally.failed, tally.done) == (cut, tally.offered - cut)
    assert cut > 5
    assert tally.latency.quantile_ms(0.99) >= 4_900, "who got no answer was not answered fast"


async def test_where_nobody_listens_every_request_fails() -> None:
    async with small_api(refuse) as api:
        pass
    counted, _ = await send(sender_plan(api.server, seconds=0.3))
    tally = counted.kinds[HOLD]
    assert tally.answers == Counter({office.NO_CONNECTION: tally.offered})
    assert tally.latency.quantile_ms(0.01) >= 4_900, "a refused connection is no fast answer"


async def test_what_waits_is_bounded_and_more_fails_unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: Asked) -> Said:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    monkeypatch.setattr(office, "MOST_OPEN", 10)
    async with small_api(never) as api:
        counted, _ = await send(sender_plan(api.server, rate=200.0, seconds=0.5, drain_s=0.0))
    answers = counted.kinds[HOLD].answers
    assert answers[office.UNANSWERED] == 10
    assert answers[office.UNSENT] == counted.kinds[HOLD].offered - 10 > 30


async def test_the_cap_on_requests_ends_the_run() -> None:
    async with small_api(refuse) as api:
        counted, _ = await send(sender_plan(api.server, rate=200.0, seconds=20.0, most_requests=25))
        assert len(api.asked) == 25
    assert totals(counted)[0] == 25
    assert counted.tellings[-1].capped
    assert counted.tellings[-1].last


# ---------------------------------------------------------------- patience


async def test_patient_clients_come_back_when_told_with_the_same_key_and_others_stay_away() -> None:
    seen: set[str] = set()

    async def shed_first(asked: Asked) -> Said:
        key = asked.headers["idempotency-key"]
        if key in seen:
            return await refuse(asked)
        seen.add(key)
        return Said(503, {"code": "busy"}, {"Retry-After": "1"})

    async with small_api(shed_first) as api:
        patient, _ = await send(sender_plan(api.server, rate=60.0, seconds=0.5, patience=1.0, drain_s=4.0))
        first_at: dict[str, float] = {}
        for asked in api.asked:
            key = asked.headers["idempotency-key"]
            assert asked.at - first_at.setdefault(key, asked.at) >= 0.95 or asked.at == first_at[key]
        hold, again = patient.kinds[HOLD], patient.kinds[AGAIN]
        assert (hold.shed, hold.done) == (hold.offered, 0)
        assert (again.offered, again.done) == (hold.offered, hold.offered)
        hasty, _ = await send(sender_plan(api.server, rate=60.0, seconds=0.5, patience=0.0, seed=99))
    assert list(hasty.kinds) == [HOLD]
    assert hasty.kinds[HOLD].shed == hasty.kinds[HOLD].offered


async def test_losers_try_other_seats_under_new_keys() -> None:
    async def taken(_: Asked) -> Said:
        return TAKEN

    async with small_api(taken) as api:
        counted, _ = await send(sender_plan(api.server, rate=30.0, seconds=0.5, drain_s=5.0))
    assert len({asked.headers["idempotency-key"] for asked in api.asked}) == len(api.asked)
    assert counted.kinds[HOLD].done == len(api.asked)
    assert len(api.asked) % 3 == 0


# ---------------------------------------------------------------- answers that cannot both be true


def held(asked: Asked, hold_id: object, shift: int = 0) -> Said:
    seats = asked.body["seats"]
    assert isinstance(seats, list)
    return Said(201, {"hold_id": str(hold_id), "seats": [{"seat_no": seat + shift} for seat in seats]})


async def test_a_key_that_makes_two_holds_is_a_contradiction() -> None:
    async def anew(asked: Asked) -> Said:
        return held(asked, uuid4())

    async with small_api(anew) as api:
        counted, _ = await send(sender_plan(api.server, rate=20.0, seconds=0.3, double_clicks=1.0))
    assert len(counted.contradictions) == counted.kinds[HOLD].offered > 0
    assert "two holds" in counted.contradictions[0]


async def test_a_key_that_makes_one_hold_is_none() -> None:
    ids: dict[str, object] = {}

    async def once(asked: Asked) -> Said:
        return held(asked, ids.setdefault(asked.headers["idempotency-key"], uuid4()))

    async with small_api(once) as api:
        counted, _ = await send(sender_plan(api.server, rate=20.0, seconds=0.3, double_clicks=1.0))
    assert counted.contradictions == []
    assert counted.kinds[AGAIN].done == counted.kinds[HOLD].done == len(ids)


@pytest.mark.parametrize("answer", ["other seats", "not json"])
async def test_other_seats_than_asked_for_and_answers_that_cannot_be_read_are_contradictions(answer: str) -> None:
    async def wrong(asked: Asked) -> Said:
        return held(asked, uuid4(), shift=1) if answer == "other seats" else Said(201, "hold")

    async with small_api(wrong) as api:
        counted, _ = await send(sender_plan(api.server, rate=20.0, seconds=0.3))
    assert len(counted.contradictions) == counted.kinds[HOLD].done > 0


def test_a_contradiction_or_a_server_error_or_a_breach_is_not_good_and_shed_load_is() -> None:
    fine = Run()
    fine.kinds[HOLD].answered(503, "busy", 0.1)
    assert Verdict(fine, 0, (), {}).good
    assert Verdict(fine, None, (), {}).good
    assert not Verdict(fine, 1, ("a rule: a row",), {}).good
    fine.kinds[HOLD].answered(500, "internal", 0.1)
    assert not Verdict(fine, 0, (), {}).good
    assert not Verdict(Run(contradictions=["two holds"]), 0, (), {}).good


def test_a_run_in_which_many_got_no_answer_is_not_good() -> None:
    run = Run()
    run.kinds[HOLD].offered = 200
    for _ in range(2):
        run.kinds[HOLD].broken(office.CUT, 10.0)
    assert Verdict(run, 0, (), {}).good
    run.kinds[HOLD].broken(office.NO_CONNECTION, 10.0)
    assert not Verdict(run, 0, (), {}).good
    assert any("no answer" in line for line in as_lines(Verdict(run, 0, (), {})))


def test_a_run_whose_requests_are_refused_as_mistakes_measures_nothing() -> None:
    """Such as one with tokens of another system: each answer is there at once, and nobody has bought anything."""
    run = Run()
    run.kinds[HOLD].offered = 200
    for status, code in ((409, "seats-taken"), (403, "admission-refused")):
        for _ in range(50):
            run.kinds[HOLD].answered(status, code, 0.002)
    for status, code in ((401, "token-expired"), (404, "hold-not-found")):
        run.kinds[HOLD].answered(status, code, 0.002)
    assert Verdict(run, 0, (), {}).good, "one in a hundred"
    run.kinds[HOLD].answered(422, "seat-unknown", 0.002)
    assert not Verdict(run, 0, (), {}).good
    assert as_json(Verdict(run, 0, (), {}))["mistaken"] == 3
    assert any("refused as mistakes" in line for line in as_lines(Verdict(run, 0, (), {})))


# ---------------------------------------------------------------- a whole visit


async def test_a_winner_checks_out_pays_and_looks_until_it_is_confirmed_and_maps_are_revalidated() -> None:
    order_id, looks = uuid4(), 0

    async def office_hours(asked: Asked) -> Said:
        nonlocal looks
        if asked.path.endswith("/holds"):
            return held(asked, uuid4())
        if asked.path.endswith("/seats"):
            return Said(304 if "if-none-match" in asked.headers else 200, None, {"ETag": '"v1"'})
        looks += asked.method == "GET"
        status = "CONFIRMED" if looks > 1 else "PENDING"
        total = asked.body.get("shown_total_minor", 0)
        return Said(
            200 if asked.method == "GET" else 201,
            {"order_id": str(order_id), "status": status, "amount_minor": total},
        )

    async with small_api(office_hours) as api:
        counted, _ = await send(
            sender_plan(api.server, rate=10.0, maps_per_s=100.0, seconds=0.5, buyers=1.0, drain_s=8.0)
        )
    by_kind = {kind: tally.done for kind, tally in counted.kinds.items()}
    assert by_kind[HOLD] == by_kind[CHECKOUT] == by_kind[PAY] > 0
    assert by_kind[STATUS] >= by_kind[PAY]
    assert sum(telling.confirmed for telling in counted.tellings) == by_kind[PAY]
    assert set(counted.kinds[MAP].answers) == {"200", "304"}
    checkouts = [asked.body for asked in api.asked if asked.path.endswith("/checkout")]
    for body in checkouts:
        assert isinstance(body["lines"], list)
        assert body["shown_total_minor"] == 100 * len(body["lines"])


async def test_some_give_their_seats_back() -> None:
    async def office_hours(asked: Asked) -> Said:
        return held(asked, uuid4()) if asked.method == "POST" else Said(200, {})

    async with small_api(office_hours) as api:
        counted, _ = await send(sender_plan(api.server, rate=20.0, seconds=0.3, releases=1.0, drain_s=4.0))
        assert {asked.method for asked in api.asked} == {"POST", "DELETE"}
    assert counted.kinds[RELEASE].done == counted.kinds[HOLD].done > 0


# ---------------------------------------------------------------- connections


async def test_connections_are_kept_and_never_more_than_allowed() -> None:
    async with small_api(refuse) as api:
        links = Links(api.server.host, api.server.port, None, 3)
        request = request_bytes("GET", "/", "h")
        for _ in range(4):
            await asyncio.gather(*(links.ask(request) for _ in range(20)))
        assert api.connections == 3
        links.close()


async def test_a_connection_that_the_server_ends_is_replaced() -> None:
    async def close(_: Asked) -> Said:
        return Said(200, {}, {"Connection": "close"})

    async with small_api(close) as api:
        links = Links(api.server.host, api.server.port, None, 1)
        answers = await asyncio.gather(*(links.ask(request_bytes("GET", "/", "h")) for _ in range(5)))
        assert [answer.status for answer in answers] == [200] * 5
        assert api.connections == 5


async def test_who_gives_up_takes_its_connection_along_and_the_next_one_gets_its_turn() -> None:
    release = asyncio.Event()

    async def first_hangs(asked: Asked) -> Said:
        if asked.path == "/hang":
            await release.wait()
        return Said(200, {})

    async with small_api(first_hangs) as api:
        links = Links(api.server.host, api.server.port, None, 1)
        hanging = asyncio.create_task(links.ask(request_bytes("GET", "/hang", "h")))
        waiting = asyncio.create_task(links.ask(request_bytes("GET", "/next", "h")))
        while not api.asked or not links.waiting:
            await asyncio.sleep(0)
        hanging.cancel()
        assert (await waiting).status == 200
        release.set()
    with pytest.raises(asyncio.CancelledError):
        await hanging


async def test_an_answer_that_nobody_asked_for_ends_the_connection() -> None:
    async def twice(_: Asked) -> Said:
        return Said(raw=b"HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n")

    async with small_api(twice) as api:
        links = Links(api.server.host, api.server.port, None, 1)
        with pytest.raises(BrokenAnswerError):
            await links.ask(request_bytes("GET", "/", "h"))
