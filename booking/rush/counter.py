"""What is sold at the counter beside the fans, by a till that speaks HTTP or a real console, and whether it is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from booking.store.database import Database

TILL, CONSOLE = "till", "console"
_SOLD = frozenset({"DONE", "PAID"})


@dataclass(slots=True)
class CounterSales:
    """What the counter sold; `worst_s`: the longest from when a buyer was due, sold or refused."""

    orders: int = 0
    tickets: int = 0
    refused: int = 0
    worst_s: float = 0.0
    by: str = TILL


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the clerk waited for the system, of those who began in one stretch of the run; ms, None of nobody."""

    buyers: int
    sold: int
    hold_p50_ms: float | None
    ticket_p50_ms: float | None
    ticket_p99_ms: float | None
    ticket_max_ms: float | None


@dataclass(frozen=True, slots=True)
class CounterReport:
    """What a real console at the counter came to.

    `by_way`: buyers and those who went with tickets, for seats clicked on the map and for the best available.
    `refusals`: how often each code was met on the way. `waits`: before, during and after the slowness, and in all.
    `not_in_database`: numbers of orders that the screen called sold and the database does not; `not_on_screen`: the
    other way round. Both are faults.
    """

    buyers: int
    orders: int
    tickets: int
    amount_minor: int
    by_way: Mapping[str, tuple[int, int]]
    refusals: Mapping[str, int]
    waits: Mapping[str, Waits]
    problems: Sequence[str] = ()
    not_in_database: Sequence[str] = ()
    not_on_screen: Sequence[str] = ()

    @property
    def true(self) -> bool:
        """Whether screen and database say the same, and the windows did as they should."""
        return not (self.problems or self.not_in_database or self.not_on_screen)

    def as_sales(self) -> CounterSales:
        """The same as of a till."""
        without = self.buyers - self.orders
        whole = self.waits["all"].ticket_max_ms
        return CounterSales(self.orders, self.tickets, without, 0.0 if whole is None else whole / 1000, CONSOLE)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the operators' screen in the run's folder, and what the screen said then."""

    file: str
    phase: str
    look: str
    at_s: float
    health: str
    said: str
    alarms: Sequence[str]
    figures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Company:
    """What the consoles beside the fans came to."""

    counter: CounterReport | None = None
    pictures: Sequence[Picture] = ()
    problems: Sequence[str] = field(default_factory=tuple)

    @property
    def good(self) -> bool:
        """Nothing went wrong at either console."""
        return not self.problems and (self.counter is None or self.counter.true)


async def read_counter(
    db: Database, event_id: int, clerk: UUID, told: Mapping[str, Any], starts_at: float,
    slow: tuple[float, float] | None,
) -> CounterReport:  # fmt: skip
    """Compare what the console told with the database; `slow` is from, until, seconds of the run."""
    rows = await db.fetch(
        "SELECT o.number, o.amount_minor, array_agg(l.seat_no ORDER BY l.seat_no) AS seats FROM orders o"
        " JOIN order_seats l USING (order_id) JOIN seats s ON s.event_id = o.event_id AND s.seat_no = l.seat_no"
        " AND s.order_id = o.order_id AND s.status = 3"
        " WHERE o.event_id = $1 AND o.staff_id = $2 AND o.status = 'CONFIRMED' AND l.valid GROUP BY o.order_id",
        event_id, clerk,
    )  # fmt: skip
    really = {row["number"]: (list(row["seats"]), row["amount_minor"]) for row in rows}
    return judged(told, really, starts_at, slow)


def judged(
    told: Mapping[str, Any], really: Mapping[str, tuple[list[int], int]], starts_at: float,
    slow: tuple[float, float] | None,
) -> CounterReport:  # fmt: skip
    """`told` is the console's report; `really` what is sold, by order number: seats and amount in minor units."""
    sales: list[dict[str, Any]] = told["sales"]
    sold = [sale for sale in sales if sale["state"] in _SOLD]
    shown = {sale["number"]: (list(sale["seats"]), sale["amount_minor"]) for sale in sold}
    problems = list(told["problems"])
    if len(shown) < len(sold):
        problems.append("two sales bear one number, or none")
    stretches = _stretches(sales, starts_at, slow)
    return CounterReport(
        buyers=len(sales),
        orders=len(sold),
        tickets=sum(len(sale["seats"]) for sale in sold),
        amount_minor=sum(sale["amount_minor"] for sale in sold),
        by_way={
            how: (sum(sale["how"] == how for sale in sales), sum(sale["how"] == how for sale in sold))
            for how in dict.fromkeys(sale["how"] for sale in sales)
        },
        refusals=dict(Counter(code for sale in sales for code in sale["refusals"]).most_common()),
        waits={name: _waits(part) for name, part in stretches.items()},
        problems=problems,
        not_in_database=sorted(number for number, what in shown.items() if really.get(number) != what),
        not_on_screen=sorted(set(really) - set(shown)),
    )


def _stretches(
    sales: list[dict[str, Any]], starts_at: float, slow: tuple[float, float] | None
) -> dict[str, list[dict[str, Any]]]:
    if slow is None:
        return {"all": sales}
    begins, ends = slow[0] + starts_at, slow[1] + starts_at
    return {
        "before": [sale for sale in sales if sale["began_at"] < begins],
        "during": [sale for sale in sales if begins <= sale["began_at"] < ends],
        "after": [sale for sale in sales if ends <= sale["began_at"]],
        "all": sales,
    }


def _waits(sales: list[dict[str, Any]]) -> Waits:
    holds = sorted(sale["hold_ms"] for sale in sales if sale["hold_ms"] > 0)
    tickets = sorted(sale["ticket_ms"] for sale in sales if sale["state"] in _SOLD)
    return Waits(
        len(sales),
        len(tickets),
        _at(holds, 0.5),
        _at(tickets, 0.5),
        _at(tickets, 0.99),
        tickets[-1] if tickets else None,
    )


def _at(values: list[float], share: float) -> float | None:
    """The value that this share of them does not exceed."""
    return values[min(int(share * len(values)), len(values) - 1)] if values else None


def read_pictures(told: Mapping[str, Any], starts_at: float) -> list[Picture]:
    """The operator's pictures, on the run's own time."""
    return [
        Picture(
            file=one["file"], phase=one["phase"], look=one["look"], at_s=round(one["at"] - starts_at, 1),
            health=one["health"], said=one["said"], alarms=one["alarms"], figures=one["figures"],
        )
        for one in told["pictures"]
    ]  # fmt: skip
