"""How often an account, a till and an address may call (R8), and whose word counts for where a call comes from."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import pytest
from starlette.types import Scope

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.errors import RateLimitedError
from booking.store.database import Database
from booking.web import rate_limit, serve
from booking.web.application import create_app
from booking.web.client_address import Network, client_address, parse_network
from booking.web.rate_limit import ALLOWANCES, Allowance, RateLimits, parse_allowance
from tests.server.box_office import fan, make_event, till
from tests.server.web_api import Api, problem

HOLD = "POST /v1/events/{event_id}/holds"
CHECKOUT = "POST /v1/holds/{hold_id}/checkout"
ACCOUNT = "POST /v1/accounts"
PROXY = parse_network("10.1.0.0/16")


class Watch:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def limits(watch: Watch, **allowances: Allowance) -> RateLimits:
    """Limits under that clock; names with hyphens written as low lines."""
    return RateLimits({name.replace("_", "-"): allowance for name, allowance in allowances.items()}, clock=watch)


def hold(rates: RateLimits, caller: Caller | None, address: str | None = None) -> None:
    rates.admit(HOLD, changes=True, caller=caller, address=address)


def refused_s(rates: RateLimits, caller: Caller | None, address: str | None = None) -> int | None:
    """The seconds that a hold is told to wait."""
    with pytest.raises(RateLimitedError) as caught:
        hold(rates, caller, address)
    return caught.value.retry_after_s


# ------------------------------------------------------------ buckets


def test_a_read_that_asks_the_provider_is_counted_by_account() -> None:
    """Each look at a payment's question is a call of the provider, whose own limit all buyers share."""
    rates, ana = limits(Watch(), page_secret_per_account=Allowance(0.5, 2)), fan()
    read = "GET /v1/payments/{operation_id}/page-secret"
    for _ in range(2):
        rates.admit(read, changes=False, caller=ana, address=None)
    with pytest.raises(RateLimitedError):
        rates.admit(read, changes=False, caller=ana, address=None)
    rates.admit(read, changes=False, caller=fan(), address=None)


def test_an_account_may_burst_and_then_goes_on_at_its_rate() -> None:
    watch = Watch()
    rates, ana = limits(watch, hold_per_account=Allowance(0.5, 3)), fan()
    for _ in range(3):
        hold(rates, ana)
    assert refused_s(rates, ana) == 2
    watch.now += 1.0
    assert refused_s(rates, ana) == 1
    watch.now += 1.0
    hold(rates, ana)
    assert refused_s(rates, ana) == 2
    assert rates.refused == 3


def test_a_rest_fills_no_bucket_above_its_burst() -> None:
    watch = Watch()
    rates, ana = limits(watch, hold_per_account=Allowance(10, 2)), fan()
    hold(rates, ana)
    watch.now += 3_600
    hold(rates, ana)
    hold(rates, ana)
    assert refused_s(rates, ana) == 1


def test_one_account_takes_no_turn_of_another() -> None:
    rates, ana, ben = limits(Watch(), hold_per_account=Allowance(1, 1)), fan(), fan()
    hold(rates, ana)
    assert refused_s(rates, ana) == 1
    hold(rates, ben)


def test_a_crowd_behind_one_address_is_bound_and_a_till_behind_it_is_not() -> None:
    rates = limits(Watch(), hold_per_address=Allowance(1, 5))
    for _ in range(5):
        hold(rates, fan(), "192.0.2.7")
    assert refused_s(rates, fan(), "192.0.2.7") == 1
    counter = till()
    for _ in range(10):
        hold(rates, counter, "192.0.2.7")
    hold(rates, fan(), "192.0.2.8")


def test_a_refused_call_spends_nothing_of_the_other_bucket() -> None:
    watch = Watch()
    rates = limits(watch, hold_per_account=Allowance(1, 1), hold_per_address=Allowance(1, 2))
    ana = fan()
    hold(rates, ana, "192.0.2.7")
    for _ in range(20):
        assert refused_s(rates, ana, "192.0.2.7") == 1
    hold(rates, fan(), "192.0.2.7")


def test_accounts_are_opened_at_the_pace_of_their_address() -> None:
    rates = limits(Watch(), account_per_address=Allowance(1, 2))
    for _ in range(2):
        rates.admit(ACCOUNT, changes=False, caller=None, address="192.0.2.7")
    with pytest.raises(RateLimitedError):
        rates.admit(ACCOUNT, changes=False, caller=None, address="192.0.2.7")
    rates.admit(ACCOUNT, changes=False, caller=None, address=None)


def test_holds_and_other_changes_have_buckets_of_their_own_and_reads_have_none() -> None:
    rates = limits(Watch(), hold_per_account=Allowance(1, 1), change_per_account=Allowance(1, 1))
    ana = fan()
    hold(rates, ana)
    rates.admit(CHECKOUT, changes=True, caller=ana, address=None)
    with pytest.raises(RateLimitedError):
        rates.admit(CHECKOUT, changes=True, caller=ana, address=None)
    for _ in range(100):
        rates.admit("GET /v1/orders/{order_id}", changes=False, caller=ana, address="192.0.2.7")


def test_the_memory_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_BUCKETS", 10)
    buckets = rate_limit.Buckets(Allowance(1, 1))
    for owner in range(1_000):
        buckets.take(owner, 0.0)
    assert len(buckets) == 10
    assert buckets.wait_s(999, 0.0) > 0


@pytest.mark.parametrize(
    "text", ["hold-per-account", "hold-per-account=10", "hold-per-account=0/5", "hold-per-account=1/0",
             "hold-per-account=inf/5", "hold-per-account=nan/5", "hold-per-account=x/5", "moon-per-account=1/5"],
)  # fmt: skip
def test_an_allowance_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - float() and int() have words of their own
        parse_allowance(text)


def test_serve_takes_allowances_and_proxies_as_settings() -> None:
    chosen = serve._parse(
        ["--dsn", "x", "--rate", "hold-per-account=2.5/7", "--trusted-proxy", "10.0.0.0/8", "--rate-limits", "on"]
    )
    assert dict(chosen.rate) == {"hold-per-account": Allowance(2.5, 7)}
    assert chosen.trusted_proxy == [ipaddress.ip_network("10.0.0.0/8")]
    with pytest.raises(SystemExit):
        serve._parse(["--dsn", "x", "--rate", "moon-per-account=1/5"])
    with pytest.raises(SystemExit):
        serve._parse(["--dsn", "x", "--trusted-proxy", "everybody"])


# ------------------------------------------------------------ where a call comes from


def scope(peer: str | None, *forwarded: str) -> Scope:
    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    return {"type": "http", "client": None if peer is None else (peer, 40_000), "headers": headers}


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.7", (), "192.0.2.7"),
        ("192.0.2.7", ("203.0.113.1",), "192.0.2.7"),  # nobody told us to believe this peer
        ("127.0.0.1", ("203.0.113.1",), None),  # nor this one
        ("::1", (), None),
        (None, ("203.0.113.1",), None),
        ("10.1.2.3", ("203.0.113.1",), "203.0.113.1"),
        ("10.1.2.3", ("198.51.100.9, 203.0.113.1",), "203.0.113.1"),  # the left one is the client's own word
        ("10.1.2.3", ("198.51.100.9, 203.0.113.1, 10.1.9.9",), "203.0.113.1"),  # two proxies of ours
        ("10.1.2.3", ("198.51.100.9", "203.0.113.1"), "203.0.113.1"),  # two headers are one list
        ("10.1.2.3", ("198.51.100.9, nonsense",), None),
        ("10.1.2.3", (), None),
        ("::ffff:192.0.2.7", (), "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", (), "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::9", (), "2001:db8:1:2::/64"),
    ],
)
def test_an_address_is_the_peers_or_what_a_trusted_proxy_says(
    peer: str | None, forwarded: tuple[str, ...], expected: str | None
) -> None:
    assert client_address(scope(peer, *forwarded), [PROXY]) == expected


# ------------------------------------------------------------ through the API


@asynccontextmanager
async def api(
    db: Database, allowances: Mapping[str, Allowance], *, peer: str = "127.0.0.1", proxies: Sequence[Network] = ()
) -> AsyncIterator[Api]:
    app = create_app(db, rates=RateLimits(allowances), trusted_proxies=proxies)
    app.start()
    try:
        transport = httpx.ASGITransport(app, client=(peer, 40_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield Api(app, client, db)
    finally:
        await app.stop()


async def test_too_many_holds_of_an_account_are_429_with_retry_after_and_write_nothing(
    sound_database: Database,
) -> None:
    event_id = await make_event(sound_database)
    async with api(sound_database, {"hold-per-account": Allowance(0.01, 2)}) as calls:
        token = await calls.fan()
        path = f"/v1/events/{event_id}/holds"
        answers = [await calls.call("POST", path, wire.HoldRequest(seats=(seat,)), token=token) for seat in (1, 2, 3)]
        told = problem(answers[2], wire.ErrorCode.RATE_LIMITED)
        assert [answer.status_code for answer in answers] == [201, 409, 429]
        assert answers[2].headers["retry-after"] == str(told.retry_after_s)
        assert 90 <= (told.retry_after_s or 0) <= 100
        other = await calls.call("POST", path, wire.HoldRequest(seats=(3,)), token=await calls.fan())
        assert other.status_code == 201
    assert (await sound_database.fetch("SELECT count(*) FROM holds"))[0][0] == 2


async def test_a_till_is_not_throttled_by_a_crowd_at_its_own_address(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    path = f"/v1/events/{event_id}/holds"
    async with api(sound_database, {"hold-per-address": Allowance(0.01, 3)}, peer="192.0.2.7") as calls:
        counter = await calls.staff(Role.CLERK)
        crowd = [
            await calls.call("POST", path, wire.HoldRequest(seats=(seat,)), token=await calls.fan())
            for seat in range(5)
        ]
        assert [answer.status_code for answer in crowd] == [201, 201, 201, 429, 429]
        for seat in range(10, 14):
            sold = await calls.call("POST", path, wire.HoldRequest(seats=(seat,)), token=counter)
            assert sold.status_code == 201, sold.text


async def test_a_header_gets_nobody_round_the_limit_of_their_address(database: Database) -> None:
    allowances = {"account-per-address": Allowance(0.01, 2)}
    async with api(database, allowances, peer="192.0.2.7", proxies=[PROXY]) as calls:
        answers = [
            await calls.call("POST", "/v1/accounts", headers={"X-Forwarded-For": f"203.0.113.{n}"}) for n in range(3)
        ]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
    async with api(database, allowances, peer="10.1.2.3", proxies=[PROXY]) as calls:
        answers = [
            await calls.call("POST", "/v1/accounts", headers={"X-Forwarded-For": f"spoofed-{uuid4()}, 203.0.113.{n}"})
            for n in (1, 1, 1, 2)
        ]
        assert [answer.status_code for answer in answers] == [201, 201, 429, 201]


def test_every_route_that_is_counted_by_name_exists() -> None:
    from booking.web.routes import ROUTES

    assert set(rate_limit._KIND_OF_ROUTE) <= {route.name for route in ROUTES}
    assert set(ALLOWANCES) >= {"hold-per-account", "change-per-account", "hold-per-address", "account-per-address"}
