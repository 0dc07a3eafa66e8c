"""Which provider takes the money of a channel, and which card reader belongs to a till; admins say so.

A channel's setting is a list: the first provider is the one that `default` names, the others may be asked for by name.
An event may have a list of its own. What a provider cannot count is refused when it is chosen, not when a buyer pays
(P21, P22). The settings are read at most every few seconds: a payment does not wait for them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from uuid import UUID

from booking.domain.caller import Caller, Channel
from booking.domain.errors import (
    AmountNotTakenError,
    CurrencyNotTakenError,
    FieldFault,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from booking.domain.model import PaymentIntent
from booking.domain.states import OperationKind
from booking.domain.text import refuse_card_numbers, storable_texts
from booking.payments.exponents import PROVIDERS, InexactAmountError, UnknownExponentError, provider_amount
from booking.services.refusals import key_use, raise_refusal
from booking.store import order_queries, provider_queries
from booking.store.database import Database

DEFAULT = "default"
AT_READERS = "stripe-terminal"
FRESH_S = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelProviders:
    """`event_id` None: for every event that has no setting of its own."""

    event_id: int | None
    channel: Channel
    providers: tuple[str, ...]
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, slots=True)
class CardReader:
    device_id: UUID
    device_name: str
    provider: str
    reader_ref: str
    changed_at: datetime
    changed_by: str


class ProviderChoice:
    """See the module. One for each process."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[tuple[int | None, Channel], tuple[str, ...]] = {}
        self._read_at: float | None = None

    async def resolve(self, caller: Caller, order_id: UUID, intent: PaymentIntent) -> PaymentIntent:
        """The intent with its provider, and with the till's reader where the provider drives one.

        Raises:
            InvalidRequestError: the channel does not take this provider, has no default, or the till has no reader.
            ForbiddenError: a card reader is asked for, and the caller is no till.
        """
        if intent.kind is not OperationKind.AUTHORIZE:
            return intent
        allowed = await self._allowed(caller.channel, order_id)
        if intent.provider == DEFAULT:
            if not allowed:
                raise _provider_fault("no provider is set for this channel")
            intent = replace(intent, provider=allowed[0])
        elif allowed and intent.provider not in allowed:
            raise _provider_fault("does not take payments of this channel")
        return await self._at_reader(caller, intent) if intent.provider == AT_READERS else intent

    async def _at_reader(self, caller: Caller, intent: PaymentIntent) -> PaymentIntent:
        if caller.channel is not Channel.TILL or caller.device_id is None:
            raise ForbiddenError("Card readers are for tills.")
        if intent.payment_method:
            fault = FieldFault("/payment_method", "must be empty: the card is read at the till's reader")
            raise InvalidRequestError("The card is not known before it is read.", fields=(fault,))
        reader = await provider_queries.read_device_reader(self._db, caller.device_id, AT_READERS)
        if not reader:
            raise _provider_fault("this till has no card reader")
        return replace(intent, payment_method=reader)

    async def _allowed(self, channel: Channel, order_id: UUID) -> tuple[str, ...]:
        known = await self._fresh()
        if any(event_id is not None and of == channel for event_id, of in known):
            found = await order_queries.read_order(self._db, order_id)
            own = known.get((found[0].event_id, channel)) if found else None
            if own is not None:
                return own
        return known.get((None, channel), ())

    async def _fresh(self) -> dict[tuple[int | None, Channel], tuple[str, ...]]:
        if self._read_at is None or monotonic() - self._read_at > FRESH_S:
            rows = await list_channel_providers(self._db)
            self._known = {(row.event_id, row.channel): row.providers for row in rows}
            self._read_at = monotonic()
        return self._known

    async def change(
        self, caller: Caller, event_id: int | None, channel: Channel, providers: Sequence[str], reason: str, *,
        key: str, digest: bytes,
    ) -> list[ChannelProviders]:  # fmt: skip
        """Set the providers of a channel; none at all takes the setting away. Returns all settings.

        Raises:
            InvalidRequestError: a provider is not known, named twice, or not for this channel.
            CurrencyNotTakenError, AmountNotTakenError: a price that is on sale cannot be counted by one of them.
            EventNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
        """
        use = key_use(key, digest)
        (reason,) = storable_texts({"/reason": reason})
        _check_providers(channel, providers)
        await self._check_prices(event_id, providers)
        answer = await provider_queries.set_channel_providers(
            self._db, caller, event_id, channel, providers, reason, use
        )
        await raise_refusal(self._db, answer, None)
        self._read_at = None
        return await list_channel_providers(self._db)

    async def _check_prices(self, event_id: int | None, providers: Sequence[str]) -> None:
        for row in await provider_queries.read_sale_prices(self._db, event_id):
            for provider in providers:
                check_countable(provider, row["currency"], row["amounts"])


def check_countable(provider: str, currency: str, amounts: Sequence[int]) -> None:
    """Refuse prices that a provider cannot count (P21, P22).

    Raises:
        CurrencyNotTakenError, AmountNotTakenError: they name the provider and the price.
    """
    for amount in amounts:
        try:
            provider_amount(provider, currency, amount)
        except UnknownExponentError as error:
            raise CurrencyNotTakenError(f"How {provider} counts {currency} is not known.") from error
        except InexactAmountError as error:
            raise AmountNotTakenError(f"{provider} cannot take {amount} minor units of {currency}.") from error


async def list_channel_providers(db: Database) -> list[ChannelProviders]:
    """All settings; those for all events first."""
    return [
        ChannelProviders(
            row["event_id"], Channel(row["channel"]), tuple(row["providers"]), row["changed_at"], row["changed_by"]
        )
        for row in await provider_queries.read_channel_providers(db)
    ]


async def read_time(db: Database) -> datetime:
    """The database's time."""
    return await provider_queries.read_time(db)


async def list_readers(db: Database) -> list[CardReader]:
    """The card readers of all tills, by the till's name."""
    return [CardReader(**dict(row)) for row in await provider_queries.list_device_readers(db)]


async def change_reader(
    db: Database, caller: Caller, device_id: UUID, reader_ref: str, reason: str, *, key: str, digest: bytes
) -> list[CardReader]:
    """Give a reader to a till, and take it from the till that had it; "" takes the till's reader away.

    Raises:
        NotFoundError: no till has this id.
        InvalidRequestError: a text cannot be stored. KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    refuse_card_numbers({"/reader_ref": reader_ref})
    reason, reader_ref = storable_texts({"/reason": reason, "/reader_ref": reader_ref})
    answer = await provider_queries.set_device_reader(db, caller, device_id, AT_READERS, reader_ref, reason, use)
    if answer.code == "not-found":
        raise NotFoundError("No till has this id.")
    await raise_refusal(db, answer, None)
    return await list_readers(db)


def _check_providers(channel: Channel, providers: Sequence[str]) -> None:
    unknown = [name for name in providers if name not in PROVIDERS]
    if unknown:
        raise _list_fault(f"no such provider: {', '.join(unknown)}")
    if len(set(providers)) != len(providers):
        raise _list_fault("names a provider twice")
    if AT_READERS in providers and channel is not Channel.TILL:
        raise _list_fault(f"{AT_READERS} is for tills")


def _list_fault(words: str) -> InvalidRequestError:
    return InvalidRequestError("These providers cannot be set.", fields=(FieldFault("/providers", words),))


def _provider_fault(words: str) -> InvalidRequestError:
    return InvalidRequestError("This payment cannot be taken so.", fields=(FieldFault("/provider", words),))
