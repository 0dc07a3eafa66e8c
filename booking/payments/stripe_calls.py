"""The one place that calls Stripe's library: each call ends in an object as plain data, or in one of two errors.

Refused is what Stripe said of this very request, and that nothing was done; everything else that can go wrong is no
answer: time-outs, broken lines, 5xx, 429, and a key that is in use. The library repeats nothing by itself: its caller
knows when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from booking.domain.model import Evidence

if TYPE_CHECKING:
    import stripe

ANSWER_TIMEOUT_S = 10.0
Intent = dict[str, Any]


class NoAnswerError(Exception):
    """Nobody knows what became of the request; the text is for the evidence."""


class RefusedError(Exception):
    """Stripe refused the request and did nothing. `code` is kebab-case; `declined`: the card's bank said so."""

    def __init__(self, code: str, status: int, *, declined: bool) -> None:
        super().__init__(code)
        self.code, self.status, self.declined = code, status, declined


class Talk:
    """What was asked and answered about one operation, as evidence; no secrets, no card data."""

    def __init__(self) -> None:
        self._steps: list[Evidence] = []

    @property
    def steps(self) -> tuple[Evidence, ...]:
        return tuple(self._steps)

    def note(self, direction: str, body: str) -> None:
        self._steps.append(Evidence(datetime.now(UTC), direction, body))


class StripeCalls:
    """Calls with one key. `api_url` is for a referee in tests. Belongs to one event loop."""

    def __init__(self, key: str, *, api_url: str | None = None, answer_timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        import stripe

        stripe.enable_telemetry = False
        self._timeout_s = answer_timeout_s
        self._http = _http_client(answer_timeout_s)
        addresses: Any = {"api": api_url} if api_url else {}
        self._client = stripe.StripeClient(key, base_addresses=addresses, http_client=self._http, max_network_retries=0)

    @property
    def v1(self) -> stripe.V1Services:
        """The services of the library, to be awaited through `ask`."""
        return self._client.v1

    async def ask(self, talk: Talk, words: str, call: Awaitable[stripe.StripeObject]) -> Intent:
        """Await a call of the library. `words` says what is asked.

        Raises:
            RefusedError, NoAnswerError: see the module.
        """
        import stripe

        talk.note("sent", words)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer: Intent = (await call).to_dict()
        except stripe.StripeError as error:
            raise self._error(talk, error) from error
        except Exception as error:  # whatever the way there and back throws: nobody knows what was done
            talk.note("received", f"unknown: {type(error).__name__}")
            raise NoAnswerError(type(error).__name__) from error
        talk.note("received", _shown(answer))
        return answer

    async def close(self) -> None:
        """Let connections go."""
        await self._http.close_async()  # type: ignore[no-untyped-call]

    def _error(self, talk: Talk, error: stripe.StripeError) -> RefusedError | NoAnswerError:
        import stripe

        status, code = error.http_status or 0, _code_of(error)
        refusals = (
            stripe.CardError, stripe.InvalidRequestError, stripe.AuthenticationError, stripe.PermissionError,
        )  # fmt: skip
        if isinstance(error, refusals) or code.startswith("terminal-reader-"):
            talk.note("received", f"{status} refused: {code}")
            return RefusedError(code, status, declined=isinstance(error, stripe.CardError))
        talk.note("received", f"unknown: {type(error).__name__} {status} {code}".rstrip())
        return NoAnswerError(type(error).__name__)


def _http_client(timeout_s: float) -> stripe.HTTPXClient:
    """The library's client on HTTPX; by itself it hands a form over as HTTPX warns of, as `data` though it is text."""
    import stripe

    class Client(stripe.HTTPXClient):
        def _get_request_args_kwargs(
            self, method: str, url: str, headers: Mapping[str, str], post_data: object
        ) -> list[Any]:
            positional, named = super()._get_request_args_kwargs(method, url, headers, post_data)
            data = named.pop("data", None)
            return [positional, {**named, **({"content": data} if data else {})}]

    return Client(timeout=timeout_s)


def _code_of(error: stripe.StripeError) -> str:
    """The most exact code that the answer names: that of the bank, of Stripe, or of the kind of error."""
    body = error.json_body
    told = body.get("error") if isinstance(body, Mapping) else None
    told = told if isinstance(told, Mapping) else {}
    code = told.get("decline_code") or told.get("code") or ("refused" if error.http_status else "")
    return str(code).replace("_", "-")[:100]


def _shown(answer: Intent) -> str:
    action = answer.get("action")
    parts = [answer.get("id"), answer.get("status"), answer.get("amount"), answer.get("currency")]
    if isinstance(action, dict):
        parts += [action.get("status"), action.get("failure_code")]
    if answer.get("object") == "list":
        parts = [f"{len(answer.get('data', ()))} found"]
    return " ".join(str(part) for part in parts if part not in (None, ""))
