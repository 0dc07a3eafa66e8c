"""Pages of named origins may read answers; nobody else may, and never with cookies."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from booking.store.database import Database
from booking.web.application import create_app
from booking.web.cross_origin import parse_origin

PAGE = "https://tickets.example"
ASKED = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,idempotency-key"}


@pytest.fixture
async def api(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(database, page_origins=[PAGE]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_named_page_may_ask_for_what_it_needs_and_read_the_answer(api: httpx.AsyncClient) -> None:
    asked = await api.options("/v1/events/1/holds", headers={"Origin": PAGE, **ASKED})
    assert asked.status_code == 204
    assert asked.headers["Access-Control-Allow-Origin"] == PAGE
    allowed = {name.strip().lower() for name in asked.headers["Access-Control-Allow-Headers"].split(",")}
    assert allowed >= {"authorization", "content-type", "idempotency-key", "admission-token", "admission-session"}
    assert "Access-Control-Allow-Credentials" not in asked.headers
    told = await api.get("/v1/events", headers={"Origin": PAGE})
    assert told.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Origin" in told.headers["Vary"]
    refused = await api.get("/v1/events/999", headers={"Origin": PAGE})
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (404, PAGE)
    assert "Retry-After" in refused.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://tickets.example",
        f"{PAGE}:8443",
        f"{PAGE}.evil.example",
        PAGE.upper(),
        "",
    ],
)
async def test_every_other_page_gets_no_word(api: httpx.AsyncClient, origin: str) -> None:
    asked = await api.options("/v1/events", headers={"Origin": origin, **ASKED})
    assert asked.status_code == 405
    for answer in (asked, await api.get("/v1/events", headers={"Origin": origin})):
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


async def test_what_varies_already_goes_on_varying(api: httpx.AsyncClient) -> None:
    answer = await api.options("/v1/events", headers={"Origin": PAGE})
    assert answer.status_code == 405, "an OPTIONS that asks for no permission is any other call"
    assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize("text", [PAGE, "http://127.0.0.1:8080", "http://[::1]:80", "https://a-b.example"])
def test_origins_as_browsers_write_them(text: str) -> None:
    assert parse_origin(text) == text


@pytest.mark.parametrize(
    "text", ["*", "null", f"{PAGE}/", f"{PAGE}/x", "tickets.example", "ftp://x", "https://a b", "https://A"]
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no origin"):
        parse_origin(text)
