"""The routes of payment providers: their events, settings, readers, and calling an authorization off."""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web.calls import Answer, KeyRule, Route
from booking.web.handlers import providers, webhooks
from booking.web.who import ADMINS, ANYONE, BUYERS, FANS, OPERATORS

_EVENT_BODY: Final = 256 * 1024
"""The largest event that a provider sends has a payment with all that belongs to it."""

PROVIDER_ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "POST", "/v1/webhooks/{provider}", webhooks.receive, ANYONE, "Events of a provider, signed by it",
        KeyRule.SIGNED, (Answer(200, wire.WebhookReceipt, words="Stored"),), raw_limit=_EVENT_BODY,
    ),
    Route(
        "POST", "/v1/payments/{operation_id}/withdraw", providers.withdraw, BUYERS,
        "Call off an authorization that is not granted", KeyRule.REQUIRED, (Answer(200, wire.PaymentAnswer),),
    ),
    Route(
        "GET", "/v1/payments/{operation_id}/page-secret", providers.page_secret, FANS,
        "With what the provider's page code asks the buyer", KeyRule.READS, (Answer(200, wire.PaymentPageSecret),),
    ),
    Route(
        "GET", "/v1/payment-providers", providers.list_channels, OPERATORS,
        "Which providers take the money of which channel", KeyRule.READS, (Answer(200, wire.ChannelProvidersList),),
    ),
    Route(
        "PUT", "/v1/payment-providers", providers.change_channel, ADMINS, "Set the providers of a channel",
        KeyRule.REQUIRED, (Answer(200, wire.ChannelProvidersList),), wire.ChannelProvidersChange,
    ),
    Route(
        "GET", "/v1/readers", providers.list_readers, OPERATORS, "Card readers that a provider drives for tills",
        KeyRule.READS, (Answer(200, wire.CardReaderList),),
    ),
    Route(
        "PUT", "/v1/devices/{device_id}/reader", providers.change_reader, ADMINS, "Give a card reader to a till",
        KeyRule.REQUIRED, (Answer(200, wire.CardReaderList),), wire.CardReaderChange,
    ),
    Route(
        "GET", "/v1/ops/payments", providers.figures, OPERATORS,
        "The pace of checkouts and what became of providers' events, in this process", KeyRule.READS,
        (Answer(200, wire.PaymentFigures),),
    ),
)  # fmt: skip
