"""The demo's staff: who they are, and passwords that are new at each start and stand nowhere on disk."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from booking.services.sign_in import set_password
from booking.store.database import Database

PEOPLE: Mapping[str, str] = {"clerk": "carla", "ops": "omar", "supervisor": "sofia", "admin": "ada"}


async def renew_passwords(db: Database) -> dict[str, str]:
    """Give each of them a random password. Returns sign-in name → password."""
    passwords = {name: secrets.token_urlsafe(12) for name in PEOPLE.values()}
    for name, password in passwords.items():
        await set_password(db, name, password)
    return passwords
