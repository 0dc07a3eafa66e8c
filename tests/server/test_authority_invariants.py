"""The checker (R39): clean after real sales, and each rule fires on a breach planted for it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from booking import sql
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.services.check_invariants import (
    MAX_BREACHES_OF_A_RULE,
    breaches_of,
    check,
    main,
    meaning_of,
    report_in_words,
    rule_names,
)
from booking.services.take_payment import mark_sent, record_result
from booking.store.database import Database
from tests.server.box_office import Desk, fan, make_event, reported, till
from tests.server.general_admission import PLACE_PLANTS
from tests.server.reconciliation_house import ITEM_PLANTS
from tests.server.refund_desk import issued, pay_part, refund

SOLD, HELD, PAYING, AUTHORIZED = 1, 5, 8, 12  # seats of the sales that every plant begins with
NEW_HOLD = (
    "INSERT INTO holds (hold_id, event_id, principal, channel, seats, price_version, expires_at, idem_key, digest,"
    " created_at) SELECT gen_random_uuid(), event_id, {who}, {channel}, {seats}, 1, expires_at, {key}, digest,"
    " created_at FROM holds WHERE seats = '{{5}}'"
)

# Rule → what breaks it. Indexes that would refuse the breach are dropped in the same transaction, which is rolled back.
PLANTS: Mapping[str, str] = {
    "seat-in-one-valid-order": "DROP INDEX seat_sold_once; UPDATE order_seats SET seat_no = 1 WHERE seat_no = 3",
    "confirmed-order-owns-its-seats": "UPDATE order_seats SET valid = false WHERE seat_no = 1",
    "confirmed-order-has-all-seats-of-its-holds": "DELETE FROM order_seats WHERE seat_no = 2",
    "sold-seat-has-one-order": "UPDATE seats SET order_id = gen_random_uuid() WHERE seat_no = 1",
    "paying-seat-has-a-live-order": "UPDATE orders SET status = 'EXPIRED' WHERE status = 'PENDING'",
    "seats-of-a-hold-share-event-and-expiry":
        "UPDATE seats SET hold_expires_at = hold_expires_at + interval '1 us' WHERE seat_no = 5",
    "open-hold-owns-all-its-seats":
        "UPDATE seats SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL WHERE seat_no = 5",
    "ended-hold-owns-no-seat":
        "UPDATE holds SET status = 'RELEASED', ended_at = booking_now() WHERE seats = '{5}'",
    "hold-is-in-one-order":
        "DROP INDEX hold_in_one_order; INSERT INTO order_holds (order_id, hold_id)"
        " SELECT o.order_id, h.hold_id FROM orders o, order_holds h WHERE h.order_id <> o.order_id LIMIT 1",
    "key-made-one-hold":
        "ALTER TABLE holds DROP CONSTRAINT hold_key_once;"
        + NEW_HOLD.format(who="principal", channel="channel", seats="'{30}'", key="idem_key"),
    "key-made-one-thing": "UPDATE idempotency SET result_id = gen_random_uuid() WHERE route = 'checkout'",
    "hold-extended-once-at-most":
        "UPDATE holds SET expires_at = created_at + interval '901 s' WHERE seats = '{5}'",
    "fan-has-one-open-hold":
        NEW_HOLD.format(who="'account:x'", channel="'online'", seats="'{30}'", key="'a'") + ";"
        + NEW_HOLD.format(who="'account:x'", channel="'online'", seats="'{31}'", key="'b'"),
    "account-stays-within-its-limit": "UPDATE events SET max_per_account = 1",
    "account-count-equals-its-tickets": "UPDATE account_limits SET sold = sold + 1",
    "order-total-is-the-sum-of-its-lines": "UPDATE orders SET amount_minor = amount_minor - 1",
    "line-has-the-price-of-its-version": "UPDATE order_seats SET amount_minor = 1 WHERE seat_no = 1",
    "confirmed-order-is-paid-once": "UPDATE payment_operations SET amount_minor = 1, change_minor = tendered_minor - 1",
    "confirmed-order-was-paid-by-who-may-say-so":
        "UPDATE payment_operations SET decided_by = 'device:' || gen_random_uuid() WHERE kind = 'authorize'",
    "uncaptured-sale-has-an-item":
        "UPDATE payment_operations SET created_at = booking_now() - interval '61 min' WHERE kind = 'capture'",
    "one-charge-at-a-time":
        "DROP INDEX one_charge_at_a_time;"
        " INSERT INTO payment_operations (operation_id, order_id, event_id, kind, status, provider, principal,"
        " idempotency_key, amount_minor, currency, created_at, updated_at)"
        " SELECT gen_random_uuid(), order_id, event_id, 'sale', 'SENT', 'zvt', principal, 'second', amount_minor,"
        " currency, created_at, updated_at FROM payment_operations WHERE kind = 'sale' AND status = 'SENT'",
    "taken-money-is-accounted-for":
        "UPDATE payment_operations SET status = 'SUCCEEDED', advice = 'reverse', decided_by = 'x' WHERE kind = 'sale'",
    "authorized-order-is-captured": "DELETE FROM payment_operations WHERE kind = 'capture'",
    "unknown-payment-keeps-its-seats": "UPDATE orders SET status = 'CANCELLED' WHERE status = 'PENDING'",
    "ticket-belongs-to-a-valid-line":
        "INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)"
        " SELECT gen_random_uuid(), event_id, order_id, seat_no, 'code' FROM order_seats WHERE seat_no = 8",
    "hold-is-announced": "DELETE FROM outbox WHERE type = 'order-confirmed'",
    "last-change-of-a-seat-is-announced": "UPDATE seats SET version = version + 1 WHERE seat_no = 5",
    "kept-seat-is-in-a-house-hold": "UPDATE seats SET status = 4, holder = 3 WHERE seat_no = 20",
    "gone-seat-is-nobodys": "UPDATE plan_seats SET flags = 8 WHERE seat_no = 20",
    "order-shares-event-and-account-with-its-holds":
        "UPDATE orders SET principal = 'account:x' WHERE status = 'PENDING'",
    "end-of-a-hold-frees-its-own-seats":
        "INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, created_at)"
        " SELECT event_id, 'seats-released', hold_id, '{30}', '{0}', '{1}', created_at FROM holds WHERE seats = '{5}';"
        " UPDATE holds SET status = 'RELEASED', ended_at = booking_now() WHERE seats = '{5}'",
    "hold-expired-after-its-deadline":
        "UPDATE holds SET status = 'EXPIRED', ended_at = expires_at - interval '1 us' WHERE seats = '{5}'",
    "card-count-equals-its-tickets":
        "INSERT INTO card_limits (event_id, fingerprint, sold) SELECT event_id, 'sandbox:card', 1 FROM events",
    "access-code-uses-are-counted": "UPDATE account_limits SET raised_to = 8",
    "void-is-not-called-off":
        "UPDATE payment_operations SET kind = 'void', status = 'DECLINED', decided_by = 'authority'"
        " WHERE kind = 'capture'",
    "refunds-stay-within-their-charge":
        "UPDATE payment_operations SET amount_minor = amount_minor + 1000000 WHERE kind = 'refund'",
    "refunded-line-has-no-valid-ticket": "UPDATE tickets SET status = 'ISSUED' WHERE status = 'VOID'",
    "line-that-ended-has-its-act": "UPDATE order_seats SET valid = false WHERE seat_no = 1",
    "order-says-what-went-back": "UPDATE orders SET status = 'CONFIRMED' WHERE status = 'PARTLY_REFUNDED'",
    "money-back-is-decided-by-its-operations":
        "UPDATE money_backs SET status = 'REFUSED', decided_at = booking_now() WHERE status = 'PENDING'",
    "ticket-waits-with-its-refund": "UPDATE tickets SET money_back_id = NULL WHERE status <> 'VOID'",
    "cash-refund-left-the-drawer": "DELETE FROM cash_movements",
    "money-keeps-the-currency-of-its-order": "UPDATE payment_operations SET currency = 'USD' WHERE kind = 'refund'",
    "what-follows-fits-its-charge":
        "UPDATE payment_operations SET amount_minor = amount_minor + 1 WHERE kind = 'capture'",
    "money-back-was-told-by-who-may-say-so":
        "UPDATE payment_operations SET decided_by = 'authority' WHERE kind = 'refund' AND status = 'SUCCEEDED'",
    "refused-money-back-has-an-item":
        "UPDATE payment_operations SET status = 'DECLINED' WHERE kind = 'refund' AND status = 'SUCCEEDED'",
    "undecided-payment-is-due-or-known": "UPDATE payment_operations SET next_attempt_at = NULL WHERE kind = 'sale'",
    "parts-are-of-an-unpaid-order":
        "UPDATE payment_operations SET advice = 'part', spare_ids = ARRAY[gen_random_uuid(), gen_random_uuid()]"
        " WHERE kind = 'cash' AND advice = 'goods-issued'",
    "parked-capture-has-its-void": "UPDATE payment_operations SET void_requested = true WHERE kind = 'capture'",
    "given-up-charge-does-not-pay":
        "UPDATE payment_operations SET void_requested = true WHERE advice = 'goods-issued'",
    "event-has-the-seats-of-its-plan": "DELETE FROM seats WHERE seat_no = 39",
    "slot-is-spent-once":
        "INSERT INTO admission_sessions SELECT event_id, who, '00000000-0000-0000-0000-000000000001', 's', 1,"
        " booking_now(), true, booking_now() FROM events, unnest(ARRAY['account:1', 'account:2']) AS who",
    "newest-admission-counts":
        "INSERT INTO admission_sessions SELECT event_id, 'account:1', gen_random_uuid(), 's', 2, booking_now(), true,"
        " booking_now() FROM events; UPDATE admission_sessions SET generation = 3;"
        " INSERT INTO admission_past SELECT event_id, principal, 4, slot_id, booking_now() FROM admission_sessions",
    "clock-is-the-servers":
        "CREATE OR REPLACE FUNCTION booking_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
        " 'SELECT clock_timestamp() + interval ''1 s'''",
}  # fmt: skip


@pytest.fixture
async def busy_evening(database: Database) -> Database:
    """Sold for cash, held, waiting for a terminal, authorized and confirmed; refunded, being refunded, paid in part."""
    event = await make_event(database)
    desk, buyer = Desk(database, till(), event), Desk(database, fan(), event)
    await desk.sell(SOLD, 2)
    await desk.sell(3)
    await desk.hold(HELD)
    await desk.sell(PAYING, 9, kind=OperationKind.SALE)
    step = await buyer.sell(AUTHORIZED, 13, kind=OperationKind.AUTHORIZE)
    assert await mark_sent(database, step.operation.operation_id)
    paid = OperationResult(ResultOutcome.SUCCEEDED, step.order.amount_minor, "ref")
    await record_result(database, step.operation.operation_id, paid, source="provider:sandbox")
    cash = (await desk.sell(16, 17)).order
    await refund(database, desk.caller, cash.order_id, (await issued(database, desk.caller, cash.order_id))[:1])
    at_terminal = await desk.sell(22, kind=OperationKind.SALE)
    taken = OperationResult(ResultOutcome.SUCCEEDED, at_terminal.order.amount_minor, "0001")
    await reported(database, desk.caller, at_terminal.operation.operation_id, taken)
    tickets = await issued(database, desk.caller, at_terminal.order.order_id)
    await refund(database, desk.caller, at_terminal.order.order_id, tickets)
    await pay_part(desk, await desk.check_out(await desk.hold(24, 25)), OperationKind.CASH, 1_000)
    return database


async def test_real_sales_break_no_rule(dsn: str, busy_evening: Database) -> None:
    assert (await check(dsn)).breaches == ()


def test_every_rule_has_its_plant() -> None:
    assert set(PLANTS) | set(PLACE_PLANTS) | set(ITEM_PLANTS) == set(rule_names())


async def test_each_rule_finds_the_breach_planted_for_it(busy_evening: Database) -> None:
    for rule in sql.invariants():
        if rule.name in PLACE_PLANTS or rule.name in ITEM_PLANTS:
            continue  # they need places or items: their own tests plant those
        async with busy_evening.general.trip(10) as connection:
            plant = connection.transaction()
            await plant.start()
            assert await breaches_of(connection, rule) == (), rule.name
            # Foreign keys are not what is shown here: a plant may cut across them.
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(PLANTS[rule.name])
            found = await breaches_of(connection, rule)
            await plant.rollback()
        assert found, rule.name
        assert all(breach.rule == rule.name and len(breach.detail) > 10 for breach in found)


@pytest.mark.usefixtures("breaks_rules")
async def test_of_a_rule_that_is_broken_everywhere_only_some_rows_are_read(dsn: str, database: Database) -> None:
    await make_event(database, MAX_BREACHES_OF_A_RULE + 1)
    await database.fetch("UPDATE seats SET status = 4, holder = 3")
    report = await check(dsn)
    (kept,) = [checked for checked in report.rules if checked.breaches]
    assert (kept.rule, kept.breaches, kept.more) == ("kept-seat-is-in-a-house-hold", MAX_BREACHES_OF_A_RULE, True)
    assert f"only the first {MAX_BREACHES_OF_A_RULE} were read" in report_in_words(report)


async def test_a_check_waits_for_no_sale_and_no_sale_for_it(dsn: str, busy_evening: Database) -> None:
    """Every row of a sale locked by others, and the check's own snapshot held open: both go on."""
    async with busy_evening.transaction() as connection:
        await connection.execute(
            "SELECT FROM seats FOR UPDATE; SELECT FROM holds FOR UPDATE; SELECT FROM orders FOR UPDATE"
        )
        assert (await check(dsn)).breaches == ()
    async with (
        busy_evening.general.trip(10) as looker,
        looker.transaction(isolation="repeatable_read", readonly=True),
    ):
        for rule in sql.invariants():
            await breaches_of(looker, rule)
        held = await looker.fetch(
            "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL"
        )
        assert [row["mode"] for row in held] == ["AccessShareLock"]
        (event,) = await busy_evening.fetch("SELECT event_id FROM events")
        await Desk(busy_evening, till(), event["event_id"]).sell(20)


def test_every_rule_says_in_words_what_it_means_and_whose_it_is() -> None:
    for rule in sql.invariants():
        assert re.match(r"[RBI]\d+(, [RBI]\d+)*: \w.{20,}", meaning_of(rule)), rule.name


async def _sold(dsn: str) -> None:
    db = await Database.open(dsn)
    await Desk(db, till(), await make_event(db)).sell(1)
    await db.close()


def test_the_verb_reports_as_words_and_as_json(
    dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delenv("TAQUILLA_DSN", raising=False)
    asyncio.run(_sold(dsn))
    assert main(["--dsn", dsn, "--json"]) == 0
    clean: Any = json.loads(capsys.readouterr().out)
    assert clean["breaches"] == []
    assert [rule["rule"] for rule in clean["rules"]] == list(rule_names())
    asyncio.run(_plant(dsn, "UPDATE account_limits SET sold = 7"))
    assert main(["--dsn", dsn, "--json"]) == 1
    report: Any = json.loads(capsys.readouterr().out)
    assert [breach["rule"] for breach in report["breaches"]] == ["account-count-equals-its-tickets"]
    assert main(["--dsn", dsn]) == 1
    words = capsys.readouterr().out
    assert "1 counted, 7 stored" in words
    assert "BROKEN  account-count-equals-its-tickets" in words
    assert f"{len(rule_names())} rules, 1 broken, 1 breaches" in words
    assert main(["--dsn", f"postgresql://taquilla@/x?host={tmp_path}"]) == 3
    asyncio.run(_plant(dsn, "ALTER TABLE holds RENAME TO not_a_booking_database"))
    assert main(["--dsn", dsn]) == 3
    assert "nothing was checked to the end" in capsys.readouterr().err
    with pytest.raises(SystemExit) as wrong_use:
        main([])
    assert wrong_use.value.code == 2


async def _plant(dsn: str, statement: str) -> None:
    db = await Database.open(dsn, lanes=False)
    await db.fetch(statement)
    await db.close()
