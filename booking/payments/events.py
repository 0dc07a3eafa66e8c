"""What a provider tells by itself, as facts that do not depend on whose words they were (R26).

An event is either definite about one operation (`outcome` SUCCEEDED or DECLINED, with its money), or it only says that
there is news of one (`outcome` None): then the provider is asked, because only its answer is the truth. An event
without a `kind` is none that we act on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind

LONGEST_EVIDENCE = 4_000
LONGEST_NAME = 200


class NoEventError(ValueError):
    """A signed body that is no event of this provider."""


class ProviderEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`key` is our operation's key, `charge_key` that of its charge's authorization, `provider_ref` the charge at the
    provider; each "" when the event does not say. Amounts are ISO minor units. `evidence` is what is kept of its body.
    """

    event_ref: str
    kind: OperationKind | None = None
    outcome: ResultOutcome | None = None
    key: str = ""
    charge_key: str = ""
    provider_ref: str = ""
    movement_ref: str = ""
    amount_minor: int = 0
    currency: str = ""
    decline_code: str = ""
    card_brand: str = ""
    card_fingerprint: str = ""
    evidence: str = ""


PROVIDERS_OF_ENDPOINT = {"sandbox": ("sandbox",), "stripe": ("stripe", "stripe-terminal")}
"""Whose operations the events of an address are about: one Stripe account has payments online and at readers."""


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """Where a provider's events are taken: `/v1/webhooks/{name}`. `header` is the lower-case name of its signature."""

    name: str
    header: bytes
    secrets: tuple[bytes, ...] = field(repr=False)
    parse: Callable[[bytes], ProviderEvent]


def shortened(text: str) -> str:
    """A text as evidence keeps it."""
    return text if len(text) <= LONGEST_EVIDENCE else f"{text[:LONGEST_EVIDENCE]}…"
