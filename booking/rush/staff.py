"""The people of a run: a clerk and an operator, made for its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from uuid import UUID, uuid4

from booking.domain.caller import Role
from booking.services import sign_in
from booking.store.database import Database

_ROLES = (Role.OPS, Role.CLERK)
_NAMES = {Role.OPS: "Operator of a rush", Role.CLERK: "Clerk of a rush"}


@dataclass(frozen=True, slots=True)
class Staffer:
    """Somebody who works at the run: how to sign in as them, and a token of theirs."""

    staff_id: UUID
    name: str
    password: str = field(repr=False)
    token: str = field(repr=False)


async def hire(db: Database) -> Mapping[Role, Staffer]:
    """New people with passwords that nobody knows."""
    hired = {}
    for role in _ROLES:
        name, password = f"rush-{role}-{uuid4().hex[:8]}", token_urlsafe(18)
        staff_id = await sign_in.create_staff(db, name, _NAMES[role], role, password)
        session = await sign_in.login(db, name, password, uuid4(), "till of a rush")
        hired[role] = Staffer(staff_id, name, password, session.access_token)
    return hired
