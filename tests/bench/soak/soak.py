"""One console over a booking system in memory, and all that an evening does to it, quickened.

Seats change all the time; the clerk looks nearer and farther, picks and lets go; links are cut, feeds start anew, the
clerk opens another show, the screens are built anew in other colours. What the booking system in memory remembers
of all this is forgotten on the way, so that what grows is the console's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from msgspec.structs import replace

from app.actions.desk import Patience
from app.bridge.collector import GuiThreadCollector
from app.screens.bindings import Credentials
from app.settings import Settings
from app.showcase import PASSWORD, STAFF, Showcase, TheatreHouse, make_showcase
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing import FakeBookingServer
from backend_client.wire import HouseHoldKind, Tier, TierQuantity
from tests.bench.soak.figures import Gaps, Sample, sample, watch_turns

_REST_WITHIN_S = 120.0
TICK_S = 0.05
_STATES = (
    staff_state(StaffStatus.AVAILABLE, HolderKind.NONE), staff_state(StaffStatus.HELD, HolderKind.FAN),
    staff_state(StaffStatus.PAYING, HolderKind.FAN), staff_state(StaffStatus.SOLD, HolderKind.FAN),
    staff_state(StaffStatus.HELD, HolderKind.TILL), staff_state(StaffStatus.AVAILABLE, HolderKind.NONE),
)  # fmt: skip
_KEPT_DELTAS = 200
_PATIENCE = Patience(snapshot_retry_s=0.02, fallback_s=0.2, house_look_s=0.2, reconnect_window_s=0.2)


@dataclass(slots=True)
class Pace:
    """How often things happen, in seconds; `changes_a_second` are of seats."""

    changes_a_second: int = 250
    zoom_s: float = 0.35
    pick_s: float = 0.9
    cut_s: float = 7.0
    resync_s: float = 11.0
    switch_s: float = 13.0
    rebuild_s: float = 17.0
    sample_s: float = 1.0


@dataclass(slots=True)
class Told:
    """What came of a soak. `wrong` are seats that the map showed otherwise than they were, once all was at rest;
    `stuck` says what the console was at when it did not come to rest."""

    seconds: float = 0.0
    changes: int = 0
    zooms: int = 0
    cuts: int = 0
    resyncs: int = 0
    switches: int = 0
    rebuilds: int = 0
    picks: int = 0
    wrong: int = -1
    stuck: str = ""
    samples: list[Sample] = field(default_factory=list)
    gaps: Gaps = field(default_factory=Gaps)
    opening_gaps: Gaps = field(default_factory=Gaps)


class Hall(TheatreHouse):
    """A theatre with standing room and seats that the house keeps; two of them are two shows."""

    def __init__(self, event_id: int) -> None:
        super().__init__()
        self.event_id = replace(super().event(), event_id=event_id).event_id
        self.tiers = (Tier(tier_id=1, name="Floor", category_no=0, capacity=500, available=500, in_holds=0, sold=0),)


class Soak:
    """Runs for so many seconds on the running loop."""

    def __init__(self, folder: Path, pace: Pace | None = None, seed: int = 20261130) -> None:
        self.pace = pace or Pace()
        self.told = Told()
        self._dice = np.random.default_rng(seed)
        self._halls = (Hall(1), Hall(2))
        self._server = FakeBookingServer(house=self._halls[0], staff=dict(STAFF))
        self._showcase: Showcase = make_showcase(folder, Settings(), server=self._server)
        self._showcase.console.desk.patience = _PATIENCE
        self._began = 0.0
        self._opening_until = 0.0
        self._measured = False

    async def run(self, seconds: float) -> Told:
        """All of it; the console is taken down at the end."""
        collector, watching = GuiThreadCollector(), asyncio.ensure_future(self._opened())
        collector.start()
        try:
            await watching
            await self._warm_up()
            gaps = asyncio.ensure_future(watch_turns(self._gaps_now))
            await self._for(seconds)
            gaps.cancel()
            await asyncio.gather(gaps, return_exceptions=True)
            await self._come_to_rest()
        finally:
            await self._showcase.close()
            collector.stop()
        return self.told

    async def _opened(self) -> None:
        console = self._showcase.console
        console.window.show()
        console.bindings.start(Credentials("carla", PASSWORD))
        await self._until(lambda: bool(console.desk.store.events) and "start" not in console.deeds.running)
        self._choose(0)
        await self._until(lambda: console.desk.store.feed_state is FeedState.LIVE)

    async def _warm_up(self) -> None:
        """Each show and each look once: what is made once and kept is no growth."""
        for number in (1, 0, 1, 0):
            self._choose(number)
            await asyncio.sleep(1.0)
            self._showcase.console.window.patterns_chosen.emit(number == 1)
            await asyncio.sleep(0.5)
            self._zoom()

    def _gaps_now(self) -> Gaps | None:
        """Where a late turn belongs; the measuring itself is nobody's."""
        if self._measured:
            self._measured = False
            return None
        return self.told.opening_gaps if perf_counter() < self._opening_until else self.told.gaps

    async def _for(self, seconds: float) -> None:
        """Every tick seats change; everything else comes when it is due."""
        pace = self.pace
        deeds = {
            self._zoom: pace.zoom_s, self._pick: pace.pick_s, self._cut: pace.cut_s, self._resync: pace.resync_s,
            self._switch: pace.switch_s, self._rebuild: pace.rebuild_s, self._sample: pace.sample_s,
        }  # fmt: skip
        self._began = perf_counter()
        due = {deed: self._began + every for deed, every in deeds.items()}
        while (now := perf_counter()) < self._began + seconds:
            self._change(round(pace.changes_a_second * (now - self._began)) - self.told.changes)
            for deed, every in deeds.items():
                if now >= due[deed]:
                    due[deed] = now + every
                    deed()
            await asyncio.sleep(TICK_S)
        self.told.seconds = perf_counter() - self._began

    def _change(self, count: int) -> None:
        """So many seats change, in groups as people come; places and the house's seats now and then."""
        house, dice = self._server.house, self._dice
        while count > 0:
            size = min(count, int(dice.integers(1, 5)))
            first = int(dice.integers(0, len(house.states) - size))
            house.set_seats(tuple(range(first, first + size)), int(dice.choice(_STATES)))
            self.told.changes += size
            count -= size
        chance = dice.random()
        if chance < 0.05:
            house.keep_back(list(HouseHoldKind)[int(dice.integers(0, 7))], int(dice.integers(0, 50)))
        elif chance < 0.2:
            step = 1 if house.tier(1).available < 100 or (chance < 0.12 and house.tier(1).available < 490) else -1
            house.set_places((TierQuantity(tier_id=1, quantity=2),), available=step, sold=-step)
        self._server.push_deltas()
        self._forget()

    def _forget(self) -> None:
        """What the booking system in memory keeps of the past."""
        house, server = self._server.house, self._server
        spare = min(len(house.deltas) - _KEPT_DELTAS, server._sent_deltas)
        if spare > 0:
            del house.deltas[:spare]
            server._sent_deltas -= spare
        del server.calls[:-50]
        server._links[:] = server.open_links
        house.seat_house_holds = {no: one for no, one in house.seat_house_holds.items() if no < 50}

    # ------------------------------------------------------------ what people and links do

    def _zoom(self) -> None:
        seat_map = self._showcase.console.window.screens.counter.map
        step = int(self._dice.integers(-3, 4))
        seat_map.zoom_by_steps(step)
        if step > 1:
            seat_map.ensure_visible(int(self._dice.integers(0, seat_map.plan.seat_count)))
        elif step < -1:
            seat_map.fit()
        self.told.zooms += 1

    def _pick(self) -> None:
        """Pick a free seat, and let all go."""
        console = self._showcase.console
        counter, seat_map = console.window.screens.counter, console.desk.store.seat_map
        if seat_map is None or console.window.screens.current is not counter:
            return
        free = np.flatnonzero(seat_map.pickable())
        if len(free):
            counter.seat_chosen.emit(int(self._dice.choice(free)))
            counter.picking.bar.places_chosen.emit(1)
            counter.picking.bar.undo.click()
            self.told.picks += 1

    def _cut(self) -> None:
        self._server.cut_feeds()
        self.told.cuts += 1

    def _resync(self) -> None:
        self._server.ask_resync()
        self.told.resyncs += 1

    def _switch(self) -> None:
        """Another show, with changes of the old one in flight (S7)."""
        self.told.switches += 1
        self._opening_until = perf_counter() + 1.0
        self._change(20)
        self._choose(self.told.switches % 2)

    def _choose(self, number: int) -> None:
        self._server.house = self._halls[number]
        self._server._sent_deltas = len(self._server.house.deltas)
        self._server.cut_feeds()
        self._showcase.console.window.screens.events.event_chosen.emit(int(self._server.house.event_id))

    def _rebuild(self) -> None:
        """Other colours: every screen is built anew."""
        self.told.rebuilds += 1
        self._opening_until = perf_counter() + 1.0
        self._showcase.console.window.patterns_chosen.emit(self.told.rebuilds % 2 == 1)

    def _sample(self) -> None:
        self._measured = True
        self.told.samples.append(sample(self._began, self.told.changes))

    # ------------------------------------------------------------ the end

    async def _come_to_rest(self) -> None:
        """Nothing changes any more: the map has to show every seat as it is."""
        store, house = self._showcase.console.desk.store, self._server.house

        def shown() -> bool:
            return (
                store.event is not None and store.event.event_id == house.event_id
                and store.feed_state is FeedState.LIVE and store.seat_map is not None
                and bool(np.array_equal(store.seat_map.states, house.states))
            )  # fmt: skip

        try:
            await self._until(shown, _REST_WITHIN_S)
            self.told.wrong = 0
        except TimeoutError:
            console = self._showcase.console
            self.told.stuck = (
                f"event {store.event and store.event.event_id} for {house.event_id}, feed {store.feed_state},"
                f" screen {type(console.window.screens.current).__name__}, session {store.session is not None},"
                f" at work: {sorted(console.deeds.running)}"
            )
            states = np.empty(0, np.uint8) if store.seat_map is None else store.seat_map.states
            same = len(states) == len(house.states)
            self.told.wrong = int((states != house.states).sum()) if same else len(house.states)

    async def _until(self, true: object, within_s: float = 20.0) -> None:
        async with asyncio.timeout(within_s):
            while callable(true) and not true():
                await asyncio.sleep(0.01)
