"""Payment providers as admins and operators see them: whose money goes where, whose reader is whose, and the pace."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from backend_client.wire.base import DeviceId, EventId, Message, OperationId, RequestMessage, ShortText

ProviderName = Annotated[str, Meta(min_length=1, max_length=40)]


class SaleChannel(StrEnum):
    TILL = "till"
    ONLINE = "online"


class ChannelProviders(Message, frozen=True, kw_only=True):
    """Providers that may authorize for a channel; `default` in a payment names the first. `event_id` None: all events
    that have no setting of their own.
    """

    channel: SaleChannel
    providers: tuple[str, ...]
    event_id: EventId | None = None
    changed_at: datetime
    changed_by: str


class ChannelProvidersList(Message, frozen=True, kw_only=True):
    """A channel without a setting takes the provider that a payment names."""

    channels: tuple[ChannelProviders, ...]


class ChannelProvidersChange(RequestMessage, frozen=True, kw_only=True):
    """Without `providers` the setting is taken away."""

    channel: SaleChannel
    providers: Annotated[tuple[ProviderName, ...], Meta(max_length=8)]
    reason: ShortText
    event_id: EventId | None = None


class PaymentPageSecret(Message, frozen=True, kw_only=True):
    """With what the provider's own page code goes on with a payment that asks its buyer; empty when none does."""

    operation_id: OperationId
    secret: str


class CardReader(Message, frozen=True, kw_only=True):
    """A card reader that a provider drives for a till."""

    device_id: DeviceId
    device_name: str
    provider: str
    reader_ref: str
    changed_at: datetime
    changed_by: str


class CardReaderList(Message, frozen=True, kw_only=True):
    readers: tuple[CardReader, ...]


class CardReaderChange(RequestMessage, frozen=True, kw_only=True):
    """`reader_ref` is the provider's name of the reader; empty takes the till's reader away."""

    reader_ref: Annotated[str, Meta(max_length=100)]
    reason: ShortText


class CheckoutPace(Message, frozen=True, kw_only=True):
    """How many checkouts may run at once in this process; it shrinks while the provider is slow.

    `p95_ms` and `unknown_share` are of the last second in which the provider answered.
    """

    cap: int
    most: int
    running: int
    refused: int
    p95_ms: int | None = None
    unknown_share: float | None = None


class WebhookCounts(Message, frozen=True, kw_only=True):
    """What became of the events that this process received from providers. `refused`: not signed, late, or no event."""

    applied: int = 0
    ignored: int = 0
    parked: int = 0
    seen: int = 0
    refused: int = 0


class PaymentFigures(Message, frozen=True, kw_only=True):
    """None: this process speaks to no provider, or takes no events."""

    pace: CheckoutPace | None = None
    webhooks: WebhookCounts | None = None
    server_time: datetime


class WebhookReceipt(Message, frozen=True, kw_only=True):
    """The answer to an event: stored. `became`: applied, ignored, parked, or seen before."""

    became: str
