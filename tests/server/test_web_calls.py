"""The calls of the API over HTTP: a whole sale, keys, replays, refusals, caches, an authority that is away."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from backend_client import wire
from backend_client.seat_frames import Layout, StaffStatus, decode_snapshot
from backend_client.wire import ErrorCode
from booking.domain.caller import Role
from booking.embedded import temporary_cluster
from booking.services import issue_tickets, read_events, sequence_feed
from booking.services.migrate import migrate
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, Clock, count, make_event
from tests.server.web_api import Api, api_over, problem, read


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


@pytest.fixture
async def event_id(database: Database) -> int:
    return await make_event(database)


def checkout_of(hold: wire.Hold) -> wire.CheckoutRequest:
    lines = tuple(wire.CheckoutLine(seat_no=seat.seat_no, price_type_id=ADULT) for seat in hold.seats)
    return wire.CheckoutRequest(lines=lines, shown_total_minor=ADULT_PRICE * len(lines))


async def hold(api: Api, event_id: int, token: str, *seats: int, key: str | None = None) -> wire.Hold:
    body = wire.HoldRequest(seats=seats)
    return read(await api.call("POST", f"/v1/events/{event_id}/holds", body, token=token, key=key), wire.Hold, 201)


async def order(api: Api, event_id: int, token: str, *seats: int) -> wire.Order:
    held = await hold(api, event_id, token, *seats)
    answered = await api.call("POST", f"/v1/holds/{held.hold_id}/checkout", checkout_of(held), token=token)
    return read(answered, wire.Order, 201)


# ---------------------------------------------------------------- a sale


async def test_a_clerk_sells_two_seats_for_cash_and_prints_their_tickets(api: Api, event_id: int) -> None:
    token = await api.staff(Role.CLERK)
    sold = await order(api, event_id, token, 4, 5)
    cash = wire.PaymentRequest(
        kind=wire.OperationKind.CASH, provider="drawer", amount_minor=2 * ADULT_PRICE, tendered_minor=10_000
    )
    paid = read(
        await api.call("POST", f"/v1/orders/{sold.order_id}/payments", cash, token=token), wire.PaymentAnswer, 201
    )
    assert paid.order.status is wire.OrderStatus.CONFIRMED
    assert paid.operation.change_minor == 10_000 - 2 * ADULT_PRICE

    before = read(await api.call("GET", f"/v1/orders/{sold.order_id}/tickets", token=token), wire.TicketList)
    assert (before.complete, before.tickets) == (False, ())
    await issue_tickets.prepare(api.db)
    await issue_tickets.issue_new(api.db)
    tickets = read(await api.call("GET", f"/v1/orders/{sold.order_id}/tickets", token=token), wire.TicketList)
    assert tickets.complete
    assert [ticket.seat.number for ticket in tickets.tickets] == ["5", "6"]

    job_request = wire.PrintJobRequest(
        ticket_ids=tuple(ticket.ticket_id for ticket in tickets.tickets), printer="Counter 1"
    )
    answered = await api.call("POST", f"/v1/orders/{sold.order_id}/print-jobs", job_request, token=token)
    job = read(answered, wire.PrintJob, 201)
    report = wire.PrintJobReport(status=wire.PrintJobStatus.CONFIRMED)
    done = read(await api.call("PUT", f"/v1/print-jobs/{job.print_job_id}", report, token=token), wire.PrintJob)
    assert done.status is wire.PrintJobStatus.CONFIRMED


async def test_a_terminals_result_is_reported_by_the_device_that_opened_the_payment(api: Api, event_id: int) -> None:
    token, other = await api.staff(Role.CLERK), await api.staff(Role.CLERK)
    sold = await order(api, event_id, token, 4)
    sale = wire.PaymentRequest(kind=wire.OperationKind.SALE, provider="zvt", amount_minor=ADULT_PRICE)
    opened = read(
        await api.call("POST", f"/v1/orders/{sold.order_id}/payments", sale, token=token), wire.PaymentAnswer, 201
    )
    path = f"/v1/payments/{opened.operation.operation_id}/result"
    report = wire.ResultReport(
        outcome=wire.ResultOutcome.SUCCEEDED, amount_minor=ADULT_PRICE, provider_ref="trace-1", card_brand="girocard"
    )

    problem(await api.call("PUT", path, report, token=other), ErrorCode.OPERATION_NOT_YOURS)
    first = read(await api.call("PUT", path, report, token=token), wire.ResultAnswer)
    again = read(await api.call("PUT", path, report, token=token), wire.ResultAnswer)

    assert first.advice is again.advice is wire.Advice.GOODS_ISSUED
    assert first.order.status is wire.OrderStatus.CONFIRMED


async def test_a_cancelled_order_gives_its_seats_back_to_the_hold(api: Api, event_id: int) -> None:
    token = await api.staff(Role.CLERK)
    pending = await order(api, event_id, token, 4)
    body = wire.CancelRequest(reason="other seats", keep_seats=True)
    cancelled = read(await api.call("POST", f"/v1/orders/{pending.order_id}/cancel", body, token=token), wire.Order)
    assert cancelled.status is wire.OrderStatus.CANCELLED
    kept = read(await api.call("GET", f"/v1/holds/{pending.hold_ids[0]}", token=token), wire.Hold)
    assert kept.status is wire.HoldStatus.HELD


async def test_me_tells_who_the_token_says_you_are(api: Api) -> None:
    device_id = uuid4()
    me = read(await api.call("GET", "/v1/me", token=await api.staff(Role.SUPERVISOR, device_id)), wire.Me)
    assert (me.principal, me.role) == (f"device:{device_id}", wire.Role.SUPERVISOR)


# ---------------------------------------------------------------- keys and conflicts


async def test_r6_a_cancellation_sent_again_says_that_it_is_a_replay(api: Api, event_id: int) -> None:
    token = await api.fan()
    pending = await order(api, event_id, token, 4)
    path, body = f"/v1/orders/{pending.order_id}/cancel", wire.CancelRequest(reason="other seats", keep_seats=True)
    first, again = [await api.call("POST", path, body, token=token, key="one-key") for _ in range(2)]
    assert read(again, wire.Order).status is wire.OrderStatus.CANCELLED
    assert wire.REPLAYED_HEADER not in first.headers
    assert again.headers[wire.REPLAYED_HEADER] == "true"


async def test_p2_a_key_sent_again_gives_the_same_hold_unextended_and_says_so(api: Api, event_id: int) -> None:
    token = await api.fan()
    path, key = f"/v1/events/{event_id}/holds", "one-key"
    first = await api.call("POST", path, b'{"seats":[4,5]}', token=token, key=key)
    again = await api.call("POST", path, b' { "seats" : [4, 5] } ', token=token, key=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert wire.REPLAYED_HEADER not in first.headers
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    assert (read(again, wire.Hold, 201).hold_id, read(again, wire.Hold, 201).expires_at) == (
        read(first, wire.Hold, 201).hold_id,
        read(first, wire.Hold, 201).expires_at,
    )
    problem(await api.call("POST", path, b'{"seats":[4,6]}', token=token, key=key), ErrorCode.KEY_REUSED)


async def test_a_replay_after_the_end_gives_the_same_hold_expired(api: Api, event_id: int, clock: Clock) -> None:
    token = await api.fan()
    first = await hold(api, event_id, token, 4, key="one-key")
    await clock.move(seconds=301)
    again = await hold(api, event_id, token, 4, key="one-key")
    assert (again.hold_id, again.expires_at) == (first.hold_id, first.expires_at)
    assert again.status is wire.HoldStatus.EXPIRED


@pytest.mark.parametrize("key", ["", "a b", "schlüssel", "x" * 201])
async def test_a_key_of_the_wrong_form_is_refused_by_name(api: Api, event_id: int, key: str) -> None:
    response = await api.client.post(
        f"/v1/events/{event_id}/holds",
        content=b'{"seats":[1]}',
        headers=[
            (b"authorization", f"Bearer {await api.fan()}".encode()),
            (b"content-type", b"application/json"),
            (wire.IDEMPOTENCY_KEY_HEADER.encode(), key.encode("latin-1")),
        ],
    )
    found = problem(response, ErrorCode.INVALID_REQUEST)
    assert found.fields[0].pointer == "header:Idempotency-Key"


async def test_a_call_that_changes_something_without_a_key_is_refused(api: Api, event_id: int) -> None:
    response = await api.client.post(
        f"/v1/events/{event_id}/holds",
        content=b'{"seats":[1]}',
        headers={"Authorization": f"Bearer {await api.fan()}", "Content-Type": "application/json"},
    )
    assert response.status_code == 400
    problem(response, ErrorCode.KEY_MISSING)


async def test_b9_a_conflict_names_every_seat_that_was_lost_as_people_call_it(api: Api, event_id: int) -> None:
    await hold(api, event_id, await api.fan(), 2, 3)
    refused = await api.call(
        "POST", f"/v1/events/{event_id}/holds", wire.HoldRequest(seats=(1, 2, 3)), token=await api.fan()
    )
    assert refused.status_code == 409
    lost = problem(refused, ErrorCode.SEATS_TAKEN).seats
    assert [(seat.seat_no, seat.section, seat.row, seat.number) for seat in lost] == [
        (2, "Stalls", "A", "3"),
        (3, "Stalls", "A", "4"),
    ]


async def test_one_of_fifty_buyers_of_one_seat_wins(api: Api, event_id: int) -> None:
    tokens = [await api.fan() for _ in range(50)]
    body = wire.HoldRequest(seats=(7,))
    answers = await asyncio.gather(
        *(api.call("POST", f"/v1/events/{event_id}/holds", body, token=token) for token in tokens)
    )
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 49
    assert await count(api.db, "SELECT count(*) FROM holds") == 1


async def test_a_fan_sees_no_hold_of_another_and_a_supervisor_does(api: Api, event_id: int) -> None:
    held = await hold(api, event_id, await api.fan(), 4)
    path = f"/v1/holds/{held.hold_id}"
    problem(await api.call("GET", path, token=await api.fan()), ErrorCode.HOLD_NOT_FOUND)
    problem(await api.call("DELETE", path, token=await api.fan()), ErrorCode.HOLD_NOT_FOUND)
    assert read(await api.call("GET", path, token=await api.staff(Role.SUPERVISOR)), wire.Hold).hold_id == held.hold_id


# ---------------------------------------------------------------- refusals of the web itself


@pytest.mark.parametrize("value", ["-1", "1.5", '"1"', "true", "null", "1e9", "9223372036854775808"])
async def test_b18_a_wrong_quantity_is_refused_and_nothing_is_written(api: Api, event_id: int, value: str) -> None:
    response = await api.call(
        "POST", f"/v1/events/{event_id}/holds", b'{"seats":[%s]}' % value.encode(), token=await api.fan()
    )
    assert response.status_code == 422
    assert problem(response, ErrorCode.INVALID_REQUEST).fields[0].pointer == "/seats/0"
    assert await count(api.db, "SELECT count(*) FROM holds") + await count(api.db, "SELECT count(*) FROM outbox") == 0


@pytest.mark.parametrize("path", ["/v1/events/%00", "/v1/events/1%00", "/v1/%ED%A0%80", "/%00", "/v1/holds/%ff"])
async def test_g8_nul_and_half_surrogates_in_a_path_are_refused_by_name(api: Api, path: str) -> None:
    response = await api.call("GET", path)
    assert response.status_code == 422
    assert problem(response, ErrorCode.INVALID_REQUEST).fields[0].pointer.startswith("path")


@pytest.mark.parametrize("query", ["a=%00", "a=%ED%A0%80", "a=%FF"])
async def test_g8_nul_and_half_surrogates_in_a_query_are_refused_by_name(api: Api, query: str) -> None:
    response = await api.call("GET", f"/v1/events?{query}")
    assert response.status_code == 422
    assert problem(response, ErrorCode.INVALID_REQUEST).fields[0].pointer == "query:a"


async def test_g8_nul_in_a_body_is_refused_by_name(api: Api, event_id: int) -> None:
    pending = await order(api, event_id, token := await api.fan(), 4)
    response = await api.call(
        "POST", f"/v1/orders/{pending.order_id}/cancel", b'{"reason":"A\\u0000B","keep_seats":true}', token=token
    )
    assert response.status_code == 422
    assert problem(response, ErrorCode.INVALID_REQUEST).fields[0].pointer == "/reason"


async def test_unknown_addresses_and_methods_are_problems_too(api: Api) -> None:
    problem(await api.call("GET", "/v1/nothing"), ErrorCode.NOT_FOUND)
    problem(await api.call("GET", "/v1/events/"), ErrorCode.NOT_FOUND)
    wrong = await api.call("DELETE", "/v1/events")
    problem(wrong, ErrorCode.METHOD_NOT_ALLOWED)
    assert "GET" in wrong.headers["allow"]
    problem(await api.call("GET", "/v1/events/999999"), ErrorCode.EVENT_NOT_FOUND)
    problem(await api.call("GET", "/v1/events/999999/seats"), ErrorCode.EVENT_NOT_FOUND)


async def test_a_body_that_is_too_large_or_no_json_is_refused(api: Api, event_id: int) -> None:
    path, token = f"/v1/events/{event_id}/holds", await api.fan()
    problem(await api.call("POST", path, b" " * 70_000, token=token), ErrorCode.BODY_TOO_LARGE)
    text = {"Content-Type": "text/plain"}
    problem(await api.call("POST", path, b"{}", token=token, headers=text), ErrorCode.UNSUPPORTED_MEDIA_TYPE)


async def test_a_request_id_of_the_client_is_kept_and_a_bad_one_replaced(api: Api) -> None:
    kept = await api.call("GET", "/healthz", headers={wire.REQUEST_ID_HEADER: "till-1.request_77"})
    assert kept.headers[wire.REQUEST_ID_HEADER] == "till-1.request_77"
    made = await api.call("GET", "/healthz", headers={wire.REQUEST_ID_HEADER: "a b;c"})
    assert UUID(made.headers[wire.REQUEST_ID_HEADER]).version == 7


async def test_an_unforeseen_failure_leaks_nothing_and_is_logged_under_its_request_id(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Database) -> None:
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr(read_events, "list_events", fail)
    with caplog.at_level(logging.ERROR):
        response = await api.call("GET", "/v1/events")
    found = problem(response, ErrorCode.INTERNAL)
    assert "secret" not in response.text
    (record,) = [one for one in caplog.records if one.exc_info]
    assert found.request_id in record.getMessage()


async def test_who_calls_is_asked_before_the_key_and_the_body(api: Api) -> None:
    response = await api.client.post("/v1/orders/x/payments", content=b"no json")
    problem(response, ErrorCode.NOT_SIGNED_IN)


# ---------------------------------------------------------------- reading


async def test_the_plan_is_sent_once_and_then_only_its_tag(api: Api, event_id: int) -> None:
    first = await api.call("GET", f"/v1/events/{event_id}/plan", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    assert len(read(first, wire.Plan).seats.x) == 40
    tag = first.headers["etag"]
    again = await api.call("GET", f"/v1/events/{event_id}/plan", headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


async def test_events_and_their_prices_are_read(api: Api, event_id: int) -> None:
    (summary,) = read(await api.call("GET", "/v1/events"), wire.EventList).events
    detail = read(await api.call("GET", f"/v1/events/{event_id}"), wire.EventDetail)
    assert summary.event_id == detail.event_id == event_id
    assert {price.amount_minor for price in detail.prices} == {4_000, 1_500}


async def test_the_public_and_staff_get_seats_in_layouts_and_tags_of_their_own(api: Api, event_id: int) -> None:
    path = f"/v1/events/{event_id}/seats"
    public = await api.call("GET", path, headers={"Accept-Encoding": "identity"})
    staff = await api.call("GET", path, token=await api.staff(Role.OPS), headers={"Accept-Encoding": "identity"})
    assert public.headers["content-type"] == wire.SEATS_MEDIA_TYPE
    assert decode_snapshot(public.content).layout is Layout.PUBLIC
    assert decode_snapshot(staff.content).layout is Layout.STAFF
    assert (public.headers["etag"], staff.headers["etag"]) == ('"1-0-public"', '"1-0-staff"')
    assert decode_snapshot((await api.call("GET", path, token=await api.fan())).content).layout is Layout.PUBLIC
    known = await api.call("GET", path, headers={"If-None-Match": '"1-0-public"'})
    assert (known.status_code, known.content) == (304, b"")
    zipped = await api.client.send(
        api.client.build_request("GET", path, headers={"Accept-Encoding": "gzip"}), stream=True
    )
    raw = b"".join([chunk async for chunk in zipped.aiter_raw()])
    assert gzip.decompress(raw) == public.content


async def test_a_hold_shows_in_the_snapshot_once_it_is_sequenced(api: Api, event_id: int) -> None:
    path = f"/v1/events/{event_id}/seats"
    token = await api.staff(Role.CLERK)
    assert decode_snapshot((await api.call("GET", path, token=token)).content).version == 0
    await hold(api, event_id, token, 4)
    await sequence_feed.prepare(api.db)
    await sequence_feed.tick(api.db)

    async with asyncio.timeout(60):
        while (snapshot := decode_snapshot((await api.call("GET", path, token=token)).content)).version < 1:
            await asyncio.sleep(0.01)
    assert snapshot.states[4] & 7 == StaffStatus.HELD


# ---------------------------------------------------------------- an authority that is away


async def test_r15_the_map_goes_on_while_the_authority_is_away_and_holds_are_refused() -> None:
    with temporary_cluster() as cluster:
        dsn = await asyncio.to_thread(cluster.create_database, "away")
        await migrate(dsn)
        db = await Database.open(dsn, application="test-away")
        async with api_over(db) as api:
            event_id, token = await make_event(db), await api.fan()
            path = f"/v1/events/{event_id}/seats"
            assert (await api.call("GET", path)).status_code == 200
            await asyncio.to_thread(cluster.stop)

            still = await api.call("GET", path)
            refused = await api.call("POST", f"/v1/events/{event_id}/holds", wire.HoldRequest(seats=(1,)), token=token)

            assert decode_snapshot(still.content).states.tolist() == [0] * 40
            assert refused.status_code == 503
            assert problem(refused, ErrorCode.AUTHORITY_AWAY).retry_after_s
            assert int(refused.headers["retry-after"]) >= 1
            assert (await api.call("GET", "/healthz")).status_code == 200
            problem(await api.call("GET", "/readyz"), ErrorCode.AUTHORITY_AWAY)
        await db.close()
