"""The sandbox and its client: one effect for one operation id, and doubt is UNKNOWN, never a failure (R24, P3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.exponents import UnknownExponentError
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_faults import DONE_BEFORE_ANSWER, Fault, Planned
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.sandbox_ledger import ChargeStatus
from tests.payments_lab.haste import fault_of, haste
from tests.unit.payments.conftest import Provided, operation

SUCCEEDED, DECLINED, UNKNOWN = ResultOutcome.SUCCEEDED, ResultOutcome.DECLINED, ResultOutcome.UNKNOWN


async def test_authorize_capture_and_refund_move_one_charge(provided: Provided) -> None:
    authorized = await provided.provider.authorize(operation())
    reference = authorized.provider_ref
    captured = await provided.provider.capture(operation(OperationKind.CAPTURE, provider_ref=reference))
    refunded = await provided.provider.refund(operation(OperationKind.REFUND, provider_ref=reference, amount_minor=500))
    assert [r.outcome for r in (authorized, captured, refunded)] == [SUCCEEDED] * 3
    assert (authorized.amount_minor, authorized.card_brand, refunded.amount_minor) == (7500, "Visa", 500)
    (charge,) = provided.sandbox.ledger.charges.values()
    assert (charge.status, charge.captured, charge.refunded) == (ChargeStatus.CAPTURED, 7500, 500)


@pytest.mark.parametrize(
    ("method", "code"), [("card-decline", "card-declined"), ("card-no-funds", "insufficient-funds")]
)
async def test_a_decline_is_what_the_provider_said(provided: Provided, method: str, code: str) -> None:
    result = await provided.provider.authorize(operation(payment_method=method))
    assert (result.outcome, result.amount_minor, result.decline_code) == (DECLINED, 0, code)


async def test_a_card_has_one_name_whatever_is_asked_of_it_and_a_nameless_one_has_none(provided: Provided) -> None:
    """R8: tickets are limited by card; what stands behind the colon only tells cards apart."""
    methods = ("card-approve:ana", "card-3ds:ana", "card-decline:ana", "card-approve:ben", "card-approve")
    results = [await provided.provider.authorize(operation(payment_method=method)) for method in methods]
    first, again, declined, other, nameless = (result.card_fingerprint for result in results)
    assert first == again == declined != other
    assert nameless == ""
    assert results[2].decline_code == "card-declined"


async def test_p20_the_provider_receives_80_for_80_yen(provided: Provided) -> None:
    result = await provided.provider.authorize(operation(amount_minor=80, currency="JPY"))
    (charge,) = provided.sandbox.ledger.charges.values()
    assert (charge.amount, charge.currency, result.amount_minor) == (80, "JPY", 80)


async def test_p22_an_unknown_currency_is_refused_before_anything_is_sent(provided: Provided) -> None:
    with pytest.raises(UnknownExponentError):
        await provided.provider.authorize(operation(currency="XTS"))
    assert provided.sandbox.requests == 0


async def test_p1_p6_ten_parallel_calls_of_one_operation_are_one_charge(provided: Provided) -> None:
    asked = operation()
    results = await asyncio.gather(*(provided.provider.authorize(asked) for _ in range(10)))
    assert {(r.outcome, r.provider_ref) for r in results} == {(SUCCEEDED, "ch_000001")}
    assert len(provided.sandbox.ledger.charges) == 1


async def test_p2_another_request_under_the_same_id_is_a_conflict_and_stays_unknown(provided: Provided) -> None:
    asked = operation()
    await provided.provider.authorize(asked)
    result = await provided.provider.authorize(replace(asked, amount_minor=1))
    assert result.outcome is UNKNOWN
    assert len(provided.sandbox.ledger.charges) == 1
    assert (await provided.provider.authorize(asked)).outcome is SUCCEEDED


@pytest.mark.parametrize("fault", Fault)
async def test_p3_every_fault_is_unknown_and_asking_again_converges_on_one_charge(
    provided: Provided, fault: Fault
) -> None:
    provided.sandbox.faults.planned.append(Planned("authorize", fault, 1))
    asked = operation()
    with haste(provided.provider, fault):
        first = await provided.provider.authorize(asked)
    assert (first.outcome, first.amount_minor) == (UNKNOWN, 0)
    assert provided.sandbox.faults.fired == {f"authorize:{fault.value}": 1}
    if fault is Fault.SLOW:
        async with asyncio.timeout(60):
            while not provided.sandbox.ledger.charges:
                await asyncio.sleep(0.01)
    enquired = await provided.provider.enquire(asked)
    if fault in DONE_BEFORE_ANSWER:
        assert enquired is not None
        assert enquired.outcome is SUCCEEDED
    else:
        assert enquired is None, "never heard of is not a failure"
    again = await provided.provider.authorize(asked)
    assert (again.outcome, again.amount_minor) == (SUCCEEDED, 7500)
    assert len(provided.sandbox.ledger.charges) == 1


@pytest.mark.parametrize(
    ("method", "done"),
    [("card-hang", 0), ("card-hang-after", 1), ("card-answer-lost", 1), ("card-500", 0), ("card-429", 0)],
)
async def test_a_fault_of_a_card_strikes_once(provided: Provided, method: str, done: int) -> None:
    asked = operation(payment_method=method)
    with haste(provided.provider, fault_of(method)):
        assert (await provided.provider.authorize(asked)).outcome is UNKNOWN
    assert len(provided.sandbox.ledger.charges) == done
    assert (await provided.provider.authorize(asked)).outcome is SUCCEEDED


@pytest.mark.parametrize("fault", [Fault.STATUS_500, Fault.DROP_BEFORE, Fault.HANG_BEFORE, Fault.BROKEN_ANSWER])
async def test_p30_an_enquiry_that_fails_leaves_the_operation_unknown(provided: Provided, fault: Fault) -> None:
    asked = operation()
    await provided.provider.authorize(asked)
    provided.sandbox.faults.planned.append(Planned("enquire", fault, 1))
    with haste(provided.provider, fault):
        result = await provided.provider.enquire(asked)
    assert result is not None
    assert result.outcome is UNKNOWN


async def test_nobody_listening_is_unknown(provided: Provided) -> None:
    await provided.server.close()
    assert (await provided.provider.authorize(operation())).outcome is UNKNOWN
    enquired = await provided.provider.enquire(operation())
    assert enquired is not None
    assert enquired.outcome is UNKNOWN


GOOD = {"status": "succeeded", "charge": "ch_1", "amount": 7500, "currency": "EUR", "decline_code": ""}


@pytest.mark.parametrize(
    ("status", "change"),
    [
        (200, {"operation_id": "another"}),
        (200, {"currency": "USD"}),
        (200, {"amount": "7500"}),
        (200, {"amount": None}),
        (200, {"status": "fine"}),
        (200, {"status": "declined"}),
        (402, {"status": "succeeded"}),
        (201, {}),
        (401, {}),
        (404, {}),
        (200, None),
    ],
)
async def test_an_answer_that_is_not_whole_or_not_ours_is_unknown(
    provided: Provided, status: int, change: dict[str, object] | None
) -> None:
    asked = operation()
    good = GOOD | {"operation_id": asked.idempotency_key, "card_brand": "", "next_action": ""}

    async def answer(_call: Call) -> Reply:
        return Reply(status, {} if change is None else good | change)

    stranger = LoopbackServer(answer)
    await stranger.start()
    provider = SandboxProvider(f"http://127.0.0.1:{stranger.port}")
    result = await provider.authorize(asked)
    enquired = await provider.enquire(asked)
    await provider.close()
    await stranger.close()
    assert result.outcome is UNKNOWN
    assert enquired is not None
    assert enquired.outcome is UNKNOWN


@pytest.mark.parametrize("approve", [True, False])
async def test_a_challenge_waits_for_the_buyer(provided: Provided, approve: bool) -> None:
    asked = operation(payment_method="card-3ds")
    first = await provided.provider.authorize(asked)
    assert first.outcome is ResultOutcome.ACTION_REQUIRED
    assert first.next_action
    async with httpx.AsyncClient(base_url=provided.url) as control:
        done = await control.post("/control/actions", json={"operation_id": asked.idempotency_key, "approve": approve})
        assert done.status_code == (200 if approve else 402)
    enquired = await provided.provider.enquire(asked)
    assert enquired is not None
    assert enquired.outcome is (SUCCEEDED if approve else DECLINED)
    assert (await provided.provider.authorize(asked)).outcome is enquired.outcome


async def test_evidence_tells_what_was_asked_and_answered(provided: Provided) -> None:
    result = await provided.provider.authorize(operation())
    assert [step.direction for step in result.evidence] == ["sent", "received"]
    assert "7500 EUR" in result.evidence[0].body
    assert "succeeded ch_000001" in result.evidence[1].body


async def test_control_calls_plan_tell_and_forget_faults(provided: Provided) -> None:
    async with httpx.AsyncClient(base_url=provided.url) as control:
        planned = {"on": "capture", "fault": "drop-after", "times": 2}
        assert (await control.post("/control/faults", json=planned)).status_code == 200
        assert (await control.get("/control/faults")).json() == {"planned": [planned], "fired": {}}
        assert (await control.post("/control/faults", json={"fault": "explode"})).status_code == 400
        assert (await control.post("/control/faults", content=b"{")).status_code == 400
        await control.delete("/control/faults")
        assert (await control.get("/control/faults")).json()["planned"] == []
        assert (await control.get("/nowhere")).status_code == 404


async def test_charges_are_listed_page_by_page(provided: Provided) -> None:
    for _ in range(5):
        await provided.provider.authorize(operation())
    async with httpx.AsyncClient(base_url=provided.url) as reader:
        first = (await reader.get("/v1/charges", params={"limit": 3})).json()
        rest = (await reader.get("/v1/charges", params={"limit": 3, "after": first["charges"][-1]["charge"]})).json()
    assert [first["has_more"], rest["has_more"]] == [True, False]
    assert [c["charge"] for c in first["charges"] + rest["charges"]] == [f"ch_{n:06d}" for n in range(1, 6)]


async def test_a_withdrawn_authorization_is_declined_when_its_request_arrives_late(provided: Provided) -> None:
    asked = operation()
    withdrawn = await provided.provider.withdraw(asked)
    late = await provided.provider.authorize(asked)
    assert [(r.outcome, r.decline_code) for r in (withdrawn, late)] == [(DECLINED, "withdrawn")] * 2


async def test_an_authorization_that_was_granted_is_not_withdrawn(provided: Provided) -> None:
    asked = operation()
    await provided.provider.authorize(asked)
    assert (await provided.provider.withdraw(asked)).outcome is SUCCEEDED


async def test_a_challenge_that_nobody_answered_is_withdrawn(provided: Provided) -> None:
    asked = operation(payment_method="card-3ds")
    await provided.provider.authorize(asked)
    withdrawn = await provided.provider.withdraw(asked)
    assert (withdrawn.outcome, withdrawn.decline_code) == (DECLINED, "withdrawn")
