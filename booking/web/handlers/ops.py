"""What operators see of the whole system, and what they do about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hmac import compare_digest

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.domain.alarms import Severity
from booking.domain.errors import ForbiddenError, NotSignedInError
from booking.domain.figures import Figure
from booking.figures import history
from booking.figures.lock_waits import read_lock_waits
from booking.figures.signals import newest_second
from booking.services import alarms, end_session, operations_log
from booking.services.alarms import RuleWish
from booking.services.operations_log import LogKind
from booking.web import addresses
from booking.web.bodies import invalid
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire
from booking.web.client_address import client_address
from booking.web.exposition import MEDIA_TYPE, exposition
from booking.web.headers import header
from booking.web.ops_board import figures_of, nothing_known
from booking.web.problems import UnknownAddressError

_LONGEST_HISTORY = timedelta(days=2)
_SECONDS_SHOWN = timedelta(minutes=15)
_FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via")

_session_end = TypedBody(wire.OpsSessionEnd)
_acknowledgement = TypedBody(wire.OpsAlarmAcknowledgement)
_rule_change = TypedBody(wire.OpsAlarmRuleChange)


async def refuse_plain_http(_: Call) -> Response:
    """The address of the feed asked for without an upgrade."""
    raise UnknownAddressError("This is the address of a WebSocket.")


async def figures(call: Call) -> Response:
    """The newest statement: this process's, or what is kept when it collects none."""
    board = call.services.ops.board
    if board is not None and board.message is not None:
        return answer(board.message)
    second = await newest_second(call.db)
    return answer(figures_of(second) if second is not None else nothing_known(call.services.seats.server_time()))


async def read_history(call: Call) -> Response:
    """Series by name: `step=second` of the last quarter of an hour, `step=minute` of two days at most at a time."""
    step = call.query.get("step", "minute")
    if step not in {"second", "minute"}:
        raise invalid("query:step", "must be `second` or `minute`")
    event_id = addresses.optional_event_id_of(call.query)
    names = _figure_names_of(call.query.get("names", ""))
    asked_until, asked_after = addresses.instant_of(call.query, "until"), addresses.instant_of(call.query, "from")
    now = await history.server_time(call.db)
    until = asked_until or now + timedelta(days=1)
    longest = _SECONDS_SHOWN if step == "second" else _LONGEST_HISTORY
    after = asked_after or min(until, now) - longest
    read = history.read_seconds if step == "second" else history.read_minutes
    body = await history_body(await read(call.db, after, until, event_id, names))
    return Response(body, media_type="application/json")


async def history_body(found: history.History) -> bytes:
    """`wire.OpsHistory` as JSON, made series by series: megabytes in one go would hold up every other request."""
    parts = {"series": await _written(found.series), "peaks": await _written(found.peaks)}
    whole = {"step_s": found.step_s, "at": found.at, "event_id": found.event_id, **parts}
    return msgspec.json.encode({name: value for name, value in whole.items() if value is not None})


async def _written(series: Mapping[str, Sequence[float | None]]) -> dict[str, msgspec.Raw]:
    written = {}
    for name, values in series.items():
        await asyncio.sleep(0)
        written[name] = msgspec.Raw(msgspec.json.encode(values))
    return written


def _figure_names_of(text: str) -> frozenset[str] | None:
    names = frozenset(filter(None, text.split(",")))
    if not names <= set(Figure):
        raise invalid("query:names", "must be names of figures, divided by commas")
    return names or None


async def lock_waits(call: Call) -> Response:
    """Who waits for whom at this moment."""
    found = await read_lock_waits(call.db)
    waits = tuple(to_wire(wait, wire.OpsLockWait) for wait in found.waits)
    return answer(wire.OpsLockWaitList(read_at=call.services.seats.server_time(), total=found.total, lock_waits=waits))


async def end_one_session(call: Call) -> Response:
    """End a session that keeps others waiting."""
    body = _session_end(call)
    outcome = await end_session.end_session(
        call.db, call.signed_in, addresses.pid_of(call.path_values), body.backend_started_at, body.reason,
        key=call.key, digest=call.digest, transaction=body.transaction_started_at,
    )  # fmt: skip
    return answer_outcome(outcome, wire.OpsSessionEnded, 200)


async def list_alarms(call: Call) -> Response:
    """Open alarms, then those that ended."""
    found = await alarms.list_alarms(call.db)
    return answer(wire.OpsAlarmList(alarms=tuple(to_wire(one, wire.OpsAlarm) for one in found)))


async def acknowledge(call: Call) -> Response:
    """Somebody knows of an alarm."""
    outcome = await alarms.acknowledge(
        call.db, call.signed_in, call.id("alarm_id"), _acknowledgement(call).note, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.OpsAlarm, 200)


async def list_rules(call: Call) -> Response:
    """When there is an alarm."""
    found = await alarms.list_rules(call.db)
    return answer(wire.OpsAlarmRuleList(rules=tuple(to_wire(one, wire.OpsAlarmRule) for one in found)))


async def change_rule(call: Call) -> Response:
    """Set when there is an alarm."""
    body = _rule_change(call)
    wish = RuleWish(
        body.raise_at, body.clear_at, body.raise_after_s, body.clear_after_s,
        None if body.severity is None else Severity(body.severity), body.enabled,
    )  # fmt: skip
    outcome = await alarms.change_rule(
        call.db, call.signed_in, call.path_values["rule"], body.expected_version, wish, body.reason,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.OpsAlarmRule, 200)


async def read_log(call: Call) -> Response:
    """Who changed what, when and why."""
    kind = call.query.get("kind")
    if kind is not None and kind not in set(LogKind):
        raise invalid("query:kind", f"must be one of {', '.join(LogKind)}")
    limit = addresses.small_number_of(call.query, "limit")
    if limit is not None and not 1 <= limit <= operations_log.MOST:
        raise invalid("query:limit", f"must be from 1 to {operations_log.MOST}")
    page = await operations_log.read_log(
        call.db, addresses.instant_of(call.query, "before") or datetime(2100, 1, 1, tzinfo=UTC),
        event_id=addresses.optional_event_id_of(call.query), kind=None if kind is None else LogKind(kind),
        limit=limit or operations_log.PAGE,
    )  # fmt: skip
    return answer(to_wire(page, wire.OpsLog))


async def metrics(call: Call) -> Response:
    """For a scraper: with the metrics token where one is set, else to this machine alone and to no proxy on it."""
    _check_scraper(call)
    return Response(exposition(call.services.meter, call.services.ops.standing), media_type=MEDIA_TYPE)


def _check_scraper(call: Call) -> None:
    wanted = call.services.ops.metrics_token
    if wanted:
        scheme, _, shown = call.header(b"authorization").partition(" ")
        if scheme.lower() != "bearer" or not compare_digest(shown.strip().encode(), wanted.encode()):
            raise NotSignedInError("Show the metrics token as `Authorization: Bearer …`.")
        return
    is_forwarded = any(header(call.scope, name) is not None for name in _FORWARDED)
    if is_forwarded or client_address(call.scope, call.services.trusted_proxies) is not None:
        raise ForbiddenError("Figures are read on the machine itself, or with the metrics token.")
