"""The sandbox's money rules, and books that survive its process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from booking.payments.sandbox_ledger import (
    DAY_S,
    ChargeStatus,
    Kind,
    OperationConflictError,
    Request,
    SandboxLedger,
    Status,
)


def ask(ledger: SandboxLedger, kind: Kind, amount: int = 100, *, charge: str = "ch_000001", name: str = "") -> str:
    operation_id = name or f"op-{len(ledger.operations)}"
    return ledger.carry_out(Request(operation_id, kind, amount, "EUR", charge=charge)).decline_code


@pytest.fixture
def ledger() -> SandboxLedger:
    ledger = SandboxLedger()
    ask(ledger, Kind.AUTHORIZE)
    return ledger


def test_no_capture_after_a_void(ledger: SandboxLedger) -> None:
    assert ask(ledger, Kind.VOID) == ""
    assert ask(ledger, Kind.CAPTURE) == "charge-voided"
    assert ledger.charges["ch_000001"].captured == 0


def test_no_void_after_a_capture_and_no_second_capture(ledger: SandboxLedger) -> None:
    assert ask(ledger, Kind.CAPTURE) == ""
    assert ask(ledger, Kind.VOID) == "charge-captured"
    assert ask(ledger, Kind.CAPTURE) == "charge-captured"


def test_p18_refunds_stay_within_the_capture(ledger: SandboxLedger) -> None:
    ask(ledger, Kind.CAPTURE)
    assert ask(ledger, Kind.REFUND, 60) == ""
    assert ask(ledger, Kind.REFUND, 60) == "refund-exceeds-capture"
    assert ask(ledger, Kind.REFUND, 40) == ""


def test_no_refund_of_money_that_was_not_captured(ledger: SandboxLedger) -> None:
    assert ask(ledger, Kind.REFUND, 1) == "refund-exceeds-capture"


def test_no_capture_above_the_authorization_or_of_an_unknown_charge(ledger: SandboxLedger) -> None:
    assert ask(ledger, Kind.CAPTURE, 101) == "capture-exceeds-authorization"
    assert ask(ledger, Kind.CAPTURE, charge="ch_999999") == "charge-unknown"


def test_one_id_is_one_request(ledger: SandboxLedger) -> None:
    ask(ledger, Kind.CAPTURE, name="same")
    ask(ledger, Kind.CAPTURE, name="same")
    with pytest.raises(OperationConflictError):
        ask(ledger, Kind.CAPTURE, 99, name="same")


def test_the_books_survive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "books.jsonl"
    ledger = SandboxLedger(path)
    ask(ledger, Kind.AUTHORIZE)
    ask(ledger, Kind.CAPTURE)
    ledger.carry_out(Request("no", Kind.AUTHORIZE, 5, "EUR"), refuse_with="card-declined")
    ledger.carry_out(Request("3ds", Kind.AUTHORIZE, 5, "EUR"), needs_action=True)
    ledger.complete_action("3ds", approve=True)
    ledger.carry_out(Request("3ds-2", Kind.AUTHORIZE, 5, "EUR"), needs_action=True)
    ledger.withdraw(Request("3ds-2", Kind.AUTHORIZE, 5, "EUR"))
    ledger.withdraw(Request("never", Kind.AUTHORIZE, 5, "EUR"))
    ask(ledger, Kind.REFUND, 500)
    again = SandboxLedger(path)
    assert again.operations == ledger.operations
    assert again.charges == ledger.charges
    assert again.operations["3ds"].status is Status.SUCCEEDED


class Books(RuleBasedStateMachine):
    """Any order of requests keeps the money rules."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = SandboxLedger()

    @rule(amount=st.integers(0, 200), refuse=st.booleans(), action=st.booleans())
    def authorize(self, amount: int, refuse: bool, action: bool) -> None:
        request = Request(f"op-{len(self.ledger.operations)}", Kind.AUTHORIZE, amount, "EUR")
        self.ledger.carry_out(request, refuse_with="no" if refuse else "", needs_action=action)

    @rule(
        kind=st.sampled_from([Kind.CAPTURE, Kind.VOID, Kind.REFUND]),
        charge=st.integers(1, 4),
        amount=st.integers(0, 99),
    )
    def follow_up(self, kind: Kind, charge: int, amount: int) -> None:
        ask(self.ledger, kind, amount, charge=f"ch_{charge:06d}")

    @invariant()
    def money_is_kept(self) -> None:
        for charge in self.ledger.charges.values():
            assert 0 <= charge.refunded <= charge.captured <= charge.amount
            assert charge.captured == 0 or charge.status is ChargeStatus.CAPTURED


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)


def test_p26_an_authorization_of_seven_days_is_not_captured_on_day_eight(tmp_path: Path) -> None:
    ledger = SandboxLedger(tmp_path / "books", authorization_days=7, clock=lambda: 1_000.0)
    ask(ledger, Kind.AUTHORIZE)
    ledger.ahead_s = 7 * DAY_S - 1
    assert ledger.expires_at("ch_000001") == 1_000.0 + 7 * DAY_S
    ask(ledger, Kind.AUTHORIZE)
    ledger.ahead_s = 7 * DAY_S
    assert ask(ledger, Kind.CAPTURE) == "authorization-expired"
    assert ask(ledger, Kind.CAPTURE, charge="ch_000002") == ""
    assert ask(ledger, Kind.VOID) == "", "what has let itself go need not be let go"
    again = SandboxLedger(tmp_path / "books", authorization_days=7, clock=lambda: 1_000.0)
    assert (again.charges, again.operations) == (ledger.charges, ledger.operations)


def test_what_is_done_by_hand_is_no_operation_of_a_caller(ledger: SandboxLedger) -> None:
    taken = ledger.by_hand(Kind.CAPTURE, charge="ch_000001")
    assert (taken.by_hand, taken.request.amount, taken.request.currency) == (True, 100, "EUR")
    assert ask(ledger, Kind.CAPTURE) == "charge-captured"
    assert ledger.by_hand(Kind.REFUND, charge="ch_000001", amount=40).status is Status.SUCCEEDED
    assert ledger.by_hand(Kind.AUTHORIZE, amount=5, currency="USD").charge == "ch_000002"
    with pytest.raises(KeyError):
        ledger.by_hand(Kind.VOID, charge="ch_000009")
