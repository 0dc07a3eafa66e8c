"""How many people an event lets in: read, set, looked at beforehand, and who has set what (R20)."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.domain.admission_control import AdmissionMode
from booking.domain.admission_desk import AdmissionWish
from booking.services import admission_settings
from booking.web.addresses import small_number_of
from booking.web.bodies import invalid
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_change = TypedBody(wire.AdmissionSettingsChange)
_preview = TypedBody(wire.AdmissionPreviewRequest)
_PAGE = 100


async def read_admission(call: Call) -> Response:
    """Set beside measured."""
    return answer(to_wire(await admission_settings.read_admission(call.db, call.event_id), wire.AdmissionControl))


async def change_admission(call: Call) -> Response:
    """Set it, from the version that was seen."""
    body = _change(call)
    outcome = await admission_settings.change_admission(
        call.db, call.signed_in, call.event_id, body.expected_version, _wish(body), body.reason,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.AdmissionControl, 200)


async def preview_admission(call: Call) -> Response:
    """What a change would give."""
    found = await admission_settings.preview_admission(call.db, call.event_id, _wish(_preview(call)))
    return answer(to_wire(found, wire.AdmissionPreview))


async def list_changes(call: Call) -> Response:
    """The log, newest first."""
    limit = small_number_of(call.query, "limit")
    if limit == 0 or (limit or 1) > admission_settings.MOST_CHANGES:
        raise invalid("query:limit", f"must be from 1 to {admission_settings.MOST_CHANGES}")
    limit = limit or _PAGE
    found = await admission_settings.list_changes(call.db, call.event_id, small_number_of(call.query, "after"), limit)
    shown = tuple(to_wire(one, wire.AdmissionChange) for one in found)
    older = shown[-1].change_no if len(shown) == limit and shown[-1].change_no > 1 else None
    return answer(wire.AdmissionChangeList(event_id=wire.EventId(call.event_id), changes=shown, next=older))


def _wish(body: wire.AdmissionSettingsChange | wire.AdmissionPreviewRequest) -> AdmissionWish:
    targets = {} if body.targets is None else msgspec.structs.asdict(body.targets)
    return AdmissionWish(
        mode=None if body.mode is None else AdmissionMode(body.mode),
        cap_per_minute=body.cap_per_minute,
        manual_per_minute=body.manual_per_minute,
        least_per_minute=body.least_per_minute,
        total_active_users=body.total_active_users,
        targets={name: value for name, value in targets.items() if value is not None},
    )
