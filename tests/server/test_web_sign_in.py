"""Signing in: passwords, throttling, tokens that are read without the database, refresh tokens that are used once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import pytest
from uuid_utils.compat import uuid7

from backend_client import wire
from booking.domain.caller import Channel, Role
from booking.domain.errors import (
    BookingError,
    BusyError,
    InvalidRequestError,
    NotSignedInError,
    TokenExpiredError,
    TooManyAttemptsError,
    WrongCredentialsError,
)
from booking.services import access_tokens, login_throttle, passwords, sign_in
from booking.services.access_tokens import Claims
from booking.services.sign_in import StaffSession
from booking.store.database import Database
from booking.store.staff_queries import Attempts
from tests.server.box_office import Clock, count
from tests.server.web_api import Api, api_over, read

PASSWORD = "correct horse battery"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
async def carla(database: Database) -> UUID:
    return await sign_in.create_staff(database, "Carla", "Carla Reyes", Role.CLERK, PASSWORD)


async def login(db: Database, password: str = PASSWORD, device_id: UUID | None = None) -> StaffSession:
    return await sign_in.login(db, "carla", password, device_id or uuid4(), "Till 1")


async def code_of(db: Database, password: str, device_id: UUID) -> str:
    try:
        await login(db, password, device_id)
    except BookingError as error:
        return error.code
    return ""


async def audited(db: Database) -> list[str]:
    return [row["action"] for row in await db.fetch("SELECT action FROM audit_log ORDER BY audit_id")]


# ---------------------------------------------------------------- names and passwords


async def test_a_clerk_signs_in_and_the_token_says_who_calls(database: Database, carla: UUID) -> None:
    device_id = uuid4()
    session = await sign_in.login(database, "  CARLA ", PASSWORD, device_id, "Till 1")
    caller = await sign_in.caller_of_token(database, session.access_token)
    assert (session.staff_id, session.name, session.role) == (carla, "carla", Role.CLERK)
    assert (caller.principal, caller.role, caller.channel) == (f"device:{device_id}", Role.CLERK, Channel.TILL)
    assert (caller.device_id, caller.staff_id, caller.display_name) == (device_id, carla, "Carla Reyes")
    assert timedelta(minutes=9) < session.access_expires_at - datetime.now(UTC) <= timedelta(minutes=10)
    assert (await audited(database))[-1] == "login"


@pytest.mark.parametrize(("name", "password"), [("carla", "wrong"), ("nobody", PASSWORD), ("carla", PASSWORD + " ")])
async def test_a_wrong_name_and_a_wrong_password_sound_the_same(
    database: Database, carla: UUID, name: str, password: str
) -> None:
    with pytest.raises(WrongCredentialsError) as refused:
        await sign_in.login(database, name, password, uuid4(), "Till 1")
    assert refused.value.detail == "Name or password is wrong."
    assert (await audited(database))[-1] == "login-refused"


async def test_staff_who_left_cannot_sign_in_or_refresh(database: Database, carla: UUID) -> None:
    session = await login(database)
    await database.fetch("UPDATE staff SET active = false")
    with pytest.raises(WrongCredentialsError):
        await login(database)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, session.refresh_token, session.device_id)


async def test_secrets_are_never_stored_in_the_clear(database: Database, carla: UUID) -> None:
    session = await login(database)
    await sign_in.refresh(database, session.refresh_token, session.device_id)
    dump = ""
    for table in ("staff", "staff_sessions", "staff_refresh_tokens", "audit_log", "devices"):
        dump += "".join(row[0] for row in await database.fetch(f"SELECT t::text FROM {table} AS t"))
    for secret in (PASSWORD, session.refresh_token, session.access_token):
        assert secret not in dump
        assert secret.encode().hex() not in dump


async def test_two_hashes_of_one_password_differ_and_both_verify() -> None:
    first, second = await passwords.hash_password(PASSWORD), await passwords.hash_password(PASSWORD)
    assert first != second
    assert await passwords.verify_password(PASSWORD, first)
    assert not await passwords.verify_password(PASSWORD + "x", second)
    assert not await passwords.verify_password("", None)


async def test_a_crowd_at_the_password_check_is_shed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_MAX_WAITING", 2)
    results = await asyncio.gather(*(passwords.hash_password(PASSWORD) for _ in range(5)), return_exceptions=True)
    assert [type(result) for result in results].count(BusyError) == 3
    assert await passwords.hash_password(PASSWORD)


@pytest.mark.parametrize(
    ("name", "role", "password"), [("", Role.CLERK, PASSWORD), ("x", Role.FAN, PASSWORD), ("x", Role.CLERK, "short")]
)
async def test_staff_need_a_name_a_staff_role_and_a_password(
    database: Database, name: str, role: Role, password: str
) -> None:
    with pytest.raises(InvalidRequestError):
        await sign_in.create_staff(database, name, "Somebody", role, password)


async def test_saving_staff_again_keeps_their_id_and_another_password_ends_their_sessions(
    database: Database, carla: UUID
) -> None:
    session = await login(database)
    assert await sign_in.create_staff(database, "carla", "Carla R.", Role.SUPERVISOR, PASSWORD) == carla
    await sign_in.set_password(database, "carla", "another password")
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, session.refresh_token, session.device_id)
    assert (await login(database, "another password")).role is Role.SUPERVISOR


# ---------------------------------------------------------------- throttling


async def test_after_five_failures_the_pair_waits_and_the_wait_doubles(
    database: Database, carla: UUID, clock: Clock
) -> None:
    await clock.stand_at(NOON)
    till, other = uuid4(), uuid4()
    assert [await code_of(database, "wrong", till) for _ in range(6)] == ["wrong-credentials"] * 5 + [
        "too-many-attempts"
    ]
    assert await code_of(database, PASSWORD, till) == "too-many-attempts"
    assert await code_of(database, PASSWORD, other) == ""
    await clock.move(seconds=30)
    assert await code_of(database, "wrong", till) == "wrong-credentials"
    with pytest.raises(TooManyAttemptsError) as waiting:
        await login(database, PASSWORD, till)
    assert waiting.value.retry_after_s == 60
    await clock.move(seconds=60)
    assert await code_of(database, PASSWORD, till) == ""
    assert await count(database, "SELECT count(*) FROM login_attempts") == 0


async def test_guesses_at_the_same_moment_are_counted_one_by_one(database: Database, carla: UUID) -> None:
    till = uuid4()
    codes = await asyncio.gather(*(code_of(database, "wrong", till) for _ in range(20)))
    assert codes.count("wrong-credentials") == login_throttle.FREE_TRIES
    assert codes.count("too-many-attempts") == 20 - login_throttle.FREE_TRIES


async def test_a_new_device_id_for_each_guess_does_not_help_and_a_known_device_is_not_locked_out(
    database: Database, carla: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_throttle, "STRANGE_TRIES", 8)
    known = uuid4()
    await login(database, PASSWORD, known)
    codes = [await code_of(database, "wrong", uuid4()) for _ in range(10)]
    assert codes == ["wrong-credentials"] * 8 + ["too-many-attempts"] * 2
    assert await code_of(database, PASSWORD, known) == ""


def test_the_wait_is_bounded_and_quiet_minutes_are_forgiven() -> None:
    attempts = Attempts(0, NOON, None)
    waits = []
    for _ in range(14):
        attempts = login_throttle.after_failure(attempts, NOON)
        waits.append(None if attempts.blocked_until is None else int((attempts.blocked_until - NOON).total_seconds()))
    assert waits == [None] * 4 + [30, 60, 120, 240, 480, 900, 900, 900, 900, 900]
    later = login_throttle.after_failure(attempts, NOON + login_throttle.FORGET_AFTER)
    assert (later.failures, later.blocked_until) == (1, None)


# ---------------------------------------------------------------- access tokens


def claims(**changes: object) -> Claims:
    known = Claims(
        key_id=uuid7(), expires_at=int(NOON.timestamp()), role=Role.CLERK, device_id=uuid7(), staff_id=uuid7()
    )
    return msgspec.structs.replace(known, **changes)


def test_a_token_holds_until_the_exact_instant() -> None:
    known = claims()
    token, keys = access_tokens.sign(known, b"k" * 32), {known.key_id: b"k" * 32}
    assert access_tokens.read(token, keys, NOON - timedelta(microseconds=1)) == known
    with pytest.raises(TokenExpiredError):
        access_tokens.read(token, keys, NOON)


def test_a_token_that_was_touched_or_signed_by_others_is_refused() -> None:
    known = claims()
    keys = {known.key_id: b"k" * 32}
    token = access_tokens.sign(known, b"k" * 32)
    prefix, body, mac = token.split(".")
    raised = access_tokens.sign(msgspec.structs.replace(known, role=Role.ADMIN), b"k" * 32).split(".")[1]
    bad = [
        f"{prefix}.{raised}.{mac}", access_tokens.sign(known, b"x" * 32), f"{prefix}.{body}", f"{prefix}.{body}.",
        f"tq0.{body}.{mac}", f"{prefix}.{body}.{mac}é", "", "..", token + "x" * 3000, f"{prefix}.!!.{mac}",
        access_tokens.sign(claims(), b"k" * 32),
    ]  # fmt: skip
    for text in bad:
        with pytest.raises(NotSignedInError):
            access_tokens.read(text, keys, NOON - timedelta(seconds=1))


def test_a_token_that_names_nobody_is_refused() -> None:
    with pytest.raises(NotSignedInError):
        claims(staff_id=None).caller()


async def test_a_token_is_read_without_the_database_once_its_key_is_known(database: Database, carla: UUID) -> None:
    session = await login(database)
    await sign_in.caller_of_token(database, session.access_token)
    await database.close()
    assert (await sign_in.caller_of_token(database, session.access_token)).staff_id == carla


async def test_another_process_reads_a_token_and_a_new_key_signs_without_ending_the_old_ones(
    dsn: str, database: Database, carla: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await login(database)
    other = await Database.open(dsn, lanes=False)
    try:
        assert (await sign_in.caller_of_token(other, session.access_token)).staff_id == carla
        await database.fetch("INSERT INTO api_keys VALUES ($1, 'access-token', $2)", uuid7(), b"n" * 32)
        third = await Database.open(dsn, lanes=False)
        try:
            newer = await login(third)
        finally:
            await third.close()
        monkeypatch.setattr(sign_in, "_READ_KEYS_AGAIN_AFTER_S", 0.0)
        assert (await sign_in.caller_of_token(other, newer.access_token)).staff_id == carla
        assert (await sign_in.caller_of_token(other, session.access_token)).staff_id == carla
    finally:
        await other.close()


async def test_a_fan_has_an_account_of_their_own(database: Database) -> None:
    first, second = await sign_in.create_account(database), await sign_in.create_account(database)
    caller = await sign_in.caller_of_token(database, first.access_token)
    assert (caller.principal, caller.role) == (f"account:{first.account_id}", Role.FAN)
    assert first.account_id != second.account_id


# ---------------------------------------------------------------- refresh tokens


async def test_a_refresh_token_is_used_once_and_its_second_use_ends_the_session(
    database: Database, carla: UUID, clock: Clock
) -> None:
    await clock.stand_at(NOON)
    first = await login(database)
    second = await sign_in.refresh(database, first.refresh_token, first.device_id)
    await clock.move(seconds=11)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, first.refresh_token, first.device_id)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, second.refresh_token, first.device_id)
    assert (await audited(database))[-1] == "session-ended"


async def test_a_caller_whose_answer_was_lost_gets_the_same_successor(
    database: Database, carla: UUID, clock: Clock
) -> None:
    await clock.stand_at(NOON)
    first = await login(database)
    answers = [await sign_in.refresh(database, first.refresh_token, first.device_id)]
    await clock.move(seconds=10)
    answers.append(await sign_in.refresh(database, first.refresh_token, first.device_id))
    assert answers[0].refresh_token == answers[1].refresh_token != first.refresh_token
    third = await sign_in.refresh(database, answers[0].refresh_token, first.device_id)
    assert third.refresh_token not in {first.refresh_token, answers[0].refresh_token}


async def test_a_token_whose_successor_was_used_is_a_theft_even_within_the_grace(
    database: Database, carla: UUID
) -> None:
    first = await login(database)
    second = await sign_in.refresh(database, first.refresh_token, first.device_id)
    await sign_in.refresh(database, second.refresh_token, first.device_id)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, first.refresh_token, first.device_id)


async def test_two_refreshes_at_the_same_moment_get_the_same_successor(database: Database, carla: UUID) -> None:
    first = await login(database)
    answers = await asyncio.gather(*(sign_in.refresh(database, first.refresh_token, first.device_id) for _ in range(4)))
    assert len({answer.refresh_token for answer in answers}) == 1


async def test_a_refresh_token_on_another_device_ends_the_session(database: Database, carla: UUID) -> None:
    session = await login(database)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, session.refresh_token, uuid4())
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, session.refresh_token, session.device_id)


async def test_a_session_ends_by_itself_and_by_signing_out(database: Database, carla: UUID, clock: Clock) -> None:
    left = await login(database)
    await sign_in.logout(database, left.access_token)
    await sign_in.logout(database, left.access_token)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, left.refresh_token, left.device_id)
    old = await login(database)
    await clock.move(seconds=sign_in.SESSION_LIFE.total_seconds())
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, old.refresh_token, old.device_id)


async def test_an_unknown_refresh_token_harms_nobody(database: Database, carla: UUID) -> None:
    session = await login(database)
    with pytest.raises(NotSignedInError):
        await sign_in.refresh(database, "x" * 43, session.device_id)
    assert (await sign_in.refresh(database, session.refresh_token, session.device_id)).name == "carla"


# ---------------------------------------------------------------- over HTTP


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def test_login_refresh_and_logout_over_http(api: Api, carla: UUID) -> None:
    device_id = wire.DeviceId(uuid4())
    request = wire.LoginRequest(name="carla", password=PASSWORD, device_id=device_id, device_name="Till 1")
    session = read(await api.call("POST", "/v1/staff/login", request), wire.StaffSession)
    renewed = read(
        await api.call(
            "POST", "/v1/staff/refresh", wire.RefreshRequest(refresh_token=session.refresh_token, device_id=device_id)
        ),
        wire.StaffSession,
    )
    assert (renewed.staff_id, renewed.device_id, renewed.role) == (carla, device_id, wire.Role.CLERK)
    assert (await api.call("POST", "/v1/staff/logout", token=renewed.access_token)).status_code == 204


async def test_too_many_attempts_say_over_http_when_to_come_back(api: Api, carla: UUID) -> None:
    request = wire.LoginRequest(name="carla", password="wrong", device_id=wire.DeviceId(uuid4()), device_name="Till 1")
    answers = [await api.call("POST", "/v1/staff/login", request) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 30
