"""What operators watch at this console: figures of now and of the event's history, alarms, admission, the log.

What was heard stays when the feed is away, with the instant it is from; it is gone when the person is. Nothing here is
made up: a second without a statement is a gap, a figure that was not sent is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core.ops_draft import AdmissionDraft
from app.core.ops_parts import EVERYTHING, LogFilter, LogSubject, MinuteHistory, OpsPart, OpsView, SentChange
from app.core.ops_series import SampleRing, SampleTable, joined
from backend_client.ops_feed_state import OpsFeedState
from backend_client.wire import (
    AdmissionControl,
    AdmissionPreview,
    AdmissionSettings,
    EventId,
    OpsAlarm,
    OpsAlarmRule,
    OpsEventFigures,
    OpsFigure,
    OpsFigures,
    OpsLogEntry,
    OpsUnknownPayments,
)

F = OpsFigure
UNKNOWN_OLD: Final = "payments_unknown_old"
"""Ours: payments without an answer that are older than five minutes."""
OLD_PAYMENT_S: Final = 300
CLOCK_SET_BACK_S: Final = 30.0
"""Statements are late by less; the booking system's clock is put back by more."""
HOUSE_NAMES: Final = (
    F.HOLD_ATTEMPTS_PER_S, F.SHED_PER_S, F.HOLD_CONFLICT_SHARE, F.HOLD_P50_MS, F.HOLD_P99_MS, F.QUEUE_AGE_MS,
    F.LOCK_WAITS, F.LOCK_WAIT_OLDEST_S, F.EXPIRY_BACKLOG, F.EXPIRY_OLDEST_S, F.PAYMENTS_UNKNOWN,
    F.PAYMENTS_UNKNOWN_OLDEST_S, F.PAYMENT_ERROR_SHARE, F.OUTBOX_LAG, F.OUTBOX_OLDEST_S, F.TICKETING_LAG_S,
    F.TICKET_DIFFERENCES, F.FEED_CLIENTS, F.FEED_LAG_P99_MS, F.POOL_USE_SHARE,
)  # fmt: skip
EVENT_NAMES: Final = (
    F.ROOM_WAITING, F.ROOM_WAIT_S, F.ROOM_INSIDE, F.ADMISSION_SET_PER_MIN, F.ADMISSION_MEASURED_PER_MIN,
    F.SHOPPERS_ACTIVE, F.ORDERS_CONFIRMED_PER_MIN, F.COMPLETION_SHARE, F.SEATS_FREE, F.SEATS_HELD, F.SEATS_SOLD,
)  # fmt: skip


Listener = Callable[[OpsPart], None]


class OpsBoard:
    """See the module. Read the attributes, write through the methods; each write tells which part changed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._forget()

    def _forget(self) -> None:
        self.state = OpsFeedState.DIALLING
        self.figures: OpsFigures | None = None
        self.heard_at: float | None = None
        """When the newest statement came, in seconds of the steady clock."""
        self.event_id: EventId | None = None
        self.view = OpsView()
        self.house = SampleRing((*HOUSE_NAMES, UNKNOWN_OLD))
        self.rings: dict[EventId, SampleRing] = {}
        self.minutes = MinuteHistory()
        self.history_trouble = ""
        self.alarms: tuple[OpsAlarm, ...] = ()
        self.past_alarms: tuple[OpsAlarm, ...] = ()
        self.alarms_trouble = ""
        self.rules: tuple[OpsAlarmRule, ...] = ()
        self.control: AdmissionControl | None = None
        self.control_trouble = ""
        self.draft = AdmissionDraft()
        self.theirs: AdmissionSettings | None = None
        """What somebody else has set while something was typed here; None once that was read."""
        self.preview: AdmissionPreview | None = None
        self.preview_trouble = ""
        self.log: tuple[OpsLogEntry, ...] = ()
        self.log_read: LogSubject | None = None
        """What the entries are the answer to; None until one is there."""
        self.log_next: datetime | None = None
        self.log_as_of: datetime | None = None
        self.log_trouble = ""
        self.log_filter = LogFilter()
        self.sent: dict[str, SentChange] = {}
        self._live: SampleTable | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change; the answer ends it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def clear(self) -> None:
        """Nobody works here any more: nothing of what was read or typed stays for the next person."""
        self._forget()
        self._tell(EVERYTHING)

    # ------------------------------------------------------------ the feed

    def put_state(self, state: OpsFeedState) -> None:
        """Where the feed stands."""
        if state is not self.state:
            self.state = state
            self._tell(OpsPart.STATE | (self._try_history_again() if state is OpsFeedState.LIVE else OpsPart(0)))

    def put_figures(self, figures: OpsFigures, heard_at: float) -> None:
        """The newest second. One that is older than what is here is left out; a repeated one is a sign of life.

        One that is older by far is no late one: the clock over there was put back, and what is here is of no time.
        """
        before = self.figures
        if before is not None and figures.measured_at < before.measured_at:
            if (before.measured_at - figures.measured_at).total_seconds() < CLOCK_SET_BACK_S:
                return
            self._forget_seconds()
        self.figures, self.heard_at = figures, heard_at
        at = figures.measured_at.timestamp()
        grew = not figures.authority_away and self.house.push(at, {**figures.house, **_by_age(figures)})
        for event in figures.events if grew else ():
            self._ring_of(event.event_id).push(at, event.figures)
        if grew:
            self._live = None
        changed = OpsPart.FIGURES
        if figures.alarms != self.alarms:
            self.alarms = figures.alarms
            changed |= OpsPart.ALARMS
        self._tell(changed)

    def _forget_seconds(self) -> None:
        self.house, self.rings, self.minutes = SampleRing((*HOUSE_NAMES, UNKNOWN_OLD)), {}, MinuteHistory()

    def merge_seconds(self, event_id: EventId | None, table: SampleTable) -> None:
        """Seconds that were missed, read from the history."""
        (self.house if event_id is None else self._ring_of(event_id)).merge(table)
        self._live = None
        self._tell(OpsPart.FIGURES | self._try_history_again())

    def _ring_of(self, event_id: EventId) -> SampleRing:
        if event_id not in self.rings:
            self.rings[event_id] = SampleRing(EVENT_NAMES)
        return self.rings[event_id]

    # ------------------------------------------------------------ what is looked at

    def choose_event(self, event_id: EventId | None) -> None:
        """Watch this event; what is typed about another one's admission goes with it."""
        if event_id == self.event_id:
            return
        self.event_id = event_id
        self.control, self.control_trouble, self.theirs = None, "", None
        self.draft, self.preview, self.preview_trouble = AdmissionDraft(), None, ""
        self.minutes, self.history_trouble, self._live = MinuteHistory(), "", None
        self._keep_log_of(self.log_subject)
        self._tell(EVERYTHING)

    def look_at(self, view: OpsView) -> None:
        """Show another part of time; what could not be read of the one before is tried again."""
        if view != self.view:
            self.view = view
            self._tell(OpsPart.VIEW | self._try_history_again())

    def put_minutes(self, minutes: MinuteHistory) -> None:
        """Minutes of the history."""
        self.minutes, self.history_trouble = minutes, ""
        self._tell(OpsPart.HISTORY)

    def put_history_trouble(self, code: str) -> None:
        """The history could not be read."""
        self.history_trouble = code
        self._tell(OpsPart.HISTORY)

    def _try_history_again(self) -> OpsPart:
        """The trouble of before says nothing of the next reading."""
        if not self.history_trouble:
            return OpsPart(0)
        self.history_trouble = ""
        return OpsPart.HISTORY

    # ------------------------------------------------------------ alarms

    def put_alarm_list(self, alarms: tuple[OpsAlarm, ...]) -> None:
        """All alarms, the open ones first."""
        self.alarms = tuple(alarm for alarm in alarms if alarm.cleared_at is None)
        self.past_alarms = tuple(alarm for alarm in alarms if alarm.cleared_at is not None)
        self.alarms_trouble = ""
        self._tell(OpsPart.ALARMS)

    def put_alarm(self, alarm: OpsAlarm) -> None:
        """One alarm as it stands."""
        self.alarms = tuple(alarm if kept.alarm_id == alarm.alarm_id else kept for kept in self.alarms)
        self._tell(OpsPart.ALARMS)

    def put_alarms_trouble(self, code: str) -> None:
        """The list could not be read again."""
        if code != self.alarms_trouble:
            self.alarms_trouble = code
            self._tell(OpsPart.ALARMS)

    def put_rules(self, rules: tuple[OpsAlarmRule, ...]) -> None:
        """When alarms are raised: the limits that are drawn in. A list that was read before a change undoes none."""
        known = {rule.rule: rule for rule in self.rules}
        fresh = tuple(max(known.get(rule.rule, rule), rule, key=_version) for rule in rules)
        if fresh != self.rules:
            self.rules = fresh
            self._tell(OpsPart.ALARMS)

    def put_rule(self, rule: OpsAlarmRule) -> None:
        """One rule as it is set now."""
        self.put_rules(tuple(rule if kept.rule == rule.rule else kept for kept in self.rules))

    def rule(self, name: str) -> OpsAlarmRule | None:
        """A rule by its own name."""
        return next((rule for rule in self.rules if rule.rule == name), None)

    def alarm(self, alarm_id: UUID) -> OpsAlarm | None:
        """An open alarm."""
        return next((alarm for alarm in self.alarms if alarm.alarm_id == alarm_id), None)

    # ------------------------------------------------------------ admission

    def put_control(self, control: AdmissionControl, *, own: bool = False) -> None:
        """How admission stands. What somebody else set while something is typed here is told; the typed stays."""
        if control.event_id != self.event_id:
            return
        before = self.control
        if before is not None and control.settings.version < before.settings.version:
            return
        self.control, self.control_trouble = control, ""
        version = control.settings.version
        if own:
            self.draft, self.theirs, self.preview = AdmissionDraft(), None, None
        elif not self.draft.is_empty and self.draft.version is not None and version > self.draft.version:
            self.theirs = control.settings
        self._tell(OpsPart.CONTROL | (OpsPart.DRAFT if own else OpsPart(0)))

    def put_control_trouble(self, event_id: EventId, code: str) -> None:
        """How admission of an event stands is not known any more; nothing is said of one that is not watched."""
        if event_id == self.event_id and code != self.control_trouble:
            self.control_trouble = code
            self._tell(OpsPart.CONTROL)

    def put_draft(self, draft: AdmissionDraft) -> None:
        """What is typed; an empty one is nothing that anybody could overwrite."""
        if draft != self.draft:
            self.draft = draft
            self.theirs = None if draft.is_empty else self.theirs
            self._tell(OpsPart.DRAFT)

    def keep_mine(self) -> None:
        """The person has read what somebody else set, and goes on with what is typed, over that."""
        if self.control is not None:
            self.draft, self.theirs = self.draft.over(self.control.settings), None
            self._tell(OpsPart.DRAFT | OpsPart.CONTROL)

    def take_theirs(self) -> None:
        """The person lets go of what is typed."""
        self.draft, self.theirs, self.preview = AdmissionDraft(), None, None
        self._tell(OpsPart.DRAFT | OpsPart.CONTROL | OpsPart.PREVIEW)

    def put_preview(self, preview: AdmissionPreview | None, trouble: str = "") -> None:
        """What the typed would do."""
        self.preview, self.preview_trouble = preview, trouble
        self._tell(OpsPart.PREVIEW)

    # ------------------------------------------------------------ the log

    @property
    def log_subject(self) -> LogSubject:
        """Which entries are to be read now."""
        return self.log_filter.about(self.event_id)

    def filter_log(self, wanted: LogFilter) -> None:
        """Read or show other entries; what is here of them already stays until they are read."""
        if wanted != self.log_filter:
            before, self.log_filter = self.log_subject, wanted
            if self.log_subject != before:
                self._keep_log_of(self.log_subject)
            self._tell(OpsPart.LOG)

    def _keep_log_of(self, subject: LogSubject) -> None:
        kept = tuple(entry for entry in self.log if subject.has(entry))
        if subject != self.log_read:
            self.log, self.log_read, self.log_next, self.log_as_of, self.log_trouble = kept, None, None, None, ""

    def put_log(
        self, entries: tuple[OpsLogEntry, ...], next_before: datetime | None, as_of: datetime | None = None, *,
        more: bool = False,
    ) -> None:  # fmt: skip
        """Entries of what is to be read now, newest first; `more` adds a page at the end."""
        known = {entry.entry_id for entry in self.log} if more else set()
        fresh = tuple(entry for entry in entries if entry.entry_id not in known)
        self.log = (*self.log, *fresh) if more else fresh
        self.log_read, self.log_next, self.log_trouble = self.log_subject, next_before, ""
        self.log_as_of = as_of or self.log_as_of
        self._tell(OpsPart.LOG)

    def put_log_trouble(self, code: str) -> None:
        """The log could not be read; what was read stays."""
        self.log_trouble = code
        self._tell(OpsPart.LOG)

    # ------------------------------------------------------------ keys of acts

    def key_for(self, what: str, request: object, new_key: Callable[[], str]) -> str:
        """The key of an act: that of the same act if its answer is not known, a new one otherwise."""
        sent = self.sent.get(what)
        if sent is None or sent.request != request:
            sent = self.sent[what] = SentChange(request, new_key())
        return sent.key

    def settle_key(self, what: str) -> None:
        """The answer is known."""
        self.sent.pop(what, None)

    # ------------------------------------------------------------ readings

    def age_s(self, steady_s: float) -> float | None:
        """How old the newest second is at an instant of the steady clock: it may have been old when it came, because
        statements go on while nobody adds up any more. None: there is none.
        """
        if self.figures is None or self.heard_at is None:
            return None
        behind_s = (self.figures.server_time - self.figures.measured_at).total_seconds()
        return max(steady_s - self.heard_at, 0.0) + max(behind_s, 0.0)

    @property
    def event(self) -> OpsEventFigures | None:
        """The watched event as of the newest second."""
        events = () if self.figures is None else self.figures.events
        return next((event for event in events if event.event_id == self.event_id), None)

    @property
    def live(self) -> SampleTable:
        """Seconds of the house and of the watched event beside each other."""
        if self._live is None:
            ring = None if self.event_id is None else self.rings.get(self.event_id)
            house = self.house.table()
            self._live = house if ring is None or not len(ring) else joined(house, ring.table())
        return self._live

    def newest(self, name: str) -> float | None:
        """A figure of the newest second; None: not known. What an event has of its own is the watched one's alone: the
        house's is of all events together.
        """
        if self.figures is None:
            return None
        event = self.event
        return (self.figures.house if event is None or name not in EVENT_NAMES else event.figures).get(name)

    @property
    def waiting_sessions(self) -> int:
        """How many sessions wait for a lock, also those that the list of fifty leaves out."""
        if self.figures is None:
            return 0
        return max(len(self.figures.lock_waits), round(self.figures.house.get(F.LOCK_WAITS, 0.0)))

    def value_now(self, alarm: OpsAlarm) -> float | None:
        """The figure of an alarm in the newest second; None: not known. What the alarm has is what raised it."""
        return None if self.figures is None else self.figures.house.get(alarm.figure)

    @property
    def unseen_alarms(self) -> tuple[OpsAlarm, ...]:
        """Open alarms that nobody has acknowledged."""
        return tuple(alarm for alarm in self.alarms if alarm.acknowledged_at is None)

    def rule_of(self, figure: str) -> OpsAlarmRule | None:
        """The rule that is in force for a figure: the first that is enabled."""
        return next((rule for rule in self.rules if rule.figure == figure and rule.enabled), None)

    def _tell(self, part: OpsPart) -> None:
        for listener in tuple(self._listeners):
            listener(part)


def _version(rule: OpsAlarmRule) -> int:
    return rule.version


def admission_key(event_id: EventId | None) -> str:
    """What a change of an event's admission is called among the acts whose answer is not known."""
    return f"admission-{event_id}"


def _by_age(figures: OpsFigures) -> dict[str, float]:
    """Payments without an answer that are old, when anything is known of them."""
    if F.PAYMENTS_UNKNOWN not in figures.house:
        return {}
    return {UNKNOWN_OLD: float(sum(group.count for group in figures.unknown_payments if _is_old(group)))}


def _is_old(group: OpsUnknownPayments) -> bool:
    return group.from_s >= OLD_PAYMENT_S
