"""Calls about how many people an event lets in."""

from __future__ import annotations

from backend_client.client_base import ClientBase
from backend_client.client_money_back import query_of
from backend_client.http import Request
from backend_client.wire import (
    AdmissionChangeList,
    AdmissionControl,
    AdmissionPreview,
    AdmissionPreviewRequest,
    AdmissionSettingsChange,
    EventId,
)


class AdmissionCalls(ClientBase):
    """A part of `BookingClient`."""

    async def admission(self, event_id: EventId) -> AdmissionControl:
        """How people are let in: set beside measured."""
        return await self._read(_path(event_id), AdmissionControl)

    async def change_admission(
        self, event_id: EventId, change: AdmissionSettingsChange, *, key: str
    ) -> AdmissionControl:
        """Set it, from the version that was seen; a refusal is `settings-changed` otherwise."""
        return await self._call(Request("PUT", _path(event_id), change, key), AdmissionControl)

    async def preview_admission(self, event_id: EventId, request: AdmissionPreviewRequest) -> AdmissionPreview:
        """What such a change would give with the figures as they are now."""
        return await self._call(Request("POST", f"{_path(event_id)}/preview", request), AdmissionPreview)

    async def admission_changes(
        self, event_id: EventId, *, after: int | None = None, limit: int | None = None
    ) -> AdmissionChangeList:
        """Who has set what, newest first; `after`: `next` of the page before."""
        query = query_of(after=after, limit=limit)
        return await self._read(f"{_path(event_id)}/changes{query}", AdmissionChangeList)


def _path(event_id: EventId) -> str:
    return f"/v1/events/{event_id}/admission"
