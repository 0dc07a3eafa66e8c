"""Who calls, and which rules bind them (R8, R35)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

ADMISSION_CONTROLLER: Final = UUID("00000000-0000-4000-8000-000000000020")
"""The service account that sets the rates of waiting rooms (R20). Nobody signs in with it: it is no row of `staff`."""


class Role(StrEnum):
    """Enforced by the API, mirrored by the console."""

    FAN = "fan"
    CLERK = "clerk"
    OPS = "ops"
    SUPERVISOR = "supervisor"
    ADMIN = "admin"


class Channel(StrEnum):
    """Where a sale is made: a till is bound by parked sales, a fan's account by tickets and one open hold."""

    TILL = "till"
    ONLINE = "online"


@dataclass(frozen=True, slots=True)
class Caller:
    """A request's caller. `principal` scopes keys and limits: `device:<uuid>` at a till, `account:<uuid>` for a fan."""

    principal: str
    role: Role
    channel: Channel
    device_id: UUID | None = None
    staff_id: UUID | None = None
    account_id: UUID | None = None
    display_name: str = ""

    @classmethod
    def at_till(cls, device_id: UUID, staff_id: UUID, role: Role, display_name: str = "") -> Caller:
        """Staff signed in at a device."""
        return cls(f"device:{device_id}", role, Channel.TILL, device_id, staff_id, None, display_name)

    @classmethod
    def fan(cls, account_id: UUID, display_name: str = "") -> Caller:
        """A fan with an account of their own."""
        return cls(f"account:{account_id}", Role.FAN, Channel.ONLINE, None, None, account_id, display_name)

    @property
    def sees_all(self) -> bool:
        """Supervisors, admins and ops see every hold and order; a till and a fan their own."""
        return self.role in (Role.SUPERVISOR, Role.ADMIN, Role.OPS)

    @property
    def acts_for_all(self) -> bool:
        """Supervisors and admins may also act on what others hold."""
        return self.role in (Role.SUPERVISOR, Role.ADMIN)
