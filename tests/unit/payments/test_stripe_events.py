"""Stripe's events as facts, and its signatures (P31)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import stripe

from booking.payments import stripe_events
from booking.payments.events import NoEventError
from booking.payments.signatures import sign
from tests.payments_lab.processes import HOOK_SECRET


def test_p31_the_official_library_takes_our_signatures_and_the_other_way_round() -> None:
    body, at = b'{"id": "evt_1", "object": "event"}', datetime.now(UTC)
    header = sign(body, HOOK_SECRET.encode(), at)
    assert stripe.WebhookSignature.verify_header(body.decode(), header, HOOK_SECRET, 300)
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(body.decode() + " ", header, HOOK_SECRET, 300)


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
