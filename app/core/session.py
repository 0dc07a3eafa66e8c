"""Who is signed in, and what the role may do. The API enforces roles; this table mirrors them for the screen (R35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from app.core.errors import NotAllowedError
from backend_client.wire import DeviceId, Role, StaffSession


class Permission(StrEnum):
    SEE_EVENTS = "see-events"
    SELL = "sell"
    PRINT = "print"
    SEE_ALL_SALES = "see-all-sales"
    SEE_OPS = "see-ops"
    TUNE_ADMISSION = "tune-admission"
    SET_LIMITS = "set-limits"
    READ_ITEMS = "read-items"
    RECONCILE = "reconcile"
    FIND_ORDERS = "find-orders"
    REFUND = "refund"
    ADMINISTER = "administer"
    DRAW_PLANS = "draw-plans"
    READ_SETTINGS = "read-settings"
    SET_EVENTS = "set-events"
    SET_CLERK_REFUNDS = "set-clerk-refunds"
    SET_TILL = "set-till"


_EVERYONE = frozenset({Permission.SEE_EVENTS})
_COUNTER = _EVERYONE | {Permission.SELL, Permission.PRINT, Permission.FIND_ORDERS, Permission.REFUND}
_READERS = _EVERYONE | {
    Permission.SEE_ALL_SALES, Permission.SEE_OPS, Permission.READ_ITEMS, Permission.FIND_ORDERS,
    Permission.READ_SETTINGS, Permission.SET_EVENTS, Permission.SET_LIMITS,
}  # fmt: skip
_SUPERVISOR = _COUNTER | _READERS | {
    Permission.RECONCILE, Permission.DRAW_PLANS, Permission.SET_CLERK_REFUNDS, Permission.SET_TILL,
    Permission.TUNE_ADMISSION,
}  # fmt: skip

ALLOWED: Mapping[Role, frozenset[Permission]] = {
    Role.FAN: frozenset(),
    Role.CLERK: _COUNTER,
    Role.OPS: _READERS | {Permission.TUNE_ADMISSION},
    Role.SUPERVISOR: _SUPERVISOR,
    Role.ADMIN: _SUPERVISOR | {Permission.ADMINISTER},
}


class CredentialStorage(StrEnum):
    """Where the sign-in is kept: in the system keyring, or for this session only; the rest says why (D9)."""

    KEYRING = "keyring"
    NOT_ASKED = "not-asked"
    NO_KEYRING = "no-keyring"
    KEYRING_LOCKED = "keyring-locked"
    KEYRING_SILENT = "keyring-silent"

    @property
    def session_only(self) -> bool:
        """True when the person signs in again after the next start."""
        return self is not CredentialStorage.KEYRING


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in person at this device. It holds no token: the client does."""

    staff_id: UUID
    name: str
    display_name: str
    role: Role
    device_id: DeviceId
    storage: CredentialStorage

    @classmethod
    def of_staff(cls, session: StaffSession, storage: CredentialStorage) -> Session:
        """The session that a sign-in or a refresh opened."""
        return cls(session.staff_id, session.name, session.display_name, session.role, session.device_id, storage)

    def may(self, permission: Permission) -> bool:
        """Whether the role allows it, as far as the console knows."""
        return permission in ALLOWED[self.role]


def require(session: Session | None, permission: Permission) -> Session:
    """The session, when it may do this.

    Raises:
        NotAllowedError: nobody is signed in, or the role may not.
    """
    if session is None or not session.may(permission):
        raise NotAllowedError(f"{permission} is not allowed here")
    return session
