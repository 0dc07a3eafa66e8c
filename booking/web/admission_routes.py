"""The part of the table of routes that is about how many people an event lets in."""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web.calls import Answer, KeyRule, QueryParameter, Route
from booking.web.handlers import admission
from booking.web.who import OPERATORS

_ADMISSION: Final = "/v1/events/{event_id}/admission"
_READS = KeyRule.READS
_PAGE: Final = (
    QueryParameter("after", "integer", "`next` of the page before"),
    QueryParameter("limit", "integer", "So many at most: 1 to 500, else 100"),
)

ADMISSION_ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "GET", _ADMISSION, admission.read_admission, OPERATORS,
        "How people are let in: settings, the controller's rate, its figures, the room", _READS,
        (Answer(200, wire.AdmissionControl),),
    ),
    Route(
        "PUT", _ADMISSION, admission.change_admission, OPERATORS,
        "Set mode, cap, rate, slots and targets, from the version named", KeyRule.REQUIRED,
        (Answer(200, wire.AdmissionControl),), wire.AdmissionSettingsChange,
    ),
    Route(
        "POST", f"{_ADMISSION}/preview", admission.preview_admission, OPERATORS,
        "What such a change would give with the figures as they are now", KeyRule.LOOKS_ON,
        (Answer(200, wire.AdmissionPreview),), wire.AdmissionPreviewRequest,
    ),
    Route(
        "GET", f"{_ADMISSION}/changes", admission.list_changes, OPERATORS,
        "The log: who, when, from, to, why, newest first", _READS, (Answer(200, wire.AdmissionChangeList),),
        query=_PAGE,
    ),
)  # fmt: skip
