"""Histories that have a name in the field, on both sides: the model and the real box office give the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.oracle.choosing import PRICES
from tests.oracle.history import FANS, TILLS, History
from tests.oracle.records import SECOND, Answer, Person, Rules
from tests.oracle.requests import NOBODY, Request
from tests.oracle.run_oracle import oracle_on

ANA, BOB, CID = FANS
TILL, OTHER_TILL = TILLS
PRICE = PRICES[1]
TTL = 60


@pytest.fixture
def history(dsn: str) -> Iterator[History]:
    """Ten seats; compared and checked when the test ends."""
    with oracle_on(dsn) as run:
        history = History(
            run.loop, run.office, run.tally, Rules(10, PRICES, TTL, 30, 6, 3, 20), label="named", caught=run.caught
        )
        yield history
        history.check_state()
        history.check_invariants()


def _key(name: str) -> str:
    return f"key-{name.replace(' ', '-')}"


def _hold(who: Person, *seats: int, name: str) -> Request:
    return Request("hold", who, key=_key(name), name=name, seats=seats)


def _sweep(history: History) -> int:
    return history.perform(Request("sweep", NOBODY)).count


def _order(history: History, who: Person, hold: str, name: str) -> Answer:
    seats = history.model.holds[hold].seats
    lines = tuple((seat, 1) for seat in seats)
    return history.perform(Request("checkout", who, hold, _key(name), name, lines=lines, amount=PRICE * len(seats)))


def _pay(history: History, who: Person, order: str, kind: str, name: str) -> Answer:
    amount = history.model.orders[order].amount
    tendered = amount if kind == "cash" else None
    return history.perform(Request("pay", who, order, _key(name), name, kind=kind, amount=amount, tendered=tendered))


def _provider(history: History, charge: str, outcome: str) -> Answer:
    amount = history.model.operations[charge].amount
    return history.perform(Request("provider", NOBODY, charge, kind="provider:sandbox", outcome=outcome, amount=amount))


def test_b10_a_late_success_is_voided_once_and_touches_nothing_of_the_next_buyers(history: History) -> None:
    history.perform(_hold(ANA, 0, name="hers"))
    _order(history, ANA, "hers", "her order")
    _pay(history, ANA, "her order", "authorize", "her charge")
    history.perform(Request("send", NOBODY, "her charge"))
    history.stand_at(history.model.holds["hers"].until)
    _provider(history, "her charge", "declined")
    assert history.model.orders["her order"].state == "EXPIRED"
    assert history.perform(_hold(TILL, 0, name="his")).code == ""
    _order(history, TILL, "his", "his order")
    _pay(history, TILL, "his order", "cash", "his cash")
    for _ in range(3):
        assert _provider(history, "her charge", "succeeded").code == "result-conflict"
    voids = [name for name, operation in history.model.operations.items() if operation.kind == "void"]
    assert voids == ["her charge/void"]
    assert _provider(history, "her charge/void", "succeeded").code == ""
    history.perform(Request("release", ANA, "hers", "her-release"))
    assert _sweep(history) == 0
    assert history.model.seats[0].order == "his order"


def test_b5_seats_of_a_cancelled_order_are_free_at_once_and_sold_again(history: History) -> None:
    history.perform(_hold(TILL, 0, 1, name="two"))
    history.perform(_hold(TILL, 2, 3, 4, name="three"))
    _order(history, TILL, "two", "order of two")
    _order(history, TILL, "three", "order of three")
    _pay(history, TILL, "order of three", "cash", "cash")
    assert history.perform(Request("cancel", TILL, "order of two", "c", keep_seats=False)).code == ""
    assert history.perform(_hold(OTHER_TILL, 0, 1, name="again")).code == ""
    _order(history, OTHER_TILL, "again", "order again")
    assert _pay(history, OTHER_TILL, "order again", "cash", "cash again").code == ""
    assert [seat.state for seat in history.model.seats.values()].count("SOLD") == 5


def test_b9_of_two_overlapping_holds_at_once_one_wins_whole(history: History) -> None:
    history.perform_pair(_hold(ANA, 1, 2, name="a"), _hold(BOB, 2, 3, name="b"))
    assert len(history.model.holds) == 1
    assert history.tally.codes == {"done": 1, "seats-taken": 1}


def test_b13_expired_holds_are_in_nobodys_way_with_the_sweeper_stopped(history: History) -> None:
    for number, who in enumerate((ANA, BOB, CID)):
        history.perform(_hold(who, *range(3 * number, 3 * number + 3), name=who.name))
    assert history.perform(_hold(TILL, 8, 9, name="too early")).code == "seats-taken"
    history.stand_at(TTL * SECOND - 1)
    assert history.perform(_hold(TILL, 8, 9, name="a microsecond early")).code == "seats-taken"
    history.stand_at(TTL * SECOND)
    assert history.perform(_hold(TILL, 8, 9, name="on time")).code == ""


def test_p10_refused_then_accepted_in_any_order_and_twice_is_paid(history: History) -> None:
    history.perform(_hold(ANA, 0, name="h"))
    _order(history, ANA, "h", "o")
    _pay(history, ANA, "o", "authorize", "first")
    _provider(history, "first", "declined")
    _pay(history, ANA, "o", "authorize", "second")
    for charge, outcome in (
        ("second", "succeeded"),
        ("first", "declined"),
        ("second", "succeeded"),
        ("first", "unknown"),
    ):
        _provider(history, charge, outcome)
    assert history.model.orders["o"].state == "CONFIRMED"


def test_r25_cancelling_an_order_does_not_call_off_the_void_of_money_that_came_late(history: History) -> None:
    """Found by the random histories: the charge was declined, its success came after all, then the buyer cancelled."""
    history.perform(_hold(ANA, 0, name="h"))
    _order(history, ANA, "h", "o")
    _pay(history, ANA, "o", "authorize", "charge")
    _provider(history, "charge", "declined")
    assert _provider(history, "charge", "succeeded").code == "result-conflict"
    assert history.perform(Request("cancel", ANA, "o", "c", keep_seats=True)).code == ""
    assert history.model.operations["charge/void"].state == "CREATED"
    assert _provider(history, "charge/void", "succeeded").code == ""


def test_r6_a_replay_after_the_successor_names_the_old_hold_and_extends_nothing(history: History) -> None:
    first = _hold(ANA, 0, 1, name="x")
    history.perform(first)
    history.stand_at(TTL * SECOND)
    history.perform(_hold(BOB, 1, 2, name="y"))
    assert history.perform(replace(first, name="x again")).made == "x"
    assert history.perform(Request("release", ANA, "x", "r")).made == "x"
    assert history.model.seats[1].hold == "y"


def test_r24_while_a_payment_is_unknown_nobody_gets_its_seats(history: History) -> None:
    history.perform(_hold(TILL, 0, name="h"))
    _order(history, TILL, "h", "o")
    _pay(history, TILL, "o", "sale", "charge")
    report = Request("report", TILL, "charge", "r1", outcome="unknown", amount=PRICE)
    history.perform(report)
    history.stand_at(24 * 3600 * SECOND)
    assert _sweep(history) == 0
    assert history.perform(_hold(ANA, 0, name="hers")).code == "seats-taken"
    assert _pay(history, TILL, "o", "cash", "cash").code == "payment-running"
    assert history.perform(replace(report, key="r2", outcome="succeeded")).advice == "goods-issued"
