"""A sandbox in the test's own event loop, and operations to ask it for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from booking.domain.model import OperationId, OrderId, PaymentOperation
from booking.domain.states import OperationKind, OperationStatus
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_server import Sandbox
from tests.payments_lab.haste import SLOW_S


def operation(kind: OperationKind = OperationKind.AUTHORIZE, **changes: Any) -> PaymentOperation:
    now = datetime.now(UTC)
    operation_id = OperationId(uuid7())
    return replace(
        PaymentOperation(
            operation_id=operation_id,
            order_id=OrderId(uuid7()),
            part=1,
            kind=kind,
            status=OperationStatus.SENT,
            provider="sandbox",
            amount_minor=7500,
            currency="EUR",
            device_id=None,
            provider_ref="",
            decline_code="",
            next_action="",
            tendered_minor=None,
            change_minor=None,
            created_at=now,
            updated_at=now,
            parent_id=None,
            idempotency_key=str(operation_id),
            payment_method="card-approve",
            attempts=1,
        ),
        **changes,
    )


@dataclass
class Provided:
    sandbox: Sandbox
    server: LoopbackServer
    provider: SandboxProvider

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"


@pytest.fixture
async def provided() -> AsyncIterator[Provided]:
    sandbox = Sandbox(slow_s=SLOW_S)
    server = LoopbackServer(sandbox.handle)
    await server.start()
    provider = SandboxProvider(f"http://127.0.0.1:{server.port}")
    yield Provided(sandbox, server, provider)
    await provider.close()
    await server.close()
