"""Admission at the authority: fans hold in an event that asks for it only with a token of its room (R18, W3, W6).

The token is verified here, and its session entered in the database. The hold's own transaction looks again, under the
account's lock, whether the account is in (`who_may_hold`): so a token that a purchase has spent meanwhile holds
nothing, and no other way to a hold goes past it. Tills are not asked; their holds in such events are counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from booking.domain import admission_token
from booking.domain.admission_token import Admission, UnknownAdmissionKeyError
from booking.domain.caller import Caller, Channel
from booking.domain.errors import AdmissionRefusedError, AdmissionRequiredError
from booking.services.access_tokens import utc_now
from booking.sql import query
from booking.store.database import Database

_ASK_AGAIN_AFTER_S = 1.0
_MOST_EVENTS = 1_000

T = TypeVar("T")


class AdmissionGate:
    """The gate of one process. `counts`: holds let in, those of tills that need no token, refusals by their reason."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._keys: Mapping[str, Ed25519PublicKey] = {}
        self._keys_read_at = -_ASK_AGAIN_AFTER_S
        self._asks: dict[int, tuple[float, bool]] = {}
        self._asking: dict[object, asyncio.Task[Any]] = {}
        self.counts: Counter[str] = Counter()

    async def admit(self, caller: Caller, event_id: int, token: str, session_secret: str, key: str) -> None:
        """Return when the caller may try to hold. A request that was answered before is left to its replay (R6).

        Raises:
            AdmissionRequiredError: the event asks for a token, and there is none.
            AdmissionRefusedError: forged, another's, too late, spent, superseded: `reason` says which.
        """
        if not await self._asks_for_admission(event_id):
            return
        if caller.channel is not Channel.ONLINE:
            self.counts["excepted"] += 1
            return
        try:
            await self._enter(caller, event_id, token, session_secret)
        except (AdmissionRequiredError, AdmissionRefusedError) as error:
            if await self._is_replay(event_id, caller, key):
                return
            self.counts[f"refused:{error.reason if isinstance(error, AdmissionRefusedError) else 'missing'}"] += 1
            raise
        self.counts["let-in"] += 1

    async def _enter(self, caller: Caller, event_id: int, token: str, session_secret: str) -> None:
        if not token:
            raise AdmissionRequiredError("Join the waiting room of this event, and come with the token that it gives.")
        admission = await self._read(token)
        admission_token.check_bound(admission, event_id, caller.account_id, session_secret)
        code = await self._db.call(
            query("enter_admission"), event_id, caller.principal, admission.slot_id, admission.session,
            admission.generation, datetime.fromtimestamp(admission.slot_ends_at, UTC), admission.single_purchase,
        )  # fmt: skip
        reason = code[0]["code"]
        if reason:
            raise AdmissionRefusedError(_WORDS.get(reason, "The admission token is not good here."), reason=reason)

    async def _read(self, token: str) -> Admission:
        now = utc_now().timestamp()
        try:
            return admission_token.read(token, self._keys, now)
        except UnknownAdmissionKeyError:
            if monotonic() - self._keys_read_at < _ASK_AGAIN_AFTER_S:
                raise
            is_anothers = "keys" in self._asking
            await self._once("keys", self._read_keys)
            try:
                return admission_token.read(token, self._keys, now)
            except UnknownAdmissionKeyError:
                if not is_anothers:
                    raise
            await self._once("keys", self._read_keys)  # what was joined may have begun before the key was there
            return admission_token.read(token, self._keys, now)

    async def _asks_for_admission(self, event_id: int) -> bool:
        """Known for a second: the hold itself asks the event anew. Retired keys are forgotten at the same pace."""
        now = monotonic()
        known = self._asks.get(event_id)
        if known is not None and now - known[0] < _ASK_AGAIN_AFTER_S:
            return known[1]
        return await self._once(event_id, lambda: self._ask(event_id, now))

    async def _once(self, what: object, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """One question for all who want to know meanwhile: a slow database is not asked by each of a crowd."""
        asking = self._asking.get(what)
        if asking is None:
            asking = self._asking[what] = asyncio.create_task(ask(), name="admission-gate")
            asking.add_done_callback(lambda task: self._on_answered(what, task))
        found: T = await asyncio.shield(asking)
        return found

    def _on_answered(self, what: object, asking: asyncio.Task[Any]) -> None:
        del self._asking[what]
        if not asking.cancelled():
            asking.exception()  # taken note of, should nobody have waited

    async def _ask(self, event_id: int, now: float) -> bool:
        row = await self._db.fetchrow(query("asks_for_admission"), event_id)
        asks = row is not None and bool(row["admission"])
        if asks:
            await self._once("keys", self._read_keys)
        if len(self._asks) >= _MOST_EVENTS:
            self._asks.clear()
        self._asks[event_id] = (now, asks)
        return asks

    async def _is_replay(self, event_id: int, caller: Caller, key: str) -> bool:
        row = await self._db.fetchrow(query("is_hold_of_key"), event_id, caller.principal, key)
        return row is not None and bool(row["found"])

    async def _read_keys(self) -> None:
        rows = await self._db.fetch(query("read_admission_keys"))
        self._keys = {row["key_id"]: Ed25519PublicKey.from_public_bytes(row["public_key"]) for row in rows}
        self._keys_read_at = monotonic()


_WORDS: Mapping[str, str] = {
    "spent": "This turn has been used for a purchase. Join the queue again.",
    "superseded": "Your turn was taken over in another session.",
}
