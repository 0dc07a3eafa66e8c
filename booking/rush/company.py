"""Who joins a run beside the fans: told of it in a file, and, where consoles do, kept until the end."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from booking.domain.caller import Role
from booking.rush.announced import JOIN_NAME, Announcement
from booking.rush.conductor import say
from booking.rush.consoles import RunningConsole, consoles
from booking.rush.counter import CONSOLE
from booking.rush.plan import Sale, Server
from booking.rush.staff import Staffer
from booking.rush.through_room import Slowness


@dataclass(frozen=True, slots=True)
class Others:
    """What others are told, and the consoles that were started for the run."""

    announcement: Announcement | None = None
    consoles: Mapping[str, RunningConsole] = field(default_factory=dict)

    @property
    def sells(self) -> bool:
        """Whether a console sells at the counter."""
        return bool(self.consoles)

    @property
    def pids(self) -> dict[str, int]:
        """Their processes, by what the report calls them."""
        return {f"console ({name})": console.process.pid for name, console in self.consoles.items()}

    def open_at(self, starts_at: float, slow: Slowness | None) -> float:
        """Tell when the run begins, and when its database is to be slow (seconds of the wall clock)."""
        if self.announcement is not None:
            self.announcement.tell(
                starts_at=starts_at,
                slow_begins_at=None if slow is None else starts_at + slow.at_s,
                slow_ends_at=None if slow is None else starts_at + slow.at_s + slow.lasts_s,
            )
        return starts_at

    async def end(self) -> dict[str, dict[str, Any]]:
        """Tell that it is over, and wait for what the consoles have to say."""
        if self.announcement is not None:
            self.announcement.tell(over=True)
        told = await asyncio.gather(*(console.ended() for console in self.consoles.values()))
        return dict(zip(self.consoles, told, strict=True))


@asynccontextmanager
async def company_of(
    chosen: argparse.Namespace, api: Server, room: Server | None, sale: Sale, staff: Mapping[Role, Staffer]
) -> AsyncIterator[Others]:
    """Tell others of the run, if asked to, and have the consoles ready before it begins.

    Raises:
        StackError: a console did not get ready.
    """
    with_consoles = chosen.counter == CONSOLE
    folder: Path | None = chosen.report
    path = chosen.announce or (folder / JOIN_NAME if with_consoles and folder is not None else None)
    if room is None or path is None:
        yield Others()
        return
    announcement = Announcement(path, api_url=api.url, room_url=room.url, event_id=sale.event_id, staff=staff)
    async with AsyncExitStack() as stack:
        stack.callback(announcement.withdraw)
        if not with_consoles or folder is None:
            yield Others(announcement)
            return
        say("starting the consoles of a clerk and operators")
        yield Others(announcement, await stack.enter_async_context(consoles(announcement, folder)))
