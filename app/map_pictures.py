"""Pictures of the map at work: plans at every level, with all that it can show, as every kind of eyes sees them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.bridge.crash import CrashReporter
from app.bridge.eyes import Eyes, seen_by
from app.bridge.loop import run
from app.bridge.pictures import picture_of
from app.main import Options, make_application
from app.screens.counter import CounterScreen
from app.screenshot_steps import ScreenshotError, Steps
from app.settings import PATTERNS, Settings
from app.showcase import STAFF, make_showcase
from app.showcase_maps import PlanHouse, bowl, plan_of
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing import FakeBookingServer
from backend_client.wire import Plan
from widgets.seat_map import Level, SeatMapWidget

VENUE: Final = Path(__file__).resolve().parents[1] / "resources" / "venues" / "teatro_aurora.json"
_BOWL: Final = Path("bowl")
"""Stands for the plan of 60,000 seats, which is in no file."""
_PARTY = 4
_DEEP_ZOOM = 1.15
_COLOUR_BLIND: Final = tuple(eyes for eyes in Eyes if eyes is not Eyes.ALL)


def take_map_pictures(
    folder: Path, files: Sequence[Path], *, language: str, theme: str, size: tuple[int, int]
) -> list[Path]:
    """Pictures of these plans (`bowl` is one of 60,000 seats without a file), or without any of a theatre and a bowl.

    Returns their paths in order.

    Raises:
        UnreadablePlanError: a file is no sound plan.
        ScreenshotError: the map did not come to show something.
    """
    plans = [_plan_named(path) for path in files or (VENUE, _BOWL)]
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings()
    application = make_application(settings, Options(data=folder, language=language, theme=theme, size=size))
    photographer = MapPhotographer(folder, settings, size, plans=plans)
    run(application, photographer.work, CrashReporter().on_loop_error)
    return photographer.taken


def _plan_named(path: Path) -> Plan:
    return bowl() if path == _BOWL else plan_of(path)


@dataclass(slots=True)
class MapPhotographer(Steps):
    """Each plan in a console of its own: from afar, in the middle, close by, and with what goes wrong."""

    plans: Sequence[Plan] = field(default_factory=tuple)
    _name: str = ""

    async def work(self) -> int:
        """All pictures."""
        for number, plan in enumerate(self.plans, start=1):
            self._name = f"plan{number}"
            with tempfile.TemporaryDirectory(prefix="taquilla-") as data:
                server = FakeBookingServer(house=PlanHouse(plan), staff=dict(STAFF))
                self._showcase = make_showcase(Path(data), self.settings, size=self.size, server=server)
                try:
                    self._showcase.console.window.show()
                    await self._sign_in("sofia")
                    await self._open_event()
                    await self._levels()
                    await self._troubles()
                finally:
                    await self._showcase.close()
        return 0

    @property
    def _map(self) -> SeatMapWidget:
        return self._counter.map

    @property
    def _counter(self) -> CounterScreen:
        """As it stands now: another look builds it anew."""
        return self._open.console.window.screens.counter

    @property
    def _house(self) -> PlanHouse:
        house = self._open.server.house
        if not isinstance(house, PlanHouse):
            raise ScreenshotError("the showcase has another house")
        return house

    async def _levels(self) -> None:
        await self._turn()
        self._shoot("far", *_COLOUR_BLIND)
        chips = self._counter.legend.chips
        if len(chips) > 1:
            chips[0].click()
            await self._turn()
            self._shoot("far-filtered")
            self._counter.legend.choose(())
        mine = self._house.free_run(3, self._middle())
        for seat_no in mine:
            self._counter.seat_chosen.emit(seat_no)
        self._map.centre_on(mine)
        self._zoom_to(Level.MIDDLE)
        await self._turn()
        self._shoot("middle", *_COLOUR_BLIND)
        await self._with_patterns(mine)
        self._counter.picking.bar.counts[_PARTY - 1].click()
        self._counter.picking.bar.best.click()
        await self._turn()
        self._shoot("best-available")
        self._map.centre_on(mine)
        self._zoom_to(Level.DEEP)
        self._map.focus_seat(mine[0])
        await self._until(lambda: not self._map.spot, "the spotlight to go out")
        await self._turn()
        self._shoot("deep", *_COLOUR_BLIND)
        await self._find(mine[0])

    async def _with_patterns(self, seats: Sequence[int]) -> None:
        """The same with patterns beside the colours, and without them again."""
        window = self._open.console.window
        for patterned in (True, False):
            window.patterns_chosen.emit(patterned)
            await self._turn()
            if patterned:
                self._map.centre_on(seats)
                self._zoom_to(Level.MIDDLE)
                await self._turn()
                self._shoot("middle-patterned", *_COLOUR_BLIND)
        self.settings.set(PATTERNS, False, keep=False)

    async def _find(self, seat_no: int) -> None:
        search = self._counter.picking.bar.search
        seats = self._house.plan.seats
        row = self._house.plan.rows[seats.row_no[seat_no]]
        search.begin()
        search.insert(f"{row.label} {seats.number[seat_no]}".strip())
        await self._turn()
        self._shoot("finding")
        search.found.emit(0)
        search.close_list()
        await self._turn()
        self._shoot("found")

    async def _troubles(self) -> None:
        """Somebody else buys what was picked; then the feed is away."""
        server, house = self._open.server, self._house
        sale = self._store.sale
        picked = sorted(sale.seats) if sale is not None else []
        await self._until(lambda: not self._map.spot, "the spotlight to go out")
        self._counter.picking.bar.counts[0].click()
        house.set_seats((picked[0],), staff_state(StaffStatus.SOLD, HolderKind.FAN))
        before = len(self._store.notices)
        self._press(self._panel.sale_page.hold)
        await self._until(lambda: len(self._store.notices) > before, "the loss")
        await self._rest()
        self._shoot("seats-lost")
        server.feed_reachable = False
        server.cut_feeds()
        await self._until(lambda: self._store.feed_state is FeedState.STALE, "the feed to be away")
        self._map.fit()
        await self._turn()
        self._shoot("out-of-date")

    def _middle(self) -> tuple[float, float]:
        """Where the first third of the seats is, which is where people like to sit."""
        seats = self._house.plan.seats
        at = len(seats.x) // 3
        return seats.x[at], seats.y[at]

    def _zoom_to(self, level: Level) -> None:
        """Zoom about the middle until the map is at this level."""
        seat_map = self._map
        for _step in range(60):
            if seat_map.level is level:
                return
            seat_map.zoom(_DEEP_ZOOM if seat_map.level < level else 1 / _DEEP_ZOOM)

    def _shoot(self, name: str, *eyes: Eyes) -> None:
        """The window as it is, and as these eyes see it."""
        image = picture_of(self._open.console.window).toImage()
        for seen in (Eyes.ALL, *eyes):
            words = [self._name, name, *([] if seen is Eyes.ALL else [seen.value])]
            path = self.folder / f"{len(self.taken) + 1:03}-{'-'.join(words)}.png"
            if not seen_by(image, seen).save(str(path)):
                raise ScreenshotError(f"cannot write {path}")
            self.taken.append(path)
