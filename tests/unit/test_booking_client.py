"""The client: what each failure means, what is sent again, and whose token it carries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import UUID

import httpx
import msgspec
import pytest

from backend_client.client import BookingClient
from backend_client.errors import (
    AnswerUnknownError,
    AnswerUnreadableError,
    BookingClientError,
    BookingRefusedError,
    HoldGoneError,
    InsecureAddressError,
    KeyInProgressError,
    NothingDoneError,
    NotSignedInError,
    SeatsTakenError,
    ServiceUnavailableError,
    refusal,
)
from backend_client.http import check_address
from backend_client.retry import RetryPolicy, call_with_retry
from backend_client.testing import FakeBookingServer, Fault
from backend_client.testing_house import RefusalError
from backend_client.tokens import Tokens
from backend_client.wire import DeviceId, ErrorCode, EventId, Problem, SeatStatus, StaffSession

DEVICE = DeviceId(UUID(int=9))
QUICK = RetryPolicy(attempts=3, base_s=0.0, cap_s=0.0)
KEY = "0192-key"


@pytest.fixture
def server() -> FakeBookingServer:
    return FakeBookingServer()


@pytest.fixture
async def client(server: FakeBookingServer) -> AsyncIterator[BookingClient]:
    made = BookingClient(server.base_url, device_id=DEVICE, transport=server.transport, retry=QUICK)
    await made.sign_in("carla", "secret", "till 1")
    yield made
    await made.close()


def answering(*answers: httpx.Response | Exception) -> BookingClient:
    """A client of a server that answers so, the last one for ever."""
    left = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)

    transport = httpx.MockTransport(handle)
    return BookingClient("http://127.0.0.1:1", device_id=DEVICE, transport=transport, retry=RetryPolicy(attempts=1))


def problem(code: ErrorCode, status: int, headers: dict[str, str] | None = None) -> httpx.Response:
    body = Problem(type="about:blank", title="t", status=status, code=code)
    return httpx.Response(
        status,
        content=msgspec.json.encode(body),
        headers={"Content-Type": "application/problem+json", **(headers or {})},
    )


@pytest.mark.parametrize(
    "failure",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("late"), httpx.PoolTimeout("full")],
)
async def test_what_was_never_sent_had_no_effect(failure: Exception) -> None:
    client = answering(failure)
    with pytest.raises(ServiceUnavailableError) as raised:
        await client.hold_seats(EventId(1), [1], key=KEY)
    assert raised.value.__cause__ is failure
    await client.close()


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ReadTimeout("late"),
        httpx.ReadError("reset"),
        httpx.WriteError("reset"),
        httpx.RemoteProtocolError("cut"),
        httpx.Response(500),
        httpx.Response(502, text="<html>"),
        problem(ErrorCode.AUTHORITY_AWAY, 503),
        problem(ErrorCode.INTERNAL, 500),
        httpx.Response(201, text="{"),
        httpx.Response(409, text="not a problem"),
    ],
)
async def test_anything_after_sending_is_unknown_for_a_mutating_call(failure: Exception | httpx.Response) -> None:
    """P3, R24: a lost, broken or unreadable answer is never taken for a failure."""
    client = answering(failure)
    with pytest.raises(AnswerUnknownError):
        await client.hold_seats(EventId(1), [1], key=KEY)
    await client.close()


async def test_a_reading_call_can_simply_be_made_again() -> None:
    client = answering(httpx.ReadTimeout("late"))
    with pytest.raises(ServiceUnavailableError):
        await client.events()
    unreadable = answering(httpx.Response(200, text="{"))
    with pytest.raises(AnswerUnreadableError):
        await unreadable.events()
    with pytest.raises(AnswerUnreadableError):
        await unreadable.seat_snapshot(EventId(1))
    await client.close()
    await unreadable.close()


async def test_busy_was_shed_unbegun_and_says_when_to_come_back() -> None:
    client = answering(problem(ErrorCode.BUSY, 503, {"Retry-After": "7"}))
    with pytest.raises(ServiceUnavailableError) as raised:
        await client.hold_seats(EventId(1), [1], key=KEY)
    assert raised.value.retry_after_s == 7
    await client.close()


async def test_retry_after_as_a_date_counts_from_the_servers_own_date() -> None:
    headers = {"Retry-After": "Mon, 30 Nov 2026 00:00:05 GMT", "Date": "Mon, 30 Nov 2026 00:00:01 GMT"}
    client = answering(problem(ErrorCode.BUSY, 503, headers))
    with pytest.raises(ServiceUnavailableError) as raised:
        await client.hold_seats(EventId(1), [1], key=KEY)
    assert raised.value.retry_after_s == 4
    await client.close()


@pytest.mark.parametrize(
    "address", ["http://tickets.example", "http://10.0.0.5:80", "ftp://127.0.0.1", "127.0.0.1:80", ""]
)
def test_plain_http_leaves_this_machine_never(address: str) -> None:
    """R43."""
    with pytest.raises(InsecureAddressError):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["https://tickets.example/", "http://127.0.0.1:8000", "http://[::1]:1", "http://localhost"]
)
def test_tls_or_loopback_is_accepted(address: str) -> None:
    assert check_address(address) == address.rstrip("/")


async def test_lost_answer_is_sent_again_with_the_same_key_and_takes_effect_once(
    client: BookingClient, server: FakeBookingServer
) -> None:
    """R6, G5."""
    server.fail(Fault.ANSWER_LOST, "/holds")
    hold = await client.hold_seats(server.house.event_id, [1, 2], key=KEY)
    calls = [call for call in server.calls if call.path.endswith("/holds")]
    assert [(call.key, call.replayed) for call in calls] == [(KEY, False), (KEY, True)]
    assert list(server.house.holds) == [hold.hold_id]


async def test_unknown_then_unreachable_stays_unknown(client: BookingClient, server: FakeBookingServer) -> None:
    """The second attempt that was never sent does not make the first one undone."""
    server.fail(Fault.ANSWER_LOST, "/holds")
    server.fail(Fault.UNREACHABLE, "/holds", times=9)
    with pytest.raises(AnswerUnknownError):
        await client.hold_seats(server.house.event_id, [1], key=KEY)


async def test_refusal_after_a_lost_answer_is_definite(client: BookingClient, server: FakeBookingServer) -> None:
    server.sell_elsewhere(1)
    server.fail(Fault.REQUEST_LOST, "/holds")
    with pytest.raises(SeatsTakenError) as raised:
        await client.hold_seats(server.house.event_id, [1, 2], key=KEY)
    assert [seat.seat_no for seat in raised.value.seats] == [1]


async def test_key_in_progress_waits_as_long_as_it_is_told() -> None:
    """P6."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    answers = [KeyInProgressError(Problem(
        type="", title="", status=409, code=ErrorCode.KEY_IN_PROGRESS, retry_after_s=2
    ))]  # fmt: skip

    async def call() -> str:
        if answers:
            raise answers.pop()
        return "done"

    policy = RetryPolicy(sleep=sleep, random=random.Random(1))
    assert await call_with_retry(call, policy) == "done"
    assert 2 <= pauses[0] <= 2 + policy.base_s


@pytest.mark.parametrize(
    "code", [ErrorCode.NOT_SIGNED_IN, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMITED, ErrorCode.KEY_IN_PROGRESS]
)
async def test_after_a_lost_answer_a_refusal_of_the_caller_leaves_it_unknown(code: ErrorCode) -> None:
    """Who is refused before the key is looked up hears nothing about what the call did before (P1, P6)."""
    answers: list[Exception] = [AnswerUnknownError("lost")]

    async def call() -> None:
        raise answers.pop() if answers else refusal(Problem(type="", title="", status=400, code=code))

    async def sleep(seconds: float) -> None:
        del seconds

    with pytest.raises(AnswerUnknownError):
        await call_with_retry(call, RetryPolicy(attempts=3, sleep=sleep))


async def test_a_key_whose_first_call_still_runs_at_the_end_is_unknown_and_no_refusal() -> None:
    async def call() -> None:
        raise refusal(Problem(type="", title="", status=409, code=ErrorCode.KEY_IN_PROGRESS))

    async def sleep(seconds: float) -> None:
        del seconds

    with pytest.raises(AnswerUnknownError):
        await call_with_retry(call, RetryPolicy(attempts=2, sleep=sleep))


async def test_retries_are_jittered_capped_and_end() -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def call() -> None:
        raise ServiceUnavailableError("away")

    policy = RetryPolicy(attempts=8, base_s=0.5, cap_s=2.0, within_s=60, sleep=sleep, random=random.Random(3))
    with pytest.raises(ServiceUnavailableError):
        await call_with_retry(call, policy)
    assert len(pauses) == 7
    assert max(pauses) <= 2.0
    assert len(set(pauses)) == 7


async def test_a_pause_beyond_the_deadline_is_not_slept() -> None:
    async def call() -> None:
        raise ServiceUnavailableError("away", retry_after_s=60)

    async def sleep(seconds: float) -> None:
        pytest.fail(f"slept {seconds} s")

    with pytest.raises(ServiceUnavailableError):
        await call_with_retry(call, RetryPolicy(within_s=3, sleep=sleep))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.SEATS_TAKEN, SeatsTakenError),
        (ErrorCode.HOLD_EXPIRED, HoldGoneError),
        (ErrorCode.TOKEN_EXPIRED, NotSignedInError),
        (ErrorCode.ACCOUNT_LIMIT, BookingRefusedError),
    ],
)
def test_refusals_are_told_apart_by_code(code: ErrorCode, kind: type[BookingRefusedError]) -> None:
    error = refusal(Problem(type="", title="", status=409, code=code))
    assert type(error) is kind
    assert error.code == code.value


def test_every_error_stands_in_the_tree_of_the_docstring() -> None:
    import backend_client.errors as module

    classes = [
        kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, BookingClientError)
    ]
    assert classes
    for kind in classes:
        assert kind.__name__ in (module.__doc__ or "")


async def test_one_refresh_serves_all_calls_that_found_the_token_expired(
    client: BookingClient, server: FakeBookingServer
) -> None:
    sessions: list[StaffSession | None] = []
    client.on_session = sessions.append
    server.expire_tokens()
    server.delay("/refresh", 0.01)
    answers = await asyncio.gather(*(client.me() for _ in range(10)))
    assert len(answers) == 10
    assert server.refreshes == 1
    assert len(sessions) == 1
    assert sessions[0] is not None
    assert sessions[0].refresh_token.startswith("refresh-")


async def test_cancelling_one_caller_does_not_lose_the_refresh(
    client: BookingClient, server: FakeBookingServer
) -> None:
    """A refresh token is used once: its answer must be kept even when who asked has gone."""
    server.expire_tokens()
    server.delay("/refresh", 0.02)
    first = asyncio.create_task(client.me(), name="first")
    second = asyncio.create_task(client.me(), name="second")
    await asyncio.sleep(0.005)
    first.cancel()
    assert (await second).principal
    assert server.refreshes == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_token_is_renewed_before_it_expires_and_while_the_refresh_is_away_the_old_one_serves(
    server: FakeBookingServer,
) -> None:
    server.access_life_s = 10.0  # inside the margin: due at once
    client = BookingClient(server.base_url, device_id=DEVICE, transport=server.transport, retry=QUICK)
    await client.sign_in("carla", "secret", "till")
    server.fail(Fault.UNREACHABLE, "/refresh", times=9)
    assert (await client.me()).principal
    server.heal()
    server.access_life_s = 600.0
    await client.me()
    await client.me()
    assert server.refreshes == 1
    await client.close()


async def test_ended_session_is_told_once_and_forgotten(client: BookingClient, server: FakeBookingServer) -> None:
    sessions: list[StaffSession | None] = []
    client.on_session = sessions.append
    server.sign_everybody_out()
    with pytest.raises(NotSignedInError):
        await client.me()
    assert sessions == [None]
    assert client.session is None


async def test_wrong_password_is_sent_once(server: FakeBookingServer) -> None:
    client = BookingClient(server.base_url, device_id=DEVICE, transport=server.transport, retry=QUICK)
    with pytest.raises(NotSignedInError) as raised:
        await client.sign_in("carla", "wrong", "till")
    assert raised.value.code == "wrong-credentials"
    assert len(server.calls) == 1
    await client.close()


async def test_a_call_that_finds_nobody_signed_in_any_more_is_told_so() -> None:
    """Somebody signed out while the call's token was being refused: that is no failure of the program."""

    async def never(_session: StaffSession) -> StaffSession:
        raise AssertionError("there is nothing to exchange")

    with pytest.raises(NotSignedInError) as caught:
        await Tokens(never).renew("a token that was refused")
    assert (caught.value.code, caught.value.is_word) == ("not-signed-in", False)


async def test_sign_out_forgets_the_tokens_even_when_the_system_is_away(
    client: BookingClient, server: FakeBookingServer
) -> None:
    server.fail(Fault.UNREACHABLE, times=99)
    await client.sign_out()
    assert client.session is None
    server.heal()
    with pytest.raises(NotSignedInError):
        await client.me()


async def test_sign_out_forgets_the_tokens_whatever_the_booking_system_says(
    client: BookingClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_call: object) -> object:
        raise RefusalError(ErrorCode.FORBIDDEN)

    monkeypatch.setattr(FakeBookingServer, "_route", refuse)
    await client.sign_out()
    assert client.session is None


async def test_replayed_answer_tells_nothing_about_the_time(client: BookingClient, server: FakeBookingServer) -> None:
    """A replay carries the first answer's clock; taken for now, the countdown would show too much time."""
    heard: list[datetime] = []
    client.on_time = lambda at, _sent, _received: heard.append(at)
    hold = await client.hold_seats(server.house.event_id, [1], key=KEY)
    assert len(heard) == 1
    server.pass_time(200)
    again = await client.hold_seats(server.house.event_id, [1], key=KEY)
    assert again == hold
    assert len(heard) == 1
    await client.hold(hold.hold_id)
    assert heard[1] - heard[0] >= timedelta(seconds=199)


async def test_plan_is_read_once_for_each_version(client: BookingClient, server: FakeBookingServer) -> None:
    plan = server.house.plan
    for _ in range(3):
        assert (await client.plan(server.house.event_id, plan.plan_id, plan.version)).name == plan.name
    assert sum(call.path.endswith("/plan") for call in server.calls) == 1


async def test_the_details_of_a_seat_are_read_again_after_a_lost_answer_and_fans_get_none(
    client: BookingClient, server: FakeBookingServer
) -> None:
    hold = await client.hold_seats(EventId(1), [3], key=KEY)
    server.fail(Fault.ANSWER_LOST, "/seats/3")
    detail = await client.seat_detail(EventId(1), 3)
    assert (detail.status, detail.hold_id, detail.since) == (SeatStatus.HELD, hold.hold_id, hold.created_at)
    assert [item.kind for item in detail.history] == ["held"]
    with pytest.raises(BookingRefusedError) as refused:
        await client.seat_detail(EventId(1), 4_000)
    assert refused.value.problem.code is ErrorCode.SEAT_UNKNOWN
    fan = BookingClient(server.base_url, device_id=DEVICE, transport=server.transport, retry=QUICK)
    with pytest.raises(NotSignedInError):
        await fan.seat_detail(EventId(1), 3)
    await fan.close()


async def test_reaching_and_not_reaching_is_told(client: BookingClient, server: FakeBookingServer) -> None:
    reached: list[bool] = []
    client.on_reached = reached.append
    await client.me()
    server.fail(Fault.UNREACHABLE, times=3)
    with pytest.raises(NothingDoneError):
        await client.me()
    assert reached == [True, False, False, False]
