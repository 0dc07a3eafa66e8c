"""The programme of the demo: invented houses and evenings in four currencies and three time zones.

Days are counted from the first loading, so that the sale is always open and the doors are not yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import time

from booking.domain.caller import Role
from booking.domain.seating_plan import generators
from booking.domain.seating_plan.model import SeatFlag, SeatingPlan
from booking.domain.seating_plan.pretix_reader import read_pretix
from resources import read_bytes

PRICE_TYPES = ("Adult", "Reduced", "Student", "Child")
_PERCENT = (100, 80, 60, 50)


@dataclass(frozen=True, slots=True)
class SampleStaff:
    name: str
    display_name: str
    role: Role


@dataclass(frozen=True, slots=True)
class SampleVenue:
    name: str
    zone: str
    plan: Callable[[], SeatingPlan]


@dataclass(frozen=True, slots=True)
class HouseSeats:
    """Seats that the house keeps: those of the named rows of a section, from one place in the row to another."""

    section: str
    rows: tuple[str, ...]
    first: int = 0
    last: int = 1_000


@dataclass(frozen=True, slots=True)
class Standing:
    """Places without seats, at the prices of a category."""

    name: str
    category: str
    capacity: int


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """`adult_prices` are minor units by category; the other price types are shares of them, to a full `step`."""

    name: str
    venue: SampleVenue
    days_ahead: int
    starts: time
    currency: str
    step: int
    adult_prices: Mapping[str, int]
    house: tuple[HouseSeats, ...] = ()
    orders: int = 0
    open_holds: int = 0
    settings: Mapping[str, int] = field(default_factory=dict)
    standing: tuple[Standing, ...] = ()

    def prices(self) -> dict[str, tuple[int, ...]]:
        """One amount for each of `PRICE_TYPES`, by category."""
        return {
            category: tuple(-(-adult * percent // (100 * self.step)) * self.step for percent in _PERCENT)
            for category, adult in self.adult_prices.items()
        }

    def house_seats(self, plan: SeatingPlan) -> frozenset[int]:
        """Seat numbers that the house keeps; wheelchair places are never among them."""
        kept: set[int] = set()
        seat_no = 0
        for section_no, row in plan.rows():
            section = plan.sections[section_no].name
            for place, seat in enumerate(row.seats):
                if not seat.flags & (SeatFlag.ACCESSIBLE | SeatFlag.COMPANION) and any(
                    rule.section == section and row.label in rule.rows and rule.first <= place <= rule.last
                    for rule in self.house
                ):
                    kept.add(seat_no)
                seat_no += 1
        return frozenset(kept)


def _theatre() -> SeatingPlan:
    reading = read_pretix(read_bytes("venues/teatro_aurora.json"))
    if reading.plan is None:
        raise ValueError(f"the sample venue is damaged: {reading.faults[0].message}")
    return reading.plan


AURORA = SampleVenue("Teatro Aurora", "Europe/Lisbon", _theatre)
DOURO = SampleVenue("Estádio do Douro", "Europe/Lisbon", lambda: generators.stadium(60_000))
TSUKIMI = SampleVenue("Tsukimi Hall", "Asia/Tokyo", generators.small_hall)
NOOR = SampleVenue("Noor Hall", "Asia/Kuwait", generators.small_hall)

STAFF = (
    SampleStaff("carla", "Carla Reyes", Role.CLERK),
    SampleStaff("omar", "Omar Haddad", Role.OPS),
    SampleStaff("sofia", "Sofia Lindqvist", Role.SUPERVISOR),
    SampleStaff("ada", "Ada Nakamura", Role.ADMIN),
)

_AURORA_HOUSE = (
    HouseSeats("Stalls Centre", ("H",), 4, 9),
    HouseSeats("Boxes Left", ("1",)),
    HouseSeats("Boxes Right", ("1",)),
)
EVENTS = (
    SampleEvent(
        "The Lighthouse Keeper — opening night",
        AURORA, 21, time(20, 0), "EUR", 50,
        {"Premium": 6_500, "First": 4_800, "Second": 3_400, "Balcony": 2_200, "Box": 5_500},
        _AURORA_HOUSE, orders=60, open_holds=6,
    ),
    SampleEvent(
        "Aurora Chamber Orchestra: Winter Serenades",
        AURORA, 34, time(19, 30), "EUR", 50,
        {"Premium": 4_500, "First": 3_600, "Second": 2_600, "Balcony": 1_600, "Box": 3_900},
        _AURORA_HOUSE, orders=18, open_holds=2,
    ),
    SampleEvent(
        "Cup semi-final: Douro Atlético v Ribeira United",
        DOURO, 27, time(20, 45), "EUR", 50,
        {"Category 1": 8_500, "Category 2": 6_000, "Category 3": 4_500, "Category 4": 3_000},
        (
            HouseSeats("110", tuple(str(row) for row in range(20, 31))),
            HouseSeats("128", tuple(str(row) for row in range(1, 9))),
            HouseSeats("201", tuple(str(row) for row in range(1, 30))),
        ),
        orders=60, open_holds=6,
    ),
    SampleEvent(
        "Moonlit Strings: the Hoshino Quartet",
        TSUKIMI, 24, time(19, 0), "JPY", 100,
        {"Front": 8_800, "Rear": 5_500},
        (HouseSeats("Floor", ("A",), 5, 8),), orders=14, open_holds=2,
    ),
    SampleEvent(
        "Oud and Voice: an evening with Layla Mansour",
        NOOR, 30, time(20, 30), "KWD", 250,
        {"Front": 12_500, "Rear": 7_500},
        (HouseSeats("Floor", ("A",), 5, 8),), orders=10, open_holds=1,
        standing=(Standing("Gallery, standing", "Rear", 60),),
    ),
)  # fmt: skip
