"""The settings as this console knows them: what was read of each subject, what is typed over it, and what others did.

A subject is an event, the house, or this till. What is typed stays with its subject, also when somebody else changes
the same settings meanwhile: then it is shown what they changed, before anything of ours can go over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.core.setting_specs import SettingSpec, Value
from backend_client.wire import EventId, EventSettingsChange, ReconciliationSettingsChange

HOUSE: Final = "house"
TILL: Final = "till"


def subject_of(event_id: EventId) -> str:
    """The subject that is an event."""
    return f"event:{event_id}"


@dataclass(frozen=True, slots=True)
class Seen:
    """Settings as they were read, by key. A limit that is missing in `values` has no value of its own."""

    specs: tuple[SettingSpec, ...]
    values: Mapping[str, Value]
    version: int


@dataclass(frozen=True, slots=True)
class SentChange:
    """A change whose answer is not known: the same goes again under the same key, and is done once."""

    request: EventSettingsChange | ReconciliationSettingsChange
    key: str


@dataclass(slots=True)
class Subject:
    """`typed`: raw text by key, of what the person touched. `theirs`: the values that stood there when the person
    began, by key, where somebody else has put another one. `changed`: what our last change set, with `before` what
    stood there; a key that is missing in it had no value of its own.
    """

    seen: Seen | None = None
    typed: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    theirs: dict[str, Value] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    sent: SentChange | None = None
    changed: frozenset[str] = frozenset()
    before: Mapping[str, Value] = field(default_factory=dict)

    def key_for(self, request: EventSettingsChange | ReconciliationSettingsChange, new_key: Callable[[], str]) -> str:
        """The key of a change: that of the same change if its answer is not known, a new one otherwise."""
        if self.sent is None or self.sent.request != request:
            self.sent = SentChange(request, new_key())
        return self.sent.key


Listener = Callable[[str], None]


class SettingsDesk:
    """See the module. Read the attributes, write through the methods; each write names the subject that changed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._subjects: dict[str, Subject] = {}
        self.event_id: EventId | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change; the answer ends it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def clear(self) -> None:
        """Nobody works here any more: nothing of what was read or typed stays for the next person."""
        self._subjects.clear()
        self.event_id = None
        for name in (HOUSE, TILL, ""):
            self._tell(name)

    def of(self, name: str) -> Subject:
        """What is known of a subject."""
        return self._subjects.setdefault(name, Subject())

    @property
    def event(self) -> str:
        """The subject that is the chosen event; empty while none is."""
        return "" if self.event_id is None else subject_of(self.event_id)

    def choose_event(self, event_id: EventId) -> None:
        """Look at another event; what is typed about the one before stays with it."""
        if event_id != self.event_id:
            self.event_id = event_id
            self._tell(self.event)

    def put_seen(self, name: str, seen: Seen, *, own: bool = False) -> None:
        """What the booking system has. `own`: it is so by our own change, and nobody else's.

        What was read earlier and comes later is passed over. While something is typed, what differs from what stood
        there when it was typed is remembered as somebody else's.
        """
        subject = self.of(name)
        old = subject.seen
        if old is not None and seen.version < old.version:
            return
        if old is not None and not own and seen.version != old.version and subject.typed:
            for key in {*seen.values, *old.values}:
                if seen.values.get(key) != old.values.get(key):
                    subject.theirs.setdefault(key, old.values.get(key))
        subject.seen, subject.trouble = seen, ""
        self._tell(name)

    def put_trouble(self, name: str, code: str) -> None:
        """They could not be read, or not be changed; what is shown stays."""
        self.of(name).trouble = code
        self._tell(name)

    def put_faults(self, name: str, faults: Mapping[str, str]) -> None:
        """What the booking system says is wrong, by key."""
        self.of(name).faults = dict(faults)
        self._tell(name)

    def type(self, name: str, key: str, text: str) -> None:
        """Something was typed or chosen."""
        subject = self.of(name)
        if subject.typed.get(key) != text:
            subject.typed[key] = text
            subject.faults.pop(key, None)
            self._tell(name)

    def put_reason(self, name: str, reason: str) -> None:
        """Why, for whoever reads the audit."""
        subject = self.of(name)
        if subject.reason != reason:
            subject.reason = reason
            self._tell(name)

    def put_back(self, name: str) -> None:
        """Nothing is to be changed; and the person has seen what others did."""
        subject = self.of(name)
        subject.typed.clear()
        subject.theirs.clear()
        subject.faults.clear()
        subject.reason = ""
        self._tell(name)

    def note_done(self, name: str, seen: Seen, changed: frozenset[str]) -> None:
        """Our change of these settings took effect: so they stand now."""
        subject = self.of(name)
        stood = {} if subject.seen is None else subject.seen.values
        subject.sent = None
        subject.changed, subject.before = changed, {key: stood[key] for key in changed if key in stood}
        subject.typed.clear()
        subject.theirs.clear()
        subject.faults.clear()
        subject.reason = ""
        self.put_seen(name, seen, own=True)

    def _tell(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)
