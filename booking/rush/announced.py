"""How others join a run: a file of the run's own, for nobody else's eyes, that is replaced as things happen."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from booking.domain.caller import Role
from booking.rush.staff import Staffer

JOIN_NAME = "join.json"


class Announcement:
    """Addresses, people with their passwords, and what happens when (seconds of the wall clock). Its mode is 600.

    The passwords are good for the run's own system alone, which is gone after it.
    """

    def __init__(
        self, path: Path, *, api_url: str, room_url: str, event_id: int, staff: Mapping[Role, Staffer]
    ) -> None:
        self.path = path
        self._facts: dict[str, object] = {
            "api_url": api_url,
            "room_url": room_url,
            "event_id": event_id,
            "people": {str(role): {"name": one.name, "password": one.password} for role, one in staff.items()},
            "over": False,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        self.tell()

    def tell(self, **facts: float | bool | None) -> None:
        """Add what became known. Readers see the old file or the new one, whole."""
        self._facts.update(facts)
        fresh = self.path.with_suffix(".part")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(self._facts, file, indent=1)
        fresh.replace(self.path)

    def withdraw(self) -> None:
        """The house is gone: so is the way in."""
        for path in (self.path, self.path.with_suffix(".part")):
            with suppress(FileNotFoundError):
                path.unlink()
