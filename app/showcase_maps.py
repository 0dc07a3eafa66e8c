"""Evenings for pictures of the map: any plan with seats in every state, and a bowl of 60,000 seats."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from backend_client.seat_frames import PRINTED_BIT, USED_BIT, HolderKind, StaffStatus, staff_state
from backend_client.testing_house import House
from backend_client.wire import (
    EventDetail,
    HouseHoldKind,
    Plan,
    PlanArea,
    PlanRow,
    PlanSeats,
    PlanSection,
    PlanStanding,
    PlanTable,
    Price,
    PriceCategory,
    Tier,
)

_STATES: Final = (
    (staff_state(StaffStatus.SOLD, HolderKind.FAN), 0.44),
    (staff_state(StaffStatus.SOLD, HolderKind.FAN) | PRINTED_BIT, 0.18),
    (staff_state(StaffStatus.SOLD, HolderKind.FAN) | PRINTED_BIT | USED_BIT, 0.06),
    (staff_state(StaffStatus.SOLD, HolderKind.TILL) | PRINTED_BIT, 0.08),
    (staff_state(StaffStatus.HELD, HolderKind.FAN), 0.07),
    (staff_state(StaffStatus.PAYING, HolderKind.FAN), 0.05),
    (staff_state(StaffStatus.HELD, HolderKind.TILL), 0.03),
    (staff_state(StaffStatus.PAYING, HolderKind.TILL), 0.02),
    (staff_state(StaffStatus.HELD, HolderKind.HOUSE), 0.02),
    (staff_state(StaffStatus.BLOCKED, HolderKind.NONE), 0.05),
)
_PRICES: Final = (14_500, 11_000, 8_900, 6_400, 4_800, 3_850, 2_400, 1_900)
_KEPT_EACH, _KINDS = 4, 3


class UnreadablePlanError(Exception):
    """A plan file that cannot be shown; the text says why."""

    code = "plan-unreadable"


def plan_of(path: Path) -> Plan:
    """A plan file of any format that the booking system reads, faults mended where that is safe.

    Raises:
        UnreadablePlanError: it has faults, or is none.
    """
    with tempfile.TemporaryDirectory(prefix="taquilla-") as folder:
        out = Path(folder) / "plan.json"
        words = [sys.executable, "-m", "booking", "plan", "check", str(path), "--repair", "--document", str(out)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnreadablePlanError(f"{path}: {done.stdout or done.stderr}".strip())
        return msgspec.json.decode(out.read_bytes(), type=Plan)


class PlanHouse(House):
    """An evening in the hall of any plan: sections full, half full and empty, and seats in every state."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.prices = {}
        for category in plan.categories:
            full = _PRICES[category.category_no % len(_PRICES)]
            self.prices |= {(category.category_no, 1): full, (category.category_no, 2): full // 2}
        self.tiers = tuple(_tier(number, area) for number, area in enumerate(plan.standing, start=1))
        self.states = _crowd(plan)
        self._keep_some_back()

    def event(self) -> EventDetail:
        """The evening, with this plan's categories."""
        plain = super().event()
        prices = tuple(
            Price(category_no=category, price_type_id=kind, amount_minor=amount)
            for (category, kind), amount in self.prices.items()
        )
        return msgspec.structs.replace(
            plain, name=self.plan.name, venue_name="Demo", categories=self.plan.categories, prices=prices,
            starts_at=datetime(2027, 3, 5, 20, 0, tzinfo=UTC),
        )  # fmt: skip

    def free_run(self, count: int, near: tuple[float, float]) -> list[int]:
        """Free seats beside each other, in the row that is nearest to a place and has so many; fewer where none has."""
        seats, best = self.plan.seats, (math.inf, [0])
        for length in range(count, 0, -1):
            for row in self.plan.rows:
                for first in range(row.first_seat, row.first_seat + row.seat_count - length + 1):
                    away = math.hypot(seats.x[first] - near[0], seats.y[first] - near[1])
                    if away < best[0] and not (self.states[first : first + length] & 7).any():
                        best = (away, list(range(first, first + length)))
            if best[0] < math.inf:
                break
        return best[1]

    def _keep_some_back(self) -> None:
        """A few seats for each kind of guest, where they are free."""
        free = np.flatnonzero(self.states == 0)
        kinds = tuple(HouseHoldKind)[:_KINDS]
        if len(free) < 4 * _KEPT_EACH * len(kinds):
            return
        for place, kind in enumerate(kinds, start=1):
            first = len(free) * place // (len(kinds) + 1)
            self.keep_back(kind, *free[first : first + _KEPT_EACH].tolist())


def _tier(number: int, area: PlanStanding) -> Tier:
    sold = area.capacity * (2 * number % 5) // 5
    return Tier(
        tier_id=number, name=area.name, category_no=area.category_no, capacity=area.capacity,
        available=area.capacity - sold, in_holds=0, sold=sold,
    )  # fmt: skip


def _crowd(plan: Plan) -> npt.NDArray[np.uint8]:
    """The same crowd each time, in groups, as people come; how full a section is goes up and down."""
    chance = np.random.default_rng(20261204)
    states = np.zeros(len(plan.seats.x), np.uint8)
    kinds = np.array([state for state, _ in _STATES], np.uint8)
    odds = np.array([share for _, share in _STATES])
    full = (0.45, 0.85, 0.62, 0.2, 1.0, 0.5, 0.93)
    for row in plan.rows:
        place, end = row.first_seat, row.first_seat + row.seat_count
        taken = full[row.section_no % len(full)] if len(plan.sections) > 1 else full[0]
        while place < end:
            size = int(chance.integers(2, 5))
            if chance.random() < taken:
                states[place : min(place + size, end)] = chance.choice(kinds, p=odds / odds.sum())
            place += size
    return states


# ---------------------------------------------------------------- a bowl

_AISLE, _STEP, _PITCH = 4.5, 1.15, 1.0
_ROWS: Final = ((22, "Lower"), (20, "Upper"), (16, "Ring"))
_SECTIONS: Final = 40
_WHEELCHAIR_ROW: Final = 21


@dataclass(slots=True)
class _Bowl:
    """Columns of a bowl under construction."""

    x: list[float]
    y: list[float]
    row_no: list[int]
    category: list[int]
    number: list[str]
    flags: list[int]
    rows: list[PlanRow]
    sections: list[PlanSection]


def bowl(seats: int = 60_000) -> Plan:
    """A stadium for a concert: three rings of sections, two standing areas and tables on the pitch.

    `seats` is about how many; each of its rings has all of its rows, the curve is as long as it needs to be.
    """
    made = _Bowl([], [], [], [], [], [], [], [])
    around = seats / sum(count for count, _ in _ROWS)
    length, width = _axes(around)
    depth = 0.0
    for ring, (rows, _name) in enumerate(_ROWS):
        for section in range(_SECTIONS):
            _add_section(made, ring, section, (length, width), (depth, rows))
        depth += rows * _STEP + _AISLE
    tables = _add_tables(made, width)
    left, top = length + depth, width + depth
    return _moved(made, tables, (left, top), (length, width))


def _axes(around: float) -> tuple[float, float]:
    """Half axes of the innermost row, so that rows hold about `around` seats on average over the depth."""
    middle = sum(count for count, _ in _ROWS) * _STEP / 2 + _AISLE
    mean = around * _PITCH / (2 * math.pi * 0.93)
    return max(12.0, (mean - middle) * 1.22), max(9.0, (mean - middle) * 0.80)


def _add_section(made: _Bowl, ring: int, section: int, axes: tuple[float, float], place: tuple[float, int]) -> None:
    depth, rows = place
    start = (section + 0.035) / _SECTIONS * 2 * math.pi
    sweep = 0.93 / _SECTIONS * 2 * math.pi
    middle = depth + rows * _STEP / 2
    turn = start + sweep / 2
    section_no = len(made.sections)
    made.sections.append(PlanSection(
        name=f"{ring + 1}{section + 1:02}", label_x=(axes[0] + middle) * math.cos(turn),
        label_y=(axes[1] + middle) * math.sin(turn),
    ))  # fmt: skip
    side = abs(math.sin(turn))
    category = min(7, 2 * ring + (0 if side > 0.6 else 1))
    for row in range(rows):
        a, b = axes[0] + depth + row * _STEP, axes[1] + depth + row * _STEP
        count = max(3, int(math.hypot(a * math.sin(turn), b * math.cos(turn)) * sweep / _PITCH))
        first = len(made.x)
        for seat in range(count):
            angle = start + (seat + 0.5) / count * sweep
            made.x.append(a * math.cos(angle))
            made.y.append(b * math.sin(angle))
            made.number.append(str(seat + 1))
            wheels = ring == 0 and row == _WHEELCHAIR_ROW and section % 4 == 0 and seat < 8
            made.flags.append((1, 2)[seat % 2] if wheels else 4 if ring == 1 and row < 2 and section % 9 == 0 else 0)
        made.row_no += [len(made.rows)] * count
        made.category += [category] * count
        made.rows.append(PlanRow(section_no=section_no, label=str(row + 1), first_seat=first, seat_count=count))


def _add_tables(made: _Bowl, width: float) -> list[PlanTable]:
    """Round tables of eight at the end of the pitch."""
    section_no = len(made.sections)
    made.sections.append(PlanSection(name="Tables", label_x=0.0, label_y=width * 0.68))
    tables = []
    for table in range(9):
        x, y = (table - 4) * 6.5, width * 0.68
        first = len(made.x)
        for seat in range(8):
            angle = 2 * math.pi * seat / 8
            made.x.append(x + 1.9 * math.cos(angle))
            made.y.append(y + 1.9 * math.sin(angle))
            made.number.append(str(seat + 1))
        made.flags += [0] * 8
        made.category += [0] * 8
        made.row_no += [len(made.rows)] * 8
        tables.append(PlanTable(
            row_no=len(made.rows), kind="table", shape="circle", x=x, y=y, width=2.2, height=2.2
        ))  # fmt: skip
        made.rows.append(PlanRow(section_no=section_no, label=f"T{table + 1}", first_seat=first, seat_count=8))
    return tables


def _moved(made: _Bowl, tables: list[PlanTable], corner: tuple[float, float], axes: tuple[float, float]) -> Plan:
    """The plan with its upper left corner at 0, 0."""
    left, top = corner[0] + 2, corner[1] + 2
    length, width = axes
    areas = (
        PlanArea(shape="ellipse", x=left, y=top, width=length * 1.9, height=width * 1.9, color="#3F8F4F"),
        PlanArea(
            shape="rectangle", x=left - length * 0.3, y=top - width * 0.8, width=length * 0.6, height=width * 0.3,
            color="#39434F", text="Stage", text_x=length * 0.3, text_y=width * 0.15, text_size=width * 0.14,
            text_color="#FFFFFF",
        ),
    )  # fmt: skip
    pits = tuple(
        PlanStanding(
            name=name, capacity=capacity, category_no=category,
            area=PlanArea(
                shape="rectangle", x=left - length * 0.55 + shift * length * 1.1, y=top - width * 0.4,
                width=length * 0.5, height=width * 0.75, color="#C9D1DC",
            ),
        )
        for name, capacity, category, shift in (("Pit left", 1_800, 1, 0.0), ("Pit right", 1_200, 2, 0.545))
    )  # fmt: skip
    names = ("Gold", "Silver", "Lower corner", "Upper side", "Upper corner", "Ring side", "Ring corner")
    return Plan(
        plan_id=UUID(int=8), version=1, name="Bowl", width=2 * left, height=2 * top, seat_radius=0.45 * _PITCH,
        categories=tuple(PriceCategory(category_no=no, name=name, color="") for no, name in enumerate(names)),
        sections=tuple(
            msgspec.structs.replace(one, label_x=one.label_x + left, label_y=one.label_y + top) for one in made.sections
        ),
        rows=tuple(made.rows), areas=areas, standing=pits,
        tables=tuple(msgspec.structs.replace(one, x=one.x + left, y=one.y + top) for one in tables),
        seats=PlanSeats(
            guid=tuple(f"bowl-{seat}" for seat in range(len(made.x))), number=tuple(made.number),
            row_no=tuple(made.row_no), category_no=tuple(made.category), x=tuple(x + left for x in made.x),
            y=tuple(y + top for y in made.y), flags=tuple(made.flags),
        ),
    )  # fmt: skip
