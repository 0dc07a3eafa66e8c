"""The reference model of seed 002, in our words: what the box office must answer, in plain dictionaries.

It knows nothing of the implementation: no SQL, no transaction, no lane. Calls are serial, time is a whole number of
microseconds that the caller gives. A history is right when the real API answers what this model answers.

The document's model holds one seat for one owner and confirms it. Its rules are all here:

- at most one hold that has not expired, and at most one sale, for each seat (`hold`, `_confirm`);
- `now >= until` is expired, to the microsecond;
- a key that is repeated with the same request names the same hold, also after it expired, and never extends it;
- a key that is repeated with another request is a conflict, and does nothing;
- an expired hold is never revived: whoever wants the seat makes a new one, and the old one cannot touch it;
- nothing has to run for a hold to end: the sweeper (`sweep`) only tidies.

Where our rules differ from the document's, this model states ours:

1. The key is (caller, call, key): another caller's same key is another key. The document calls that a conflict.
2. A hold takes 1 to 6 seats, all or nothing, and the refusal names every seat that was lost. The document's takes one.
3. The time to live is the event's, not the request's: a key cannot be reused "with another time".
4. Confirming has three steps: checkout (the deadline may move once, by the grace), a payment, and its result. No step
   begins after the deadline, and none without the least time to pay. A result that comes after the deadline of seats
   that are being paid still confirms: they were nobody else's (R7, R24). The document refuses every late confirmation.
5. "Confirmed stays confirmed" holds for the same key. Another key about the same hold or order is told its state.
6. Limits, release, cancellation, declined and unknown payments, voids: the document leaves them to other flows.
7. Refusals spend no key. The exception is a result that contradicts an earlier one: it leaves an item behind, and the
   same key is refused again.
8. An order may be paid in parts, and a charge that is not decided may be given up for another way to pay: the
   document knows neither.
"""

from __future__ import annotations

from tests.oracle.records import (
    MOST_PARTS,
    MOST_SEATS,
    OPEN,
    RUNNING,
    SECOND,
    UNPAID,
    Answer,
    Hold,
    Operation,
    Order,
    Person,
    Seat,
    Spent,
)
from tests.oracle.results import ResultBooks


class BoxOffice(ResultBooks):
    """One event. `name` of a call that may make something is what it is called from then on."""

    def hold(self, who: Person, seats: tuple[int, ...], key: str, name: str, now: int) -> Answer:
        """All of the seats or none. The key is looked up before anything else."""
        if not 1 <= len(seats) <= MOST_SEATS or len(set(seats)) != len(seats):
            return Answer("invalid-request")
        seen = self._seen(who, "hold", key, seats)
        if seen is not None:
            return seen
        if self.event_state != "ON_SALE":
            return Answer("event-not-on-sale")
        unknown = tuple(sorted(seat for seat in seats if seat not in self.seats))
        if unknown:
            return Answer("seat-unknown", seats=unknown)
        taken = tuple(sorted(seat for seat in seats if not self._is_free(seat, now)))
        if taken:
            return Answer("seats-taken", seats=taken, or_else=self._limit_reached(who, len(seats), now))
        self._end_dead_sales(who, seats, now)
        refused = self._limit_reached(who, len(seats), now)
        if refused:
            return Answer(refused)
        self.holds[name] = Hold(who, tuple(sorted(seats)), now + self.rules.hold_ttl_s * SECOND, now)
        for seat in seats:
            self.seats[seat] = Seat("HELD", name)
        self.keys[who, "hold", key] = Spent(seats, name)
        return Answer(made=name)

    def release(self, who: Person, hold_name: str, key: str, now: int) -> Answer:
        """By its owner. What has ended stays as it ended; what is being paid is cancelled instead."""
        seen = self._seen(who, "release", key, hold_name)
        if seen is not None:
            return seen
        hold = self.holds.get(hold_name)
        if hold is None or not _may_act(who, hold.owner):
            return Answer("hold-not-found")
        if hold.state in ("RELEASED", "EXPIRED"):
            self.keys[who, "release", key] = Spent(hold_name, hold_name)
            return Answer(made=hold_name, replayed=True)
        if hold.state != "HELD":
            return Answer("hold-not-open")
        if hold.order is not None and self.orders[hold.order].state == "PENDING":
            self._end_sale(hold.order, "CANCELLED", "RELEASED")
        else:
            self._free(hold_name, "RELEASED")
        self.keys[who, "release", key] = Spent(hold_name, hold_name)
        return Answer(made=hold_name)

    def read_hold(self, who: Person, hold_name: str) -> Answer:
        """As of now, for its owner and for supervisors."""
        hold = self.holds.get(hold_name)
        if hold is None or not _may_act(who, hold.owner):
            return Answer("hold-not-found")
        return Answer(made=hold_name)

    def check_out(  # noqa: PLR0911 - one refusal after another, as they are looked at
        self,
        who: Person,
        hold_name: str,
        lines: tuple[tuple[int, int], ...],
        shown: int,
        key: str,
        name: str,
        now: int,
    ) -> Answer:
        """The hold becomes an order at the server's prices; its deadline moves once."""
        numbers = [seat for seat, _ in lines]
        if not 1 <= len(numbers) <= MOST_SEATS or len(set(numbers)) != len(numbers):
            return Answer("invalid-request")
        request = (hold_name, lines, shown)
        seen = self._seen(who, "checkout", key, request)
        if seen is not None:
            return seen
        hold = self.holds.get(hold_name)
        if hold is None or not _may_act(who, hold.owner):
            return Answer("hold-not-found")
        refused = self._why_not_check_out(hold, now)
        if refused:
            return Answer(refused)
        if tuple(sorted(numbers)) != hold.seats:
            return Answer("invalid-request", seats=hold.seats)
        unpriced = tuple(sorted(seat for seat, kind in lines if kind not in self.rules.prices))
        if unpriced:
            return Answer("price-unknown", seats=unpriced)
        priced = tuple(sorted((seat, kind, self.rules.prices[kind]) for seat, kind in lines))
        amount = sum(price for _, _, price in priced)
        if amount != shown:
            return Answer("price-changed")
        if self._is_cap_reached(len(hold.seats), now):
            return Answer("paying-cap-reached")
        if not hold.grace_used:
            hold.until = max(hold.until, now + self.rules.grace_s * SECOND)
        hold.state, hold.grace_used, hold.order = "PAYMENT_PENDING", True, name
        self.orders[name] = Order(hold.owner, hold_name, priced, amount, now)
        self._set_seats(hold_name, "PAYING", name)
        self.keys[who, "checkout", key] = Spent(request, name)
        return Answer(made=name)

    def cancel(self, who: Person, order_name: str, keep_seats: bool, key: str, now: int) -> Answer:
        """An order that is not paid; never while a charge may have taken money."""
        request = (order_name, keep_seats)
        seen = self._seen(who, "cancel", key, request)
        if seen is not None:
            return seen
        order = self.orders.get(order_name)
        if order is None or not _may_act(who, order.owner):
            return Answer("order-not-found")
        if order.state == "CANCELLED":
            self.keys[who, "cancel", key] = Spent(request, order_name)
            return Answer(made=order_name, replayed=True)
        if order.state == "RECONCILING":
            return Answer("payment-running")
        if order.state != "PENDING":
            return Answer("order-not-cancellable")
        charges = [operation for _, operation in self._charges(order_name)]
        if any(
            charge.state not in ("CREATED", "DECLINED") and charge.advice != "part" and not charge.given_up
            for charge in charges
        ):
            return Answer("payment-running")
        for charge in charges:
            if charge.state == "CREATED":
                charge.state, charge.decline_code, charge.updated = "DECLINED", "cancelled", now
        hold = self.holds[order.hold]
        if keep_seats and now < hold.until:
            self._give_parts_back(order_name)
            self._return_to_hold(order_name)
            hold.order = None
            order.state = "CANCELLED"
        else:
            self._end_sale(order_name, "CANCELLED", "RELEASED")
        self.keys[who, "cancel", key] = Spent(request, order_name)
        return Answer(made=order_name)

    def read_order(self, who: Person, order_name: str) -> Answer:
        """As of now, for its owner and for supervisors."""
        order = self.orders.get(order_name)
        if order is None or not _may_act(who, order.owner):
            return Answer("order-not-found")
        return Answer(made=order_name)

    def pay(
        self,
        who: Person,
        order_name: str,
        kind: str,
        amount: int,
        tendered: int | None,
        key: str,
        name: str,
        now: int,
        *,
        in_parts: bool = False,
        instead_of: str = "",
    ) -> Answer:
        """Open a payment. Cash is taken and confirmed at once; a terminal's sale is under way; a provider is yet to be
        asked. `in_parts`: of a part of what is left; `instead_of`: of a charge that is given up for it."""
        if kind in ("cash", "sale") and not who.at_till:
            return Answer("forbidden")
        if kind == "cash" and tendered is None:
            return Answer("invalid-request")
        request = (order_name, kind, amount, tendered, in_parts, instead_of)
        seen = self._seen(who, "payments", key, request)
        if seen is not None:
            return seen
        order = self.orders.get(order_name)
        if order is None or not _may_act(who, order.owner):
            return Answer("order-not-found")
        refused = self._why_not_pay(order_name, order, kind, amount, tendered, now, in_parts, instead_of)
        if refused:
            return Answer(refused)
        if len(self._parts(order_name)) >= MOST_PARTS:
            return Answer("order-not-payable")
        is_whole = self._taken(order_name) + amount == order.amount
        hold = self.holds[order.hold]
        # After a decline the seats are no longer being paid: they need their part of the cap once more.
        if hold.state == "HELD" and not (kind == "cash" and is_whole) and self._is_cap_reached(len(hold.seats), now):
            return Answer("paying-cap-reached")
        if instead_of:
            self._give_up(instead_of, order)
        if hold.state == "HELD":
            hold.state = "PAYMENT_PENDING"
            self._set_seats(order.hold, "PAYING", order_name)
        state = {"cash": "SUCCEEDED", "sale": "SENT", "authorize": "CREATED"}[kind]
        operation = Operation(order_name, kind, state, amount, who, now, now, in_parts=not is_whole)
        self.operations[name] = operation
        if kind == "cash":
            operation.tendered, operation.advice = tendered, "goods-issued" if is_whole else "part"
            if is_whole:
                self._confirm(order_name)
        self.keys[who, "payments", key] = Spent(request, name)
        return Answer(made=name)

    def send(self, name: str, now: int) -> Answer:
        """Who drives a provider's operation claims it once. One whose time is over is never sent, and ends here."""
        operation = self.operations[name]
        if operation.state != "CREATED":
            return Answer(count=0)
        hold = self.holds[self.orders[operation.order].hold]
        if operation.kind != "authorize" or now < hold.until:
            operation.state, operation.updated = "SENT", now
            return Answer(count=1)
        self._record(name, "declined", operation.amount, "", "not-sent", now)
        return Answer(count=0)

    def report(self, who: Person, name: str, outcome: str, amount: int, ref: str, key: str, now: int) -> Answer:
        """What a terminal said, from the till that opened the operation."""
        if not who.at_till:
            return Answer("forbidden")
        request = (name, outcome, amount, ref)
        seen = self._seen(who, "results", key, request)
        if seen is not None:
            return Answer(seen.code, seen.made, seen.replayed, advice=self._advice(name)) if seen.made else seen
        operation = self.operations.get(name)
        if operation is None:
            return Answer("operation-not-found")
        if operation.kind not in ("sale", "refund") or operation.payer != who:
            return Answer("operation-not-yours")
        answer = self._record(name, outcome, amount, ref, "no" if outcome == "declined" else "", now)
        self.keys[who, "results", key] = Spent(request, name, answer.code)
        return answer

    def provider_says(self, source: str, name: str, outcome: str, amount: int, ref: str, now: int) -> Answer:
        """What a provider (of its own operations) or a supervisor (of all but cash) says, once or many times."""
        operation = self.operations[name]
        if operation.kind == "cash":
            return Answer("operation-not-yours")
        if not source.startswith("supervisor:") and self._provider_of(name) != source.removeprefix("provider:"):
            return Answer("operation-not-yours")
        return self._record(name, outcome, amount, ref, "no" if outcome == "declined" else "", now)

    def sweep(self, now: int) -> Answer:
        """Tidy up what has expired: its count. No answer to anybody depends on it."""
        ended = 0
        for name, hold in self.holds.items():
            if hold.state not in OPEN or now < hold.until:
                continue
            if hold.order is None:
                self._free(name, "EXPIRED")
                ended += 1
            elif self.orders[hold.order].state in UNPAID and self._is_every_charge_declined(hold.order):
                self._end_sale(hold.order, "EXPIRED", "EXPIRED")
                ended += 1
        return Answer(count=ended)

    def _why_not_check_out(self, hold: Hold, now: int) -> str:
        if hold.state == "EXPIRED" or (hold.state == "HELD" and now >= hold.until):
            return "hold-expired"
        if hold.state != "HELD" or hold.order is not None:
            return "hold-not-open"
        if self.event_state == "CANCELLED":
            return "event-not-on-sale"
        if hold.until - now < self.rules.least_time_s * SECOND:
            return "too-little-time"
        return ""

    def _why_not_pay(  # noqa: PLR0911 - one refusal after another, as they are looked at
        self,
        name: str,
        order: Order,
        kind: str,
        amount: int,
        tendered: int | None,
        now: int,
        in_parts: bool,
        instead_of: str,
    ) -> str:
        hold = self.holds[order.hold]
        left = order.amount - self._taken(name)
        running = {key for key, one in self._charges(name) if one.state in RUNNING and not one.given_up}
        if instead_of and (instead_of not in dict(self._charges(name)) or self.operations[instead_of].kind == "cash"):
            return "operation-not-found"
        if running - {instead_of} or (order.state == "RECONCILING" and not instead_of):
            return "payment-running"
        if order.state not in UNPAID:
            return "hold-expired" if order.state == "EXPIRED" else "order-not-payable"
        if amount != left and not (in_parts and 1 <= amount <= left):
            return "amount-mismatch"
        if kind == "cash" and (tendered or 0) < amount:
            return "tendered-too-little"
        is_kept = instead_of in running and self.operations[instead_of].state != "CREATED"
        if now >= hold.until and not (kind == "cash" and amount == left and is_kept):
            return "hold-expired"
        if kind != "cash" and hold.until - now < self.rules.least_time_s * SECOND:
            return "too-little-time"
        if self.event_state == "CANCELLED":
            return "event-not-on-sale"
        if not order.owner.at_till and self.sold_to.get(order.owner, 0) + len(order.lines) > self.rules.max_per_account:
            return "account-limit"
        return ""

    def _give_up(self, charge_name: str, order: Order) -> None:
        charge = self.operations[charge_name]
        if charge.state == "CREATED":
            charge.state, charge.decline_code, charge.updated = "DECLINED", "cancelled", self.now
        elif charge.state in RUNNING:
            charge.given_up, charge.updated = True, self.now
        order.state = "PENDING"


def _may_act(who: Person, owner: Person) -> bool:
    return who == owner or who.is_supervisor
