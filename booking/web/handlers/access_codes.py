"""Access codes that raise ticket limits."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.model import AccessCodeTerms
from booking.services import access_codes
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_access_code = TypedBody(wire.AccessCodeRequest)


async def list_access_codes(call: Call) -> Response:
    """All codes of an event, and how often each was used."""
    return answer(to_wire(await access_codes.list_access_codes(call.db, call.event_id), wire.AccessCodeList))


async def set_access_code(call: Call) -> Response:
    """Make a code, or give it new terms."""
    body = _access_code(call)
    terms = AccessCodeTerms(body.code, body.max_per_account, body.max_uses, body.valid_until)
    outcome = await access_codes.set_access_code(
        call.db, call.signed_in, call.event_id, terms, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.AccessCode)
