"""Payment providers: whose money goes where, whose reader is whose, calling an authorization off, and the figures."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.domain.caller import Channel
from booking.domain.errors import UnavailableError
from booking.domain.model import PaymentStep
from booking.domain.replay import Outcome
from booking.services import choose_provider, orders, take_payment
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

WITHDRAW_PATIENCE_S = 8.0

_channel = TypedBody(wire.ChannelProvidersChange)
_reader = TypedBody(wire.CardReaderChange)


async def list_channels(call: Call) -> Response:
    """Which providers take the money of which channel."""
    return _channels(await choose_provider.list_channel_providers(call.db))


async def change_channel(call: Call) -> Response:
    """Set the providers of a channel."""
    body = _channel(call)
    choice = call.services.providers.choice or choose_provider.ProviderChoice(call.db)
    return _channels(
        await choice.change(
            call.signed_in, body.event_id, Channel(body.channel), body.providers, body.reason,
            key=call.key, digest=call.digest,
        )
    )  # fmt: skip


async def list_readers(call: Call) -> Response:
    """Whose card reader is whose."""
    return _readers(await choose_provider.list_readers(call.db))


async def change_reader(call: Call) -> Response:
    """Give a card reader to a till."""
    body = _reader(call)
    device_id = call.id("device_id")
    return _readers(
        await choose_provider.change_reader(
            call.db, call.signed_in, device_id, body.reader_ref, body.reason, key=call.key, digest=call.digest
        )
    )


async def withdraw(call: Call) -> Response:
    """Call off an authorization of the caller's own order that is not granted yet. One that is granted stands."""
    operation = await take_payment.read_operation(call.db, call.id("operation_id"))
    await orders.read_order(call.db, call.signed_in, operation.order_id)  # nobody calls off what is another's
    desk = call.services.providers.desk
    if desk is None:
        raise UnavailableError("No provider can be asked here.")
    asking = asyncio.create_task(desk.withdraw(operation), name=f"withdraw {operation.operation_id}")
    await asyncio.wait({asking}, timeout=WITHDRAW_PATIENCE_S)
    if asking.done():
        asking.result()
    order = await orders.read_order(call.db, call.signed_in, operation.order_id)
    now = next(one for one in order.operations if one.operation_id == operation.operation_id)
    return answer_outcome(Outcome(PaymentStep(now, order), replayed=False), wire.PaymentAnswer, 200)


async def page_secret(call: Call) -> Response:
    """With what the provider's page code asks the buyer, for the buyer's own browser; asked for, never kept."""
    operation = await take_payment.read_operation(call.db, call.id("operation_id"))
    await orders.read_order(call.db, call.signed_in, operation.order_id)  # nobody's but the buyer's
    desk = call.services.providers.desk
    if desk is None:
        raise UnavailableError("No provider can be asked here.")
    secret = await desk.page_secret(operation)
    response = answer(wire.PaymentPageSecret(operation_id=wire.OperationId(operation.operation_id), secret=secret))
    response.headers["Cache-Control"] = "no-store"
    return response


async def figures(call: Call) -> Response:
    """The pace of checkouts and what became of events, in this process."""
    mine = call.services.providers
    pace = None if mine.desk is None else to_wire(mine.desk.pace.figures(), wire.CheckoutPace)
    counts = None if mine.webhooks is None else to_wire(mine.webhooks.figures, wire.WebhookCounts)
    return answer(wire.PaymentFigures(pace=pace, webhooks=counts, server_time=await choose_provider.read_time(call.db)))


def _channels(found: list[choose_provider.ChannelProviders]) -> Response:
    channels = tuple(msgspec.convert(one, wire.ChannelProviders, from_attributes=True) for one in found)
    return answer(wire.ChannelProvidersList(channels=channels))


def _readers(found: list[choose_provider.CardReader]) -> Response:
    readers = tuple(msgspec.convert(one, wire.CardReader, from_attributes=True) for one in found)
    return answer(wire.CardReaderList(readers=readers))
