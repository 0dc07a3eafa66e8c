"""A console over a booking system and a terminal in memory: for pictures of every screen, and for tests of windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import msgspec
import numpy as np
from uuid_utils.compat import uuid7

from app.actions.desk import Desk, Patience
from app.actions.load_plan import new_guid
from app.bridge.crash import CrashReporter
from app.bridge.ticket_pdf import PdfTicketPrinter, Stock
from app.core.hold_clock import ServerClock
from app.core.plan_draft import DraftShape, PlanDraft, SeatMark, Selection
from app.core.plan_edits import add_category, add_rows, add_section, add_shape, rename_plan, set_mark
from app.core.plan_geometry import RowLine
from app.core.plan_numbering import CONFUSED_LETTERS, Counting, Numbering
from app.core.plan_work import empty_plan
from app.core.store import ConsoleStore
from app.devices.fake_terminal import FakeCardTerminal
from app.i18n import current_language
from app.journal.async_journal import AsyncJournal
from app.journal.credentials import CredentialVault
from app.journal.journal import Journal
from app.journal.plan_draft_file import PlanDraftFile
from app.main import Console, Options, close_console, make_console
from app.settings import Settings
from backend_client.client import BookingClient
from backend_client.seat_frames import PRINTED_BIT, HolderKind, StaffStatus, staff_state
from backend_client.steady_time import steady_seconds
from backend_client.testing import FakeBookingServer
from backend_client.testing_house import House
from backend_client.wire import (
    DeviceId,
    EventDetail,
    EventId,
    EventStatus,
    EventSummary,
    HouseHoldKind,
    Plan,
    PlanArea,
    PlanRow,
    PlanSeats,
    PlanSection,
    PriceCategory,
    Role,
    SeatActor,
    SeatActorKind,
    SeatHistoryItem,
)
from widgets.theme import load_theme

SERVER = "http://127.0.0.1:8000"
PASSWORD = "secret"
STAFF = {
    "carla": (PASSWORD, Role.CLERK),
    "omar": (PASSWORD, Role.OPS),
    "sofia": (PASSWORD, Role.SUPERVISOR),
    "ada": (PASSWORD, Role.ADMIN),
}
_CATEGORIES = (
    PriceCategory(category_no=0, name="Front stalls", color=""),
    PriceCategory(category_no=1, name="Stalls", color=""),
    PriceCategory(category_no=2, name="Balcony", color=""),
)
_PRICES = {(0, 1): 8900, (0, 2): 4450, (1, 1): 6400, (1, 2): 3200, (2, 1): 3850, (2, 2): 1900}
_STAGE_X, _STAGE_Y = 600.0, -120.0
_PITCH = 24.0


@dataclass(slots=True)
class _Columns:
    """Seats of a plan under construction, row by row."""

    rows: list[PlanRow] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    row_no: list[int] = field(default_factory=list)
    category: list[int] = field(default_factory=list)
    number: list[str] = field(default_factory=list)

    def add_arc(self, section: int, label: str, category: int, radius: float, angles: tuple[float, float]) -> None:
        """A row of seats on an arc around the stage, from the first angle to the last (degrees, 0 is straight back)."""
        first = len(self.x)
        count = int(math.radians(angles[1] - angles[0]) * radius / _PITCH)
        for place in range(count):
            angle = math.radians(angles[0]) + (place + 0.5) * _PITCH / radius
            self.x.append(_STAGE_X + math.sin(angle) * radius)
            self.y.append(_STAGE_Y + math.cos(angle) * radius)
            self.number.append(str(place + 1))
        self.row_no += [len(self.rows)] * count
        self.category += [category] * count
        self.rows.append(PlanRow(section_no=section, label=label, first_seat=first, seat_count=count))


def theatre() -> Plan:
    """A theatre of some 800 seats: stalls in three blocks, a balcony behind."""
    columns = _Columns()
    sections = (
        PlanSection(name="Stalls left", label_x=250, label_y=160),
        PlanSection(name="Stalls centre", label_x=600, label_y=100),
        PlanSection(name="Stalls right", label_x=950, label_y=160),
        PlanSection(name="Balcony", label_x=600, label_y=800),
    )
    for section, angles in enumerate(((-46.0, -17.5), (-15.5, 15.5), (17.5, 46.0))):
        for row in range(16):
            columns.add_arc(section, chr(65 + row), 0 if row < 6 else 1, 300 + row * 30, angles)
    for row in range(5):
        columns.add_arc(3, f"B{row + 1}", 2, 850 + row * 30, (-38.0, 38.0))
    count = len(columns.x)
    stage = PlanArea(
        shape="rectangle", x=400, y=20, width=400, height=70, text="Stage", text_x=200, text_y=35, text_size=24
    )
    return Plan(
        plan_id=UUID(int=7), version=1, name="Main hall", width=1200, height=920, seat_radius=9.5,
        categories=_CATEGORIES, sections=sections, rows=tuple(columns.rows), areas=(stage,),
        seats=PlanSeats(
            guid=tuple(f"seat-{seat}" for seat in range(count)), number=tuple(columns.number),
            row_no=tuple(columns.row_no), category_no=tuple(columns.category), x=tuple(columns.x),
            y=tuple(columns.y), flags=(0,) * count,
        ),
    )  # fmt: skip


class TheatreHouse(House):
    """An evening in a theatre that is half sold."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = theatre()
        self.prices = dict(_PRICES)
        self.states = self._states()

    def _states(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """The same crowd in every picture: sold and held in groups, as people come."""
        chance = np.random.default_rng(20261204)
        states = np.zeros(len(self.plan.seats.x), np.uint8)
        kinds = (
            staff_state(StaffStatus.SOLD, HolderKind.FAN), staff_state(StaffStatus.SOLD, HolderKind.FAN) | PRINTED_BIT,
            staff_state(StaffStatus.SOLD, HolderKind.TILL) | PRINTED_BIT, staff_state(StaffStatus.HELD, HolderKind.FAN),
            staff_state(StaffStatus.PAYING, HolderKind.FAN), staff_state(StaffStatus.HELD, HolderKind.TILL),
            staff_state(StaffStatus.HELD, HolderKind.HOUSE), staff_state(StaffStatus.BLOCKED, HolderKind.NONE),
        )  # fmt: skip
        odds = (0.45, 0.22, 0.1, 0.08, 0.05, 0.03, 0.04, 0.03)
        for row in self.plan.rows:
            place = row.first_seat
            while place < row.first_seat + row.seat_count:
                size = int(chance.integers(2, 5))
                if chance.random() < 0.44:
                    end = min(place + size, row.first_seat + row.seat_count)
                    states[place:end] = chance.choice(kinds, p=odds)
                place += size
        return states

    def event(self) -> EventDetail:
        """The evening, with this theatre's categories."""
        plain = super().event()
        changed = {
            "name": "La Traviata", "venue_name": "Teatro da Trindade", "categories": _CATEGORIES,
            "starts_at": datetime(2027, 3, 5, 20, 0, tzinfo=UTC),
        }  # fmt: skip
        return EventDetail(**{**{name: getattr(plain, name) for name in plain.__struct_fields__}, **changed})

    def free_run(self, count: int, row_no: int = 20) -> list[int]:
        """Free seats beside each other, from row `row_no` on."""
        for row in self.plan.rows[row_no:]:
            for first in range(row.first_seat, row.first_seat + row.seat_count - count + 1):
                if not (self.states[first : first + count] & 7).any():
                    return list(range(first, first + count))
        raise LookupError("no such run of free seats")


def give_past(house: TheatreHouse, seat_no: int) -> None:
    """A long past for a seat: kept back, held, lost, declined, sold and printed."""
    till = SeatActor(kind=SeatActorKind.TILL, name="Sofia Lindqvist", till="Counter 2")
    fan = SeatActor(kind=SeatActorKind.FAN, short_id="a41f07")
    boss = SeatActor(kind=SeatActorKind.HOUSE, name="Ana Reis")
    now, adult = house.now(), house.prices[house.plan.seats.category_no[seat_no], 1]
    order = SeatHistoryItem(
        at=now, kind="paying", by=till, order_number="TQ-7K2M-41", amount_minor=adult, price_type_name="Adult"
    )
    happened = (
        (190_000, SeatHistoryItem(at=now, kind="kept-back", by=boss, reason="Critics", house_kind=HouseHoldKind.PRESS)),
        (103_000, SeatHistoryItem(at=now, kind="given-back", by=till, reason="Not needed")),
        (9_000, SeatHistoryItem(at=now, kind="held", by=fan)),
        (8_700, SeatHistoryItem(at=now, kind="expired")),
        (640, SeatHistoryItem(at=now, kind="held", by=till)),
        (610, order),
        (560, msgspec.structs.replace(order, kind="payment-declined", reason="insufficient-funds")),
        (520, msgspec.structs.replace(order, kind="sold")),
        (519, SeatHistoryItem(at=now, kind="ticket-issued", order_number=order.order_number)),
        (512, SeatHistoryItem(at=now, kind="printed", by=till, order_number=order.order_number)),
    )
    house.seat_past[seat_no] = tuple(
        msgspec.structs.replace(item, at=now - timedelta(seconds=ago)) for ago, item in happened
    )


def small_hall(words: Mapping[str, str]) -> PlanDraft:
    """A hall of some 200 seats as somebody draws it: two blocks of bent rows, places for wheelchairs, a balcony.

    `words` are the names of its parts: stalls, balcony, stage, bar.
    """
    draft = rename_plan(empty_plan(), "Sala Garrett")
    colors = load_theme("light").categories
    for name, color in zip((words["stalls"], words["balcony"]), colors, strict=False):
        draft = add_section(add_category(draft, name, color.lower()), name)
    stalls, balcony = (section.section_id for section in draft.sections)
    first, second = (category.category_id for category in draft.categories)
    letters = Numbering(Counting.LETTERS, skipped=CONFUSED_LETTERS)
    lines = [RowLine((160.0 - 6 * n, 170.0 + 34 * n), (640.0 + 6 * n, 170.0 + 34 * n), 46) for n in range(7)]
    numbering = Numbering(Counting.FROM_MIDDLE)
    draft = add_rows(draft, stalls, lines, [20] * 7, letters.labels(7), first, numbering, new_guid)
    upper = [RowLine((140.0, 470.0 + 34 * n), (660.0, 470.0 + 34 * n), 30) for n in range(2)]
    draft = add_rows(draft, balcony, upper, [22] * 2, ("BA", "BB"), second, Numbering(Counting.ODD), new_guid)
    ends = Selection(seats=frozenset({draft.rows[6].seats[0].guid, draft.rows[6].seats[-1].guid}))
    beside = Selection(seats=frozenset({draft.rows[6].seats[1].guid, draft.rows[6].seats[-2].guid}))
    draft = set_mark(set_mark(draft, ends, SeatMark.ACCESSIBLE, on=True), beside, SeatMark.COMPANION, on=True)
    draft = add_shape(draft, DraftShape(0, "rectangle", 250, 40, 300, 60, text=words["stage"], text_size=22))
    return add_shape(draft, DraftShape(0, "text", 720, 560, text=words["bar"]))


@dataclass(slots=True)
class Showcase:
    """A console in memory and everything behind it."""

    console: Console
    server: FakeBookingServer
    terminal: FakeCardTerminal
    journal: AsyncJournal

    async def close(self) -> None:
        """Take it down; raises nothing that a test would miss."""
        await close_console(self.console)
        await self.console.desk.client.close()
        await self.journal.close()


def make_showcase(
    folder: Path, settings: Settings, *, house: House | None = None, size: tuple[int, int] = (1280, 800),
    crash: CrashReporter | None = None, server: FakeBookingServer | None = None,
) -> Showcase:  # fmt: skip
    """A console over a fake booking system; call it inside a running loop. Nothing is started or shown yet."""
    behind = server or FakeBookingServer(house=house or TheatreHouse(), staff=dict(STAFF))
    device_id = DeviceId(uuid7())
    terminal = FakeCardTerminal()
    journal = AsyncJournal(Journal.open(folder))
    desk = Desk(
        client=BookingClient(behind.base_url, device_id=device_id, transport=behind.transport),
        journal=journal,
        store=ConsoleStore(ServerClock(steady_seconds)),
        vault=CredentialVault(f"{SERVER} {device_id}"),
        terminal=terminal,
        printer=PdfTicketPrinter(folder / "tickets", Stock()),
        plan_drafts=PlanDraftFile(folder),
        device_name="Counter 1",
        language=current_language().code,
        patience=Patience(ask_first_s=0.05, ask_longest_s=0.2, reconnect_window_s=0.05, fallback_s=0.05),
    )
    options = Options(data=folder, size=size)
    console = make_console(desk, settings, crash or CrashReporter(), SERVER, options, dial=behind.dial)
    return Showcase(console, behind, terminal, journal)


def programme(event: EventSummary) -> tuple[EventSummary, ...]:
    """More evenings for the list of events, beside the one that can be opened."""
    return (event, *_more_events(event))


def _more_events(event: EventSummary) -> Iterator[EventSummary]:
    more = (
        ("A Midsummer Night's Dream", "Teatro da Trindade", 24, EventStatus.ON_SALE, 812),
        ("City Derby", "Estádio do Norte", 211, EventStatus.ON_SALE, 60_000),
        ("Kodo: One Earth", "Suntory Hall", 374, EventStatus.PAUSED, 2_006),
        ("Fairuz Night", "Dubai Opera", 716, EventStatus.ON_SALE, 1_901),
        ("Chamber Music at Noon", "Teatro da Trindade", 1048, EventStatus.CANCELLED, 238),
    )
    zones = {"Suntory Hall": "Asia/Tokyo", "Dubai Opera": "Asia/Dubai"}
    for number, (name, venue, hours, status, seats) in enumerate(more, start=2):
        yield EventSummary(
            event_id=EventId(event.event_id + number), name=name, venue_name=venue,
            starts_at=event.starts_at + timedelta(hours=hours), zone=zones.get(venue, "Europe/Lisbon"), currency="EUR",
            status=status, sale_opens_at=event.sale_opens_at, plan_id=event.plan_id, plan_version=1, seat_count=seats,
        )  # fmt: skip
