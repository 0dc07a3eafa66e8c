"""Where the model and the real box office say different things. Each difference is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.oracle.model import BoxOffice
from tests.oracle.real_office import Snapshot, Told
from tests.oracle.records import Answer, Operation, Person
from tests.oracle.requests import Request

Ids = dict[str, UUID]
Instant = Callable[[int], datetime]

STATUS_OF = {
    "invalid-request": 422, "seat-unknown": 422, "price-unknown": 422, "tendered-too-little": 422,
    "forbidden": 403, "operation-not-yours": 403,
    "event-not-found": 404, "hold-not-found": 404, "order-not-found": 404, "operation-not-found": 404,
}  # fmt: skip
CONFLICT = 409
CREATES = ("hold", "checkout", "pay")
WITHOUT_HTTP = ("send", "sweep", "provider")
SEAT_STATES = ("AVAILABLE", "HELD", "PAYING", "SOLD", "BLOCKED")


class Comparison:
    """Compares with one state of the model at one instant; learns the real ids of what the model named."""

    def __init__(self, model: BoxOffice, now: int, ids: Ids, instant: Instant, principals: dict[Person, str]) -> None:
        self.model = model
        self.now = now
        self.ids = ids
        self.instant = instant
        self.principals = principals

    # ------------------------------------------------------------ answers

    def answer(self, ask: Request, expected: Answer, told: Told) -> list[str]:
        """How an answer differs from the expected one."""
        found = list(self._verdict(ask, expected, told))
        if not found and not expected.code and told.body is not None:
            found = list(self._body(ask, expected, told.body))
        return [f"{ask}: {words}" for words in found]

    def _verdict(self, ask: Request, expected: Answer, told: Told) -> Iterator[str]:
        if expected.code != told.code:
            yield f"code {told.code!r}, the model says {expected.code!r}"
            return
        if ask.call not in WITHOUT_HTTP:
            success = 201 if ask.call in CREATES else 200
            status = STATUS_OF.get(expected.code, CONFLICT) if expected.code else success
            yield from _differ("status", told.status, status)
            if not expected.code:
                yield from _differ("replayed", told.replayed, expected.replayed)
        yield from _differ("seats named", told.seats, expected.seats)
        yield from _differ("count", told.count, expected.count)

    def _body(self, ask: Request, expected: Answer, body: Any) -> Iterator[str]:
        match ask.call:
            case "hold" | "release" | "read-hold":
                yield from self._hold(expected.made, body)
            case "checkout" | "cancel" | "read-order":
                yield from self._order(expected.made, body)
            case _:
                yield from self._operation(expected.made, body.operation)
                yield from self._order(self.model.operations[expected.made].order, body.order)
                if ask.call != "pay":
                    yield from _differ("advice", str(body.advice), expected.advice)

    def _hold(self, name: str, body: Any) -> Iterator[str]:
        hold = self.model.holds[name]
        yield from self._named(name, body.hold_id)
        yield from _differ("hold status", str(body.status), self.model.hold_state(name, self.now))
        yield from _differ("seats", tuple(seat.seat_no for seat in body.seats), hold.seats)
        yield from _differ("deadline", body.expires_at, self.instant(hold.until))
        yield from _differ("grace used", body.grace_used, hold.grace_used)
        yield from self._named_or_none(hold.order, body.order_id)
        yield from _differ("hold created", body.created_at, self.instant(hold.created))
        yield from _differ("server time", body.server_time, self.instant(self.now))

    def _order(self, name: str, body: Any) -> Iterator[str]:
        order = self.model.orders[name]
        yield from self._named(name, body.order_id)
        yield from _differ("order status", str(body.status), order.state)
        yield from _differ("total", body.amount_minor, order.amount)
        lines = tuple((line.seat.seat_no, line.price_type_id, line.amount_minor) for line in body.lines)
        yield from _differ("lines", lines, order.lines)
        paid = sum(
            one.amount for one in self.model.operations.values()
            if one.order == name and one.advice in ("part", "goods-issued")
        )  # fmt: skip
        yield from _differ("paid", body.paid_minor, paid)
        yield from _differ("number of holds", len(body.hold_ids), 1)
        yield from self._named(order.hold, body.hold_ids[0])
        is_unpaid = order.state in ("PENDING", "RECONCILING")
        until = self.instant(self.model.holds[order.hold].until) if is_unpaid else None
        yield from _differ("pay until", body.pay_until, until)
        yield from _differ("order created", body.created_at, self.instant(order.created))
        operations = [key for key, operation in self.model.operations.items() if operation.order == name]
        self._learn_strangers(operations, body.operations)
        real = {each.operation_id: each for each in body.operations}
        yield from _differ(
            "operations of the order", sorted(real), sorted(self.ids[key] for key in operations if key in self.ids)
        )
        for key in operations:
            if key in self.ids and self.ids[key] in real:
                yield from self._operation(key, real[self.ids[key]])

    def _learn_strangers(self, operations: list[str], told: Any) -> None:
        """Of two requests at once, this answer may show what the other one made, and what followed from that."""
        for key in operations:
            wanted = (self.model.operations[key].kind, self.model.operations[key].amount)
            strangers = [
                each for each in told
                if each.operation_id not in self.ids.values() and (str(each.kind), each.amount_minor) == wanted
            ]  # fmt: skip
            if key not in self.ids and len(strangers) == 1:
                self.ids[key] = strangers[0].operation_id

    def _operation(self, name: str, body: Any) -> Iterator[str]:
        operation = self.model.operations[name]
        yield from self._named(name, body.operation_id)
        yield from _differ(f"status of {name}", str(body.status), operation.state)
        yield from _differ("kind", str(body.kind), operation.kind)
        yield from _differ("amount", body.amount_minor, operation.amount)
        yield from _differ("provider reference", body.provider_ref, operation.ref)
        yield from _differ("decline code", body.decline_code, operation.decline_code)
        yield from _differ("tendered", body.tendered_minor, operation.tendered)
        change = None if operation.tendered is None else operation.tendered - operation.amount
        yield from _differ("change", body.change_minor, change)
        yield from _differ("operation created", body.created_at, self.instant(operation.created))
        yield from _differ("given up", body.void_requested, operation.given_up)
        yield from _differ("operation updated", body.updated_at, self.instant(operation.updated))

    # ------------------------------------------------------------ the state

    def state(self, real: Snapshot) -> list[str]:
        """How the database differs from the model: every seat, hold, order, payment, item and count."""
        found = [*self._seats(real), *self._holds(real), *self._orders(real), *self._operations(real)]
        items = {(self.ids.get(name), kind): is_open for (name, kind), is_open in self.model.items.items()}
        found += _differ("reconciliation items", real.items, items)
        sold = {self.principals[person]: count for person, count in self.model.sold_to.items() if count}
        found += _differ("tickets sold by account", real.sold, sold)
        return found

    def _seats(self, real: Snapshot) -> Iterator[str]:
        yield from _differ("seat numbers", sorted(real.seats), sorted(self.model.seats))
        for number, seat in self.model.seats.items():
            row = real.seats[number]
            until = None if seat.hold is None else self.instant(self.model.holds[seat.hold].until)
            yield from _differ(f"seat {number}", SEAT_STATES[row["status"]], seat.state)
            yield from self._named_or_none(seat.hold, row["hold_id"], f"hold of seat {number}")
            yield from self._named_or_none(seat.order, row["order_id"], f"order of seat {number}")
            yield from _differ(f"deadline of seat {number}", row["hold_expires_at"], until)

    def _holds(self, real: Snapshot) -> Iterator[str]:
        yield from self._same_things("holds", self.model.holds, real.holds)
        for name, hold in self.model.holds.items():
            row = real.holds.get(self.ids.get(name, UUID(int=0)))
            if row is not None:
                yield from _differ(f"status of {name}", row["status"], hold.state)
                yield from _differ(f"owner of {name}", row["principal"], self.principals[hold.owner])
                yield from _differ(f"seats of {name}", tuple(row["seats"]), hold.seats)
                yield from _differ(f"deadline of {name}", row["expires_at"], self.instant(hold.until))
                yield from _differ(f"grace of {name}", row["grace_used"], hold.grace_used)
                yield from _differ(f"birth of {name}", row["created_at"], self.instant(hold.created))
                yield from self._named_or_none(hold.order, row["order_id"], f"order of {name}")

    def _orders(self, real: Snapshot) -> Iterator[str]:
        yield from self._same_things("orders", self.model.orders, real.orders)
        for name, order in self.model.orders.items():
            row = real.orders.get(self.ids.get(name, UUID(int=0)))
            if row is not None:
                seats = [seat for seat, _, _ in order.lines]
                yield from _differ(f"status of {name}", row["status"], order.state)
                yield from _differ(f"owner of {name}", row["principal"], self.principals[order.owner])
                yield from _differ(f"total of {name}", row["amount_minor"], order.amount)
                yield from _differ(f"seats of {name}", row["seats"], seats)
                yield from _differ(f"valid seats of {name}", row["valid"], seats if order.valid else [])

    def _operations(self, real: Snapshot) -> Iterator[str]:
        yield from self._same_things("payments", self.model.operations, real.operations)
        for name, operation in self.model.operations.items():
            row = real.operations.get(self.ids.get(name, UUID(int=0)))
            if row is not None:
                yield from self._stored_operation(name, operation, row)

    def _stored_operation(self, name: str, operation: Operation, row: Any) -> Iterator[str]:
        yield from _differ(f"status of {name}", row["status"], operation.state)
        yield from _differ(f"kind of {name}", row["kind"], operation.kind)
        yield from _differ(f"amount of {name}", row["amount_minor"], operation.amount)
        yield from _differ(f"advice of {name}", row["advice"], operation.advice)
        yield from _differ(f"reference of {name}", row["provider_ref"], operation.ref)
        yield from _differ(f"decline code of {name}", row["decline_code"], operation.decline_code)
        yield from _differ(f"payer of {name}", row["principal"], self.principals[operation.payer])
        yield from self._named_or_none(operation.parent, row["parent_id"], f"parent of {name}")

    # ------------------------------------------------------------ names

    def _same_things(self, what: str, modelled: dict[str, Any], real: dict[UUID, Any]) -> Iterator[str]:
        known = {self.ids[name] for name in modelled if name in self.ids}
        yield from (f"{what}: the model has {name}, the database does not" for name in modelled if name not in self.ids)
        yield from (f"{what}: the database has not {lost}" for lost in known - set(real))
        yield from (f"{what}: the model knows nothing of {extra}" for extra in set(real) - known)

    def _named(self, name: str, real: UUID) -> Iterator[str]:
        if name not in self.ids and real not in self.ids.values():
            self.ids[name] = real
        yield from _differ(f"id of {name}", real, self.ids.get(name))

    def _named_or_none(self, name: str | None, real: UUID | None, what: str = "order") -> Iterator[str]:
        if name is None or real is None:
            yield from _differ(what, real, name)
        else:
            yield from self._named(name, real)


def _differ(what: str, real: object, expected: object) -> Iterator[str]:
    if real != expected:
        yield f"{what} is {real!r}, the model says {expected!r}"
