"""How a history's next request is chosen: by small numbers, taken modulo what there is.

So a failing history shrinks to few and small numbers, and most choices concern something that can still happen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.oracle.history import FANS, PEOPLE, SUPERVISOR, TILLS, History
from tests.oracle.records import OPEN, RUNNING, Person
from tests.oracle.requests import NOBODY, Request

PRICES = {1: 4_000, 2: 1_500}
UNKNOWN_PRICE_TYPE = 3


@dataclass(frozen=True)
class Choice:
    """Three indices, for a request to choose by."""

    a: int
    b: int
    c: int


class Chooser:
    """Chooses requests for `history`, and performs them."""

    history: History

    def _perform(self, ask: Request | None, process: int = 0) -> None:
        if ask is not None:
            self.history.perform(ask, process)

    def _perform_pair(self, one: Request | None, other: Request | None) -> None:
        if one is not None and other is not None:
            self.history.perform_pair(one, other)

    def _choose(self, call: str, choice: Choice) -> Request | None:
        if call == "sweep":
            return Request("sweep", NOBODY)
        chooser: Callable[[Choice], Request | None] = getattr(self, f"_{call}")
        return chooser(choice)

    def _hold(self, choice: Choice) -> Request:
        count = len(self.history.model.seats)
        wanted = (1, 2, 1, 3, 2, 1, 4, 2, 5, 6, 2, 3)[choice.c]
        seats = tuple((choice.b + step) % count for step in range(min(wanted, count)))
        if choice == Choice(choice.a, 11, 11):
            seats = (*seats[:2], count)  # a seat that there is not
        elif choice == Choice(choice.a, 10, 11):
            seats = (seats[0], seats[0])
        name = self.history.new_name("hold")
        return Request("hold", PEOPLE[choice.a % len(PEOPLE)], key=self.history.key_of(name), name=name, seats=seats)

    def _prepare(self, call: str, choice: Choice) -> None:
        """Mostly there is something that the call can be about: without, a new sale is begun."""
        model, now = self.history.model, self.history.now
        operations = [operation for operation in model.operations.values() if operation.state in RUNNING]
        alive = {name for name, hold in model.holds.items() if hold.state in OPEN and now < hold.until}
        orders = [order for order in model.orders.values() if order.state == "PENDING" and order.hold in alive]
        stage, is_there = {
            "checkout": (0, any(model.holds[name].order is None for name in alive)),
            "release": (0, bool(alive)),
            "pay": (1, bool(orders)),
            "instead": (2, any(operation.kind in ("sale", "authorize") for operation in operations)),
            "cancel": (1, bool(orders)),
            "report": (2, any(operation.kind == "sale" for operation in operations)),
            "provider": (2, any(operation.kind == "authorize" for operation in operations)),
            "send": (2, any(operation.state == "CREATED" for operation in operations)),
        }.get(call, (0, True))
        if not is_there and choice.b < 9:
            who = {"report": TILLS, "provider": FANS, "send": FANS}.get(call, PEOPLE)
            self._begin_sale(choice, stage, who)

    def _begin_sale(
        self, choice: Choice, stage: int, people: tuple[Person, ...] = PEOPLE, process: int = 0
    ) -> str | None:
        """A hold that was granted, taken some steps on."""
        ask = self._hold_of_free_seats(choice, people)
        if ask is None or self.history.perform(ask, process).code:
            return None
        for _ in range(stage):
            self._perform(self._next_step_of(ask.name, replace(choice, c=(3, 5, 1, 3)[choice.b % 4])), process)
        return ask.name

    def _free_seats(self) -> list[int]:
        return [number for number, seat in self.history.model.seats.items() if seat.state == "AVAILABLE"]

    def _hold_of_free_seats(self, choice: Choice, people: tuple[Person, ...] = PEOPLE) -> Request | None:
        """Of somebody who has no hold: very likely granted."""
        free = self._free_seats()
        busy = {hold.owner for hold in self.history.model.holds.values() if hold.state in OPEN}
        idle = [person for person in people if person not in busy]
        if not free or not idle:
            return None
        name = self.history.new_name("hold")
        seats = tuple(free[: 1 + choice.c % 2])
        return Request("hold", idle[choice.a % len(idle)], key=self.history.key_of(name), name=name, seats=seats)

    def _checkout(self, choice: Choice) -> Request | None:
        holds = self.history.model.holds
        name = self._preferred(list(holds), choice, lambda each: holds[each].state == "HELD")
        if name is None:
            return None
        kinds = [1 + (choice.c + step) % 2 for step in range(len(holds[name].seats))]
        lines = tuple(zip(holds[name].seats, kinds, strict=True))
        shown = sum(PRICES[kind] for kind in kinds)
        match choice.c:
            case 8 | 9:
                shown -= 1
            case 10 if len(lines) > 1:
                lines, shown = lines[1:], shown - PRICES[kinds[0]]
            case 11:
                lines = ((lines[0][0], UNKNOWN_PRICE_TYPE), *lines[1:])
        fresh = self.history.new_name("order")
        return Request(
            "checkout", somebody(holds[name].owner, choice.b), name, self.history.key_of(fresh), fresh, lines=lines,
            amount=shown,
        )  # fmt: skip

    def _pay(self, choice: Choice) -> Request | None:
        orders = self.history.model.orders
        name = self._preferred(list(orders), choice, lambda each: orders[each].state == "PENDING")
        if name is None:
            return None
        who = somebody(orders[name].owner, choice.b)
        kind = ("authorize", "sale", "cash")[choice.c % 3] if who.at_till or choice.c > 9 else "authorize"
        left = self.history.model.left_to_pay(name)
        in_parts = choice.b % 2 == 1
        amount = max(1, left // 2) if in_parts and choice.c != 7 else left + (choice.c == 6)
        tendered = amount + (50, 0, -1)[choice.b % 3] if kind == "cash" and choice.c != 11 else None
        fresh = self.history.new_name("payment")
        return Request(
            "pay", who, name, self.history.key_of(fresh), fresh, kind=kind, amount=amount, tendered=tendered,
            in_parts=in_parts,
        )  # fmt: skip

    def _instead(self, choice: Choice) -> Request | None:
        """Cash, or another card, for a charge that is not decided; sometimes for one that is."""
        model = self.history.model
        cards = [name for name, one in model.operations.items() if one.kind in ("sale", "authorize")]
        charge = self._preferred(
            cards, choice, lambda each: model.operations[each].state in RUNNING and not model.operations[each].given_up
        )
        if charge is None:
            return None
        order = model.operations[charge].order
        who = somebody(model.orders[order].owner, choice.b)
        kind = ("cash", "sale", "cash", "authorize")[choice.c % 4] if who.at_till else "authorize"
        left = max(1, model.left_to_pay(order))
        amount = max(1, left // 2) if choice.c == 6 else left
        fresh = self.history.new_name("payment")
        return Request(
            "pay", who, order, self.history.key_of(fresh), fresh, kind=kind, amount=amount,
            tendered=amount if kind == "cash" else None, in_parts=choice.c == 6, instead_of=charge,
        )  # fmt: skip

    def _report(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        sales = [name for name, operation in operations.items() if operation.kind in ("sale", "refund")]
        name = self._preferred(sales or list(operations), choice, lambda each: operations[each].state in RUNNING)
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("report"))
        return replace(
            self._result(name, choice), call="report", who=somebody(operations[name].payer, choice.b), key=key
        )

    def _provider(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        online = [name for name, operation in operations.items() if operation.kind not in ("sale", "cash", "refund")]
        name = self._preferred(online or list(operations), choice, lambda each: operations[each].state in RUNNING)
        if name is None:
            return None
        source = "supervisor:oracle" if choice.b == 11 else "provider:sandbox"
        return replace(self._result(name, choice), call="provider", kind=source)

    def _result(self, name: str, choice: Choice) -> Request:
        outcome = ("succeeded", "declined", "succeeded", "unknown", "succeeded", "declined")[choice.c % 6]
        amount = self.history.model.operations[name].amount + (choice.c == 10)
        return Request("", NOBODY, name, outcome=outcome, amount=amount, ref=f"ref-{choice.a}" if choice.b % 2 else "")

    def _send(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        name = self._preferred(list(operations), choice, lambda each: operations[each].state == "CREATED")
        return None if name is None else Request("send", NOBODY, name)

    def _cancel(self, choice: Choice) -> Request | None:
        orders = self.history.model.orders
        taken = [name for name, one in orders.items() if one.state == "PENDING" and self.history.model.is_begun(name)]
        name = self._preferred(
            taken if choice.c % 3 else list(orders), choice, lambda each: orders[each].state == "PENDING"
        ) or self._preferred(list(orders), choice, lambda each: orders[each].state == "PENDING")
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("cancel"))
        who = somebody(orders[name].owner, choice.b)
        return Request("cancel", who, name, key, keep_seats=choice.c % 2 == 0)

    def _release(self, choice: Choice) -> Request | None:
        holds = self.history.model.holds
        name = self._preferred(list(holds), choice, lambda each: holds[each].state == "HELD")
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("release"))
        return Request("release", somebody(holds[name].owner, choice.b), name, key)

    def _again(self, choice: Choice) -> Request | None:
        asked = self.history.asked
        return asked[-1 - (choice.a * 12 + choice.b) % len(asked)] if asked else None

    def _next_step_of(self, hold_name: str, choice: Choice) -> Request | None:
        """What its owner would do next with a hold."""
        model = self.history.model
        hold = model.holds[hold_name]
        if hold.order is None:
            return self._checkout_of(hold_name)
        running = [
            name for name, operation in model.operations.items()
            if operation.order == hold.order and operation.state in RUNNING and operation.kind in ("sale", "authorize")
            and not operation.given_up
        ]  # fmt: skip
        if not running:
            left = model.left_to_pay(hold.order)
            in_parts = choice.a % 4 == 3 and left > 1
            left = left // 2 if in_parts else left
            fresh = self.history.new_name("payment")
            kind = ("cash", "sale")[choice.c % 2] if hold.owner.at_till else "authorize"
            return Request(
                "pay", hold.owner, hold.order, self.history.key_of(fresh), fresh, kind=kind, amount=left,
                tendered=left if kind == "cash" else None, in_parts=in_parts,
            )  # fmt: skip
        operation = model.operations[running[0]]
        result = self._result(running[0], choice)
        if operation.kind == "sale":
            key = self.history.key_of(self.history.new_name("report"))
            return replace(result, call="report", who=operation.payer, key=key)
        return replace(result, call="provider", kind="provider:sandbox")

    def _checkout_of(self, hold_name: str) -> Request:
        hold = self.history.model.holds[hold_name]
        fresh = self.history.new_name("order")
        return Request(
            "checkout", hold.owner, hold_name, self.history.key_of(fresh), fresh,
            lines=tuple((seat, 1) for seat in hold.seats), amount=PRICES[1] * len(hold.seats),
        )  # fmt: skip

    def _preferred(self, names: list[str], choice: Choice, is_likely: Callable[[str], bool]) -> str | None:
        """Mostly one with which something can still happen, sometimes any."""
        likely = [name for name in names if is_likely(name)]
        among = likely if likely and choice.a < 9 else names
        return self._newest(among, choice.a) if among else None

    @staticmethod
    def _newest(names: list[str], index: int) -> str:
        return names[-1 - index % len(names)]


def somebody(owner: Person, index: int) -> Person:
    """Mostly the owner; sometimes a supervisor, or somebody whom it does not concern."""
    return {10: SUPERVISOR, 11: TILLS[0] if owner is not TILLS[0] else FANS[0]}.get(index, owner)
