"""Access codes: what raises the ticket limit of the accounts that use them (B17)."""

from __future__ import annotations

from dataclasses import replace

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.errors import EventNotFoundError, FieldFault, InvalidRequestError
from booking.domain.model import AccessCode, AccessCodeList, AccessCodeTerms, EventId
from booking.domain.replay import Outcome
from booking.domain.text import is_sane_instant
from booking.services.hold_request import ACCESS_CODE, folded_code
from booking.services.read_events import MAX_EVENT_ID, read_event
from booking.services.refusals import key_use, raise_refusal
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer

MAX_LIMIT = 10_000
MAX_USES = 1_000_000


async def set_access_code(
    db: Database,
    caller: Caller,
    event_id: int,
    terms: AccessCodeTerms,
    *,
    key: str,
    digest: bytes,
) -> Outcome[AccessCode]:
    """Make a code, or give it new terms; accounts that have used it keep what it gave them.

    An account uses a code once, with its first hold that names it; from then on its limit is at least
    `max_per_account`, also at the confirmation.

    Raises:
        InvalidRequestError: a member that makes no sense (named); fewer uses than were made; or a code whose uses were
            not limited is to be limited, or the other way round.
        EventNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    terms = replace(terms, code=folded_code(terms.code))
    _check(terms)
    if not 0 <= event_id <= MAX_EVENT_ID:
        raise EventNotFoundError("There is no such event.")
    (row,) = await db.call(
        query("set_access_code"), caller.principal, caller.staff_id, event_id, uuid7(), terms.code,
        terms.max_per_account, terms.max_uses, terms.valid_until, use.key, use.digest,
    )  # fmt: skip
    if row["code"] == "invalid-request":
        words = "a number from the uses made on, where uses are limited from the beginning; none elsewhere"
        raise InvalidRequestError("These uses cannot be.", fields=(FieldFault(row["detail"], words),))
    await raise_refusal(db, SaleAnswer(row["code"], row["result_id"], False, "", ()), None)
    (made,) = await db.fetch(query("list_access_codes"), event_id, row["result_id"])
    return Outcome(_code_of(made), row["replayed"])


async def list_access_codes(db: Database, event_id: int) -> AccessCodeList:
    """All codes of an event, oldest first, each with the accounts that have used it.

    Raises:
        EventNotFoundError: there is no such event.
    """
    event = await read_event(db, event_id)
    rows = await db.fetch(query("list_access_codes"), event_id, None)
    return AccessCodeList(event.event_id, tuple(_code_of(row) for row in rows), event.server_time)


def _check(terms: AccessCodeTerms) -> None:
    faults: list[FieldFault] = []
    if not ACCESS_CODE.fullmatch(terms.code):
        faults.append(FieldFault("/code", "4 to 60 letters (A–Z), digits, dots, hyphens or low lines"))
    if not 1 <= terms.max_per_account <= MAX_LIMIT:
        faults.append(FieldFault("/max_per_account", f"a whole number from 1 to {MAX_LIMIT}"))
    if terms.max_uses is not None and not 1 <= terms.max_uses <= MAX_USES:
        faults.append(FieldFault("/max_uses", f"a whole number from 1 to {MAX_USES}"))
    if terms.valid_until is not None and not is_sane_instant(terms.valid_until):
        faults.append(FieldFault("/valid_until", "must be an instant with an offset, from 2000 to 2099"))
    if faults:
        raise InvalidRequestError("This is no access code.", fields=tuple(faults))


def _code_of(row: Record) -> AccessCode:
    return AccessCode(
        event_id=EventId(row["event_id"]),
        code=row["code"],
        max_per_account=row["max_per_account"],
        uses=row["uses"],
        max_uses=row["max_uses"],
        valid_until=row["valid_until"],
    )
