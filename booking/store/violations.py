"""The one boundary where PostgreSQL's errors become errors of the box office: SQLSTATE and constraint name → error.

What a whole transaction may simply repeat (serialization, deadlock, two writers of one key) is told by
`may_repeat`; a connection that was lost, perhaps in COMMIT (G5), by `is_connection_lost`: the caller repeats with the
same key, and the key row answers what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import asyncpg
from asyncpg import exceptions

from booking.domain import errors
from booking.domain.errors import BookingError, FieldFault

BUSY_RETRY_AFTER_S = 1
AWAY_RETRY_AFTER_S = 3

_REPEATABLE = (
    exceptions.SerializationError,
    exceptions.DeadlockDetectedError,
    exceptions.InvalidCachedStatementError,
)
# Two writers of one key met: the second one finds the first one's row when it begins again.
_RACED_CONSTRAINTS = frozenset(
    {
        "hold_key_once",
        "idempotency_key_once",
        "order_number_once",
        "account_limits_pk",
        "item_open_once",
        "renewal_secret_unique",
    }
)
_OF_CONSTRAINT: Mapping[str, Callable[[], BookingError]] = {
    "seat_sold_once": lambda: errors.SeatsTakenError("A seat of this order was sold to somebody else."),
    "hold_in_one_order": lambda: errors.HoldNotOpenError("This hold is in an order already."),
    "one_charge_at_a_time": lambda: errors.PaymentRunningError("Another payment of this order is running."),
    "hold_takes_1_to_6": lambda: errors.InvalidRequestError(
        "A hold takes 1 to 6 seats.", fields=(FieldFault("/seats", "1 to 6 seats"),)
    ),
    "hold_outlasts_payment": lambda: errors.InvalidRequestError(
        "A hold has to last longer than a payment needs.",
        fields=(FieldFault("/hold_ttl_s", "must be more than the event's least time to pay (min_time_to_pay_s)"),),
    ),
    "cash_covers_amount": lambda: errors.TenderedTooLittleError("The cash does not cover the amount."),
}
_BUSY = (
    exceptions.LockNotAvailableError,
    exceptions.QueryCanceledError,
    exceptions.TooManyConnectionsError,
    exceptions.OutOfMemoryError,
)
# The server ends the session after these two, so the connection is gone as well.
_TIMED_OUT_SESSIONS = (exceptions.IdleInTransactionSessionTimeoutError, exceptions.TransactionTimeoutError)
_LOST = (
    exceptions.PostgresConnectionError,
    exceptions.CannotConnectNowError,
    exceptions.AdminShutdownError,
    exceptions.CrashShutdownError,
    exceptions.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
    # The driver, when the server's farewell crosses our request: nothing was sent.
    exceptions.InternalClientError,
    OSError,
)
_CLASSES_OF_DATA = frozenset({"22", "23"})  # data exceptions, integrity constraint violations
_UNSTORABLE = (exceptions.CharacterNotInRepertoireError, exceptions.UntranslatableCharacterError, UnicodeEncodeError)


def constraint_of(error: BaseException) -> str:
    """The name of the constraint that an error is about, or nothing."""
    return getattr(error, "constraint_name", None) or ""


def may_repeat(error: BaseException) -> bool:
    """Whether the whole transaction may be run again at once: nothing of it took effect."""
    return isinstance(error, _REPEATABLE) or (
        isinstance(error, exceptions.UniqueViolationError) and constraint_of(error) in _RACED_CONSTRAINTS
    )


def is_connection_lost(error: BaseException) -> bool:
    """Whether the connection failed: what was asked may have happened or not."""
    if isinstance(error, (ValueError, TimeoutError)):
        return False  # relatives of the classes below by accident of birth
    return isinstance(error, _LOST)


def as_booking_error(error: BaseException) -> BookingError | None:
    """The domain error for an error of the database or its driver; None for what is a mistake of ours."""
    if isinstance(error, BookingError):
        return error
    of_constraint = _OF_CONSTRAINT.get(constraint_of(error))
    if of_constraint is not None:
        return of_constraint()
    if isinstance(error, _UNSTORABLE) or isinstance(error.__cause__, UnicodeEncodeError):
        return errors.InvalidRequestError("A text holds a character that cannot be stored.")
    if isinstance(error, (*_BUSY, *_TIMED_OUT_SESSIONS, TimeoutError)) or may_repeat(error):
        return errors.BusyError("The booking database is busy.", retry_after_s=BUSY_RETRY_AFTER_S)
    if is_connection_lost(error):
        return errors.AuthorityAwayError("The booking database cannot be reached.", retry_after_s=AWAY_RETRY_AFTER_S)
    return None


def is_fault_of_data(error: BaseException) -> bool:
    """Whether what was to be stored is wrong as such, and would be tomorrow: a value, a constraint, a refusal.

    Nothing that ails the server (a full disk, a damaged index, a lost privilege), which ails all that is asked of it.
    """
    if isinstance(error, BookingError):
        return not isinstance(error, errors.UnavailableError)
    if isinstance(error, exceptions.PostgresError):
        return (error.sqlstate or "")[:2] in _CLASSES_OF_DATA
    return isinstance(error, ValueError)


@contextmanager
def domain_errors() -> Iterator[None]:
    """Raise domain errors for the database's, cause kept."""
    try:
        yield
    except BookingError:
        raise
    except Exception as error:
        translated = as_booking_error(error)
        if translated is None:
            raise
        raise translated from error
