"""Holds: all or nothing, replayed, limited, expiring to the instant (R3–R8)."""

from __future__ import annotations

import pytest

from booking.domain.states import OperationKind
from booking.store.database import Database
from tests.server.box_office import Desk, fan, make_event, till


async def test_smoke(database: Database) -> None:
    event = await make_event(database)
    step = await Desk(database, till(), event).sell(1, 2, 3)
    assert step.order.status == "CONFIRMED"
    step = await Desk(database, fan(), event).sell(4, kind=OperationKind.AUTHORIZE)
    assert step.operation.status == "CREATED"
