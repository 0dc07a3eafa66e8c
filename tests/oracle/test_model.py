"""The reference model itself: the document's own history, and the rules in which ours differ from its rules."""

from __future__ import annotations

from tests.oracle.model import BoxOffice
from tests.oracle.records import SECOND, Person, Rules

ALICE, BOB, CARA = Person("alice"), Person("bob"), Person("cara")
TILL = Person("till", at_till=True)
A1, A2 = 0, 1
PRICE = 100


def _office(**settings: int) -> BoxOffice:
    return BoxOffice(Rules(2, {1: PRICE}, **{"hold_ttl_s": 30, "grace_s": 30, "least_time_s": 1, **settings}))


def _sell(office: BoxOffice, who: Person, hold: str, now: int) -> str:
    """Confirm a hold: checkout, a provider's payment and its result."""
    lines = tuple((seat, 1) for seat in office.holds[hold].seats)
    code = office.check_out(who, hold, lines, PRICE * len(lines), f"{hold} out", f"{hold} order", now).code
    if not code:
        code = office.pay(
            who, f"{hold} order", "authorize", PRICE * len(lines), None, f"{hold} pay", f"{hold} charge", now
        ).code
    if not code:
        code = office.provider_says("provider:sandbox", f"{hold} charge", "succeeded", PRICE * len(lines), "", now).code
    return code


def test_the_documents_own_history() -> None:
    """Its assertions, one for one, at its seconds. Names of holds stand for the keys that its model returns."""
    office = _office()
    at = [second * SECOND for second in range(501)]
    assert office.hold(ALICE, (A1,), "op-1", "op-1", at[100]).made == "op-1"
    again = office.hold(ALICE, (A1,), "op-1", "another", at[120])
    assert (again.made, again.replayed, office.holds["op-1"].until) == ("op-1", True, at[130])
    refused = office.hold(BOB, (A1,), "op-2", "op-2", at[120])
    assert (refused.code, refused.seats) == ("seats-taken", (A1,))
    assert _sell(office, ALICE, "op-1", at[129]) == ""
    assert office.provider_says("provider:sandbox", "op-1 charge", "succeeded", PRICE, "", at[200]).replayed
    assert office.hold_state("op-1", at[500]) == "SOLD"
    assert office.hold(BOB, (A1,), "op-3", "op-3", at[500]).code == "seats-taken"

    office = _office()
    assert office.hold(BOB, (A2,), "op-4", "op-4", at[100]).made == "op-4"
    assert office.hold_state("op-4", at[130] - 1) == "HELD"
    assert office.hold_state("op-4", at[130]) == "EXPIRED"
    assert office.hold(CARA, (A2,), "op-5", "op-5", at[130]).made == "op-5"
    assert office.hold_state("op-4", at[130]) == "EXPIRED"
    assert _sell(office, CARA, "op-5", at[131]) == ""


def test_a_key_with_another_body_is_a_conflict_and_does_nothing() -> None:
    office = _office()
    office.hold(ALICE, (A1,), "key", "first", 0)
    before = office.copy()
    assert office.hold(ALICE, (A2,), "key", "second", 1).code == "key-reused"
    assert office == before


def test_a_key_belongs_to_its_caller() -> None:
    """Difference 1: the document calls another user's same key a conflict."""
    office = _office()
    assert office.hold(ALICE, (A1,), "key", "hers", 0).made == "hers"
    assert office.hold(BOB, (A2,), "key", "his", 0).made == "his"


def test_an_expired_hold_gains_no_time_and_cannot_touch_its_successor() -> None:
    """The document's exercise 2: X expires, Y takes the seat, X is repeated, released and swept."""
    office = _office()
    office.hold(ALICE, (A1,), "x", "X", 0)
    office.hold(BOB, (A1,), "y", "Y", 30 * SECOND)
    assert office.hold(ALICE, (A1,), "x", "again", 31 * SECOND).made == "X"
    assert office.holds["X"].until == 30 * SECOND
    assert _sell(office, ALICE, "X", 31 * SECOND) == "hold-expired"
    assert office.release(ALICE, "X", "r", 31 * SECOND).made == "X"
    assert office.sweep(31 * SECOND).count == 0
    assert office.seats[A1].hold == "Y"


def test_a_late_success_confirms_while_the_seats_were_nobody_elses() -> None:
    """Difference 4: the document refuses every confirmation after the deadline."""
    office = _office()
    office.hold(ALICE, (A1,), "k", "h", 0)
    office.check_out(ALICE, "h", ((A1, 1),), PRICE, "c", "o", SECOND)
    office.pay(ALICE, "o", "authorize", PRICE, None, "p", "charge", SECOND)
    late = office.holds["h"].until + 3600 * SECOND
    assert office.hold(BOB, (A1,), "b", "his", late).code == "seats-taken"
    assert office.sweep(late).count == 0
    assert office.provider_says("provider:sandbox", "charge", "succeeded", PRICE, "", late).advice == "goods-issued"
    assert office.seats[A1].state == "SOLD"


def test_one_grace_and_no_more() -> None:
    """R7: a checkout after a cancelled one has the time that is left."""
    office = _office()
    office.hold(TILL, (A1,), "k", "h", 0)
    office.check_out(TILL, "h", ((A1, 1),), PRICE, "c1", "o1", 20 * SECOND)
    assert office.holds["h"].until == 50 * SECOND
    office.cancel(TILL, "o1", True, "x", 21 * SECOND)
    assert office.check_out(TILL, "h", ((A1, 1),), PRICE, "c2", "o2", 40 * SECOND).made == "o2"
    assert office.holds["h"].until == 50 * SECOND


def test_the_model_knows_nothing_of_the_implementation() -> None:
    """It would agree with anything if it shared its code."""
    import tests.oracle.model as module

    modules = {getattr(value, "__module__", "") for value in vars(module).values()}
    assert not any(name.startswith(("booking", "backend_client")) for name in modules)
