"""What operators read: names of figures, of states, of what changed and why; values with their units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

import msgspec

from app.core.ops_board import UNKNOWN_OLD
from app.core.ops_health import Health, State
from app.i18n import _, figures, marked, ngettext
from app.models.provider_words import provider_name
from app.screens.setting_words import known_setting_name
from backend_client.wire import (
    AdmissionMode,
    AdmissionReason,
    EventId,
    EventStatus,
    OpsAlarm,
    OpsAlarmRule,
    OpsFigure,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    OpsSeverity,
)

F = OpsFigure
_DAY_S = 86_400
_IS_A_FRACTION = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,20}(e-?[0-9]{1,2})?")
_OF_LIMITS = frozenset({"raise_at", "clear_at", "raise_after_s", "clear_after_s", "value"})
MARKS = {Health.UNKNOWN: "○", Health.WELL: "●", Health.WARNING: "▲", Health.CRITICAL: "✕", Health.LATE: "◌",
         Health.AWAY: "✕"}  # fmt: skip
TONES = {Health.UNKNOWN: "text_muted", Health.WELL: "success", Health.WARNING: "warn", Health.CRITICAL: "danger",
         Health.LATE: "warn", Health.AWAY: "danger"}  # fmt: skip
_NAMES: dict[str, str] = {
    F.FAILURES_PER_S: marked("Failures a second"), F.SHED_PER_S: marked("Turned away"),
    F.HOLD_CONFLICT_SHARE: marked("Holds lost to others"), F.HOLD_P99_MS: marked("Hold answers, 99 of 100"),
    F.QUEUE_AGE_MS: marked("Oldest waits"), F.POOL_USE_SHARE: marked("Database connections in use"),
    F.LOCK_WAITS: marked("Sessions waiting for locks"), F.LOCK_WAIT_OLDEST_S: marked("Longest wait for a lock"),
    F.DATABASE_CONNECTION_SHARE: marked("Connections of the database in use"),
    F.EXPIRY_BACKLOG: marked("Holds overdue"), F.EXPIRY_OLDEST_S: marked("Oldest overdue hold"),
    F.PAYMENTS_UNKNOWN: marked("Unclear payments"),
    F.PAYMENTS_UNKNOWN_OLDEST_S: marked("Oldest unclear payment"),
    F.PAYMENT_ERROR_SHARE: marked("Payments that fail"), F.OUTBOX_LAG: marked("Messages not sent on"),
    F.OUTBOX_OLDEST_S: marked("Oldest message not sent on"), F.SEQUENCER_SILENT_S: marked("Map changes not told for"),
    F.TICKETING_LAG_S: marked("Tickets late by"), F.TICKET_DIFFERENCES: marked("Orders without their tickets"),
    F.FEED_CLIENTS: marked("Maps that follow"), F.FEED_LAG_P99_MS: marked("Maps late, 99 of 100"),
    F.SHOPPERS_ACTIVE: marked("Shoppers inside"), F.ORDERS_CONFIRMED_PER_MIN: marked("Orders a minute"),
    F.COMPLETION_SHARE: marked("Shoppers who buy"), F.ROOM_WAITING: marked("Waiting room"),
    F.ROOM_WAIT_S: marked("Wait for a turn"), F.ADMISSION_SET_PER_MIN: marked("Set"),
    F.ADMISSION_MEASURED_PER_MIN: marked("Measured"), F.PROCESSES_SILENT: marked("Processes that are silent"),
    "admission_unsteered_s": marked("Nobody steers the waiting room for"),
    UNKNOWN_OLD: marked("Over 5 minutes"),
}  # fmt: skip
_ACTIONS: dict[str, str] = {
    "event-status-changed": marked("State of the event changed"), "settings-changed": marked("Settings changed"),
    "plan-changed": marked("Plan of the event changed"), "tier-changed": marked("Places changed"),
    "access-code-set": marked("Access code set"), "house-hold-made": marked("Seats kept back"),
    "house-hold-released": marked("Seats given back to sale"), "admission-changed": marked("Admission changed"),
    "admission-settings-changed": marked("Admission set"), "session-end-asked": marked("Session ended"),
    "alarm-raised": marked("Alarm raised"), "alarm-cleared": marked("Alarm over"),
    "alarm-acknowledged": marked("Alarm acknowledged"), "alarm-rule-changed": marked("Limit of an alarm changed"),
    "authority-silent": marked("The database does not answer"),
    "reconciliation-settings-changed": marked("Settings changed"),
    "admission-steered": marked("Admission steered"), "room-made": marked("Waiting room made"),
    "room-settings": marked("Settings of the waiting room changed"),
    "room-codes-added": marked("Registration codes added"),
    "room-keys-rotated": marked("Signing key of the waiting room changed"),
    "channel-providers-changed": marked("Providers of a channel changed"),
    "device-reader-changed": marked("Card reader of a till changed"),
}  # fmt: skip
_ROOM_SETTINGS: dict[str, str] = {
    "queueing": marked("Order of the line"), "new_users_per_minute": marked("Let in a minute"),
    "session_duration_s": marked("A turn lasts"), "collect_within_s": marked("To come when it is one's turn"),
    "away_after_s": marked("Passed over when away for"), "token_life_s": marked("A token lasts"),
    "session_renewal": marked("A turn is renewed"), "revoke_after_purchase": marked("A purchase ends the turn"),
    "registration_required": marked("With a code alone"), "bot_check": marked("Machines are kept out"),
    "paused": marked("Paused"),
}  # fmt: skip
_STATEMENTS: dict[str, str] = {
    "hold": marked("Hold"), "checkout": marked("Checkout"), "payment": marked("Payment"), "result": marked("Result"),
    "release": marked("Release"), "cancel": marked("Cancel"), "sweep": marked("Ending of holds"),
    "sequencer": marked("Map changes"), "tickets": marked("Tickets"), "reconciliation": marked("Reconciliation"),
    "refund": marked("Refund"), "control": marked("Settings"), "admission": marked("Admission"),
    "figures": marked("Figures"), "maintenance": marked("Maintenance"), "transaction": marked("Between two steps"),
    "read": marked("Read"), "write": marked("Write"), "other": marked("Other"),
}  # fmt: skip


def figure_name(name: str) -> str:
    """A figure as people call it; one that is newer than this console by its code."""
    words = _NAMES.get(name)
    return name.replace("_", " ") if words is None else _(words)


def value_words(name: str, value: float) -> str:
    """A value with its unit, which stands at the end of the figure's name."""
    if name.endswith("_share"):
        return figures().share(value)
    if name.endswith("_ms"):
        return figures().milliseconds(value)
    if name.endswith("_s") and not name.endswith("_per_s"):
        return figures().age(value) if value >= 1 or value == 0 else figures().milliseconds(value * 1_000)
    return figures().rough(value)


def exact_words(name: str, value: float) -> str:
    """A value that was set, with its unit and all its digits."""
    if name.endswith("_share"):
        return figures().exact(value, "percent")
    if name.endswith("_ms"):
        return figures().exact(value, "duration-millisecond")
    if name.endswith("_s") and not name.endswith("_per_s"):
        whole = value == int(value) and value < _DAY_S
        return seconds_words(int(value)) if whole else figures().exact(value, "duration-second")
    return figures().exact(value)


def seconds_words(seconds: int) -> str:
    """A time of less than a day as exactly as it is set: `5 sec`, `1 min 30 sec`."""
    minutes, rest = divmod(seconds, 60)
    parts = ([figures().age(minutes * 60)] if minutes else []) + ([figures().age(rest)] if rest or not minutes else [])
    return " ".join(parts)


def tick_words(name: str, value: float) -> str:
    """A value on a scale: short."""
    if name.endswith("_share"):
        return figures().share(value)
    if name.endswith("_s") and not name.endswith("_per_s") and value >= 60:
        return figures().duration(round(value))
    return figures().rough(value)


def action_words(entry: OpsLogEntry) -> str:
    """What happened, in words; an action that is newer than this console by its code."""
    words = _ACTIONS.get(entry.action)
    return entry.action.replace("-", " ") if words is None else _(words)


def who_words(who: str) -> str:
    """Who did it: a person by name, a part of the booking system by what it is."""
    return {"controller": _("Controller"), "alarms": _("Alarms")}.get(who, who)


def subject_words(
    entry: OpsLogEntry, rules: Iterable[OpsAlarmRule], events: Mapping[EventId, str] = MappingProxyType({})
) -> str:
    """What it was done to: the figure of an alarm and an event by their names, a session without its prefix."""
    figure = figure_of(entry, rules)
    if figure:
        return figure_name(figure)
    kind, *rest = entry.subject.split(":", 1)
    name = "".join(rest)
    if kind == "event" and name.isdigit():
        number = EventId(int(name))
        return events.get(number) or _("Event {number}").format(number=number)
    return _("All rooms") if entry.subject == "room" else entry.subject.removeprefix("session:")


def figure_of(entry: OpsLogEntry, rules: Iterable[OpsAlarmRule]) -> str:
    """The figure that an entry about an alarm is about; empty for any other."""
    return next((rule.figure for rule in rules if rule.rule == entry.subject), "")


def change_words(change: OpsLogChange, figure: str = "") -> str:
    """`Cap: 900 → 1,200`; what an alarm of `figure` has is said in the figure's unit."""
    names = {
        "per_minute": _("Let in a minute"), "mode": _("Mode"), "status": _("State"), "state": _("State"),
        "raise_at": _("Alarm from"), "clear_at": _("Over at"), "raise_after_s": _("Alarm after"),
        "clear_after_s": _("Over after"), "severity": _("How loud"), "enabled": _("On"), "value": _("Figure"),
        "acknowledged": _("Known"), "cap_per_minute": _("Cap"),
        "manual_per_minute": _("By hand"), "least_per_minute": _("At least"),
        "total_active_users": _("Inside at most"),
    }  # fmt: skip
    if change.name == "targets":
        return figures().joined(_target_words(change))
    known = names.get(change.name) or known_setting_name(change.name)
    name = known or (_(_ROOM_SETTINGS[change.name]) if change.name in _ROOM_SETTINGS else change.name.replace("_", " "))
    values = from_to(_changed(change.name, figure, change.was), _changed(change.name, figure, change.now))
    return f"{name}: {values}" if name else values


def _target_words(change: OpsLogChange) -> list[str]:
    """The limits that the controller goes by, those that are other ones: each as its figure, with its unit."""
    was, now = _numbers(change.was), _numbers(change.now)
    if now is None:
        return [change.now or "–"]
    before = was or {}
    names = dict.fromkeys([*now, *before])
    told = [name for name in names if now.get(name) != before.get(name)]
    return [
        f"{figure_name(name)}: {from_to(*(_limit(name, side.get(name)) for side in (before, now)))}" for name in told
    ]


def _limit(name: str, value: float | None) -> str:
    return "–" if value is None else exact_words(name, value)


def _numbers(text: str) -> dict[str, float] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, float])
    except msgspec.MsgspecError:
        return None


def _changed(name: str, figure: str, text: str) -> str:
    """One side of a change; what is no number stands as it is."""
    if name.endswith("_s") and not figure and text.isascii() and text.isdigit() and len(text) < 6:
        return delay_words(int(text))
    if figure and name in _OF_LIMITS:
        try:
            number = float(text)
        except ValueError:
            return text or "–"
        if name.endswith("_after_s"):
            return delay_words(round(number))
        return value_words(figure, number) if name == "value" else exact_words(figure, number)
    if _IS_A_FRACTION.fullmatch(text):
        # What was steered to is a number of many places that nobody set.
        return figures().rough(float(text)) if name.endswith("per_minute") else figures().exact(round(float(text), 4))
    return _changed_value(text)


def delay_words(seconds: int) -> str:
    """`5 sec`, or that it happens at once."""
    return seconds_words(seconds) if seconds else _("at once")


def from_to(before: str, after: str) -> str:
    """`900 → 1,200`; the arrow points the other way where people read from the right."""
    return _("{before} → {after}").format(before=before, after=after)


def _changed_value(text: str) -> str:
    known = {
        EventStatus.ON_SALE.value: _("On sale"), EventStatus.PAUSED.value: _("Sale paused"),
        EventStatus.CANCELLED.value: _("Cancelled"), "true": _("yes"), "false": _("no"), "calm": _("Calm"),
        **{mode.value: mode_words(mode) for mode in AdmissionMode},
        **{severity.value: severity_words(severity) for severity in OpsSeverity},
        "fifo": _("As they came"), "random": _("By lot"),
    }  # fmt: skip
    if text.isascii() and text.isdigit():
        return figures().number(int(text))
    return known.get(text) or _listed(text) or "–"


def _listed(text: str) -> str:
    """Providers of a channel in words: `["stripe","zvt"]` as it was logged; anything else as it is."""
    try:
        codes = msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError:
        return text
    return figures().listed(provider_name(code) for code in codes)


def kind_words(kind: OpsLogKind) -> str:
    """What an entry of the log is about."""
    return {
        OpsLogKind.SETTINGS: _("Settings"), OpsLogKind.STATUS: _("State"), OpsLogKind.ADMISSION: _("Admission"),
        OpsLogKind.SESSION: _("Session"), OpsLogKind.ALARM: _("Alarm"), OpsLogKind.AUTHORITY: _("Database"),
    }[kind]  # fmt: skip


def statement_words(kind: str) -> str:
    """A kind of statement, in words."""
    words = _STATEMENTS.get(kind)
    return kind.replace("-", " ").replace("_", " ") if words is None else _(words)


def session_state_words(state: str) -> str:
    """What a session of the database is doing."""
    known = {
        "active": _("At work, or waiting"), "idle in transaction": _("Does nothing, with something open"),
        "idle": _("Does nothing"), "idle in transaction (aborted)": _("Failed, with something open"),
    }  # fmt: skip
    return known.get(state, state)


def undo_words(statement: str) -> str:
    """What is undone when a session ends in the middle of this kind of statement."""
    later, nothing = _("Some of it is done a little later."), _("Nothing: it only reads.")
    known = {
        "hold": _("The hold is not made; its seats stay free."),
        "checkout": _("The checkout is not begun; the hold stays as it is."),
        "payment": _("The payment is not opened; nobody was charged."),
        "result": _("The result is not written yet; it is reported again, and nothing is charged twice."),
        "refund": _("The refund is not begun; it can be asked for again."),
        "sweep": later, "sequencer": later, "tickets": later, "figures": later, "read": nothing,
    }  # fmt: skip
    return known.get(statement, _("Everything that it has changed and not committed."))


def severity_words(severity: OpsSeverity) -> str:
    """How loud an alarm is."""
    return _("Critical") if severity is OpsSeverity.CRITICAL else _("Warning")


def severity_mark(severity: OpsSeverity) -> str:
    """The same as a shape."""
    return "✕" if severity is OpsSeverity.CRITICAL else "▲"


def mode_words(mode: AdmissionMode) -> str:
    """A mode of admission."""
    return {
        AdmissionMode.AUTOMATIC: _("Automatic"), AdmissionMode.MANUAL: _("By hand"), AdmissionMode.PAUSED: _("Paused"),
    }[mode]  # fmt: skip


def reason_words(reason: AdmissionReason) -> str:
    """Why the rate is what it is."""
    return {
        AdmissionReason.STRAIN: _("Lowered: something is over its limit"),
        AdmissionReason.RECOVERING: _("Coming back to what went well"),
        AdmissionReason.PROBING: _("Calm: a little more is tried"),
        AdmissionReason.SHOPPERS_AT_LIMIT: _("As many are inside as may be"),
        AdmissionReason.FEW_SEATS_LEFT: _("Few seats are left"),
        AdmissionReason.AUTHORITY_AWAY: _("The database is away: nobody is let in"),
        AdmissionReason.FIGURES_MISSING: _("No figures: nobody is let in"),
        AdmissionReason.PAUSED: _("Paused: nobody is let in"),
        AdmissionReason.MANUAL: _("As set by hand"),
        AdmissionReason.CAP: _("All is calm: at the cap"),
        AdmissionReason.SET_BY_OPS: _("Just set"),
    }[reason]


def alarm_words(alarm: OpsAlarm) -> str:
    """`Hold answers, 99 of 100: 480 ms, limit 300 ms`."""
    return _("{figure}: {value}, limit {limit}").format(
        figure=figure_name(alarm.figure),
        value=value_words(alarm.figure, alarm.value),
        limit=value_words(alarm.figure, alarm.raise_at),
    )


def state_title(state: State) -> str:
    """How things stand, in one line that is read across a room."""
    if state.health is Health.WELL:
        return _("All is well")
    if state.health is Health.UNKNOWN:
        return _("Listening…")
    if state.health is Health.LATE:
        return _("Figures are {age} old").format(age=figures().age(state.age_s or 0.0))
    if state.health is Health.AWAY:
        return _("The booking system does not answer")
    return ngettext("{count} alarm", "{count} alarms", len(state.alarms)).format(
        count=figures().number(len(state.alarms))
    )


def state_detail(state: State, watched: int) -> str:
    """What is the matter, or that nothing is."""
    if state.health is Health.WELL:
        return ngettext("{count} limit is kept", "{count} limits are kept", watched).format(
            count=figures().number(watched)
        )
    if state.health in {Health.LATE, Health.AWAY}:
        age = "" if state.age_s is None else _("Heard {age} ago").format(age=figures().age(state.age_s))
        return figures().joined((age, _("What is shown is of then; it goes on by itself")))
    return figures().joined(alarm_words(alarm) for alarm in state.alarms[:3])


def clock_words(seconds: float, span_s: float, zone: str) -> str:
    """An instant on a time axis; to the second for a span of none, with its day for a long one."""
    at = datetime.fromtimestamp(seconds).astimezone()
    if span_s > 86_400:
        return figures().day(at, zone)
    return figures().clock(at, zone) if span_s == 0 else figures().clock(at, zone)[:5]
