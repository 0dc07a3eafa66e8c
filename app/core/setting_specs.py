"""What can be set at the settings screen, once: key, kind, bounds, unit, and who may set it.

Keys of an event's and of the house's settings are the members of `EventSettings` and `ReconciliationSettings`; keys of
a till are those of `app.settings`. Bounds are those of the booking system, which checks them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app import settings
from app.core.session import Permission
from backend_client.wire import OrphanRule

Value = int | float | str | bool | None
"""None is "never", of a limit that does not apply."""
MOST_MINOR: Final = 10**12
GENERAL_LIMIT: Final = "second_person_above_minor"
LIMIT_OF: Final = "limits_by_currency/"
"""Before a currency's code: the key of its limit, which is there only for a currency that has one of its own."""


class SettingKind(StrEnum):
    """`limit`: an amount, or never. A limit with a currency may also be missing: then the general one counts."""

    MONEY = "money"
    LIMIT = "limit"
    WHOLE = "whole"
    LENGTH = "length"
    CHOICE = "choice"
    FLAG = "flag"
    TEXT = "text"


class SettingUnit(StrEnum):
    NONE = ""
    SECONDS = "s"
    TICKETS = "tickets"
    HOLDS = "holds"
    SEATS = "seats"
    HOUR = "hour"
    MILLIMETRES = "mm"
    DPI = "dpi"
    MINOR = "minor"


class SettingGroup(StrEnum):
    """Settings that stand together."""

    MONEY = "money"
    TIME = "time"
    LIMITS = "limits"
    SEATS = "seats"
    SECOND_PERSON = "second-person"
    RECONCILIATION = "reconciliation"
    CARDS = "cards"
    COUNTER = "counter"
    TICKETS = "tickets"


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting. `currency` is of money alone; `later`: it counts from the next start of the console.

    `choices` are the values of a choice; of an amount without a currency they are currencies to give examples in.
    """

    key: str
    kind: SettingKind
    group: SettingGroup
    needs: Permission
    low: float = 0
    high: float = 0
    unit: SettingUnit = SettingUnit.NONE
    choices: tuple[str, ...] = ()
    currency: str = ""
    later: bool = False


def event_specs(currency: str) -> tuple[SettingSpec, ...]:
    """What is set for an event that is sold in this currency."""
    whole, event = SettingKind.WHOLE, Permission.SET_EVENTS
    seconds, tickets = SettingUnit.SECONDS, SettingUnit.TICKETS
    group = SettingGroup
    return (
        SettingSpec("max_refund_by_clerk_minor", SettingKind.MONEY, group.MONEY, Permission.SET_CLERK_REFUNDS,
                    0, MOST_MINOR, currency=currency),
        SettingSpec("hold_ttl_s", whole, group.TIME, event, 1, 900, seconds),
        SettingSpec("grace_s", whole, group.TIME, event, 0, 900, seconds),
        SettingSpec("max_per_account", whole, group.LIMITS, event, 1, 10_000, tickets),
        SettingSpec("max_per_card", whole, group.LIMITS, event, 1, 10_000, tickets),
        SettingSpec("max_open_holds_till", whole, group.LIMITS, event, 1, 1_000, SettingUnit.HOLDS),
        SettingSpec("paying_cap", whole, group.LIMITS, event, 1, 1_000_000, SettingUnit.SEATS),
        SettingSpec("orphan_rule", SettingKind.CHOICE, group.SEATS, event, choices=tuple(OrphanRule)),
        SettingSpec("admission", SettingKind.FLAG, group.SEATS, event),
    )  # fmt: skip


def house_specs(currencies: Iterable[str]) -> tuple[SettingSpec, ...]:
    """What is set for the whole house; a limit for each currency; they are the examples of the general one."""
    admin, second = Permission.ADMINISTER, SettingGroup.SECOND_PERSON
    known = tuple(sorted(set(currencies)))
    limits = tuple(
        SettingSpec(f"{LIMIT_OF}{currency}", SettingKind.LIMIT, second, admin, 0, MOST_MINOR, currency=currency)
        for currency in known
    )
    group = SettingGroup.RECONCILIATION
    return (
        *limits,
        SettingSpec(GENERAL_LIMIT, SettingKind.LIMIT, second, admin, 0, MOST_MINOR, SettingUnit.MINOR, known),
        SettingSpec("run_at_hour", SettingKind.WHOLE, group, admin, 0, 23, SettingUnit.HOUR),
        SettingSpec("zone", SettingKind.TEXT, group, admin, 1, 60),
        SettingSpec("unknown_after_s", SettingKind.WHOLE, group, admin, 60, 86_400, SettingUnit.SECONDS),
    )


def till_specs() -> tuple[SettingSpec, ...]:
    """What is set for this till alone."""
    unit, group = SettingUnit, SettingGroup
    return (
        _of_till(settings.CARD_WAY, group.CARDS),
        _of_till(settings.TERMINAL_ADDRESS, group.CARDS, later=True),
        _of_till(settings.HAND_OVER_AFTER_S, group.CARDS, unit.SECONDS),
        _of_till(settings.HOLD_WARNING_S, group.COUNTER, unit.SECONDS, later=True),
        _of_till(settings.TICKET_STOCK, group.TICKETS, later=True),
        _of_till(settings.STOCK_WIDTH_MM, group.TICKETS, unit.MILLIMETRES, later=True),
        _of_till(settings.STOCK_HEIGHT_MM, group.TICKETS, unit.MILLIMETRES, later=True),
        _of_till(settings.PRINTER_DPI, group.TICKETS, unit.DPI, later=True),
    )


def _of_till(
    setting: settings.Setting[str] | settings.Setting[int] | settings.Setting[float],
    group: SettingGroup,
    unit: SettingUnit = SettingUnit.NONE,
    *,
    later: bool = False,
) -> SettingSpec:
    kind = SettingKind.CHOICE if setting.choices else _KIND_OF[type(setting.default)]
    return SettingSpec(
        setting.key, kind, group, Permission.SET_TILL, setting.low or 0, setting.high or 0, unit,
        tuple(map(str, setting.choices)), later=later,
    )  # fmt: skip


_KIND_OF: Final[Mapping[type, SettingKind]] = {
    int: SettingKind.WHOLE, float: SettingKind.LENGTH, str: SettingKind.TEXT,
}  # fmt: skip
