"""What a tour does and what it tells: the steps of its plan, and its report.

Plan: steps separated by commas, each `what:seats`. `card` and `cash` sell; `decline` expects the card to be declined
and sells the same seats for cash; `split` pays a part in cash and the rest by card; `leave` pays a part by card, and
the buyer leaves; `day` closes the terminal's day; `unknown` leaves a payment unclear, parks it and ends; `resume` only
starts and reports what the journal held, `settle` brings that to its end as a clerk does. `sale` is short for
`card:3,cash:2`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from backend_client.wire import MAX_SEATS_PER_HOLD

KINDS: Final = ("card", "cash", "decline", "split", "leave", "unknown", "day", "resume", "settle")
ALONE: Final = frozenset({"resume", "settle"})
SEATLESS: Final = frozenset({"day", *ALONE})
SHORT_PLAN: Final = "card:3,cash:2"


class PlanError(ValueError):
    """The plan of a tour cannot be read."""

    code = "tour-plan-unreadable"


@dataclass(frozen=True, slots=True)
class TourStep:
    """`seats` is 0 where the step sells nothing."""

    kind: str
    seats: int = 0


@dataclass(slots=True)
class SoldLine:
    """One sale of the tour, as the report tells it. Amounts are minor units."""

    kind: str
    state: str = ""
    seats: list[dict[str, Any]] = field(default_factory=list)
    sale_id: str = ""
    hold_id: str = ""
    order_id: str = ""
    order_number: str = ""
    operation_id: str = ""
    amount_minor: int = 0
    currency: str = ""
    change_minor: int | None = None
    tickets: int = 0
    codes: list[str] = field(default_factory=list)
    pdf: str = ""


@dataclass(slots=True)
class Report:
    """What an outside test follows. `step` is the last thing that was reached; `done` is true at the end."""

    step: str = "starting"
    done: bool = False
    event_id: int | None = None
    sales: list[SoldLine] = field(default_factory=list)
    resumed: list[SoldLine] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_plan(text: str) -> tuple[TourStep, ...]:
    """Text → steps.

    Raises:
        PlanError: an unknown word, or a number of seats that no hold takes.
    """
    steps = tuple(_step_of(word.strip()) for word in (SHORT_PLAN if text == "sale" else text).split(","))
    kinds = [step.kind for step in steps]
    if "unknown" in kinds[:-1] or (ALONE & set(kinds) and len(kinds) > 1):
        raise PlanError("`unknown` must come last, and `resume` or `settle` stand alone")
    return steps


def _step_of(word: str) -> TourStep:
    kind, _colon, count = word.partition(":")
    if kind not in KINDS:
        raise PlanError(f"a tour has no step {word!r}; it has {', '.join(KINDS)}")
    if kind in SEATLESS:
        return TourStep(kind)
    if not count.isdigit() or not 1 <= int(count) <= MAX_SEATS_PER_HOLD:
        raise PlanError(f"{word!r} needs a number of seats, 1 to {MAX_SEATS_PER_HOLD}: {kind}:2")
    return TourStep(kind, int(count))
