"""Who may call a route: sets of roles, None for a caller without a token (R35)."""

from __future__ import annotations

from typing import Final

from booking.domain.caller import Role
from booking.web.calls import Who

ANYONE: Final[Who] = frozenset({None, *Role})
SIGNED_IN: Final[Who] = frozenset(Role)
STAFF: Final[Who] = SIGNED_IN - {Role.FAN}
SELLERS: Final[Who] = STAFF - {Role.OPS}
BUYERS: Final[Who] = SELLERS | {Role.FAN}
FANS: Final[Who] = frozenset({Role.FAN})
LEADERS: Final[Who] = frozenset({Role.SUPERVISOR, Role.ADMIN})
OPERATORS: Final[Who] = LEADERS | {Role.OPS}
ADMINS: Final[Who] = frozenset({Role.ADMIN})
