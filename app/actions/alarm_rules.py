"""The limits of alarms: read again and again while they are looked at, set from the version that was read (R32)."""

from __future__ import annotations

from app.actions.desk import Desk
from app.actions.follow_ops import load_alarms
from app.core.ops_series import SampleTable, table_of
from app.core.session import Permission, require
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    BookingRefusedError,
    ForbiddenError,
    NotSignedInError,
)
from backend_client.wire import ErrorCode, OpsAlarmRule, OpsAlarmRuleChange, OpsLogEntry, OpsLogKind

_LOOKED_BACK = 100
"""Entries of the log among which the newest change of a rule is looked for."""


async def load_rules(desk: Desk) -> None:
    """Read the limits. While they cannot be read those that are here stay: the head of the screen tells their age.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError, ForbiddenError: the person may not see them any more.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    try:
        rules = (await desk.client.ops_alarm_rules()).rules
    except (NotSignedInError, ForbiddenError):
        raise
    except BookingClientError:
        return
    board.put_rules(rules)
    if board.alarms_trouble:
        await load_alarms(desk)


async def follow_rules(desk: Desk) -> None:
    """Read them again and again until the task ends. Raises as `load_rules`."""
    while True:
        await load_rules(desk)
        await desk.sleep(desk.patience.limits_s)


async def set_rule(desk: Desk, rule: str, change: OpsAlarmRuleChange) -> OpsAlarmRule:
    """Set a limit; the answer is the rule as it is now, which somebody else may have set once more already.

    Raises:
        NotAllowedError: the role may not.
        AnswerUnknownError: nobody knows whether it took effect; the same again goes under the same key, and is done
            once.
        BookingRefusedError: `settings-changed`: somebody was faster, what they set was read. `invalid-request`: its
            fields say what cannot be. `alarm-not-found`.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    require(desk.store.session, Permission.SET_LIMITS)
    board, what = desk.store.ops, f"limit-{rule}"
    key = board.key_for(what, change, desk.new_key)
    try:
        answer = await desk.client.change_ops_alarm_rule(rule, change, key=key)
    except AnswerUnknownError:
        await load_rules(desk)
        raise
    except BookingRefusedError as error:
        if error.is_word:
            board.settle_key(what)
        if error.problem.code is ErrorCode.SETTINGS_CHANGED:
            await load_rules(desk)
        raise
    board.settle_key(what)
    board.put_rule(answer)
    return answer


async def read_quarter(desk: Desk, figure: str) -> SampleTable:
    """The last quarter of an hour of a figure, second by second. Raises BookingClientError."""
    return table_of(await desk.client.ops_history(step="second", names=[figure]))


async def read_last_change(desk: Desk, rule: str) -> OpsLogEntry | None:
    """Who set a limit last, and why; None when that lies too far back. Raises BookingClientError."""
    log = await desk.client.ops_log(kind=OpsLogKind.ALARM, limit=_LOOKED_BACK)
    return next((one for one in log.entries if one.action == "alarm-rule-changed" and one.subject == rule), None)
