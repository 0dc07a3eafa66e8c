"""A fan's account beyond its access token: renewed, moved, ended; replayed, stolen and forged (R8, R42)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from backend_client import wire
from booking.services import access_tokens, renewals, retention, sign_in
from booking.services.sign_in import AccountSession
from booking.store.database import Database
from booking.web.rate_limit import Allowance, RateLimits
from tests.server.box_office import Clock, count
from tests.server.web_api import Api, api_over, problem, read

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def secret() -> str:
    return secrets.token_urlsafe(24)


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def opened(api: Api, first: str) -> wire.AccountSession:
    return read(await api.call("POST", "/v1/renewals", {"secret": first}), wire.AccountSession, 201)


async def renewed(api: Api, old: str, new: str) -> wire.AccountSession:
    answer = await api.call("POST", "/v1/renewals/next", {"secret": old, "next_secret": new})
    return read(answer, wire.AccountSession)


async def refused(api: Api, path: str, **body: str) -> wire.Problem:
    return problem(await api.call("POST", f"/v1/renewals{path and '/'}{path}", body), wire.ErrorCode.NOT_SIGNED_IN)


async def spare_of(api: Api, current: str, spare: str) -> wire.RenewalSpare:
    answer = await api.call("POST", "/v1/renewals/spare", {"secret": current, "spare_secret": spare})
    return read(answer, wire.RenewalSpare, 201)


async def principal_of(api: Api, token: str) -> str:
    return read(await api.call("GET", "/v1/me", token=token), wire.Me).principal


async def test_a_token_is_renewed_for_the_same_account_and_both_are_good(api: Api) -> None:
    first, second, third = secret(), secret(), secret()
    before = await opened(api, first)
    after = await renewed(api, first, second)
    assert after.account_id == before.account_id
    for token in (before.access_token, after.access_token):
        assert await principal_of(api, token) == f"account:{before.account_id}"
    left = after.access_expires_at - datetime.now(UTC)
    assert timedelta(hours=11, minutes=59) < left <= timedelta(hours=12)
    assert (await renewed(api, second, third)).account_id == before.account_id


async def test_a_token_that_ended_is_followed_by_a_new_one(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = secret(), secret()
    before = await opened(api, first)
    later = datetime.now(UTC) + timedelta(days=90)
    monkeypatch.setattr(access_tokens, "utc_now", lambda: later)
    problem(await api.call("GET", "/v1/me", token=before.access_token), wire.ErrorCode.TOKEN_EXPIRED)
    after = await renewed(api, first, second)
    assert await principal_of(api, after.access_token) == f"account:{before.account_id}"


async def test_lost_answers_are_harmless_however_late_the_question_comes_again(
    api: Api, clock: Clock, database: Database
) -> None:
    await clock.stand_at(NOON)
    first, second, third = secret(), secret(), secret()
    account = (await opened(api, first)).account_id
    assert (await opened(api, first)).account_id == account, "the answer to the opening was lost"
    assert await count(database, "SELECT count(*) FROM accounts") == 1
    await renewed(api, first, second)
    await clock.stand_at(NOON + timedelta(days=100))
    assert (await renewed(api, first, second)).account_id == account
    assert (await renewed(api, second, third)).account_id == account
    await refused(api, "next", secret=first, next_secret=second)
    assert (await renewed(api, second, third)).account_id == account, "an old one does no harm"


async def test_many_tabs_that_ask_at_once_get_one_renewal(api: Api, database: Database) -> None:
    first, second = secret(), secret()
    account = (await opened(api, first)).account_id
    answers = await asyncio.gather(*(renewed(api, first, second) for _ in range(8)))
    assert {one.account_id for one in answers} == {account}
    assert await count(database, "SELECT count(*) FROM account_renewals") == 1


async def test_two_hands_that_open_with_one_secret_get_one_account(api: Api, database: Database) -> None:
    first = secret()
    sent = [api.call("POST", "/v1/renewals", {"secret": first}) for _ in range(6)]
    answers = await asyncio.gather(*sent)
    assert {answer.status_code for answer in answers} <= {201, 503}
    assert await count(database, "SELECT count(*) FROM accounts") == 1


# ---------------------------------------------------------------- attacks


async def test_a_secret_that_was_stolen_and_used_twice_ends_the_hold_of_both(api: Api, database: Database) -> None:
    first, mine, thief_s = secret(), secret(), secret()
    account = (await opened(api, first)).account_id
    await renewed(api, first, thief_s)
    found = await refused(api, "next", secret=first, next_secret=mine)
    assert "elsewhere" in found.detail
    for old, new in ((thief_s, secret()), (mine, secret()), (first, thief_s)):
        await refused(api, "next", secret=old, next_secret=new)
    await refused(api, "spare", secret=thief_s, spare_secret=secret())
    rows = await database.fetch("SELECT principal, reason FROM audit_log WHERE action = 'renewal-ended'")
    assert [(row["principal"], row["reason"]) for row in rows] == [(f"account:{account}", renewals.REUSED)]


async def test_an_old_secret_opens_nothing(api: Api) -> None:
    first, second = secret(), secret()
    await opened(api, first)
    await renewed(api, first, second)
    await refused(api, "", secret=first)
    await refused(api, "spare", secret=first, spare_secret=secret())
    await renewed(api, second, secret())  # trying it has ended nothing


async def test_another_account_s_secret_cannot_be_taken_over_or_guessed(api: Api) -> None:
    mine, others = secret(), secret()
    await opened(api, mine)
    account = (await opened(api, others)).account_id
    for path, body in (
        ("next", {"secret": mine, "next_secret": others}), ("spare", {"secret": mine, "spare_secret": others}),
        ("next", {"secret": mine, "next_secret": mine}),
    ):  # fmt: skip
        problem(await api.call("POST", f"/v1/renewals/{path}", body), wire.ErrorCode.INVALID_REQUEST)
    await refused(api, "next", secret=secret(), next_secret=secret())
    assert (await renewed(api, others, secret())).account_id == account
    await renewed(api, mine, secret())


@pytest.mark.parametrize("short", ["", "a" * 31, "a" * 129, "ä" * 40, "a b" * 20, "a" * 40 + "\n"])
async def test_a_secret_that_could_be_guessed_is_refused_by_its_form(api: Api, short: str) -> None:
    found = problem(await api.call("POST", "/v1/renewals", {"secret": short}), wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in found.fields] == ["/secret"]


async def test_an_access_token_alone_renews_nothing(api: Api) -> None:
    """Who has seen a token has it for its rest, not for ever."""
    token = (await opened(api, secret())).access_token
    answer = await api.call("POST", "/v1/renewals/next", {"secret": secret(), "next_secret": secret()}, token=token)
    problem(answer, wire.ErrorCode.NOT_SIGNED_IN)
    await refused(api, "next", secret=token.split(".")[2][:40], next_secret=secret())


async def test_secrets_are_stored_as_digests(api: Api, database: Database) -> None:
    first, second, spare = secret(), secret(), secret()
    await opened(api, first)
    await renewed(api, first, second)
    await spare_of(api, second, spare)
    dump = "".join([row[0] for table in ("account_renewals", "audit_log", "accounts")
                    for row in await database.fetch(f"SELECT t::text FROM {table} AS t")])  # fmt: skip
    for one in (first, second, spare):
        assert one not in dump
        assert one.encode().hex() not in dump


async def test_guessing_is_bound_by_address(database: Database) -> None:
    limits = RateLimits({"renewal-per-address": Allowance(1, 3)})
    for _ in range(3):
        limits.admit("POST /v1/renewals/next", False, None, "192.0.2.1")
    for path in ("next", "spare", "end"):
        with pytest.raises(Exception, match="Too many requests"):
            limits.admit(f"POST /v1/renewals/{path}", False, None, "192.0.2.1")
    limits.admit("POST /v1/renewals/next", False, None, "192.0.2.2")


# ---------------------------------------------------------------- other devices, and the end


async def test_a_spare_secret_moves_the_account_once(api: Api) -> None:
    mine, spare, others = secret(), secret(), secret()
    account = (await opened(api, mine)).account_id
    await spare_of(api, mine, secret())
    told = await spare_of(api, mine, spare)
    assert (await spare_of(api, mine, spare)).expires_at >= told.expires_at, "its answer was lost"
    assert told.expires_at - told.server_time == renewals.SPARE_LIFE
    assert (await renewed(api, spare, others)).account_id == account
    await refused(api, "next", secret=spare, next_secret=secret())
    assert (await renewed(api, mine, secret())).account_id == account, "whose key was stolen is another device's"


async def test_a_spare_secret_that_was_replaced_or_is_late_is_good_for_nothing(api: Api, clock: Clock) -> None:
    await clock.stand_at(NOON)
    mine, old, late = secret(), secret(), secret()
    await opened(api, mine)
    await spare_of(api, mine, old)
    await spare_of(api, mine, late)
    await refused(api, "next", secret=old, next_secret=secret())
    await clock.stand_at(NOON + renewals.SPARE_LIFE)
    await refused(api, "next", secret=late, next_secret=secret())


async def test_a_browser_that_forgets_the_account_cannot_come_back_and_others_stay(api: Api) -> None:
    mine, spare, others = secret(), secret(), secret()
    await opened(api, mine)
    await spare_of(api, mine, spare)
    await renewed(api, spare, others)
    for _ in range(2):
        assert (await api.call("POST", "/v1/renewals/end", {"secret": mine})).status_code == 204
    assert (await api.call("POST", "/v1/renewals/end", {"secret": secret()})).status_code == 204
    await refused(api, "next", secret=mine, next_secret=secret())
    await refused(api, "", secret=mine)
    await renewed(api, others, secret())


async def test_no_account_is_renewed_for_ever_and_what_ended_is_deleted(
    api: Api, clock: Clock, database: Database
) -> None:
    await clock.stand_at(NOON)
    first, second = secret(), secret()
    await opened(api, first)
    await clock.stand_at(NOON + renewals.RENEWABLE_FOR - timedelta(seconds=1))
    await renewed(api, first, second)
    assert (await retention.forget(database))["renewals"] == 0
    await clock.stand_at(NOON + renewals.RENEWABLE_FOR)
    await refused(api, "next", secret=second, next_secret=secret())
    await clock.stand_at(NOON + renewals.RENEWABLE_FOR + timedelta(days=2))
    assert (await retention.forget(database))["renewals"] == 1
    assert await count(database, "SELECT count(*) FROM accounts") == 1


async def test_an_account_without_a_secret_is_as_it_was(database: Database) -> None:
    session = await sign_in.create_account(database)
    assert isinstance(session, AccountSession)
    assert isinstance(session.account_id, UUID)
    assert await count(database, "SELECT count(*) FROM account_renewals") == 0
