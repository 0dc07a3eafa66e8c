"""The file that says how to join: where the booking system is, who signs in, and what happens when."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.screens.bindings import Credentials

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class JoinError(ValueError):
    """The file cannot be read, or should not be trusted."""

    code = "join-file-unreadable"


@dataclass(frozen=True, slots=True)
class Joining:
    """What it says now. Times are seconds of the wall clock; None: not known yet, or never.

    `starts_at`: the house opens. `slow_begins_at`, `slow_ends_at`: when its database is meant to be slow; `slow_from`,
    `slow_until`: when it became slow, and well again. `over`: whoever joined ends.
    """

    api_url: str
    event_id: int
    credentials: Credentials
    starts_at: float | None = None
    slow_begins_at: float | None = None
    slow_ends_at: float | None = None
    slow_from: float | None = None
    slow_until: float | None = None
    over: bool = False


class JoinFile:
    """Read again and again; it is replaced as a whole, and gone when the house is."""

    def __init__(self, path: Path, role: str) -> None:
        self._path = path
        self._role = role

    def read(self) -> Joining:
        """What it says now.

        Raises:
            JoinError: there is none, it is not whole, it knows nobody of the role, or others can read the passwords.
        """
        try:
            with self._path.open(encoding="utf-8") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & _OTHERS:
                    raise JoinError(f"{self._path} holds passwords and others can read it; make it yours alone (600)")
                told: dict[str, Any] = json.load(file)
            person = told["people"][self._role]
            return Joining(
                api_url=str(told["api_url"]), event_id=int(told["event_id"]),
                credentials=Credentials(str(person["name"]), str(person["password"])),
                **{name: _seconds(told.get(name)) for name in _TIMES}, over=bool(told.get("over")),
            )  # fmt: skip
        except OSError as error:
            raise JoinError(f"{self._path} cannot be read: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, JoinError):
                raise
            raise JoinError(f"{self._path} does not say how to join as {self._role}: {error!r}") from error

    def now(self) -> Joining | None:
        """What it says now; None when everybody is to end: it says so, or it is gone."""
        try:
            joining = self.read()
        except JoinError:
            return None
        return None if joining.over else joining


_TIMES: Final = ("starts_at", "slow_begins_at", "slow_ends_at", "slow_from", "slow_until")


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JoinError(f"{value!r} is no time in seconds")
    return float(value)
