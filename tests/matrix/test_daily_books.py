"""A day of more than a thousand operations, with one difference of every kind planted in the other sides' own books.

The provider and the card terminal are processes of their own with files of their own; what is planted is written into
those files while they are down, and the verb `reconcile`, a process too, asks them as it asks any provider (R27).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.actions.close_terminal_day import close_terminal_day
from app.actions.hold_seats import hold_picked
from app.actions.pay_card import pay_card
from app.actions.pick_seats import toggle_seat
from app.actions.print_tickets import print_tickets
from app.devices.zvt.simulator.ledger import Ledger
from booking.domain.caller import Role
from booking.domain.model import PaymentIntent
from booking.domain.states import OperationKind
from booking.payments.sandbox_client import SandboxProvider
from booking.services import drive_operation, issue_tickets, take_payment
from booking.services.orders import order_as_it_stands
from booking.services.sign_in import create_staff
from booking.store.database import Database
from tests.end2end.processes import ROOT, environment
from tests.matrix.cells_of_tills import TerminalSide, TillHouse
from tests.matrix.counters import CLERK, begin, close
from tests.matrix.sides import SandboxSide
from tests.server.box_office import ADULT_PRICE, Clock, Desk, digest_of, fan, make_event
from tests.server.conftest import cluster, dsn, shelf, template
from tests.server.web_api import PASSWORD

__all__ = ["cluster", "dsn", "shelf", "template"]

SALES = 520
AT_ONCE = 20
"""A second charge under one key is no answer that this provider could ever give: the comparison meets that kind in
`tests/server/test_reconciliation_daily.py`, with all the others."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Database]:
    db = await Database.open(dsn, application="daily books")
    yield db
    await db.close()


async def sell(db: Database, provider: SandboxProvider, event_id: int, seat: int) -> UUID:
    """One order of one seat, paid and captured at the provider."""
    desk = Desk(db, fan(), event_id)
    order = await desk.check_out(await desk.hold(seat))
    intent = PaymentIntent(OperationKind.AUTHORIZE, "sandbox", order.amount_minor, payment_method="card-approve")
    opened = await take_payment.open_payment(
        db, desk.caller, order.order_id, intent, key=str(order.order_id), digest=digest_of(intent)
    )
    await drive_operation.take_at_once(db, provider, opened.value.operation)
    return order.order_id


async def reconciled(dsn: str, provider: str, *more: str) -> dict[str, Any]:
    """What the verb says of today."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", "reconcile", "--dsn", dsn, "--provider", provider, "--json",
        "--day", datetime.now(UTC).date().isoformat(), *more,
        cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, words = await process.communicate()
    assert process.returncode in {0, 1}, words.decode()
    told: dict[str, Any] = json.loads(output)
    assert (process.returncode == 1) == bool(told["differences"])
    return told


def places(told: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind, order) of each difference, in order."""
    return sorted((each["kind"], each["order_id"] or "") for each in told["differences"])


async def charge_of(db: Database, order_id: UUID) -> tuple[str, str]:
    """(the provider's name of its charge, the key of its capture)."""
    operations = (await order_as_it_stands(db, order_id)).operations
    capture = next(one for one in operations if one.kind is OperationKind.CAPTURE)
    return capture.provider_ref, capture.idempotency_key


async def plant(db: Database, sandbox: SandboxSide, orders: list[UUID]) -> list[tuple[str, str]]:
    """One difference of each kind, in the file of the provider or in our own tables: what is to be found, and where.

    A charge in another currency is two movements that differ; a void in place of a capture is one too few and one that
    differs.
    """
    removed, amount, currency, state, refunded, unpaid, ticketless = orders[:7]
    stray = await sandbox.tell("by-hand", kind="authorize", amount=ADULT_PRICE, currency="EUR")
    await sandbox.tell("by-hand", kind="capture", charge=stray["charge"])
    await sandbox.tell("by-hand", kind="refund", charge=(await charge_of(db, refunded))[0], amount=1_000)
    await sandbox.end()
    keys = {
        name: (await charge_of(db, order))[1]
        for name, order in {
            "removed": removed,
            "amount": amount,
            "currency": currency,
            "state": state,
            "unpaid": unpaid,
        }.items()
    }
    dollars = (await charge_of(db, currency))[0]
    file = sandbox.folder / "ledger.jsonl"
    entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    kept = []
    for entry in entries:
        request = entry["operation"]["request"] if entry["do"] == "carry-out" else {}
        key = request.get("operation_id")
        if key in (keys["removed"], keys["unpaid"]):
            continue
        if key == keys["amount"]:
            request["amount"] -= 1
        elif entry["do"] == "carry-out" and entry["operation"]["charge"] == dollars:
            request["currency"] = "USD"
        elif key == keys["state"]:
            request["kind"] = "void"
        kept.append(entry)
    file.write_text("".join(json.dumps(entry) + "\n" for entry in kept), "utf-8")
    await db.fetch("UPDATE payment_operations SET status = 'DECLINED' WHERE order_id = $1 AND kind = 'capture'", unpaid)
    await db.fetch("UPDATE tickets SET status = 'VOID' WHERE order_id = $1", ticketless)
    await db.fetch("UPDATE orders SET confirmed_at = confirmed_at - interval '15 min' WHERE order_id = $1", ticketless)
    await sandbox.start()
    return sorted(
        [
            ("provider-only", ""), ("refund-provider-only", str(refunded)), ("ours-only", str(removed)),
            ("amount-differs", str(amount)), ("currency-differs", str(currency)), ("currency-differs", str(currency)),
            ("ours-only", str(state)), ("state-differs", str(state)), ("ticket-without-money", str(unpaid)),
            ("money-without-ticket", str(ticketless)),
        ]
    )  # fmt: skip


async def test_r27_a_day_of_a_thousand_operations_with_one_difference_of_every_kind(
    db: Database, dsn: str, tmp_path: Path
) -> None:
    sandbox = SandboxSide(tmp_path, anew=True)
    await sandbox.start()
    provider = SandboxProvider(sandbox.url)
    try:
        await issue_tickets.prepare(db)
        event_id = await make_event(db, SALES)
        orders: list[UUID] = []
        for first in range(0, SALES, AT_ONCE):
            orders += await asyncio.gather(
                *(sell(db, provider, event_id, seat) for seat in range(first, first + AT_ONCE))
            )
        while await issue_tickets.issue_new(db):
            pass
        right = await reconciled(dsn, "sandbox", "--sandbox-url", sandbox.url)
        assert (right["differences"], right["run"]["matched"]) == ([], 2 * SALES)
        planted = await plant(db, sandbox, orders)
        told = await reconciled(dsn, "sandbox", "--sandbox-url", sandbox.url)
        assert places(told) == planted
        rows = await db.fetch("SELECT kind FROM reconciliation_items WHERE resolved_at IS NULL")
        assert sorted(row["kind"] for row in rows) == [kind for kind, _ in planted]
        again = await reconciled(dsn, "sandbox", "--sandbox-url", sandbox.url)
        assert (places(again), again["run"]["opened_items"]) == (planted, 0)
    finally:
        await provider.close()
        await sandbox.end()


async def test_r27_a_terminals_end_of_day_with_a_sale_that_we_have_not(db: Database, dsn: str, tmp_path: Path) -> None:
    """Its own file has a payment more than we do: one item, and none on the day before that."""
    terminal = TerminalSide(tmp_path, anew=True)
    clock = Clock(db)
    await clock.install()
    house = TillHouse(dsn, db, clock, await make_event(db), tmp_path, True, terminal)
    await issue_tickets.prepare(db)
    await create_staff(db, CLERK, "Carla", Role.CLERK, PASSWORD)
    Ledger.load(terminal.state).book(1, "EUR", datetime.now())  # noqa: DTZ005 - its clock is local
    await terminal.start()
    desk = None
    try:
        await house.start_api()
        desk = house.desk()
        await begin(desk, house.event_id)
        assert desk.terminal is not None
        await desk.terminal.end_of_day()  # what was before us is in a day of its own
        for day, strange in ((1, 0), (2, 1)):
            toggle_seat(desk, day)
            await hold_picked(desk)
            await pay_card(desk)
            await house.issue()
            await print_tickets(desk)
            if strange:
                await terminal.end()
                Ledger.load(terminal.state).book(5_000, "EUR", datetime.now())  # noqa: DTZ005 - another till's
                await terminal.start()
            totals = await close_terminal_day(desk)
            assert totals.total_minor == ADULT_PRICE + 5_000 * strange
            told = await reconciled(dsn, "zvt")
            assert [each["kind"] for each in told["differences"]] == ["terminal-total-differs"] * strange
    finally:
        if desk is not None:
            await close(desk)
        for api in house.apis:
            await api.kill()
        await terminal.end()
