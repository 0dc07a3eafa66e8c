"""Calls of operators: figures and their history, sessions that block others, alarms, the log, pausing an event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from backend_client.client_base import ClientBase
from backend_client.client_money_back import query_of
from backend_client.http import Request
from backend_client.wire import (
    EventDetail,
    EventId,
    EventStatusChange,
    OpsAlarm,
    OpsAlarmAcknowledgement,
    OpsAlarmList,
    OpsAlarmRule,
    OpsAlarmRuleChange,
    OpsAlarmRuleList,
    OpsFigures,
    OpsHistory,
    OpsLockWaitList,
    OpsLog,
    OpsLogKind,
    OpsSessionEnd,
    OpsSessionEnded,
)

_OPS = "/v1/ops"


class OpsCalls(ClientBase):
    """A part of `BookingClient`."""

    async def ops_figures(self) -> OpsFigures:
        """The newest second, for whoever has no feed."""
        return await self._read(f"{_OPS}/figures", OpsFigures)

    async def ops_history(
        self,
        *,
        step: str,
        since: datetime | None = None,
        until: datetime | None = None,
        event: EventId | None = None,
        names: Sequence[str] = (),
    ) -> OpsHistory:
        """`second`: the last 15 minutes as measured; `minute`: each minute's value. Of the house without an event."""
        query = query_of(
            **{
                "step": step,
                "from": "" if since is None else since.isoformat(),
                "until": "" if until is None else until.isoformat(),
                "event_id": event,
                "names": ",".join(names),
            }
        )
        return await self._read(f"{_OPS}/history{query}", OpsHistory)

    async def ops_lock_waits(self) -> OpsLockWaitList:
        """Who waits for whom, read just now."""
        return await self._read(f"{_OPS}/lock-waits", OpsLockWaitList)

    async def end_ops_session(self, pid: int, request: OpsSessionEnd, *, key: str) -> OpsSessionEnded:
        """End a session of the database; for admins. The same pid with another beginning is another session."""
        return await self._call(Request("POST", f"{_OPS}/sessions/{pid}/end", request, key), OpsSessionEnded)

    async def ops_alarms(self) -> OpsAlarmList:
        """The open alarms first, then those that ended."""
        return await self._read(f"{_OPS}/alarms", OpsAlarmList)

    async def acknowledge_ops_alarm(self, alarm_id: UUID, note: str, *, key: str) -> OpsAlarm:
        """Say that somebody knows."""
        body = OpsAlarmAcknowledgement(note=note)
        return await self._call(Request("POST", f"{_OPS}/alarms/{alarm_id}/acknowledge", body, key), OpsAlarm)

    async def ops_alarm_rules(self) -> OpsAlarmRuleList:
        """When an alarm is raised."""
        return await self._read(f"{_OPS}/alarm-rules", OpsAlarmRuleList)

    async def change_ops_alarm_rule(self, rule: str, change: OpsAlarmRuleChange, *, key: str) -> OpsAlarmRule:
        """Another threshold, from the version that was seen; a refusal is `settings-changed` otherwise."""
        return await self._call(Request("PUT", f"{_OPS}/alarm-rules/{rule}", change, key), OpsAlarmRule)

    async def ops_log(
        self,
        *,
        event: EventId | None = None,
        kind: OpsLogKind | None = None,
        before: datetime | None = None,
        limit: int | None = None,
    ) -> OpsLog:
        """What was changed, by whom and why, newest first, before an instant."""
        until = "" if before is None else before.isoformat()
        return await self._read(f"{_OPS}/log{query_of(event_id=event, kind=kind, before=until, limit=limit)}", OpsLog)

    async def pause_event(self, event_id: EventId, change: EventStatusChange, *, key: str) -> EventDetail:
        """No new holds of an event; sales under way may finish."""
        return await self._call(Request("POST", f"/v1/events/{event_id}/pause", change, key), EventDetail)

    async def resume_event(self, event_id: EventId, change: EventStatusChange, *, key: str) -> EventDetail:
        """An event is on sale again."""
        return await self._call(Request("POST", f"/v1/events/{event_id}/resume", change, key), EventDetail)
