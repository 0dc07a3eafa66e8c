"""Stripe through its official library, against localstripe behind our fault proxy, online and at card readers.

localstripe is lenient about money: what is judged here is that each operation happens once, whatever is lost on the
way, and that its words are read right. The money rules themselves are tried on the sandbox.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import stripe

from booking.domain.model import OperationResult, PaymentIntent, PaymentOperation, PaymentStep, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus
from booking.payments import stripe_events, stripe_listing
from booking.payments.events import NoEventError
from booking.payments.exponents import InexactAmountError
from booking.payments.pace import CheckoutPace
from booking.payments.provider import MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.signatures import sign
from booking.payments.stripe_calls import StripeCalls
from booking.payments.stripe_provider import StripeProvider
from booking.payments.stripe_terminal import StripeTerminalProvider
from booking.services import providers, take_payment
from booking.services.orders import order_as_it_stands
from booking.services.payment_desk import PaymentDesk
from booking.services.webhooks import Webhooks
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.payments_lab.processes import HOOK_SECRET, KEY, Lab, payments_lab
from tests.server.box_office import Desk, digest_of, fan, make_event, till
from tests.unit.payments.conftest import operation

PATIENCE_S, HASTE_S = 10.0, 1.0
NOT_DONE = ["drop_before", "status_429", "status_500", "status_503"]
DONE = ["drop_after", "status_500_after"]
HANGS = ["hang_before", "hang_after"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with payments_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def lab(running: Lab) -> Lab:
    running.control("DELETE", "faults")
    return running


@dataclass
class Under:
    """The provider under test; `kept` is what it had remembered of each operation."""

    lab: Lab
    calls: StripeCalls
    provider: StripeProvider
    terminal: StripeTerminalProvider
    kept: dict[str, str] = field(default_factory=dict)

    def fault(self, on: str, fault: str, times: int = 1, seconds: float = 0.0) -> None:
        """Plan a fault. Only who hangs is given up soon: a busy machine is no fault."""
        if fault.startswith("hang"):
            self.calls._timeout_s = HASTE_S
        self.lab.control("POST", "faults", {"on": on, "fault": fault, "times": times, "seconds": seconds})

    def fired(self, name: str) -> int:
        fired = self.lab.control("GET", "faults")["fired"]
        assert isinstance(fired, dict)
        return int(fired.get(name, 0))

    def kept_of(self, asked: PaymentOperation) -> PaymentOperation:
        """As the database would have it by now."""
        return replace(asked, provider_ref=asked.provider_ref or self.kept.get(asked.idempotency_key, ""))

    async def settle(
        self, ask: Callable[[PaymentOperation], Awaitable[OperationResult]], asked: PaymentOperation
    ) -> OperationResult:
        """As a worker drives it: ask, then enquire, then the same again, until there is an answer."""
        result: OperationResult | None = await ask(asked)
        self.calls._timeout_s = PATIENCE_S
        for _ in range(6):
            if result is not None and result.outcome is not ResultOutcome.UNKNOWN:
                return result
            asked = replace(self.kept_of(asked), attempts=asked.attempts + 1)
            result = await self.provider.enquire(asked) or await ask(asked)
        raise AssertionError("it never settled")

    def intents(self, asked: PaymentOperation) -> list[dict[str, Any]]:
        """All intents at the referee that bear the operation's key."""
        found = self.lab.ask("GET", "/v1/payment_intents?limit=100")["data"]
        assert isinstance(found, list)
        return [each for each in found if (each["metadata"] or {}).get("operation_id") == asked.idempotency_key]

    def money(self, reference: str) -> list[tuple[str, int]]:
        """What moved of a charge at the referee."""
        intent = self.lab.ask("GET", f"/v1/payment_intents/{reference}")
        charge = intent["latest_charge"]
        assert isinstance(charge, dict)
        entries = self.lab.ask("GET", "/v1/balance_transactions?limit=100&expand[]=data.source")["data"]
        assert isinstance(entries, list)
        mine = [
            (str(entry["type"]), int(entry["amount"]))
            for entry in entries
            if charge["id"] in (entry["source"]["id"], entry["source"].get("charge"))
        ]
        return sorted(mine)


@pytest.fixture
async def under(lab: Lab) -> AsyncIterator[Under]:
    calls = StripeCalls(KEY, api_url=lab.api, answer_timeout_s=PATIENCE_S)
    kept: dict[str, str] = {}

    async def remember(asked: PaymentOperation, reference: str) -> None:
        kept[asked.idempotency_key] = reference

    yield Under(lab, calls, StripeProvider(calls, remember), StripeTerminalProvider(calls, remember), kept)
    await calls.close()


def charge(**changes: Any) -> PaymentOperation:
    return operation(provider="stripe", payment_method="pm_card_visa", **changes)


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
    answer = {"client_secret": intent["client_secret"], "success": str(passes).lower()}
    under.lab.ask("POST", f"/v1/payment_intents/{intent['id']}/_authenticate", answer)
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


def test_p31_the_official_library_takes_our_signatures_and_the_other_way_round() -> None:
    body, at = b'{"id": "evt_1", "object": "event"}', datetime.now(UTC)
    header = sign(body, HOOK_SECRET.encode(), at)
    assert stripe.WebhookSignature.verify_header(body.decode(), header, HOOK_SECRET, 300)
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(body.decode() + " ", header, HOOK_SECRET, 300)


# ---------------------------------------------------------------- on a real database


@dataclass
class House:
    """A database whose payments go to the referee; what it tells by itself comes in over HTTP."""

    db: Database
    under: Under
    desk: PaymentDesk
    worker: PaymentWorker
    webhooks: Webhooks
    event_id: int
    became: list[tuple[bytes, str]]
    """Each event as it came in, and what became of it: the referee tells late, also of a test before."""
    seat: int = 0

    def became_of(self, intent: str) -> list[str]:
        return [outcome for body, outcome in self.became if intent.encode() in body]

    async def open(self, provider: str, method: str, seller: Desk | None = None) -> PaymentStep:
        desk = seller or Desk(self.db, fan(), self.event_id)
        order = await desk.check_out(await desk.hold(self.seat))
        self.seat += 1
        intent = PaymentIntent(OperationKind.AUTHORIZE, provider, order.amount_minor, payment_method=method)
        outcome = await take_payment.open_payment(
            self.db, desk.caller, order.order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def statuses(self, step: PaymentStep) -> dict[str, str]:
        order = await order_as_it_stands(self.db, step.order.order_id)
        return {"order": order.status.value, **{op.kind.value: op.status.value for op in order.operations}}

    async def work(self, rounds: int = 1) -> None:
        for _ in range(rounds):
            await self.db.fetch(
                "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await self.worker.work_once()

    async def until(self, step: PaymentStep, status: str, kind: str = "order") -> None:
        async with asyncio.timeout(40):
            while (await self.statuses(step)).get(kind) != status:
                await asyncio.sleep(0.05)


@pytest.fixture
async def house(database: Database, lab: Lab) -> AsyncIterator[House]:
    calls = StripeCalls(KEY, api_url=lab.api, answer_timeout_s=PATIENCE_S)

    async def remember(asked: PaymentOperation, reference: str) -> None:
        await providers.remember_reference(database, asked, reference)

    online, at_reader = StripeProvider(calls, remember), StripeTerminalProvider(calls, remember)
    own = {"stripe": online, "stripe-terminal": at_reader}
    webhooks = Webhooks(database, {"stripe": stripe_events.endpoint(HOOK_SECRET.encode())})
    became: list[tuple[bytes, str]] = []

    async def receive(call: Call) -> Reply:
        outcome = await webhooks.receive("stripe", call.body, call.headers.get("stripe-signature", ""))
        became.append((call.body, outcome))
        return Reply(200)

    server = LoopbackServer(receive)
    await server.start()
    lab.control("POST", "hooks", {"url": f"http://127.0.0.1:{server.port}/"})
    desk = PaymentDesk(database, own, CheckoutPace(), look_every_s=0.05)
    house = House(
        database, Under(lab, calls, online, at_reader), desk, PaymentWorker(database, own), webhooks,
        await make_event(database), became,
    )  # fmt: skip
    yield house
    lab.control("POST", "hooks", {"url": ""})
    await desk.close()
    await server.close()
    await calls.close()


async def test_a_sale_is_authorized_confirmed_and_captured(house: House) -> None:
    step = await house.open("stripe", "pm_card_visa")
    await house.desk.take(step.operation)
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


@pytest.mark.parametrize("dies_at", ["create", "confirm", "capture"])
async def test_p5_a_sale_whose_driver_died_is_finished_by_the_worker_with_one_charge(
    house: House, dies_at: str
) -> None:
    step = await house.open("stripe", "pm_card_visa")
    house.under.fault(dies_at, "hang_after")
    house.under.calls._timeout_s = PATIENCE_S
    before = house.under.fired(f"{dies_at}:hang_after")
    taking = asyncio.create_task(house.desk.take(step.operation))
    async with asyncio.timeout(30):
        while house.under.fired(f"{dies_at}:hang_after") == before:
            await asyncio.sleep(0.02)
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    await house.work(rounds=3)
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


@pytest.mark.parametrize("fault", ["", "duplicate", "delay"])
async def test_p10_p11_an_event_of_stripe_settles_a_capture_whose_answer_was_lost(house: House, fault: str) -> None:
    step = await house.open("stripe", "pm_card_visa")
    house.under.fault("capture", "drop_after")
    if fault:
        house.under.fault("webhook", fault, seconds=0.3)
    await house.desk.take(step.operation)
    assert (await house.statuses(step))["capture"] == "UNKNOWN"
    await house.until(step, "SUCCEEDED", "capture")
    (intent,) = house.under.intents(step.operation)
    expected = 2 if fault == "duplicate" else 1
    async with asyncio.timeout(40):
        while len(house.became_of(intent["id"])) < expected:
            await asyncio.sleep(0.05)
    assert set(house.became_of(intent["id"])) <= {"applied", "seen"}
    evidence = await house.db.fetch("SELECT body FROM operation_evidence WHERE source = 'webhook:stripe'")
    assert len(evidence) == 1
    assert evidence[0]["body"].startswith("payment_intent.succeeded pi_")


# ---------------------------------------------------------------- card readers


async def at_till(house: House, reader: str) -> PaymentStep:
    return await house.open("stripe-terminal", reader, Desk(house.db, till(), house.event_id))


@pytest.mark.parametrize(
    ("mode", "code"),
    [("approve", ""), ("decline", "card-declined"), ("timeout", "reader-timeout"), ("offline", "reader-offline"),
     ("busy", "reader-busy"), ("uncertain", "")],
)  # fmt: skip
async def test_a_reader_that_is_watched_ends_as_its_customer_does(house: House, mode: str, code: str) -> None:
    reader = f"tmr_{mode}{uuid4().hex[:8]}"
    house.under.lab.reader(reader, mode, 0.2)
    step = await at_till(house, reader)
    taken = await house.desk.take(step.operation)
    assert taken is not None
    if mode in ("approve", "decline", "timeout"):
        assert (taken.operation.status, taken.operation.next_action) == ("ACTION_REQUIRED", f"reader:{reader}")
    if mode == "uncertain":
        await asyncio.sleep(0.4)
        await house.work(rounds=2)
    await house.until(step, "DECLINED" if code else "SUCCEEDED", "authorize")
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert order.operations[0].decline_code == code
    assert len(house.under.intents(step.operation)) == 1
    if not code:
        await house.until(step, "SUCCEEDED", "capture")
        assert order.status == "CONFIRMED"


async def test_a_reader_that_does_not_exist_is_a_decline(house: House) -> None:
    step = await at_till(house, "tmr_nowhere")
    taken = await house.desk.take(step.operation)
    assert taken is not None
    assert (taken.operation.status, taken.operation.decline_code) == (OperationStatus.DECLINED, "reader-unknown")


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "status_500_after", "hang_after"])
async def test_after_a_lost_answer_there_is_never_a_second_intent(house: House, fault: str) -> None:
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader)
    step = await at_till(house, reader)
    house.under.fault("process", fault)
    await house.desk.take(step.operation)
    house.under.calls._timeout_s = PATIENCE_S
    assert (await house.statuses(step))["authorize"] == "UNKNOWN"
    await asyncio.sleep(0.2)
    await house.work(rounds=2)
    await asyncio.sleep(0.2)
    await house.work(rounds=2)
    assert await house.statuses(step) == {"order": "CONFIRMED", "authorize": "SUCCEEDED", "capture": "SUCCEEDED"}
    (intent,) = house.under.intents(step.operation)
    assert house.under.money(intent["id"]) == [("charge", step.order.amount_minor)]


async def test_a_customer_without_a_card_is_called_off_and_the_next_one_pays(house: House) -> None:
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader, "no_card")
    step = await at_till(house, reader)
    await house.desk.take(step.operation)
    closed = await house.desk.withdraw(step.operation)
    assert closed is not None
    assert (closed.operation.status, closed.operation.decline_code) == (OperationStatus.DECLINED, "withdrawn")
    assert [each["status"] for each in house.under.intents(step.operation)] == ["canceled"]
    house.under.lab.reader(reader)
    following = await at_till(house, reader)
    await house.desk.take(following.operation)
    await house.until(following, "CONFIRMED")


async def test_an_approval_that_crosses_the_cancellation_never_leaves_a_charge(house: House) -> None:
    """Either the sale stands, or its authorization is closed: nothing between."""
    reader = f"tmr_{uuid4().hex[:8]}"
    house.under.lab.reader(reader, "slow_cancel", 0.1)
    step = await at_till(house, reader)
    await house.desk.take(step.operation)
    await house.desk.withdraw(step.operation)
    await asyncio.sleep(0.3)
    await house.work(rounds=3)
    statuses = await house.statuses(step)
    (intent,) = house.under.intents(step.operation)
    if statuses["authorize"] == "SUCCEEDED":
        assert (statuses["order"], intent["status"]) == ("CONFIRMED", "succeeded")
    else:
        assert (statuses["authorize"], intent["status"]) == ("DECLINED", "canceled")


def event(kind: str, thing: dict[str, Any], name: str = "evt_1") -> bytes:
    return json.dumps({"id": name, "object": "event", "type": kind, "data": {"object": thing}}).encode()


INTENT = {
    "id": "pi_1", "object": "payment_intent", "amount": 7500, "amount_received": 7500, "currency": "eur",
    "status": "succeeded", "metadata": {"operation_id": "op-1"}, "latest_charge": "ch_1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (
            event("payment_intent.amount_capturable_updated", INTENT),
            ("authorize", "succeeded", "", "op-1", "pi_1", 7500),
        ),
        (event("payment_intent.succeeded", INTENT), ("capture", "succeeded", "", "op-1", "pi_1", 7500)),
        (event("payment_intent.canceled", INTENT), ("void", "succeeded", "", "op-1", "pi_1", 7500)),
        (event("payment_intent.payment_failed", INTENT), ("authorize", None, "", "op-1", "pi_1", 0)),
        (event("payment_intent.succeeded", INTENT | {"currency": "xts"}), ("capture", None, "", "op-1", "pi_1", 0)),
        (
            event("refund.updated", {"id": "re_1", "amount": 500, "currency": "eur", "payment_intent": "pi_1",
                                     "status": "succeeded", "metadata": {"operation_id": "op-2"}}),
            ("refund", "succeeded", "op-2", "", "pi_1", 500),
        ),
        (
            event("refund.failed", {"id": "re_1", "amount": 500, "currency": "eur", "payment_intent": {"id": "pi_1"},
                                    "status": "failed", "failure_reason": "lost_or_stolen_card", "metadata": {}}),
            ("refund", "declined", "", "", "pi_1", 500),
        ),
        (
            event("terminal.reader.action_failed",
                  {"id": "tmr_1", "action": {"process_payment_intent": {"payment_intent": "pi_1"}}}),
            ("authorize", None, "", "", "pi_1", 0),
        ),
        (event("customer.created", {"id": "cus_1"}), (None, None, "", "", "", 0)),
    ],
)  # fmt: skip
def test_events_of_stripe_are_read_as_facts(body: bytes, facts: tuple[object, ...]) -> None:
    read = stripe_events.parse(body)
    assert (read.kind, read.outcome, read.key, read.charge_key, read.provider_ref, read.amount_minor) == facts
    assert read.event_ref == "evt_1"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"id": 7, "type": "x", "data": {"object": {}}}', b"\xff"])
def test_what_is_no_event_of_stripe_is_refused(body: bytes) -> None:
    with pytest.raises(NoEventError):
        stripe_events.parse(body)
