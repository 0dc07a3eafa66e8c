"""What the tests of reconciliation share: a house with a sandbox, sales in every state, two supervisors, and rounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller, Role
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemDetail, ItemWish
from booking.domain.model import OperationResult, PaymentIntent, PaymentOperation, PaymentStep, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_server import Sandbox
from booking.services import drive_operation, item_actions, reconciliation_items, settle_items, take_payment
from booking.services.issue_tickets import issue_new, prepare
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.server.box_office import Desk, digest_of, fan, make_event, till


@dataclass
class House:
    """An event on sale, a sandbox, and workers whose rounds are called by hand."""

    db: Database
    sandbox: Sandbox
    provider: SandboxProvider
    worker: PaymentWorker
    event_id: int
    url: str
    ana: Caller = field(default_factory=lambda: till(Role.SUPERVISOR))
    bo: Caller = field(default_factory=lambda: till(Role.SUPERVISOR))
    free_seat: int = 0

    async def open_payment(self, payment_method: str = "card-approve") -> PaymentStep:
        """A fan's authorization for two seats of 40.00 each that nobody has sent yet."""
        desk = Desk(self.db, fan(), self.event_id)
        order = await desk.check_out(await desk.hold(self.free_seat, self.free_seat + 1))
        self.free_seat += 2
        intent = PaymentIntent(OperationKind.AUTHORIZE, "sandbox", order.amount_minor, payment_method=payment_method)
        outcome = await take_payment.open_payment(
            self.db, desk.caller, order.order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def sell(self) -> PaymentStep:
        """An order that is paid, captured, and has its tickets."""
        step = await self.open_payment()
        await drive_operation.take_at_once(self.db, self.provider, step.operation)
        await prepare(self.db)
        await issue_new(self.db)
        return step

    async def sell_at_terminal(self, caller: Caller) -> PaymentOperation:
        """A till's sale at its terminal, SENT; the till has to report."""
        step = await Desk(self.db, caller, self.event_id).sell(self.free_seat, kind=OperationKind.SALE)
        self.free_seat += 1
        return step.operation

    async def work(self, rounds: int = 1) -> None:
        """Rounds of the payment worker, each with every operation that may be due; then items end by themselves."""
        for _ in range(rounds):
            await self.db.fetch(
                "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await self.worker.work_once()
        await settle_items.end_settled_items(self.db)

    async def record(
        self, operation_id: UUID, outcome: ResultOutcome, amount_minor: int = 0, *, code: str = "", ref: str = ""
    ) -> None:
        """What the provider said of an operation, without asking it."""
        result = OperationResult(outcome, amount_minor, provider_ref=ref, decline_code=code)
        await take_payment.record_result(self.db, operation_id, result, source="provider:sandbox")

    async def item(self, kind: str | None = None) -> ItemDetail:
        """The one open item (of that kind)."""
        rows = await self.db.fetch(
            "SELECT item_id FROM reconciliation_items WHERE resolved_at IS NULL AND ($1::text IS NULL OR kind = $1)",
            kind,
        )
        assert len(rows) == 1, rows
        return await self.read(rows[0]["item_id"])

    async def read(self, item_id: UUID, caller: Caller | None = None) -> ItemDetail:
        return await reconciliation_items.read_item(self.db, caller or self.ana, item_id)

    async def act(
        self, detail: ItemDetail, action: ItemAction, caller: Caller | None = None, *, wait_s: float = 0,
        key: str | None = None, **members: object,
    ) -> ItemDetail:  # fmt: skip
        """An act from the version that `detail` shows."""
        wish = ItemWish(action, detail.item.version, "Seen with the bank", **members)  # type: ignore[arg-type]
        outcome = await item_actions.act_on_item(
            self.db, caller or self.ana, detail.item.item_id, wish, key=key or str(uuid4()), digest=digest_of(wish),
            wait_s=wait_s,
        )  # fmt: skip
        return outcome.value

    async def decide(self, detail: ItemDetail, caller: Caller, *, approve: bool) -> ItemDetail:
        outcome = await item_actions.decide_item(
            self.db, caller, detail.item.item_id, detail.item.version, "Seen as well", approve=approve,
            key=str(uuid4()), digest=b"",
        )  # fmt: skip
        return outcome.value

    async def open_kinds(self) -> list[str]:
        rows = await self.db.fetch("SELECT kind FROM reconciliation_items WHERE resolved_at IS NULL ORDER BY kind")
        return [row["kind"] for row in rows]

    async def limit(self, above_minor: int | None) -> None:
        """From which amount on a second person is needed."""
        await self.db.fetch(
            "INSERT INTO reconciliation_settings (second_person_above_minor) VALUES ($1)"
            " ON CONFLICT (one_row) DO UPDATE SET second_person_above_minor = excluded.second_person_above_minor",
            above_minor,
        )


@asynccontextmanager
async def open_house(db: Database, seats: int = 60) -> AsyncIterator[House]:
    """A house over `db`; one person is enough for every act until a test says otherwise."""
    sandbox = Sandbox()
    server = LoopbackServer(sandbox.handle)
    await server.start()
    url = f"http://127.0.0.1:{server.port}"
    provider = SandboxProvider(url)
    house = House(db, sandbox, provider, PaymentWorker(db, {"sandbox": provider}), await make_event(db, seats), url)
    await house.limit(None)
    try:
        yield house
    finally:
        await provider.close()
        await server.close()


async def unknown_authorization(house: House) -> tuple[PaymentStep, ItemDetail]:
    """An authorization that the provider leaves open, and its item."""
    step = await house.open_payment()
    assert await take_payment.mark_sent(house.db, step.operation.operation_id)
    await house.record(step.operation.operation_id, ResultOutcome.UNKNOWN)
    await house.db.fetch("UPDATE payment_operations SET created_at = created_at - interval '20 min'")
    assert await settle_items.note_silence(house.db) == 1
    return step, await house.item("unknown-overdue")


async def failed_capture(house: House) -> tuple[PaymentStep, ItemDetail]:
    """A confirmed order whose capture was refused for good."""
    step = await house.open_payment()
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    capture = next(op for op in settled.order.operations if op.kind is OperationKind.CAPTURE)
    await house.record(capture.operation_id, ResultOutcome.DECLINED, code="expired")
    return step, await house.item("capture-failed")


async def stray_charge(house: House, captured: int, refunded: int = 0) -> ItemDetail:
    """What a comparison finds when a charge of 80.00 was made by hand at the provider."""
    await house.db.fetch(
        "SELECT open_item_about($1, 'provider-only', 'sandbox:ch_stray', NULL, NULL, NULL, 'sandbox', 8000, 'EUR',"
        " jsonb_build_object('provider_ref', 'ch_stray', 'authorized_minor', 8000, 'captured_minor', $2::bigint,"
        " 'refunded_minor', $3::bigint), booking_now())",
        uuid7(), captured, refunded,
    )  # fmt: skip
    return await house.item("provider-only")


def offered(detail: ItemDetail) -> list[ItemAction]:
    return [each.action for each in detail.actions if not each.why_not]


_ITEM = (
    "INSERT INTO reconciliation_items (item_id, kind, subject, event_id, order_id, operation_id, currency,"
    " opened_at{more}) SELECT gen_random_uuid(), kind, {subject}, event_id, order_id, operation_id, currency,"
    " opened_at{values}"
    " FROM reconciliation_items WHERE kind = 'capture-failed'"
)
_APPROVED = (
    "INSERT INTO item_approvals (approval_id, item_id, action, asked_by, asked_at, reason, decision, decided_by,"
    " decided_at) SELECT gen_random_uuid(), item_id, 'note', {asker}, booking_now(), 'x', {decision}, {decider}, {at}"
    " FROM reconciliation_items WHERE kind = {kind} LIMIT 1"
)
_ANA = "'01a22b71-ce31-738e-83d1-861975c53af8'"

ITEM_PLANTS: Mapping[str, tuple[str, ...]] = {
    "act-above-the-limit-took-two": (
        "ALTER TABLE item_approvals DROP CONSTRAINT approval_takes_two;"
        + _APPROVED.format(
            asker=_ANA, decision="'approved'", decider=_ANA, at="booking_now()", kind="'capture-failed'"
        ),
        _APPROVED.format(
            asker=_ANA, decision="'approved'", decider="gen_random_uuid()", at="booking_now()", kind="'unknown-overdue'"
        ),
    ),
    "ended-item-says-who-and-why": (
        (
            "UPDATE reconciliation_items SET resolved_at = booking_now(), resolved_by = 'authority', resolution = ''"
            " WHERE resolved_at IS NULL"
        ),
        (
            "UPDATE reconciliation_items SET resolved_at = booking_now(), resolved_by = 'supervisor:x',"
            " resolution = 'so' WHERE resolved_at IS NULL"
        ),
    ),
    "ended-item-waits-for-nobody": (
        _APPROVED.format(asker=_ANA, decision="''", decider="NULL", at="NULL", kind="'unknown-overdue'"),
    ),
    "open-item-is-there-once": (
        "DROP INDEX item_open_once;" + _ITEM.format(subject="subject", more="", values=""),
        "UPDATE reconciliation_items SET event_id = event_id + 1 WHERE order_id IS NOT NULL",
        "UPDATE reconciliation_items SET currency = 'USD' WHERE order_id IS NOT NULL",
        "UPDATE reconciliation_items SET order_id = NULL, event_id = NULL WHERE order_id IS NOT NULL",
    ),
    "supervisors-word-has-its-evidence": (
        "UPDATE payment_operations SET decided_by = 'supervisor:x' WHERE kind = 'authorize' AND status = 'SUCCEEDED'",
    ),
    "taken-back-order-is-void": (
        "UPDATE order_seats SET valid = true",
        "UPDATE reconciliation_items SET resolved_by = 'authority' WHERE resolved_at IS NOT NULL",
        "UPDATE money_backs SET item_id = gen_random_uuid() WHERE item_id IS NOT NULL",
        "DELETE FROM payment_operations WHERE kind = 'void'",
    ),
    "comparison-forgets-what-it-read": (
        "UPDATE reconciliation_runs SET state = 'done', ended_at = booking_now()",
        "UPDATE reconciliation_runs SET read = read + 1",
        "UPDATE reconciliation_runs SET opened_items = 1",
    ),
}
"""Rule → what breaks it, one for each thing that the rule says, in the house of `test_reconciliation_invariants`."""
