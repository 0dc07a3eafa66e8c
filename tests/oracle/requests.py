"""What happens in a history: one request, as the model and the real box office both understand it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.model import BoxOffice
from tests.oracle.records import Answer, Person


@dataclass(frozen=True)
class Request:
    """`call` says which members count; `name` is what the request calls the thing that it may make."""

    call: str
    who: Person
    subject: str = ""
    key: str = ""
    name: str = ""
    seats: tuple[int, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()
    kind: str = ""
    amount: int = 0
    tendered: int | None = None
    outcome: str = ""
    ref: str = ""
    keep_seats: bool = False
    in_parts: bool = False
    instead_of: str = ""

    def __str__(self) -> str:
        parts = [f"{name}={value!r}" for name, value in vars(self).items() if value and name not in ("call", "who")]
        return f"{self.who.name}: {self.call}({', '.join(parts)})"


KEYED = frozenset({"hold", "release", "checkout", "cancel", "pay", "report"})
NOBODY = Person("nobody")


def apply(model: BoxOffice, ask: Request, now: int) -> Answer:  # noqa: PLR0911 - a table of calls
    """What the model answers; it has changed accordingly."""
    model.now = now
    match ask.call:
        case "hold":
            return model.hold(ask.who, ask.seats, ask.key, ask.name, now)
        case "release":
            return model.release(ask.who, ask.subject, ask.key, now)
        case "checkout":
            return model.check_out(ask.who, ask.subject, ask.lines, ask.amount, ask.key, ask.name, now)
        case "cancel":
            return model.cancel(ask.who, ask.subject, ask.keep_seats, ask.key, now)
        case "pay":
            return model.pay(
                ask.who, ask.subject, ask.kind, ask.amount, ask.tendered, ask.key, ask.name, now,
                in_parts=ask.in_parts, instead_of=ask.instead_of,
            )  # fmt: skip
        case "report":
            return model.report(ask.who, ask.subject, ask.outcome, ask.amount, ask.ref, ask.key, now)
        case "provider":
            return model.provider_says(ask.kind, ask.subject, ask.outcome, ask.amount, ask.ref, now)
        case "send":
            return model.send(ask.subject, now)
        case "read-hold":
            return model.read_hold(ask.who, ask.subject)
        case "read-order":
            return model.read_order(ask.who, ask.subject)
        case "sweep":
            return model.sweep(now)
        case _:
            raise ValueError(f"no such call: {ask.call}")
