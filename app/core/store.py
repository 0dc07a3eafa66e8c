"""What the console knows now, observable without Qt. Actions write it, the shell reads it; all on one thread.

Each write says which part changed as a `Change` flag; flags add up, so a listener can gather them and refresh once.
`batch` gathers the changes of several writes into one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Flag, StrEnum, auto
from uuid import UUID

from msgspec.structs import replace

from app.core.best_blocks import BlockFinder
from app.core.hold_clock import ServerClock
from app.core.house_seats import kinds_by_seat
from app.core.inbox import Inbox
from app.core.notices import Notice, NoticeCode, with_notice
from app.core.ops_board import OpsBoard
from app.core.order_search import OrderDesk
from app.core.picking import Picking
from app.core.plan_work import PlanWork
from app.core.prices import PriceTable
from app.core.sale import Sale, SaleId, SaleState
from app.core.seat_map import SeatMapState
from app.core.seat_rows import seat_rows
from app.core.session import Session
from app.core.settings_desk import SettingsDesk
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import Delta, Snapshot
from backend_client.wire import (
    EventDetail,
    EventId,
    EventSummary,
    HouseHoldKind,
    HouseHoldList,
    OperationId,
    Plan,
    Tier,
    TierCount,
)

__all__ = ["Asks", "Change", "Connection", "ConsoleStore", "Listener", "Notice", "NoticeCode"]
_OUT_OF_DATE = {FeedState.STALE, FeedState.LAGGING, FeedState.CLOSED}
_SETTLED = {*_OUT_OF_DATE, FeedState.LIVE}
_KNEW_ALL = {FeedState.LIVE, FeedState.LAGGING, FeedState.CATCHING_UP}


class Change(Flag):
    """Parts of the store."""

    SESSION = auto()
    EVENTS = auto()
    EVENT = auto()
    SEATS = auto()
    SALE = auto()
    PARKED = auto()
    CONNECTION = auto()
    FEED = auto()
    CLOCK = auto()
    TERMINAL = auto()
    NOTICES = auto()
    PICKING = auto()
    PLACES = auto()
    HOUSE = auto()


class Connection(StrEnum):
    """Whether the booking system answers."""

    UNTRIED = "untried"
    ONLINE = "online"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Asks:
    """How often a sale whose payment is unknown was asked about, when last, and in how many seconds again."""

    count: int
    last_at: datetime
    next_in_s: float | None = None


Listener = Callable[[Change], None]


class ConsoleStore:
    """See the module. Read the attributes, write through the methods.

    `feed_heard_at`: when the map was last known to be right, in seconds of the steady clock. `map_out_of_date`: it may
    be wrong (nobody follows it, say), until it is known to be right again.
    """

    def __init__(self, clock: ServerClock) -> None:
        self.clock = clock
        self.session: Session | None = None
        self.events: tuple[EventSummary, ...] = ()
        self.event: EventDetail | None = None
        self.plan: Plan | None = None
        self.prices: PriceTable | None = None
        self.seat_map: SeatMapState | None = None
        self.house_kinds: Mapping[int, HouseHoldKind] = {}
        self.picking = Picking()
        self.plan_work = PlanWork()
        self.inbox = Inbox()
        self.orders = OrderDesk()
        self.ops = OpsBoard()
        self.settings_desk = SettingsDesk()
        self.sale: Sale | None = None
        self.parked: tuple[Sale, ...] = ()
        self.connection = Connection.UNTRIED
        self.feed_state = FeedState.CLOSED
        self.feed_heard_at: float | None = None
        self.map_out_of_date = False
        self.terminal_progress = ""
        self._terminal_about: UUID | None = None
        self.given_up = 0
        self.paid_out: frozenset[OperationId] = frozenset()
        self.asks: dict[SaleId, Asks] = {}
        self.stop_wished = False
        self.notices: tuple[Notice, ...] = ()
        self._finder: tuple[Plan, BlockFinder] | None = None
        self._listeners: list[Listener] = []
        self._depth = 0
        self._gathered = Change(0)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Gather the changes made inside into one call."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._gathered:
                gathered, self._gathered = self._gathered, Change(0)
                self._tell(gathered)

    def _changed(self, change: Change) -> None:
        if self._depth:
            self._gathered |= change
        else:
            self._tell(change)

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners):
            listener(change)

    # ------------------------------------------------------------ writes

    def put_session(self, session: Session | None) -> None:
        """Somebody signed in, or nobody is. What the one before has read of money and buyers is not for the next."""
        before, self.session = self.session, session
        if session is None or before is None or (before.staff_id, before.role) != (session.staff_id, session.role):
            self.inbox.clear()
            self.orders.clear()
            self.ops.clear()
            self.settings_desk.clear()
        if session is not None:  # said at the sign-in; not to be read by who signed in
            self.notices = tuple(notice for notice in self.notices if notice.code is not NoticeCode.SIGNED_OUT)
        self._changed(Change.SESSION)

    def put_events(self, events: tuple[EventSummary, ...]) -> None:
        """The events on offer."""
        self.events = events
        self._changed(Change.EVENTS)

    def open_event(self, event: EventDetail, plan: Plan) -> None:
        """Show an event: its plan, its prices, and a map without states until the first snapshot."""
        if not self._shows(event.event_id):
            self.house_kinds = {}
        self.event, self.plan, self.map_out_of_date = event, plan, False
        self.picking = Picking(together=self.picking.together)
        self.prices = PriceTable.of_event(event)
        self.seat_map = SeatMapState(len(plan.seats.guid))
        self._show_mine()
        self._changed(Change.EVENT | Change.SEATS | Change.PICKING | Change.HOUSE)

    def put_event(self, event: EventDetail) -> None:
        """The open event was read again (its prices may be others); the map stays."""
        self.event, self.prices = event, PriceTable.of_event(event)
        self._changed(Change.EVENT)

    def put_house_holds(self, answer: HouseHoldList) -> None:
        """For whom the house keeps seats of the open event back; those of another event are ignored (S7)."""
        kinds = kinds_by_seat(answer.house_holds)
        if self._shows(answer.event_id) and kinds != self.house_kinds:
            self.house_kinds = kinds
            self._changed(Change.HOUSE)

    def put_places(self, event_id: EventId, counts: Iterable[TierCount]) -> None:
        """How many places of each tier of the open event are left; those of another event are ignored (S7)."""
        if self.event is None or not self._shows(event_id):
            return
        told = {count.tier_id: count for count in counts}
        tiers = tuple(
            replace(tier, available=told[tier.tier_id].available, capacity=told[tier.tier_id].capacity)
            if tier.tier_id in told
            else tier
            for tier in self.event.tiers
        )
        if tiers != self.event.tiers:
            self.event = replace(self.event, tiers=tiers)
            self._changed(Change.PLACES)

    def load_seats(self, snapshot: Snapshot) -> None:
        """A snapshot of the open event's seats; one of another event is ignored (S7)."""
        if self._shows(snapshot.event_id) and self.seat_map is not None:
            self.seat_map.load(snapshot)
            self._changed(Change.SEATS)

    def apply_seats(self, delta: Delta) -> None:
        """The next changes of the open event's seats; those of another event are ignored (S7)."""
        if self._shows(delta.event_id) and self.seat_map is not None:
            self.seat_map.apply(delta)
            self._changed(Change.SEATS)

    def _shows(self, event_id: int) -> bool:
        return self.event is not None and self.event.event_id == event_id

    def put_sale(self, sale: Sale | None) -> None:
        """The sale at the counter."""
        self.sale = sale
        self._show_mine()
        self._changed(Change.SALE | Change.SEATS)

    def _show_mine(self) -> None:
        if self.seat_map is not None and self.event is not None:
            sales = (*self.parked, *(() if self.sale is None else (self.sale,)))
            mine = (sale.seats for sale in sales if sale.event_id == self.event.event_id and not sale.ended)
            self.seat_map.set_mine(frozenset[int]().union(*mine))

    def put_picking(self, picking: Picking) -> None:
        """How seats are being picked."""
        if picking != self.picking:
            self.picking = picking
            self._changed(Change.PICKING)

    def put_parked(self, sale: Sale) -> None:
        """Add a sale to the parked ones, or replace it there; one that ended leaves the list."""
        others = tuple(kept for kept in self.parked if kept.sale_id != sale.sale_id)
        self.parked = others if sale.ended else (*others, sale)
        self._show_mine()
        self._changed(Change.PARKED | Change.SEATS)

    def take_parked(self, sale_id: SaleId) -> Sale | None:
        """Remove a sale from the parked ones and return it; None when it is not there."""
        for sale in self.parked:
            if sale.sale_id == sale_id:
                self.parked = tuple(kept for kept in self.parked if kept is not sale)
                self._changed(Change.PARKED)
                return sale
        return None

    def put_connection(self, connection: Connection) -> None:
        """Whether the booking system answers; told only when it changes."""
        if connection is not self.connection:
            self.connection = connection
            self._changed(Change.CONNECTION)

    def put_feed_state(self, state: FeedState) -> None:
        """Where the seat feed stands."""
        if state is not self.feed_state:
            before, self.feed_state = self.feed_state, state
            if state in _SETTLED:
                self.map_out_of_date = state in _OUT_OF_DATE
            elif state is FeedState.BUFFERING and before in _KNEW_ALL:
                self.map_out_of_date = True  # something was missed: until the snapshot is there (S2)
            self._changed(Change.FEED)

    def hear_feed(self, heard_at: float) -> None:
        """The map was right at this instant of the steady clock."""
        self.feed_heard_at = heard_at
        self._changed(Change.FEED)

    def observe_time(self, server_time: datetime, sent_at: float, received_at: float) -> None:
        """A reading of the server's time."""
        self.clock.observe(server_time, sent_at, received_at)
        self._changed(Change.CLOCK)

    def put_terminal_progress(self, progress: str, about: UUID | None = None) -> None:
        """What the card terminal is doing, as a code; empty when idle. `about`: the sale, or the order of a refund."""
        self.terminal_progress, self._terminal_about = progress, about
        self._changed(Change.TERMINAL)

    def progress_of(self, about: UUID | None) -> str:
        """What the terminal is doing for this sale or order; empty while it works on another one."""
        return self.terminal_progress if about is not None and about == self._terminal_about else ""

    def put_given_up(self, count: int) -> None:
        """How many card attempts that nobody waits for are not settled yet."""
        if count != self.given_up:
            self.given_up = count
            self._changed(Change.PARKED)

    def put_paid_out(self, paid_out: frozenset[OperationId]) -> None:
        """Refunds whose cash was handed over here; the API may not have heard it yet."""
        if paid_out != self.paid_out:
            self.paid_out = paid_out
            self._changed(Change.SALE)

    def note_ask(self, sale_id: SaleId, at: datetime, next_in_s: float | None = None) -> None:
        """A sale whose payment is unknown was asked about once more; the next time is so far away."""
        before = self.asks.get(sale_id)
        self.asks[sale_id] = Asks(1 if before is None else before.count + 1, at, next_in_s)
        self._changed(Change.SALE)

    def wish_stop(self, wished: bool) -> None:  # said by what it sets
        """Whether somebody here asked the terminal to stop the payment that runs."""
        self.stop_wished = wished
        self._changed(Change.TERMINAL)

    def post(self, notice: Notice) -> None:
        """Tell the person at the counter something; the oldest goes when there are too many."""
        self.notices = with_notice(self.notices, notice)
        self._changed(Change.NOTICES)

    def dismiss(self, notice: Notice) -> None:
        """The person has read it."""
        self.notices = tuple(kept for kept in self.notices if kept is not notice)
        self._changed(Change.NOTICES)

    # ------------------------------------------------------------ readings

    def tier(self, tier_id: int | None) -> Tier | None:
        """A tier of the open event."""
        tiers = () if self.event is None else self.event.tiers
        return next((tier for tier in tiers if tier.tier_id == tier_id), None)

    @property
    def block_finder(self) -> BlockFinder | None:
        """Chooses blocks of the open plan; None when no plan is open. Made at first use for each plan."""
        if self.plan is None:
            return None
        if self._finder is None or self._finder[0] is not self.plan:
            self._finder = (self.plan, BlockFinder(seat_rows(self.plan)))
        return self._finder[1]

    @property
    def remaining_s(self) -> float | None:
        """Seconds left to the sale at the counter; None when nothing runs out or the server's time is not known."""
        deadline = None if self.sale is None else self.sale.deadline
        return None if deadline is None else self.clock.remaining_s(deadline)

    @property
    def unknown_sales(self) -> tuple[Sale, ...]:
        """Every sale whose payment is unknown, the oldest first."""
        current = () if self.sale is None else (self.sale,)
        return tuple(sale for sale in (*self.parked, *current) if sale.state is SaleState.UNKNOWN)
