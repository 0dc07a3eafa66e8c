"""The demo's waiting room: one event that is sold through it, set up over HTTP as an operator would."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import httpx

EVENT = "Moonlit Strings: the Hoshino Quartet"
_DEVICE = UUID("00000000-0000-7000-8000-00000000de30")
_REASON = {"reason": "the demo's waiting room"}


async def open_waiting_room(api_url: str, room_url: str, name: str, password: str) -> int:
    """Give the event a waiting room, have it ask for tokens and steered; all may be so already. Returns the event's id.

    Raises:
        httpx.HTTPError: the API or the room did not do it.
        LookupError: the programme has no such event.
    """
    async with httpx.AsyncClient(trust_env=False, timeout=20.0) as client:
        event = await _event(client, api_url)
        event_id = int(event["event_id"])
        device = {"device_id": str(_DEVICE), "device_name": "demo"}
        session = await _done(
            client.post(f"{api_url}/v1/staff/login", json={"name": name, "password": password, **device})
        )
        signed_in = {"Authorization": f"Bearer {session['access_token']}"}
        opening = {"opens_at": event["sale_opens_at"], **_REASON}
        await _done(client.put(f"{room_url}/v1/rooms/{event_id}", json=opening, headers=signed_in))
        settings_url = f"{api_url}/v1/events/{event_id}/settings"
        settings = await _done(client.get(settings_url, headers=signed_in))
        if not settings.get("admission", False):
            change = {"expected_version": settings["version"], "admission": True, **_REASON}
            await _done(client.put(settings_url, json=change, headers={**signed_in, "Idempotency-Key": str(uuid4())}))
        await _have_it_steered(client, f"{api_url}/v1/events/{event_id}/admission", signed_in)
    return event_id


async def _have_it_steered(client: httpx.AsyncClient, url: str, signed_in: dict[str, str]) -> None:
    """By the controller, unless somebody has decided otherwise: the settings outlive the demo's end."""
    admission = await _done(client.get(url, headers=signed_in))
    if admission["settings"]["version"] == 0:
        wish = {"expected_version": 0, "mode": "automatic", "cap_per_minute": 600, "least_per_minute": 30,
                "total_active_users": 500, **_REASON}  # fmt: skip
        await _done(client.put(url, json=wish, headers={**signed_in, "Idempotency-Key": str(uuid4())}))


async def _event(client: httpx.AsyncClient, api_url: str) -> dict[str, Any]:
    for event in (await _done(client.get(f"{api_url}/v1/events")))["events"]:
        if event["name"] == EVENT:
            found: dict[str, Any] = event
            return found
    raise LookupError(f"the programme has no {EVENT!r}")


async def _done(call: Any) -> dict[str, Any]:  # noqa: ANN401 - an awaitable of httpx
    answer: httpx.Response = await call
    answer.raise_for_status()
    told: dict[str, Any] = answer.json()
    return told
