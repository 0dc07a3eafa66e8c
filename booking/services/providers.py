"""The payment providers of a process: which ones it speaks to, from its command line and the secrets it was given."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

from booking.domain.model import PaymentOperation
from booking.payments import sandbox_events, stripe_events
from booking.payments.counted import CountedProvider
from booking.payments.events import WebhookEndpoint
from booking.payments.provider import PaymentProvider
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.secrets import MissingSecretError, read_secret
from booking.store import provider_queries
from booking.store.database import Database

STRIPE = "stripe"
STRIPE_KEY, STRIPE_WEBHOOK_SECRET = "stripe-key", "stripe-webhook-secret"
SANDBOX_WEBHOOK_SECRET = "sandbox-webhook-secret"


def add_provider_arguments(parser: argparse.ArgumentParser) -> None:
    """What a process that speaks to providers is told. Secrets are none of it: `booking.payments.secrets`."""
    parser.add_argument("--sandbox-url", metavar="URL", help="address of the payment sandbox")
    parser.add_argument(
        "--provider", action="append", choices=(STRIPE,), default=[],
        help="a provider to speak to beside the sandbox; stripe takes payments online and at card readers",
    )  # fmt: skip
    parser.add_argument("--stripe-api", metavar="URL", help="another address of Stripe's API, for tests")
    parser.add_argument(
        "--stripe-return-url", metavar="URL", default="", help="where a bank sends buyers back to after 3-D Secure"
    )


def is_any_chosen(chosen: argparse.Namespace) -> bool:
    """Whether the process has a provider to speak to."""
    return bool(chosen.sandbox_url or chosen.provider)


def check_secrets(chosen: argparse.Namespace) -> None:
    """Find out at the start, not at the first payment. Raises `MissingSecretError`."""
    if STRIPE in chosen.provider:
        read_secret(STRIPE_KEY)


@asynccontextmanager
async def open_providers(
    db: Database, chosen: argparse.Namespace, told: Callable[[bool], None] | None = None
) -> AsyncIterator[Mapping[str, PaymentProvider]]:
    """The chosen providers by name; they are closed at the end. `told` hears of each answer whether it was an error.

    Raises:
        MissingSecretError: a provider's key is not given.
        ValueError: an address is none.
    """
    providers: dict[str, PaymentProvider] = {}
    if chosen.sandbox_url:
        providers["sandbox"] = SandboxProvider(chosen.sandbox_url)
    if STRIPE in chosen.provider:
        providers |= _stripe(db, chosen)
    if told is not None:
        providers = {name: CountedProvider(provider, told) for name, provider in providers.items()}
    try:
        yield providers
    finally:
        for provider in providers.values():
            await provider.close()


def _stripe(db: Database, chosen: argparse.Namespace) -> dict[str, PaymentProvider]:
    # The library takes a second to load: whoever does not speak to Stripe does not pay for it.
    from booking.payments.stripe_calls import StripeCalls
    from booking.payments.stripe_provider import StripeProvider
    from booking.payments.stripe_terminal import StripeTerminalProvider

    calls = StripeCalls(read_secret(STRIPE_KEY), api_url=chosen.stripe_api)
    remember = partial(remember_reference, db)
    return {
        StripeProvider.name: StripeProvider(calls, remember, return_url=chosen.stripe_return_url),
        StripeTerminalProvider.name: StripeTerminalProvider(calls, remember),
    }


async def remember_reference(db: Database, operation: PaymentOperation, reference: str) -> None:
    """Keep the provider's reference of a charge before anything is done under it."""
    await provider_queries.remember_reference(db, operation.operation_id, reference)


def webhook_endpoints(chosen: argparse.Namespace) -> Mapping[str, WebhookEndpoint]:
    """Where the chosen providers' events are taken; the sandbox's only with a secret.

    Raises:
        MissingSecretError: the secret of Stripe's events is not given: unsigned events would be refused one by one.
    """
    endpoints: dict[str, WebhookEndpoint] = {}
    if chosen.sandbox_url:
        with suppress(MissingSecretError):
            endpoints["sandbox"] = sandbox_events.endpoint(read_secret(SANDBOX_WEBHOOK_SECRET).encode())
    if STRIPE in chosen.provider:
        endpoints[STRIPE] = stripe_events.endpoint(*read_secret(STRIPE_WEBHOOK_SECRET).encode().split())
    return endpoints
