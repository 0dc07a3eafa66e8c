"""Synthetic plans for the map's tests and bench: a small theatre with curved rows and a stadium bowl of any size."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from widgets.seat_map import MapArea, SeatMapPlan

CATEGORIES = ("Front", "Stalls", "Side", "Circle", "Balcony", "Upper", "Box", "Limited view")


@dataclass(slots=True)
class Rows:
    """Rows as they are laid: section number, label, category, positions, flags."""

    section: list[int] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    category: list[int] = field(default_factory=list)
    x: list[npt.NDArray[np.float64]] = field(default_factory=list)
    y: list[npt.NDArray[np.float64]] = field(default_factory=list)

    def add(
        self, section: int, label: str, category: int, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
    ) -> None:
        self.section.append(section)
        self.label.append(label)
        self.category.append(category)
        self.x.append(x)
        self.y.append(y)

    def plan(
        self, name: str, sections: list[str], places: list[tuple[float, float]], areas: tuple[MapArea, ...]
    ) -> SeatMapPlan:
        counts = np.array([len(row) for row in self.x], np.int32)
        row_no = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
        first = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int32)
        flags = np.zeros(int(counts.sum()), np.uint8)
        flags[first[::9]], flags[first[::9] + 1] = 1, 2
        flags[first[4::13]] |= 4
        at = np.array(places, np.float32).reshape(-1, 2)
        return SeatMapPlan(
            name=name,
            x=np.concatenate(self.x).astype(np.float32),
            y=np.concatenate(self.y).astype(np.float32),
            category=np.repeat(self.category, counts).astype(np.uint8),
            row_no=row_no,
            flags=flags,
            number=tuple(str(seat) for count in counts.tolist() for seat in range(1, count + 1)),
            row_section=np.array(self.section, np.int32),
            row_label=tuple(self.label),
            row_first=first,
            row_count=counts,
            section_name=tuple(sections),
            section_x=at[:, 0],
            section_y=at[:, 1],
            category_name=CATEGORIES,
            category_color=("",) * len(CATEGORIES),
            areas=areas,
        )


def theatre() -> SeatMapPlan:
    """About 850 seats: stalls with an aisle, curved towards a stage, and a balcony."""
    rows = Rows()
    stage = MapArea(shape="rectangle", x=300, y=20, width=500, height=110, text="Stage", text_size=26)
    for row in range(20):
        radius = 420 + row * 32
        for side, (start, stop) in enumerate(((-0.58, -0.035), (0.035, 0.58))):
            count = int((stop - start) * radius / 25)
            angle = np.linspace(start, stop, count)
            label = chr(ord("A") + row)
            category = 0 if row < 3 else 1 if row < 12 else 2
            rows.add(side, label, category, 550 + radius * np.sin(angle), -200 + radius * np.cos(angle))
    for row in range(6):
        radius = 1140 + row * 32
        angle = np.linspace(-0.55, 0.55, int(1.1 * radius / 26))
        rows.add(2, f"B{row + 1}", 3 if row < 3 else 4, 550 + radius * np.sin(angle), -200 + radius * np.cos(angle))
    names = ["Stalls left", "Stalls right", "Balcony"]
    return rows.plan("Theatre", names, [(330.0, 480.0), (770.0, 480.0), (550.0, 1020.0)], (stage,))


def bowl(seats: int) -> SeatMapPlan:
    """An elliptical stadium with two tiers around a pitch; exactly this many seats."""
    rows = Rows()
    names: list[str] = []
    places: list[tuple[float, float]] = []
    sections, depth, pitch = 80, 0, 1.0
    left = seats
    inner_a, inner_b = 70.0 * math.sqrt(seats / 60_000) * 1.6, 50.0 * math.sqrt(seats / 60_000) * 1.6
    while left > 0:
        depth += 1
        gap = (depth - 1) // 18 * 5.0 + (depth - 1) * 1.15 * pitch
        a, b = inner_a + gap, inner_b + gap
        around = math.pi * (3 * (a + b) - math.sqrt((3 * a + b) * (a + 3 * b)))
        each = max(4, int(around / sections * 0.93 / pitch))
        tier = (depth - 1) // 18
        for section in range(sections):
            if left <= 0:
                break
            start = (section + 0.035) / sections * 2 * math.pi
            angle = start + (np.arange(each) + 0.5) / each * 2 * math.pi / sections * 0.93
            angle = angle[:left]
            x, y = a * np.cos(angle), b * np.sin(angle)
            section_no = tier * sections + section
            while len(names) <= section_no:
                number = len(names) % sections + 1
                names.append(f"{len(names) // sections + 1}{number:02d}")
                middle = (len(names) - 1) % sections + 0.5
                reach = (len(names) - 1) // sections * (18 * 1.15 + 5) + 9 * 1.15
                turn = middle / sections * 2 * math.pi
                places.append(((inner_a + reach) * math.cos(turn), (inner_b + reach) * math.sin(turn)))
            category = min(
                7, tier * 3 + (0 if abs(math.sin(start)) > 0.75 else 1 if abs(math.sin(start)) > 0.35 else 2)
            )
            rows.add(section_no, str((depth - 1) % 18 + 1), category, x, y)
            left -= len(angle)
    pitch_area = MapArea(
        shape="rectangle", x=-inner_a * 0.62, y=-inner_b * 0.62, width=inner_a * 1.24, height=inner_b * 1.24,
        color="#3F8F4F", border_color="#FFFFFF", text="Pitch", text_size=inner_b * 0.16,
    )  # fmt: skip
    return _ordered(rows).plan("Bowl", names, places, (pitch_area,))


def _ordered(rows: Rows) -> Rows:
    """Rows by section, as plans are written."""
    order = sorted(range(len(rows.section)), key=lambda at: rows.section[at])
    return Rows(
        [rows.section[at] for at in order], [rows.label[at] for at in order], [rows.category[at] for at in order],
        [rows.x[at] for at in order], [rows.y[at] for at in order],
    )  # fmt: skip


def mixed_states(count: int, seed: int = 7) -> npt.NDArray[np.uint8]:
    """State bytes as in the middle of a sale: about half free, all other states present."""
    rng = np.random.default_rng(seed)
    bytes_ = np.array(
        [
            0,
            1 | 1 << 3,
            1 | 2 << 3,
            1 | 3 << 3,
            2 | 1 << 3,
            2 | 2 << 3,
            3 | 2 << 3,
            3 | 1 << 3 | 64,
            3 | 64 | 128,
            4,
            4 | 3 << 3,
        ]
    )
    chance = np.array([0.52, 0.02, 0.03, 0.02, 0.01, 0.01, 0.22, 0.10, 0.02, 0.03, 0.02])
    states: npt.NDArray[np.uint8] = rng.choice(bytes_.astype(np.uint8), count, p=chance)
    return states
