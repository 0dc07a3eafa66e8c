"""A provider's books as the tests of comparisons change them, and a day on which all is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

from booking.domain.items import ReconciliationRun
from booking.domain.model import PaymentStep, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.provider import MovementPage, MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.sandbox_client import SandboxProvider
from booking.services import daily_reconciliation, drive_operation, take_payment
from booking.services.orders import order_as_it_stands
from tests.server.box_office import Desk, till
from tests.server.reconciliation_house import House

PAGE = 3


@dataclass
class Books:
    """The sandbox's own list, as a provider that can be made to tell it otherwise, and to fail."""

    sandbox: SandboxProvider
    removed: set[str] = field(default_factory=set)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: list[ProviderMovement] = field(default_factory=list)
    failures: int = 0
    asked: int = 0
    on_page: Callable[[], None] = lambda: None
    name: str = "sandbox"

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        self.asked += 1
        if self.failures:
            self.failures -= 1
            raise ProviderAwayError("nobody answers")
        self.on_page()
        told: list[ProviderMovement] = []
        page = MovementPage((), "0")
        while page.cursor:
            page = await self.sandbox.list_movements(since, until, "" if page.cursor == "0" else page.cursor)
            told += page.movements
        shown = [
            replace(each, **self.changed.get(each.idempotency_key, {}))
            for each in told
            if each.idempotency_key not in self.removed
        ] + [each for each in self.added if since <= each.at < until]
        start = int(cursor or 0)
        after = start + PAGE
        return MovementPage(tuple(shown[start:after]), str(after) if after < len(shown) else "")


@dataclass
class Comparison:
    house: House
    books: Books

    @property
    def providers(self) -> daily_reconciliation.Providers:
        return {"sandbox": self.books}  # type: ignore[dict-item]

    async def run(self, provider: str = "sandbox", day: date | None = None) -> ReconciliationRun:
        """A comparison of today, driven to its end."""
        day = day or datetime.now(UTC).date()
        begun = await daily_reconciliation.start_run(
            self.house.db, self.house.ana, provider, day, key=str(uuid4()), digest=b""
        )
        assert await daily_reconciliation.drive_run(self.house.db, self.providers, begun.value.run_id) is not None
        return await daily_reconciliation.read_run(self.house.db, begun.value.run_id)

    async def keys(self, step: PaymentStep) -> dict[str, str]:
        """kind → our key, of the operations of an order."""
        operations = (await order_as_it_stands(self.house.db, step.order.order_id)).operations
        return {op.kind.value: op.idempotency_key for op in operations}

    async def reference(self, step: PaymentStep) -> str:
        operations = (await order_as_it_stands(self.house.db, step.order.order_id)).operations
        return next(op.provider_ref for op in operations if op.kind is OperationKind.AUTHORIZE)


def moved(kind: OperationKind, ref: str, amount: int = 8_000, **members: Any) -> ProviderMovement:
    """A movement that our ledger does not explain."""
    made = ProviderMovement(
        ref, "", kind, amount, "EUR", datetime.now(UTC) - timedelta(seconds=5), MovementStatus.SUCCEEDED,
        movement_ref=f"m-{kind}-{ref}-{amount}",
    )  # fmt: skip
    return replace(made, **members)


async def provider_only(c: Comparison) -> None:
    c.books.added += [moved(OperationKind.AUTHORIZE, "ch_x"), moved(OperationKind.CAPTURE, "ch_x")]


async def refund_provider_only(c: Comparison) -> None:
    c.books.added.append(moved(OperationKind.REFUND, await c.reference(await c.house.sell()), 4_000))


async def everything_that_is_right(c: Comparison) -> None:
    """What goes on in a house every day, and is no difference."""
    for _ in range(2):
        await c.house.sell()
    declined = await c.house.open_payment("card-decline")
    await drive_operation.take_at_once(c.house.db, c.house.provider, declined.operation)
    unknown = await c.house.open_payment()
    await take_payment.mark_sent(c.house.db, unknown.operation.operation_id)
    await c.house.record(unknown.operation.operation_id, ResultOutcome.UNKNOWN)
    await Desk(c.house.db, till(), c.house.event_id).sell(c.house.free_seat)
    c.house.free_seat += 1
