"""The settings of `FakeBookingServer`: of its event and of the house, each with a version, as the wire promises."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from backend_client.testing_house import House, RefusalError
from backend_client.testing_items import AreaCall
from backend_client.wire import (
    ErrorCode,
    EventSettings,
    EventSettingsChange,
    EventStatus,
    FieldProblem,
    ReconciliationSettings,
    ReconciliationSettingsChange,
    Role,
)

_EVENT = r"/v1/events/\d+/settings"
_HOUSE = "/v1/reconciliation/settings"
_OPERATORS = frozenset({Role.OPS, Role.SUPERVISOR, Role.ADMIN})
_STAFF = _OPERATORS | {Role.CLERK}


@dataclass(slots=True)
class SettingsBook:
    """`event` and `house_wide` are what stands; `log` is what was changed, by whom and why."""

    house: House
    event: EventSettings | None = None
    house_wide: ReconciliationSettings | None = None
    log: list[tuple[str, str, str]] = field(default_factory=list)

    def answer(self, call: AreaCall) -> object | None:
        """The answer to a call of this area; None for any other."""
        for method, pattern, roles, handler in _ROUTES:
            if method != call.method or re.fullmatch(pattern, call.path) is None:
                continue
            if call.role not in roles:
                raise RefusalError(ErrorCode.FORBIDDEN if call.name else ErrorCode.NOT_SIGNED_IN)
            return handler(self, call)
        return None

    def read_event(self) -> EventSettings:
        """What is set for the event."""
        if self.event is None:
            self.event = self.house.settings()
        return self.event

    def change_event(self, call: AreaCall) -> EventSettings:
        """Set what is given, from the version that was seen."""
        change = msgspec.json.decode(call.content, type=EventSettingsChange)
        now = self.read_event()
        given = {
            name: value
            for name, value in msgspec.structs.asdict(change).items()
            if value is not None and name not in {"expected_version", "reason"}
        }
        if "max_refund_by_clerk_minor" in given and call.role is Role.OPS:
            raise RefusalError(ErrorCode.FORBIDDEN)
        if change.expected_version != now.version:
            raise RefusalError(ErrorCode.SETTINGS_CHANGED)
        if self.house.event().status is EventStatus.CANCELLED:
            raise RefusalError(ErrorCode.EVENT_STATE_CONFLICT)
        self.event = msgspec.structs.replace(now, version=now.version + 1, **given)
        self.log.append((call.name, ", ".join(sorted(given)), change.reason))
        return self.event

    def read_house(self) -> ReconciliationSettings:
        """What is set for all events."""
        if self.house_wide is None:
            self.house_wide = ReconciliationSettings(
                version=1, second_person_above_minor=50_000, run_at_hour=4, zone="Europe/Lisbon", unknown_after_s=900,
                server_time=self.house.now(),
            )  # fmt: skip
        return self.house_wide

    def change_house(self, call: AreaCall) -> ReconciliationSettings:
        """All of them anew, from the version that was seen."""
        change = msgspec.json.decode(call.content, type=ReconciliationSettingsChange)
        now = self.read_house()
        if change.expected_version != now.version:
            raise RefusalError(ErrorCode.SETTINGS_CHANGED)
        if not change.zone.isprintable() or " " in change.zone:
            problem = FieldProblem(pointer="/zone", message="no such time zone")
            raise RefusalError(ErrorCode.INVALID_REQUEST, fields=(problem,))
        members = msgspec.structs.asdict(change)
        reason = members.pop("reason")
        del members["expected_version"]
        self.house_wide = ReconciliationSettings(
            version=now.version + 1, server_time=self.house.now(), **members
        )  # fmt: skip
        self.log.append((call.name, "house", reason))
        return self.house_wide

    def change_behind_the_back(self, **members: object) -> None:
        """Somebody else sets something of the event."""
        now = self.read_event()
        self.event = msgspec.structs.replace(now, version=now.version + 1, **members)


_Handler = Callable[[SettingsBook, AreaCall], object]
_ROUTES: tuple[tuple[str, str, frozenset[Role], _Handler], ...] = (
    ("GET", _EVENT, _STAFF, lambda book, _call: book.read_event()),
    ("PUT", _EVENT, _OPERATORS, lambda book, call: book.change_event(call)),
    ("GET", _HOUSE, _OPERATORS, lambda book, _call: book.read_house()),
    ("PUT", _HOUSE, frozenset({Role.ADMIN}), lambda book, call: book.change_house(call)),
)
