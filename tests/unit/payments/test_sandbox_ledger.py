"""The sandbox's money rules, and books that survive its process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from booking.payments.sandbox_ledger import ChargeStatus, Kind, OperationConflictError, Request, SandboxLedger, Status


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
