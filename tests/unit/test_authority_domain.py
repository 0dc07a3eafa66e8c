"""Small rules of the domain and of the boundary to PostgreSQL, without a database."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import asyncpg
import pytest

from backend_client import wire
from booking.domain import errors, model, states
from booking.domain.caller import Caller, Channel, Role
from booking.domain.errors import ERROR_OF_CODE, BookingError
from booking.domain.order_number import ALPHABET, new_order_number
from booking.domain.text import is_storable, refuse_unstorable
from booking.services.refusals import refusal
from booking.store.hold_lane import HoldAsk, columns
from booking.store.violations import as_booking_error, is_connection_lost, may_repeat


def test_order_numbers_have_no_look_alikes() -> None:
    numbers = {new_order_number() for _ in range(500)}
    assert len(numbers) == 500
    assert all(re.fullmatch(f"[{ALPHABET}]{{4}}-[{ALPHABET}]{{4}}", number) for number in numbers)
    assert not set("ILOU") & set(ALPHABET)


def test_every_code_of_an_error_is_one_of_the_wire_and_the_tree_is_in_the_docstring() -> None:
    assert set(ERROR_OF_CODE) <= {code.value for code in wire.ErrorCode}
    for code, kind in ERROR_OF_CODE.items():
        assert re.search(rf"{kind.__name__} +{code}\n", f"{errors.__doc__}\n"), kind.__name__


def test_domain_enums_say_what_the_wire_says() -> None:
    for name in ("HoldStatus", "OrderStatus", "OperationKind", "OperationStatus", "TicketStatus", "PrintJobStatus"):
        assert [each.value for each in getattr(states, name)] == [each.value for each in getattr(wire, name)]
    for name in ("EventStatus", "Advice"):
        assert [each.value for each in getattr(model, name)] == [each.value for each in getattr(wire, name)]
    assert {role.value for role in Role} == {role.value for role in wire.Role}


def test_g8_texts_that_cannot_be_stored_are_named() -> None:
    assert is_storable("Ünïcödé ٣ 席 😀")
    with pytest.raises(errors.InvalidRequestError) as refused:
        refuse_unstorable({"/a": "fine", "/b": "x\x00", "/c": "\udcff"})
    assert [fault.pointer for fault in refused.value.fields] == ["/b", "/c"]


def test_every_refusal_of_the_database_has_words() -> None:
    for code in ("seats-taken", "price-changed", "payment-running", "hold-expired", "print-job-conflict"):
        assert str(refusal(code)).endswith(".")
    assert "4000" in refusal("price-changed", detail="4000").detail


def test_callers_are_scoped_by_device_or_account() -> None:
    device, staff, account = uuid4(), uuid4(), uuid4()
    clerk, fan = Caller.at_till(device, staff, Role.CLERK), Caller.fan(account)
    assert (clerk.principal, clerk.channel) == (f"device:{device}", Channel.TILL)
    assert (fan.principal, fan.channel) == (f"account:{account}", Channel.ONLINE)
    sees = {role: Caller.at_till(device, staff, role).sees_all for role in Role}
    acts = {role: Caller.at_till(device, staff, role).acts_for_all for role in Role}
    assert {role for role, yes in sees.items() if yes} == {Role.OPS, Role.SUPERVISOR, Role.ADMIN}
    assert {role for role, yes in acts.items() if yes} == {Role.SUPERVISOR, Role.ADMIN}


def test_a_batch_is_flattened_in_order() -> None:
    asks = [
        HoldAsk(1, f"p{n}", "online", "k", b"d", UUID(int=n), None, None, seats)
        for n, seats in enumerate([(4, 5), (9,), (1, 2, 3)])
    ]
    assert columns(asks)[-3:] == ([1, 3, 4], [2, 1, 3], [4, 5, 9, 1, 2, 3])


def _of_constraint(name: str) -> asyncpg.PostgresError:
    error = asyncpg.UniqueViolationError("broken")
    error.constraint_name = name
    return error


def _encoding() -> BaseException:
    error = asyncpg.InterfaceError("argument")
    error.__cause__ = UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (_of_constraint("seat_sold_once"), errors.SeatsTakenError),
        (_of_constraint("one_charge_at_a_time"), errors.PaymentRunningError),
        (_of_constraint("hold_in_one_order"), errors.HoldNotOpenError),
        (_of_constraint("hold_key_once"), errors.BusyError),
        (_of_constraint("tickets_pk"), None),
        (asyncpg.LockNotAvailableError("55P03"), errors.BusyError),
        (asyncpg.QueryCanceledError("57014"), errors.BusyError),
        (asyncpg.DeadlockDetectedError("40P01"), errors.BusyError),
        (asyncpg.SerializationError("40001"), errors.BusyError),
        (asyncpg.TooManyConnectionsError("53300"), errors.BusyError),
        (TimeoutError(), errors.BusyError),
        (asyncpg.ConnectionDoesNotExistError("gone"), errors.AuthorityAwayError),
        (asyncpg.AdminShutdownError("57P01"), errors.AuthorityAwayError),
        (asyncpg.CannotConnectNowError("57P03"), errors.AuthorityAwayError),
        (asyncpg.ReadOnlySQLTransactionError("25006"), errors.AuthorityAwayError),
        (ConnectionResetError(), errors.AuthorityAwayError),
        (asyncpg.CharacterNotInRepertoireError("22021"), errors.InvalidRequestError),
        (_encoding(), errors.InvalidRequestError),
        (asyncpg.UndefinedTableError("ours"), None),
        (ZeroDivisionError(), None),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_postgresql_errors_have_one_translation(error: BaseException, expected: type[BookingError] | None) -> None:
    translated = as_booking_error(error)
    assert type(translated) is (expected or type(None))


def test_what_repeats_is_not_what_is_lost() -> None:
    assert may_repeat(_of_constraint("idempotency_key_once"))
    assert not may_repeat(_of_constraint("seat_sold_once"))
    assert is_connection_lost(BrokenPipeError())
    assert not is_connection_lost(TimeoutError())
    assert not is_connection_lost(asyncpg.DeadlockDetectedError("40P01"))
