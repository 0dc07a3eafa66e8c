"""What the reference model keeps: people, settings, answers, and its rows as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SECOND = 1_000_000
MOST_SEATS = 6
MOST_PARTS = 8
OPEN = ("HELD", "PAYMENT_PENDING")
UNPAID = ("PENDING", "RECONCILING")
CHARGES = ("authorize", "sale", "cash")
RUNNING = ("CREATED", "SENT", "UNKNOWN")
PROVIDER_OF = {"authorize": "sandbox", "sale": "zvt", "cash": "drawer"}


@dataclass(frozen=True)
class Person:
    """Who calls: a fan online, or staff at a till of their own; a supervisor may act on what others hold."""

    name: str
    at_till: bool = False
    is_supervisor: bool = False


@dataclass(frozen=True)
class Rules:
    """The event's settings. Prices by price type, in minor units; every seat is of one category."""

    seats: int
    prices: Mapping[int, int]
    hold_ttl_s: int = 60
    grace_s: int = 30
    max_per_account: int = 6
    max_open_holds_till: int = 2
    paying_cap: int = 8
    least_time_s: int = 10


@dataclass(frozen=True)
class Answer:
    """What a call is told: a refusal's code with the seats it names, or what was made (or found, when replayed).

    `or_else` is another reason that holds as well. Alone, a request is told the first one that is looked at; one that
    met another on its way, after its own first look, may be told this one.
    """

    code: str = ""
    made: str = ""
    replayed: bool = False
    seats: tuple[int, ...] = ()
    advice: str = ""
    count: int = 0
    or_else: str = ""


@dataclass
class Seat:
    """A seat, and whose it is. `hold` may have expired: then the seat is free for whoever comes."""

    state: str = "AVAILABLE"
    hold: str | None = None
    order: str | None = None


@dataclass
class Hold:
    owner: Person
    seats: tuple[int, ...]
    until: int
    created: int
    state: str = "HELD"
    grace_used: bool = False
    order: str | None = None  # the live one


@dataclass
class Order:
    owner: Person
    hold: str
    lines: tuple[tuple[int, int, int], ...]  # seat, price type, amount
    amount: int
    created: int
    state: str = "PENDING"
    valid: bool = False


@dataclass
class Operation:
    order: str
    kind: str
    state: str
    amount: int
    payer: Person
    created: int
    updated: int
    parent: str | None = None
    advice: str = ""
    ref: str = ""
    decline_code: str = ""
    tendered: int | None = None
    in_parts: bool = False  # opened as a part of what was left; with the last part none is
    given_up: bool = False  # its success can only be given back


@dataclass
class Spent:
    """A key, the request it was spent on, what it made, and the refusal that was kept with it."""

    request: object
    made: str
    code: str = ""
