"""Signing in and out, and who the caller is."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.services import follow_seats, renewals, sign_in
from booking.web.calls import Call, TypedBody, answer, to_wire

_login = TypedBody(wire.LoginRequest)
_refresh = TypedBody(wire.RefreshRequest)
_opening = TypedBody(wire.RenewalOpening)
_use = TypedBody(wire.RenewalUse)
_spare = TypedBody(wire.RenewalSpareRequest)
_end = TypedBody(wire.RenewalEnd)


async def login(call: Call) -> Response:
    """Sign a member of staff in at a device."""
    body = _login(call)
    session = await sign_in.login(call.db, body.name, body.password, body.device_id, body.device_name)
    return answer(to_wire(session, wire.StaffSession))


async def refresh(call: Call) -> Response:
    """Use a refresh token and get its successor."""
    body = _refresh(call)
    return answer(to_wire(await sign_in.refresh(call.db, body.refresh_token, body.device_id), wire.StaffSession))


async def logout(call: Call) -> Response:
    """End the session of the token."""
    await sign_in.logout(call.db, call.token)
    return Response(status_code=204)


async def create_account(call: Call) -> Response:
    """Open a fan's account."""
    return answer(to_wire(await sign_in.create_account(call.db), wire.AccountSession), 201)


async def open_renewal(call: Call) -> Response:
    """Open a fan's account that a secret of the browser's own renews."""
    return answer(to_wire(await renewals.open_account(call.db, _opening(call).secret), wire.AccountSession), 201)


async def use_renewal(call: Call) -> Response:
    """A new token of the account."""
    body = _use(call)
    return answer(to_wire(await renewals.renew(call.db, body.secret, body.next_secret), wire.AccountSession))


async def open_spare_renewal(call: Call) -> Response:
    """A secret for another device."""
    body = _spare(call)
    return answer(to_wire(await renewals.open_spare(call.db, body.secret, body.spare_secret), wire.RenewalSpare), 201)


async def end_renewal(call: Call) -> Response:
    """Forget the account in this browser."""
    await renewals.end(call.db, _end(call).secret)
    return Response(status_code=204)


async def me(call: Call) -> Response:
    """Who the token says the caller is; the time is the authority's."""
    caller = call.signed_in
    return answer(
        wire.Me(
            principal=caller.principal,
            role=wire.Role(caller.role),
            display_name=caller.display_name,
            server_time=await follow_seats.check_authority(call.db),
        )
    )
