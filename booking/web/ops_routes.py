"""Routes of the figures of the whole system, and of what operators do about them (R20, R32, R42)."""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web import feed_socket
from booking.web.calls import Answer, KeyRule, QueryParameter, Route
from booking.web.exposition import MEDIA_TYPE
from booking.web.handlers import ops
from booking.web.ops_feed import serve_ops_feed
from booking.web.who import ADMINS, ANYONE, OPERATORS

_READS, _KEYED = KeyRule.READS, KeyRule.REQUIRED
_FEED_WORDS = (
    "Frames: OpsHello, then an OpsFigures a second, each a whole statement. "
    f"Closed with {wire.FEED_TOKEN_EXPIRED} when the access token that opened it expires, "
    f"with {feed_socket.SLOW_CONSUMER} when the client takes no frames"
)
_EVENT = QueryParameter("event_id", "integer", "One event; without it the whole system")
_HISTORY_QUERY = (
    QueryParameter("step", "string", "`second`: the last quarter of an hour; `minute` (default): whatever is kept"),
    QueryParameter("from", "string", "Instants after this one"),
    QueryParameter("until", "string", "Instants up to this one"),
    _EVENT,
    QueryParameter("names", "string", "Figures, divided by commas; without it all"),
)
_LOG_QUERY = (
    _EVENT,
    QueryParameter("kind", "string", "`settings`, `status`, `admission`, `session`, `alarm` or `authority`"),
    QueryParameter("before", "string", "Entries before this instant"),
    QueryParameter("limit", "integer", "How many at most: 100, up to 500"),
)

OPS_ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "GET", "/metrics", ops.metrics, ANYONE, "Figures for Prometheus: with the metrics token, or on this machine",
        _READS, (Answer(200, media_type=MEDIA_TYPE, words="Text format 0.0.4"),), own_gate=True,
    ),
    Route(
        "WS", "/v1/ops/feed", ops.refuse_plain_http, OPERATORS, "The whole system, once a second", _READS,
        (Answer(101, words=_FEED_WORDS),), socket=serve_ops_feed,
    ),
    Route(
        "GET", "/v1/ops/figures", ops.figures, OPERATORS, "The newest statement of the feed", _READS,
        (Answer(200, wire.OpsFigures),),
    ),
    Route(
        "GET", "/v1/ops/history", ops.read_history, OPERATORS, "Figures of the past as series", _READS,
        (Answer(200, wire.OpsHistory),), query=_HISTORY_QUERY,
    ),
    Route(
        "GET", "/v1/ops/lock-waits", ops.lock_waits, OPERATORS, "Who waits for whom in the database now", _READS,
        (Answer(200, wire.OpsLockWaitList),),
    ),
    Route(
        "POST", "/v1/ops/sessions/{pid}/end", ops.end_one_session, ADMINS,
        "End a session of the database that keeps others waiting", _KEYED, (Answer(200, wire.OpsSessionEnded),),
        wire.OpsSessionEnd,
    ),
    Route(
        "GET", "/v1/ops/alarms", ops.list_alarms, OPERATORS, "Open alarms, then those that ended", _READS,
        (Answer(200, wire.OpsAlarmList),),
    ),
    Route(
        "POST", "/v1/ops/alarms/{alarm_id}/acknowledge", ops.acknowledge, OPERATORS, "Somebody knows of an alarm",
        _KEYED, (Answer(200, wire.OpsAlarm),), wire.OpsAlarmAcknowledgement,
    ),
    Route(
        "GET", "/v1/ops/alarm-rules", ops.list_rules, OPERATORS, "When there is an alarm", _READS,
        (Answer(200, wire.OpsAlarmRuleList),),
    ),
    Route(
        "PUT", "/v1/ops/alarm-rules/{rule}", ops.change_rule, OPERATORS, "Set when there is an alarm", _KEYED,
        (Answer(200, wire.OpsAlarmRule),), wire.OpsAlarmRuleChange,
    ),
    Route(
        "GET", "/v1/ops/log", ops.read_log, OPERATORS, "Who changed what, when and why", _READS,
        (Answer(200, wire.OpsLog),), query=_LOG_QUERY,
    ),
)  # fmt: skip
