"""What a shift tells: a file of JSON, replaced as a whole at each step, so that somebody outside can follow."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class CounterSale:
    """One buyer at the counter. Times are seconds of the wall clock, waits are ms; amounts are minor units.

    `how`: `map` (seats clicked) or `best` (best available). `state`: what the sale came to, `number`, `seats` and
    `amount_minor` as the screen called them. `hold_ms`: from the click on hold to held seats; `ticket_ms`: that, and
    from the click on cash to the printed ticket. `refusals`: the codes of what was refused on the way.
    """

    how: str
    began_at: float
    state: str = ""
    number: str = ""
    seats: list[int] = field(default_factory=list)
    amount_minor: int = 0
    hold_ms: float = 0.0
    ticket_ms: float = 0.0
    refusals: list[str] = field(default_factory=list)
    was_parked: bool = False


@dataclass(slots=True)
class OpsPicture:
    """One picture, and what the screen said then; a figure that was not known is None."""

    file: str
    phase: str
    look: str
    at: float
    health: str
    said: str
    alarms: list[str]
    figures: dict[str, float | None]


@dataclass(slots=True)
class ShiftReport:
    """`step` is the last thing that was reached: starting, ready, open, closing, end. `done` is true at the end."""

    step: str = "starting"
    done: bool = False
    sales: list[CounterSale] = field(default_factory=list)
    pictures: list[OpsPicture] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class ReportFile:
    """Keeps a report on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.report = ShiftReport()
        path.parent.mkdir(parents=True, exist_ok=True)

    def reach(self, step: str) -> None:
        """Note a step."""
        self.report.step = step
        self.keep()

    def keep(self) -> None:
        """Replace the file: whoever reads it sees the old report or the new one."""
        fresh = self._path.with_suffix(".part")
        fresh.write_text(json.dumps(asdict(self.report), indent=1, ensure_ascii=False), encoding="utf-8")
        fresh.replace(self._path)
