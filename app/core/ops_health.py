"""Whether all is well, in one word and in the reasons for it: what the screen says across a room."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from msgspec.structs import replace

from app.core.ops_board import OpsBoard
from backend_client.ops_feed_state import OpsFeedState
from backend_client.wire import OPS_LATE_S, OpsAlarm, OpsSeverity


class Health(StrEnum):
    """From the best to the worst. UNKNOWN: nothing was heard yet; LATE: what is shown is not of now."""

    UNKNOWN = "unknown"
    WELL = "well"
    WARNING = "warning"
    CRITICAL = "critical"
    LATE = "late"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class State:
    """`alarms` are the open ones with the figure as it is now, as far as that is known, the loudest first; `age_s` is
    how old the newest second is, when that matters.
    """

    health: Health
    alarms: tuple[OpsAlarm, ...] = ()
    age_s: float | None = None


def state_of(board: OpsBoard, steady_s: float) -> State:
    """How things stand at this instant of the steady clock. Neither old figures nor none are called well."""
    alarms = tuple(_as_now(board, alarm) for alarm in sorted(board.alarms, key=_loudness))
    age_s = board.age_s(steady_s)
    if board.figures is None or board.heard_at is None or age_s is None:
        return State(Health.AWAY if board.state is OpsFeedState.AWAY else Health.UNKNOWN, alarms)
    if board.figures.authority_away:
        heard = board.figures.authority_heard_at or board.figures.measured_at
        since_s = max(steady_s - board.heard_at, 0.0)
        return State(Health.AWAY, alarms, since_s + (board.figures.server_time - heard).total_seconds())
    if age_s > OPS_LATE_S:
        return State(Health.LATE, alarms, age_s)
    if not alarms and not _known(board):
        return State(Health.UNKNOWN)
    if any(alarm.severity is OpsSeverity.CRITICAL for alarm in alarms):
        return State(Health.CRITICAL, alarms)
    return State(Health.WARNING if alarms else Health.WELL, alarms)


def limits_kept(board: OpsBoard) -> int:
    """How many limits are kept, as far as alarms go: of a figure that is not known nothing is said."""
    known = _known(board)
    return sum(rule.enabled and rule.figure in known for rule in board.rules)


def _known(board: OpsBoard) -> set[str]:
    figures = board.figures
    return set() if figures is None else {*figures.house, *(name for event in figures.events for name in event.figures)}


def is_stale(board: OpsBoard, steady_s: float) -> bool:
    """Whether the newest figures are not of now."""
    return state_of(board, steady_s).health in {Health.UNKNOWN, Health.LATE, Health.AWAY}


def _as_now(board: OpsBoard, alarm: OpsAlarm) -> OpsAlarm:
    value = board.value_now(alarm)
    return alarm if value is None else replace(alarm, value=value)


def _loudness(alarm: OpsAlarm) -> tuple[bool, bool, float]:
    return alarm.severity is not OpsSeverity.CRITICAL, alarm.acknowledged_at is not None, -alarm.raised_at.timestamp()
