"""What a rush needs from a server that runs already: an event on sale with its prices, and accounts."""

from __future__ import annotations

import asyncio
import ssl

import msgspec

from booking.plain_http.link import Links
from booking.plain_http.message import Answer, request_bytes
from booking.rush.plan import Sale, Server
from booking.rush.shopper import retry_after_s

_AT_ONCE = 16
_TRIES = 20
_READ_WITHIN_S = 30.0


class ServerError(Exception):
    """The server cannot be rushed: nobody answers, or it has nothing on sale."""


class _Summary(msgspec.Struct):
    event_id: int
    status: str
    name: str


class _Events(msgspec.Struct):
    events: tuple[_Summary, ...]


class _Type(msgspec.Struct):
    price_type_id: int


class _Price(msgspec.Struct):
    category_no: int
    price_type_id: int
    amount_minor: int


class _Detail(msgspec.Struct):
    event_id: int
    price_types: tuple[_Type, ...]
    prices: tuple[_Price, ...]


class _Seats(msgspec.Struct):
    category_no: tuple[int, ...]


class _Plan(msgspec.Struct):
    seats: _Seats


class _Account(msgspec.Struct):
    access_token: str


class RunningServer:
    """A server that somebody else has started, asked before the rush begins."""

    def __init__(self, server: Server) -> None:
        self._server = server
        tls = ssl.create_default_context() if server.tls else None
        self._links = Links(server.host, server.port, tls, _AT_ONCE)

    def close(self) -> None:
        """End its connections."""
        self._links.close()

    async def sale(self, event_id: int | None) -> Sale:
        """The event to rush: the one asked for, or the first on sale.

        Raises:
            ServerError: nobody answers, or there is none.
        """
        if event_id is None:
            events = msgspec.json.decode((await self._get("/v1/events")).body, type=_Events).events
            event_id = next((event.event_id for event in events if event.status == "ON_SALE"), None)
            if event_id is None:
                raise ServerError(f"{self._server.url} has nothing on sale")
        detail = msgspec.json.decode((await self._get(f"/v1/events/{event_id}")).body, type=_Detail)
        plan = msgspec.json.decode((await self._get(f"/v1/events/{event_id}/plan")).body, type=_Plan)
        if not detail.price_types:
            raise ServerError(f"event {event_id} has no prices")
        price_type_id = detail.price_types[0].price_type_id
        amounts = {
            price.category_no: price.amount_minor for price in detail.prices if price.price_type_id == price_type_id
        }
        try:
            prices = tuple(amounts[category] for category in plan.seats.category_no)
        except KeyError as missing:
            raise ServerError(f"event {event_id} has no price for category {missing}") from None
        return Sale(event_id=event_id, prices=prices, price_type_id=price_type_id)

    async def open_accounts(self, count: int) -> tuple[str, ...]:
        """Tokens of new accounts, a few at once, as fast as the server likes.

        Raises:
            ServerError: it opens none.
        """
        owed = iter(range(count))

        async def some() -> list[str]:
            return [await self._open_account() for _ in owed]

        parts = await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
        return tuple(token for part in parts for token in part)

    async def _open_account(self) -> str:
        answer = None
        for _ in range(_TRIES):
            answer = await self._ask(request_bytes("POST", "/v1/accounts", self._server.named))
            wait_s = retry_after_s(answer)
            if wait_s is None:
                break
            await asyncio.sleep(wait_s)
        if answer is None or answer.status != 201:
            status = answer.status if answer is not None else "nothing"
            raise ServerError(f"{self._server.url} opens no accounts: it answered {status}")
        return msgspec.json.decode(answer.body, type=_Account).access_token

    async def _get(self, path: str) -> Answer:
        answer = await self._ask(request_bytes("GET", path, self._server.named))
        if answer.status != 200:
            raise ServerError(f"{self._server.url}{path} answered {answer.status}")
        return answer

    async def _ask(self, request: bytes) -> Answer:
        try:
            async with asyncio.timeout(_READ_WITHIN_S):
                return await self._links.ask(request)
        except (OSError, TimeoutError) as error:
            raise ServerError(f"{self._server.url} does not answer: {str(error) or type(error).__name__}") from error
