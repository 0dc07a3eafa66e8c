"""The books of the reference model: what is there, and the steps that several calls share. No call is in here."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from tests.oracle.records import (
    CHARGES,
    OPEN,
    PROVIDER_OF,
    UNPAID,
    Answer,
    Hold,
    Operation,
    Order,
    Person,
    Rules,
    Seat,
    Spent,
)


@dataclass
class Books:
    """The rows of one event."""

    rules: Rules
    event_state: str = "ON_SALE"
    seats: dict[int, Seat] = field(default_factory=dict)
    holds: dict[str, Hold] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    items: dict[tuple[str, str], bool] = field(default_factory=dict)  # operation, kind → whether it is still open
    keys: dict[tuple[Person, str, str], Spent] = field(default_factory=dict)
    sold_to: dict[Person, int] = field(default_factory=dict)
    now: int = 0

    def __post_init__(self) -> None:
        if not self.seats:
            self.seats = {number: Seat() for number in range(self.rules.seats)}

    def copy(self) -> Self:
        """Another box office in the same state."""
        return copy.deepcopy(self)

    def hold_state(self, hold_name: str, now: int) -> str:
        """HELD past its deadline is EXPIRED, whether or not anybody has tidied it up."""
        hold = self.holds[hold_name]
        return "EXPIRED" if hold.state == "HELD" and now >= hold.until else hold.state

    def _seen(self, who: Person, call: str, key: str, request: object) -> Answer | None:
        spent = self.keys.get((who, call, key))
        if spent is None:
            return None
        if spent.request != request:
            return Answer("key-reused")
        return Answer(spent.code, spent.made, replayed=True)

    def _is_free(self, number: int, now: int) -> bool:
        """Free, held by a hold that is over, or in a sale that nobody can finish any more."""
        seat = self.seats[number]
        if seat.state == "AVAILABLE":
            return True
        if seat.hold is None:
            return False
        return now >= self.holds[seat.hold].until and (seat.state == "HELD" or self._is_dead(seat.hold, now))

    def _is_dead(self, hold_name: str, now: int) -> bool:
        """Being paid, past its deadline, and no charge took money or still may: nobody can pay it any more."""
        hold = self.holds[hold_name]
        return (
            hold.state == "PAYMENT_PENDING"
            and now >= hold.until
            and hold.order is not None
            and self.orders[hold.order].state in UNPAID
            and self._is_every_charge_declined(hold.order)
        )

    def _end_dead_sales(self, who: Person, seats: Iterable[int], now: int) -> None:
        """Those in the way of a hold: they keep its seats, or count against its owner."""
        wanted = {self.seats[seat].hold for seat in seats}
        for name, hold in self.holds.items():
            if (name in wanted or hold.owner == who) and hold.order is not None and self._is_dead(name, now):
                self._end_sale(hold.order, "EXPIRED", "EXPIRED")

    def _limit_reached(self, who: Person, more: int, now: int) -> str:
        mine = [name for name, hold in self.holds.items() if hold.owner == who and self._counts(name, now)]
        if who.at_till:
            return "open-hold-exists" if len(mine) >= self.rules.max_open_holds_till else ""
        if mine:
            return "open-hold-exists"
        return "account-limit" if self.sold_to.get(who, 0) + more > self.rules.max_per_account else ""

    def _counts(self, hold_name: str, now: int) -> bool:
        hold = self.holds[hold_name]
        return hold.state == "PAYMENT_PENDING" or (hold.state == "HELD" and now < hold.until)

    def _is_cap_reached(self, more: int, now: int) -> bool:
        """Seats that are being paid in the whole event; those that nobody can pay any more do not count."""
        paying = sum(
            len(other.seats)
            for name, other in self.holds.items()
            if other.state == "PAYMENT_PENDING" and not self._is_dead(name, now)
        )
        return paying + more > self.rules.paying_cap

    def _confirm(self, order_name: str) -> None:
        """Every seat of the order is sold, in one step, and stays so."""
        order = self.orders[order_name]
        hold = self.holds[order.hold]
        for name, part in self._parts(order_name):
            part.advice, part.updated = "goods-issued", self.now
            if part.kind == "authorize":
                self._follow_up(name, "capture", part.amount, self.now)
        for seat in hold.seats:
            self.seats[seat] = Seat("SOLD", None, order_name)
        hold.state, order.state, order.valid = "SOLD", "CONFIRMED", True
        self.sold_to[order.owner] = self.sold_to.get(order.owner, 0) + len(order.lines)

    def _may_confirm(self, order_name: str) -> bool:
        order = self.orders[order_name]
        hold = self.holds[order.hold]
        too_many = self.sold_to.get(order.owner, 0) + len(order.lines) > self.rules.max_per_account
        return (
            order.state in UNPAID
            and self.event_state != "CANCELLED"
            and hold.state == "PAYMENT_PENDING"
            and all(self.seats[seat].order == order_name for seat in hold.seats)
            and (order.owner.at_till or not too_many)
        )

    def _follow_up(
        self, parent: str, kind: str, amount: int, now: int, *, ref: str | None = None, state: str = "CREATED"
    ) -> None:
        """One capture and one void of a charge, at most."""
        name = f"{parent}/{kind}"
        if name not in self.operations:
            charge = self.operations[parent]
            self.operations[name] = Operation(
                charge.order, kind, state, amount, charge.payer, now, now, parent,
                ref=charge.ref if ref is None else ref,
            )  # fmt: skip

    def _end_sale(self, order_name: str, order_state: str, hold_state: str) -> None:
        order = self.orders[order_name]
        order.state = order_state
        self._give_parts_back(order_name)
        if self.holds[order.hold].state in OPEN:
            self._free(order.hold, hold_state)

    def _parts(self, order_name: str) -> list[tuple[str, Operation]]:
        """Parts that were taken and wait for the rest."""
        return [(name, charge) for name, charge in self._charges(order_name) if charge.advice == "part"]

    def _taken(self, order_name: str) -> int:
        return sum(part.amount for _, part in self._parts(order_name))

    def left_to_pay(self, order_name: str) -> int:
        """What no part of the order has taken yet."""
        return self.orders[order_name].amount - self._taken(order_name)

    def is_begun(self, order_name: str) -> bool:
        """Whether a part of the order is taken."""
        return bool(self._parts(order_name))

    def _give_parts_back(self, order_name: str) -> None:
        """A provider voids its authorization; a till refunds at its terminal, or pays the cash out."""
        for name, part in self._parts(order_name):
            part.advice, part.updated = "reverse", self.now
            if part.kind == "authorize":
                self._follow_up(name, "void", part.amount, self.now)
            else:
                self._follow_up(name, "refund", part.amount, self.now, state="SENT")

    def _free(self, hold_name: str, state: str) -> None:
        """Only what is still its own: never a seat that a newer hold or a sale has taken."""
        hold = self.holds[hold_name]
        hold.state = state
        for seat in hold.seats:
            if self.seats[seat].hold == hold_name:
                self.seats[seat] = Seat()

    def _return_to_hold(self, order_name: str) -> None:
        """Under the same deadline; the grace stays used."""
        hold_name = self.orders[order_name].hold
        self.holds[hold_name].state = "HELD"
        self._set_seats(hold_name, "HELD", None)

    def _set_seats(self, hold_name: str, state: str, order: str | None) -> None:
        for seat in self.holds[hold_name].seats:
            self.seats[seat] = Seat(state, hold_name, order)

    def _charges(self, order_name: str) -> Iterator[tuple[str, Operation]]:
        for name, operation in self.operations.items():
            if operation.order == order_name and operation.kind in CHARGES:
                yield name, operation

    def _is_every_charge_declined(self, order_name: str) -> bool:
        """Or in nobody's way: a part goes back with the end of the sale, what was given up goes back by itself."""
        return all(
            charge.state == "DECLINED" or charge.advice == "part" or charge.given_up
            for _, charge in self._charges(order_name)
        )

    def _provider_of(self, name: str) -> str:
        operation = self.operations[name]
        return PROVIDER_OF[operation.kind if operation.parent is None else self.operations[operation.parent].kind]

    def _advice(self, name: str) -> str:
        operation = self.operations[name]
        if operation.advice == "part" or (operation.kind == "refund" and operation.state == "SUCCEEDED"):
            return "goods-issued"
        return operation.advice or "reverse"
