"""Charts as inline SVG: lines over time or over rank. Values in, text out; nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 720, 276
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 30, 48, 40
# Okabe and Ito's colours, told apart by everybody; dashes as well, so that print in grey still tells.
_PENS = (("#0072b2", ""), ("#d55e00", "6 3"), ("#009e73", "2 3"), ("#cc79a7", "10 3 2 3"), ("#000000", "1 2"))
_SMALLEST_MS = 0.1
_SVG = "http://www.w3.org/2000/svg"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart, its points from left to right."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axis:
    """From value to place on the chart, with the values that are written beside it."""

    title: str
    place: Callable[[float], float]
    ticks: Sequence[tuple[float, str]]


def linear_axis(title: str, largest: float, start: int, length: int) -> Axis:
    """From zero to a round number at or above `largest`."""
    step = _round_step(largest / 4)
    top = step * max(1, -(-largest // step))
    ticks = [(step * at, f"{step * at:,.10g}") for at in range(int(top / step + 0.5) + 1)]
    return Axis(title, lambda value: start + length * value / top, ticks)


def log_axis(title: str, largest: float, start: int, length: int) -> Axis:
    """Decades from 0.1 to above `largest`; smaller values lie on the axis."""
    low, high = log10(_SMALLEST_MS), max(0.0, log10(max(largest, 1.0)))
    high = -(-high // 1)
    decades = [10.0**power for power in range(int(low), int(high) + 1)]

    def place(value: float) -> float:
        return start + length * (log10(max(value, _SMALLEST_MS)) - low) / (high - low)

    return Axis(title, place, [(decade, f"{decade:g}") for decade in decades])


def time_chart(title: str, unit: str, lines: Sequence[Line], *, logarithmic: bool = False) -> str:
    """Lines over the seconds of the run."""
    last = max((point[0] for line in lines for point in line.points), default=1.0)
    x = linear_axis("seconds", max(last, 1.0), _LEFT, WIDTH - _LEFT - _RIGHT)
    return chart(title, x, _y_axis(unit, lines, logarithmic=logarithmic), lines)


def rank_chart(title: str, unit: str, lines: Sequence[Line], ranks: Sequence[tuple[float, str]]) -> str:
    """Latency over how many stayed within it; `ranks` are the named places on the x axis."""
    span = WIDTH - _LEFT - _RIGHT
    last = max((rank for rank, _ in ranks), default=1.0)
    x = Axis("share of requests that stayed within", lambda value: _LEFT + span * value / last, ranks)
    return chart(title, x, _y_axis(unit, lines, logarithmic=True), lines)


def chart(title: str, x: Axis, y: Axis, lines: Sequence[Line]) -> str:
    """A whole chart as one `<svg>` element."""
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" xmlns="{_SVG}">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_LEFT}" y="16" class="title">{escape(title)}, {escape(y.title)}</text>',
        *_grid(x, y),
    ]
    for number, line in enumerate(lines):
        colour, dash = _PENS[number % len(_PENS)]
        points = " ".join(f"{x.place(at):.1f},{y.place(value):.1f}" for at, value in line.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-dasharray="{dash}"/>')
        parts.append(_legend(number, line.name, colour, dash))
    return "".join([*parts, "</svg>"])


def _y_axis(unit: str, lines: Sequence[Line], *, logarithmic: bool) -> Axis:
    largest = max((point[1] for line in lines for point in line.points), default=1.0)
    make = log_axis if logarithmic else linear_axis
    return make(unit, max(largest, 1.0), HEIGHT - _BOTTOM, -(HEIGHT - _TOP - _BOTTOM))


def _grid(x: Axis, y: Axis) -> list[str]:
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    parts = []
    for value, words in y.ticks:
        at = y.place(value)
        parts.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{escape(words)}</text>')
    for value, words in x.ticks:
        at = x.place(value)
        parts.append(f'<line x1="{at:.1f}" y1="{bottom}" x2="{at:.1f}" y2="{bottom + 4}" class="axis"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{escape(words)}</text>')
    parts.append(f'<line x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}" class="axis"/>')
    parts.append(f'<text x="{right}" y="{HEIGHT - 6}" text-anchor="end">{escape(x.title)}</text>')
    return parts


def _legend(number: int, name: str, colour: str, dash: str) -> str:
    left = _LEFT + number * 118
    return (
        f'<line x1="{left}" y1="30" x2="{left + 22}" y2="30" stroke="{colour}" stroke-dasharray="{dash}" class="key"/>'
        f'<text x="{left + 27}" y="34">{escape(name)}</text>'
    )


def _round_step(wanted: float) -> float:
    """1, 2 or 5 times a power of ten, at or above `wanted`."""
    if wanted <= 0:
        return 1.0
    power = float(10 ** floor(log10(wanted)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * 0.999_999)
