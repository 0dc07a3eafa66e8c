"""Whether whoever joins is a person: asked once, when an account joins, and never again (R21)."""

from __future__ import annotations

from typing import Protocol

import httpx
import msgspec

from booking.domain.errors import BotCheckFailedError, BusyError

_ANSWERS_WITHIN_S = 3.0


class BotCheck(Protocol):
    """Judges what the page's check gave."""

    async def check(self, proof: str, address: str | None) -> None:
        """Return when it is a person.

        Raises:
            BotCheckFailedError: it is none.
            BusyError: nobody can say just now.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class _Verdict(msgspec.Struct):
    success: bool


class SiteVerify:
    """The services that take `secret`, `response` and `remoteip` in a form and answer `{"success": …}`.

    Turnstile, hCaptcha and reCAPTCHA all do. When the service is silent nobody joins by it: a crowd of machines would
    only have to bring it down first.
    """

    def __init__(self, url: str, secret: str, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url, self._secret = url, secret
        self._client = httpx.AsyncClient(timeout=_ANSWERS_WITHIN_S, transport=transport)

    async def check(self, proof: str, address: str | None) -> None:
        """See `BotCheck.check`."""
        if not proof:
            raise BotCheckFailedError("The check of the page is missing.")
        form = {"secret": self._secret, "response": proof} | ({"remoteip": address} if address else {})
        try:
            answer = await self._client.post(self._url, data=form)
            answer.raise_for_status()
            verdict = msgspec.json.decode(answer.content, type=_Verdict)
        except (httpx.HTTPError, msgspec.MsgspecError):
            raise BusyError("Whether you are a person cannot be checked just now.", retry_after_s=3) from None
        if not verdict.success:
            raise BotCheckFailedError("The check of the page was not passed. Try it again.")

    async def close(self) -> None:
        """See `BotCheck.close`."""
        await self._client.aclose()
