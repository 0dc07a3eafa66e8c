"""What the box office refuses, by blame.

    BookingError                      code, detail, seats, fields, retry_after_s
    ├── RequestError                  the request itself is wrong; sending it again does not help
    │   ├── InvalidRequestError       invalid-request
    │   ├── SeatUnknownError          seat-unknown
    │   ├── PriceUnknownError         price-unknown
    │   ├── TenderedTooLittleError    tendered-too-little
    │   ├── TierUnknownError          tier-unknown
    │   ├── CurrencyNotTakenError     unknown-exponent
    │   ├── AmountNotTakenError       inexact-amount
    │   └── WebhookRefusedError       webhook-refused
    ├── AccessError                   who calls may not do this
    │   ├── NotSignedInError          not-signed-in
    │   ├── TokenExpiredError         token-expired
    │   ├── WrongCredentialsError     wrong-credentials
    │   ├── TooManyAttemptsError      too-many-attempts
    │   ├── ForbiddenError            forbidden
    │   ├── SecondPersonNeededError   second-person-needed
    │   ├── OperationNotYoursError    operation-not-yours
    │   ├── AdmissionRequiredError    admission-required
    │   ├── AdmissionRefusedError     admission-refused
    │   ├── RegistrationRefusedError  registration-refused
    │   └── BotCheckFailedError       bot-check-failed
    ├── NotFoundError                 there is no such thing for this caller
    │   ├── EventNotFoundError        event-not-found
    │   ├── HoldNotFoundError         hold-not-found
    │   ├── OrderNotFoundError        order-not-found
    │   ├── OperationNotFoundError    operation-not-found
    │   ├── PrintJobNotFoundError     print-job-not-found
    │   ├── TicketNotFoundError       ticket-not-found
    │   ├── HouseHoldNotFoundError    house-hold-not-found
    │   ├── ItemNotFoundError         item-not-found
    │   ├── RunNotFoundError          run-not-found
    │   ├── AlarmNotFoundError        alarm-not-found
    │   └── PlaceNotFoundError        place-not-found
    ├── ConflictError                 right as such, but not as things stand
    │   ├── KeyReusedError            key-reused
    │   ├── EventNotOnSaleError       event-not-on-sale
    │   ├── SeatsTakenError           seats-taken
    │   ├── AccountLimitError         account-limit
    │   ├── OpenHoldExistsError       open-hold-exists
    │   ├── CardLimitError            card-limit
    │   ├── AccessCodeRefusedError    access-code-refused
    │   ├── SeatOrphanedError         seat-orphaned
    │   ├── NoBlockLeftError          no-block-left
    │   ├── TierSoldOutError          tier-sold-out
    │   ├── TierInHoldsError          tier-in-holds
    │   ├── SettingsChangedError      settings-changed
    │   ├── EventStateConflictError   event-state-conflict
    │   ├── PlanConflictError         plan-conflict
    │   ├── PlanChangedError          plan-changed
    │   ├── CapacityTooSmallError     capacity-too-small
    │   ├── EventHasNoRoomError       event-has-no-room
    │   ├── RefundTooMuchError        refund-too-much
    │   ├── TicketNotRefundableError  ticket-not-refundable
    │   ├── ItemChangedError          item-changed
    │   ├── ActionNotAllowedError     action-not-allowed
    │   ├── HoldExpiredError          hold-expired
    │   ├── HoldNotOpenError          hold-not-open
    │   ├── TooLittleTimeError        too-little-time
    │   ├── PayingCapReachedError     paying-cap-reached
    │   ├── PriceChangedError         price-changed
    │   ├── OrderNotPayableError      order-not-payable
    │   ├── OrderNotCancellableError  order-not-cancellable
    │   ├── PaymentRunningError       payment-running
    │   ├── AmountMismatchError       amount-mismatch
    │   ├── ResultConflictError       result-conflict
    │   ├── PrintJobConflictError     print-job-conflict
    │   └── QueueClosedError          queue-closed
    └── UnavailableError              not now; the same key may be sent again after `retry_after_s`
        ├── KeyInProgressError        key-in-progress
        ├── RateLimitedError          rate-limited
        ├── BusyError                 busy
        └── AuthorityAwayError        authority-away

Codes are those of the wire and never change; texts may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from booking.domain.model import SeatRef


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One thing wrong with one field; `pointer` is a JSON pointer into the body, or `header:Name`, `query:name`.

    Of a seating plan, `says` names the sentence (seating_plan/sayings.py) and `values` are what stands in it.
    """

    pointer: str
    message: str
    says: str = ""
    values: dict[str, str | int | float] = field(default_factory=dict, hash=False)


class BookingError(Exception):
    """Base of all refusals.

    `seats` names every seat that was lost, `fields` every field that is wrong, `offer` the nearest block instead.
    """

    code: ClassVar[str] = "internal"

    def __init__(
        self,
        detail: str = "",
        *,
        seats: tuple[SeatRef, ...] = (),
        fields: tuple[FieldFault, ...] = (),
        retry_after_s: int | None = None,
        offer: tuple[SeatRef, ...] = (),
    ) -> None:
        super().__init__(detail or self.code)
        self.detail = detail
        self.seats = seats
        self.fields = fields
        self.retry_after_s = retry_after_s
        self.offer = offer


class RequestError(BookingError):
    code = "invalid-request"


class InvalidRequestError(RequestError):
    code = "invalid-request"


class SeatUnknownError(RequestError):
    code = "seat-unknown"


class PriceUnknownError(RequestError):
    code = "price-unknown"


class TenderedTooLittleError(RequestError):
    code = "tendered-too-little"


class TierUnknownError(RequestError):
    code = "tier-unknown"


class CurrencyNotTakenError(RequestError):
    """How the provider counts this currency is not in the table, so it is not asked (P22)."""

    code = "unknown-exponent"


class AmountNotTakenError(RequestError):
    """The provider counts in steps that have no exact form of this amount (P21)."""

    code = "inexact-amount"


class WebhookRefusedError(RequestError):
    """Not signed by the provider, signed too long ago, or no event at all (P12, P31)."""

    code = "webhook-refused"


class AccessError(BookingError):
    code = "forbidden"


class NotSignedInError(AccessError):
    code = "not-signed-in"


class TokenExpiredError(AccessError):
    code = "token-expired"


class WrongCredentialsError(AccessError):
    code = "wrong-credentials"


class TooManyAttemptsError(AccessError):
    code = "too-many-attempts"


class ForbiddenError(AccessError):
    code = "forbidden"


class SecondPersonNeededError(AccessError):
    """Who asked for an act above the limit cannot approve it."""

    code = "second-person-needed"


class OperationNotYoursError(AccessError):
    code = "operation-not-yours"


class AdmissionRequiredError(AccessError):
    """The event is sold through its waiting room, and the call carries no admission token (R18)."""

    code = "admission-required"


class AdmissionRefusedError(AccessError):
    """The admission token lets nobody in here. `reason` is one word, and stands in the answer beside its header."""

    code = "admission-refused"

    def __init__(self, detail: str = "", *, reason: str = "refused") -> None:
        super().__init__(detail, fields=(FieldFault("header:Admission-Token", reason),))
        self.reason = reason


class RegistrationRefusedError(AccessError):
    """The queue is for those who have registered, and this code is none of theirs (R21)."""

    code = "registration-refused"


class BotCheckFailedError(AccessError):
    """Whoever joins was not found to be a person (R21)."""

    code = "bot-check-failed"


class NotFoundError(BookingError):
    code = "not-found"


class EventNotFoundError(NotFoundError):
    code = "event-not-found"


class HoldNotFoundError(NotFoundError):
    code = "hold-not-found"


class OrderNotFoundError(NotFoundError):
    code = "order-not-found"


class OperationNotFoundError(NotFoundError):
    code = "operation-not-found"


class PrintJobNotFoundError(NotFoundError):
    code = "print-job-not-found"


class TicketNotFoundError(NotFoundError):
    code = "ticket-not-found"


class HouseHoldNotFoundError(NotFoundError):
    code = "house-hold-not-found"


class ItemNotFoundError(NotFoundError):
    code = "item-not-found"


class RunNotFoundError(NotFoundError):
    code = "run-not-found"


class AlarmNotFoundError(NotFoundError):
    code = "alarm-not-found"


class PlaceNotFoundError(NotFoundError):
    """The account has no place in this queue."""

    code = "place-not-found"


class ConflictError(BookingError):
    code = "internal"


class KeyReusedError(ConflictError):
    code = "key-reused"


class EventNotOnSaleError(ConflictError):
    code = "event-not-on-sale"


class SeatsTakenError(ConflictError):
    code = "seats-taken"


class AccountLimitError(ConflictError):
    code = "account-limit"


class OpenHoldExistsError(ConflictError):
    code = "open-hold-exists"


class CardLimitError(ConflictError):
    code = "card-limit"


class AccessCodeRefusedError(ConflictError):
    code = "access-code-refused"


class SeatOrphanedError(ConflictError):
    code = "seat-orphaned"


class NoBlockLeftError(ConflictError):
    code = "no-block-left"


class TierSoldOutError(ConflictError):
    code = "tier-sold-out"


class TierInHoldsError(ConflictError):
    code = "tier-in-holds"


class SettingsChangedError(ConflictError):
    code = "settings-changed"


class EventStateConflictError(ConflictError):
    code = "event-state-conflict"


class PlanConflictError(ConflictError):
    code = "plan-conflict"


class PlanChangedError(ConflictError):
    code = "plan-changed"


class CapacityTooSmallError(ConflictError):
    code = "capacity-too-small"


class EventHasNoRoomError(ConflictError):
    code = "event-has-no-room"


class RefundTooMuchError(ConflictError):
    """`detail` names what can still go back, in minor units (P18)."""

    code = "refund-too-much"


class TicketNotRefundableError(ConflictError):
    code = "ticket-not-refundable"


class ItemChangedError(ConflictError):
    code = "item-changed"


class ActionNotAllowedError(ConflictError):
    code = "action-not-allowed"


class HoldExpiredError(ConflictError):
    code = "hold-expired"


class HoldNotOpenError(ConflictError):
    code = "hold-not-open"


class TooLittleTimeError(ConflictError):
    code = "too-little-time"


class PayingCapReachedError(ConflictError):
    code = "paying-cap-reached"


class PriceChangedError(ConflictError):
    code = "price-changed"


class OrderNotPayableError(ConflictError):
    code = "order-not-payable"


class OrderNotCancellableError(ConflictError):
    code = "order-not-cancellable"


class PaymentRunningError(ConflictError):
    code = "payment-running"


class AmountMismatchError(ConflictError):
    code = "amount-mismatch"


class ResultConflictError(ConflictError):
    code = "result-conflict"


class PrintJobConflictError(ConflictError):
    code = "print-job-conflict"


class QueueClosedError(ConflictError):
    """The queue takes nobody any more: the event is sold out, or its sale is over."""

    code = "queue-closed"


class UnavailableError(BookingError):
    code = "busy"

    def __init__(self, detail: str = "", *, retry_after_s: int = 1) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)


class KeyInProgressError(UnavailableError):
    code = "key-in-progress"


class RateLimitedError(UnavailableError):
    code = "rate-limited"


class BusyError(UnavailableError):
    code = "busy"


class AuthorityAwayError(UnavailableError):
    code = "authority-away"


def _leaves(parent: type[BookingError]) -> dict[str, type[BookingError]]:
    found: dict[str, type[BookingError]] = {}
    for child in parent.__subclasses__():
        found |= _leaves(child) or {child.code: child}
    return found


ERROR_OF_CODE: Mapping[str, type[BookingError]] = _leaves(BookingError)
"""Code → the class that carries it. SQL functions answer with these codes."""
