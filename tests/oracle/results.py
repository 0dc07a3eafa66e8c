"""What the reference model makes of a result: a provider's, a terminal's or a supervisor's."""

from __future__ import annotations

from tests.oracle.books import Books
from tests.oracle.records import CHARGES, RUNNING, UNPAID, Answer, Operation


class ResultBooks(Books):
    """The books, and how a result is recorded in them."""

    def _record(self, name: str, outcome: str, amount: int, ref: str, decline_code: str, now: int) -> Answer:
        """One result. The same again changes nothing; unknown never undoes a definite one; a contradiction is refused
        and left to a supervisor."""
        operation = self.operations[name]
        if operation.state in ("SUCCEEDED", "DECLINED"):
            return self._answer_again(name, operation, outcome, amount, ref, now)
        operation.ref, operation.updated = ref or operation.ref, now
        if outcome == "unknown" or (outcome == "succeeded" and amount != operation.amount):
            if outcome == "succeeded":
                self.items.setdefault((name, "amount-mismatch"), True)
            operation.state, operation.advice = "UNKNOWN", ""
            if operation.kind in CHARGES and not operation.given_up and self.orders[operation.order].state == "PENDING":
                self.orders[operation.order].state = "RECONCILING"
        elif outcome == "declined":
            operation.state, operation.decline_code = "DECLINED", decline_code
            self._after_decline(name, operation, now)
        else:
            operation.state = "SUCCEEDED"
            if operation.kind in CHARGES:
                self._after_success(name, operation, now)
        return Answer(made=name, advice=self._advice(name))

    def _answer_again(self, name: str, operation: Operation, outcome: str, amount: int, ref: str, now: int) -> Answer:
        is_same = (
            outcome == "unknown"
            or (outcome == "succeeded" and operation.state == "SUCCEEDED" and amount == operation.amount)
            or (outcome == "declined" and operation.state == "DECLINED")
        )
        if is_same:
            return Answer(made=name, replayed=True, advice=self._advice(name))
        is_reversed = operation.kind == "sale" and operation.advice == "reverse"
        if outcome == "declined" and is_reversed and f"{name}/refund" not in self.operations:
            self._follow_up(name, "void", operation.amount, now, ref=ref, state="SUCCEEDED")
            if (name, "paid-not-confirmed") in self.items:
                self.items[name, "paid-not-confirmed"] = False
            return Answer(made=name, advice="reverse")
        self.items[name, "result-conflict"] = True
        if outcome == "succeeded" and operation.state == "DECLINED" and operation.kind == "authorize":
            operation.ref, operation.updated = ref or operation.ref, now
            self._follow_up(name, "void", amount, now)
        return Answer("result-conflict", name)

    def _after_decline(self, name: str, operation: Operation, now: int) -> None:
        if operation.kind not in CHARGES:
            self.items[name, f"{operation.kind}-failed"] = True
            return
        order = self.orders[operation.order]
        running = any(
            one.state in RUNNING and not one.given_up
            for _, one in self._charges(operation.order)
            if one is not operation
        )
        if order.state not in UNPAID or operation.given_up or running:
            return
        if now < self.holds[order.hold].until:
            order.state = "PENDING"
            if not self._parts(operation.order):
                self._return_to_hold(operation.order)
        else:
            self._end_sale(operation.order, "EXPIRED", "EXPIRED")

    def _after_success(self, name: str, operation: Operation, now: int) -> None:
        """Confirm, or give the money back. Time does not matter: seats that are being paid are nobody else's."""
        order = self.orders[operation.order]
        if operation.given_up:
            operation.advice = "reverse"
            if operation.kind == "authorize":
                self._follow_up(name, "void", operation.amount, now)
            return
        if self._may_confirm(operation.order):
            if operation.in_parts and self._taken(operation.order) + operation.amount < order.amount:
                operation.advice, order.state = "part", "PENDING"
                return
            self._confirm(operation.order)
            operation.advice = "goods-issued"
            if operation.kind == "authorize":
                self._follow_up(name, "capture", operation.amount, now)
            return
        operation.advice = "reverse"
        if operation.kind == "authorize":
            self._follow_up(name, "void", operation.amount, now)
        self.items[name, "paid-not-confirmed"] = True
        if order.state in UNPAID:
            self._end_sale(operation.order, "CANCELLED", "RELEASED")
