"""Events that payment providers send by themselves."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.errors import WebhookRefusedError
from booking.web.calls import Call, answer


async def receive(call: Call) -> Response:
    """Take one event: its raw bytes are checked against the signature of the provider's own header."""
    webhooks = call.services.providers.webhooks
    if webhooks is None:
        raise WebhookRefusedError("No events are taken here.")
    name = call.path_values["provider"]
    became = await webhooks.receive(name, call.raw, call.header(webhooks.header_of(name)))
    return answer(wire.WebhookReceipt(became=became))
