"""Stripe through its official library, against localstripe behind our fault proxy, online and at card readers.

localstripe is lenient about money: what is judged here is that each operation happens once, whatever is lost on the
way, and that its words are read right. The money rules themselves are tried on the sandbox.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from booking.domain.model import PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments import stripe_listing
from booking.payments.exponents import InexactAmountError
from booking.payments.provider import MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.stripe_calls import StripeCalls
from booking.payments.stripe_provider import StripeProvider
from tests.payments_lab.processes import KEY, Lab
from tests.server.stripe_lab import Under, charge, lab, running, under
from tests.unit.payments.conftest import operation

__all__ = ["lab", "running", "under"]


NOT_DONE = ["drop_before", "status_429", "status_500", "status_503"]
DONE = ["drop_after", "status_500_after"]
HANGS = ["hang_before", "hang_after"]


def of_charge(kind: OperationKind, reference: str, **changes: Any) -> PaymentOperation:
    return operation(kind, provider="stripe", provider_ref=reference, **changes)


async def granted(under: Under, **changes: Any) -> str:
    result = await under.provider.authorize(charge(**changes))
    assert result.outcome is ResultOutcome.SUCCEEDED, result
    return result.provider_ref


async def test_an_authorization_is_kept_before_it_is_confirmed_and_knows_its_card(under: Under) -> None:
    first, second = charge(), charge()
    results = [await under.provider.authorize(asked) for asked in (first, second)]
    assert [result.outcome for result in results] == [ResultOutcome.SUCCEEDED] * 2
    assert under.kept[first.idempotency_key] == results[0].provider_ref
    assert results[0].card_fingerprint == results[1].card_fingerprint != ""
    assert results[0].card_brand == "visa"
    assert [each["status"] for each in under.intents(first)] == ["requires_capture"]
    said = " ".join(step.body for result in results for step in result.evidence)
    assert KEY not in said
    assert "4242" not in said


@pytest.mark.parametrize("fault", [*NOT_DONE, *DONE, *HANGS])
@pytest.mark.parametrize("step", ["create", "confirm"])
async def test_p3_whatever_is_lost_of_an_authorization_there_is_one(under: Under, step: str, fault: str) -> None:
    asked = charge()
    before = under.fired(f"{step}:{fault}")
    under.fault(step, fault)
    result = await under.settle(under.provider.authorize, asked)
    assert result.outcome is ResultOutcome.SUCCEEDED
    assert under.fired(f"{step}:{fault}") == before + 1
    assert [each["status"] for each in under.intents(asked)] == ["requires_capture"]


@pytest.mark.parametrize("fault", [*NOT_DONE, *DONE, *HANGS])
@pytest.mark.parametrize("kind", [OperationKind.CAPTURE, OperationKind.VOID, OperationKind.REFUND])
async def test_p3_whatever_is_lost_of_a_follow_up_it_happens_once(
    under: Under, kind: OperationKind, fault: str
) -> None:
    reference = await granted(under)
    ask = {
        OperationKind.CAPTURE: under.provider.capture,
        OperationKind.VOID: under.provider.void,
        OperationKind.REFUND: under.provider.refund,
    }[kind]
    if kind is OperationKind.REFUND:
        await under.provider.capture(of_charge(OperationKind.CAPTURE, reference))
    step = "cancel" if kind is OperationKind.VOID else kind.value
    before = under.fired(f"{step}:{fault}")
    under.fault(step, fault)
    result = await under.settle(ask, of_charge(kind, reference))
    assert (result.outcome, result.amount_minor) == (ResultOutcome.SUCCEEDED, 7500)
    assert under.fired(f"{step}:{fault}") == before + 1
    assert (
        under.money(reference)
        == {
            OperationKind.CAPTURE: [("charge", 7500)],
            OperationKind.VOID: [],
            OperationKind.REFUND: [("charge", 7500), ("refund", -7500)],
        }[kind]
    )


async def test_p5_a_driver_that_dies_before_its_intent_is_kept_has_confirmed_nothing(under: Under) -> None:
    asked = charge()

    async def dies(_operation: PaymentOperation, _reference: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await StripeProvider(under.calls, dies).authorize(asked)
    assert [each["status"] for each in under.intents(asked)] == ["requires_confirmation"]
    assert await under.provider.enquire(asked) is None
    assert (await under.provider.authorize(asked)).outcome is ResultOutcome.SUCCEEDED
    assert [each["status"] for each in under.intents(asked)] == ["requires_capture"]


async def test_a_decline_is_told_once_its_intent_is_closed(under: Under) -> None:
    asked = replace(charge(), payment_method="pm_card_chargeCustomerFail")
    result = await under.provider.authorize(asked)
    assert (result.outcome, result.decline_code) == (ResultOutcome.DECLINED, "card-declined")
    assert [each["status"] for each in under.intents(asked)] == ["canceled"]


async def test_a_decline_whose_intent_cannot_be_closed_yet_is_not_told_yet(under: Under) -> None:
    asked = replace(charge(), payment_method="pm_card_chargeCustomerFail")
    under.fault("cancel", "status_500")
    assert (await under.provider.authorize(asked)).outcome is ResultOutcome.UNKNOWN
    again = await under.provider.enquire(under.kept_of(asked))
    assert again is not None
    assert (again.outcome, again.decline_code) == (ResultOutcome.DECLINED, "card-declined")


async def test_a_request_that_was_refused_has_done_nothing(under: Under) -> None:
    asked = replace(charge(), payment_method="pm_nobody")
    assert (await under.provider.authorize(asked)).outcome is ResultOutcome.DECLINED
    assert under.intents(asked) == []
    stranger = StripeCalls("rk_wrong", api_url=under.lab.api)
    refused = await StripeProvider(stranger, _forget).authorize(charge())
    await stranger.close()
    assert refused.outcome is ResultOutcome.DECLINED


async def _forget(_operation: PaymentOperation, _reference: str) -> None:
    return


def challenge(lab: Lab) -> str:
    card = {"card[number]": "4000002500003155", "card[exp_month]": "12", "card[exp_year]": "2030", "card[cvc]": "123"}
    return str(lab.ask("POST", "/v1/payment_methods", {"type": "card", **card})["id"])


@pytest.mark.parametrize("passes", [True, False])
async def test_a_challenge_is_a_next_action_and_ends_as_the_buyer_answers(under: Under, passes: bool) -> None:
    asked = replace(charge(), payment_method=challenge(under.lab))
    result = await under.provider.authorize(asked)
    assert (result.outcome, result.next_action) == (ResultOutcome.ACTION_REQUIRED, "stripe:use_stripe_sdk")
    (intent,) = under.intents(asked)
    assert await under.provider.page_secret(under.kept_of(asked)) == intent["client_secret"]
    assert await under.provider.page_secret(replace(under.kept_of(asked), idempotency_key="another")) == ""
    assert all(str(intent["client_secret"]) not in step.body for step in result.evidence)
    under.fault("retrieve", "status_500")
    with pytest.raises(ProviderAwayError):
        await under.provider.page_secret(under.kept_of(asked))
    answer = {"client_secret": intent["client_secret"], "success": str(passes).lower()}
    under.lab.ask("POST", f"/v1/payment_intents/{intent['id']}/_authenticate", answer)
    assert await under.provider.page_secret(under.kept_of(asked)) == "", "nobody is asked any more"
    told = await under.provider.enquire(under.kept_of(asked))
    assert told is not None
    expected = (ResultOutcome.SUCCEEDED, "") if passes else (
        ResultOutcome.DECLINED, "payment-intent-authentication-failure",
    )  # fmt: skip
    assert (told.outcome, told.decline_code) == expected


async def test_what_is_withdrawn_first_is_never_granted_by_its_late_request(under: Under) -> None:
    asked = charge()
    closed = await under.provider.withdraw(asked)
    assert (closed.outcome, closed.decline_code) == (ResultOutcome.DECLINED, "withdrawn")
    late = await under.provider.authorize(asked)
    assert late.outcome is ResultOutcome.DECLINED
    assert [each["status"] for each in under.intents(asked)] == ["canceled"]


async def test_what_waits_for_a_buyer_is_closed_and_what_is_granted_stands(under: Under) -> None:
    waiting = replace(charge(), payment_method=challenge(under.lab))
    await under.provider.authorize(waiting)
    assert (await under.provider.withdraw(under.kept_of(waiting))).outcome is ResultOutcome.DECLINED
    done = charge()
    await under.provider.authorize(done)
    stands = await under.provider.withdraw(under.kept_of(done))
    assert (stands.outcome, stands.amount_minor) == (ResultOutcome.SUCCEEDED, 7500)
    assert [each["status"] for each in under.intents(done)] == ["requires_capture"]


async def test_an_intent_is_found_by_its_key_once_stripe_has_forgotten_that(under: Under) -> None:
    asked = charge()
    await under.provider.authorize(asked)
    under.lab.control("POST", "forget-keys")
    old = replace(asked, created_at=datetime.now(UTC) - timedelta(hours=21))
    stands = await under.provider.withdraw(old)
    assert stands.outcome is ResultOutcome.SUCCEEDED
    assert len(under.intents(asked)) == 1
    never = replace(charge(), created_at=datetime.now(UTC) - timedelta(hours=21))
    assert (await under.provider.withdraw(never)).decline_code == "withdrawn"


async def test_no_capture_after_a_void_whatever_the_referee_answers(under: Under) -> None:
    reference = await granted(under)
    assert (await under.provider.void(of_charge(OperationKind.VOID, reference))).outcome is ResultOutcome.SUCCEEDED
    refused = await under.provider.capture(of_charge(OperationKind.CAPTURE, reference))
    assert (refused.outcome, refused.decline_code) == (ResultOutcome.DECLINED, "charge-voided")


async def test_no_void_after_a_capture(under: Under) -> None:
    reference = await granted(under)
    await under.provider.capture(of_charge(OperationKind.CAPTURE, reference))
    refused = await under.provider.void(of_charge(OperationKind.VOID, reference))
    assert (refused.outcome, refused.decline_code) == (ResultOutcome.DECLINED, "charge-captured")


@pytest.mark.parametrize(
    ("currency", "amount_minor", "asked"),
    [("JPY", 80, 80), ("KRW", 900, 900), ("VND", 50_000, 50_000), ("KWD", 7500, 7500), ("ISK", 40, 4000),
     ("UGX", 5, 500), ("EUR", 7007, 7007)],
)  # fmt: skip
async def test_p20_p21_p22_stripe_receives_amounts_as_it_counts(
    under: Under, currency: str, amount_minor: int, asked: int
) -> None:
    paid = charge(currency=currency, amount_minor=amount_minor)
    result = await under.provider.authorize(paid)
    assert (result.outcome, result.amount_minor) == (ResultOutcome.SUCCEEDED, amount_minor)
    assert [(each["amount"], each["currency"]) for each in under.intents(paid)] == [(asked, currency.lower())]
    capture = of_charge(OperationKind.CAPTURE, result.provider_ref, currency=currency, amount_minor=amount_minor)
    assert (await under.provider.capture(capture)).amount_minor == amount_minor


async def test_p21_an_amount_that_stripe_cannot_take_is_never_sent(under: Under) -> None:
    asked = charge(currency="KWD", amount_minor=5124)
    with pytest.raises(InexactAmountError):
        await under.provider.authorize(asked)
    assert under.intents(asked) == []


@pytest.mark.parametrize("fault", ["drop_before", "status_500", "status_429"])
async def test_p30_an_enquiry_that_fails_leaves_the_operation_unknown(under: Under, fault: str) -> None:
    asked = charge()
    await under.provider.authorize(asked)
    under.fault("retrieve", fault)
    told = await under.provider.enquire(under.kept_of(asked))
    assert told is not None
    assert told.outcome is ResultOutcome.UNKNOWN


async def test_movements_are_listed_once_each_page_by_page(under: Under, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripe_listing, "PAGE", 2)
    begin = datetime.now(UTC).replace(microsecond=0)
    kept, voided = charge(), charge()
    references = [(await under.provider.authorize(asked)).provider_ref for asked in (kept, voided)]
    await under.provider.capture(of_charge(OperationKind.CAPTURE, references[0]))
    refund = of_charge(OperationKind.REFUND, references[0], amount_minor=500)
    await under.provider.refund(refund)
    await under.provider.void(of_charge(OperationKind.VOID, references[1]))
    declined = replace(charge(), payment_method="pm_card_chargeCustomerFail")
    await under.provider.authorize(declined)
    found: list[ProviderMovement] = []
    cursor = ""
    while True:
        page = await under.provider.list_movements(begin, datetime.now(UTC) + timedelta(seconds=2), cursor)
        found += page.movements
        cursor = page.cursor
        if not cursor:
            break
    mine = {*references, under.kept[declined.idempotency_key]}
    assert sorted(
        (m.kind, m.idempotency_key, m.amount_minor, m.status) for m in found if m.provider_ref in mine
    ) == sorted(
        [
            (OperationKind.AUTHORIZE, kept.idempotency_key, 7500, MovementStatus.SUCCEEDED),
            (OperationKind.AUTHORIZE, voided.idempotency_key, 7500, MovementStatus.SUCCEEDED),
            (OperationKind.AUTHORIZE, declined.idempotency_key, 7500, MovementStatus.DECLINED),
            (OperationKind.CAPTURE, "", 7500, MovementStatus.SUCCEEDED),
            (OperationKind.REFUND, refund.idempotency_key, 500, MovementStatus.SUCCEEDED),
        ]
    )
    past = await under.provider.list_movements(begin - timedelta(hours=2), begin - timedelta(hours=1))
    assert past.movements == ()


async def test_no_list_is_no_empty_list(under: Under) -> None:
    under.fault("list", "status_500")
    with pytest.raises(ProviderAwayError):
        await under.provider.list_movements(datetime.now(UTC), datetime.now(UTC))
    with pytest.raises(ValueError, match="cursor"):
        await under.provider.list_movements(datetime.now(UTC), datetime.now(UTC), "elsewhere:1")
