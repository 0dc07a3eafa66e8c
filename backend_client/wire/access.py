"""Who calls: staff at their devices, fans and their accounts (R35)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from backend_client.wire.base import AccountId, DeviceId, Message, RequestMessage, ShortText
from backend_client.wire.states import Role


class LoginRequest(RequestMessage, frozen=True, kw_only=True):
    name: ShortText
    password: Annotated[str, Meta(min_length=1, max_length=1024)]
    device_id: DeviceId
    device_name: ShortText


class RefreshRequest(RequestMessage, frozen=True, kw_only=True):
    refresh_token: Annotated[str, Meta(min_length=1, max_length=1024)]
    device_id: DeviceId


class StaffSession(Message, frozen=True, kw_only=True):
    """Answer of login and refresh. `access_token` is short-lived; `refresh_token` is bound to the device, used once."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str
    staff_id: UUID
    name: str
    display_name: str
    role: Role
    device_id: DeviceId
    server_time: datetime


class Me(Message, frozen=True, kw_only=True):
    principal: str
    role: Role
    display_name: str = ""
    server_time: datetime


RenewalSecret = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{32,128}$(?!\n)")]
"""A secret that a browser makes for itself, of at least 192 random bits."""


class RenewalOpening(RequestMessage, frozen=True, kw_only=True):
    """A new account whose token can be renewed by whoever has `secret`."""

    secret: RenewalSecret


class RenewalUse(RequestMessage, frozen=True, kw_only=True):
    """Use a secret once; `next_secret` is good from then on. The same two again are the same request."""

    secret: RenewalSecret
    next_secret: RenewalSecret


class RenewalSpareRequest(RequestMessage, frozen=True, kw_only=True):
    """A secret for another device of whoever has `secret`."""

    secret: RenewalSecret
    spare_secret: RenewalSecret


class RenewalSpare(Message, frozen=True, kw_only=True):
    """Until when the spare secret has to be used for the first time."""

    expires_at: datetime
    server_time: datetime


class RenewalEnd(RequestMessage, frozen=True, kw_only=True):
    """This browser forgets the account: its secret is good for nothing any more."""

    secret: RenewalSecret


class AccountSession(Message, frozen=True, kw_only=True):
    """A fan's account and its token (made by `POST /v1/accounts` and by the calls of `/v1/renewals`)."""

    account_id: AccountId
    access_token: str
    access_expires_at: datetime
    server_time: datetime
