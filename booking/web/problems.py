"""One table: error code → HTTP status and title; and the `application/problem+json` answers made from it (RFC 9457).

Every `BookingError` carries a code of `wire.ErrorCode`; a test holds both sides to this table. Unknown failures become
`internal` without a word about their cause: the log has the trace under the same request id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from starlette.responses import Response

from backend_client import wire
from backend_client.wire import ErrorCode
from booking.domain.errors import BookingError, InvalidRequestError, NotFoundError, RequestError

STATUS_AND_TITLE: Mapping[ErrorCode, tuple[int, str]] = {
    ErrorCode.INVALID_REQUEST: (422, "The request is not valid"),
    ErrorCode.NOT_FOUND: (404, "There is nothing at this address"),
    ErrorCode.METHOD_NOT_ALLOWED: (405, "This address does not do that"),
    ErrorCode.BODY_TOO_LARGE: (413, "The request body is too large"),
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: (415, "The request body must be application/json"),
    ErrorCode.NOT_SIGNED_IN: (401, "Sign in first"),
    ErrorCode.TOKEN_EXPIRED: (401, "The access token has expired"),
    ErrorCode.WRONG_CREDENTIALS: (401, "Name or password is wrong"),
    ErrorCode.TOO_MANY_ATTEMPTS: (429, "Too many failed attempts to sign in"),
    ErrorCode.FORBIDDEN: (403, "Your role may not do this"),
    ErrorCode.KEY_MISSING: (400, "The Idempotency-Key header is missing"),
    ErrorCode.KEY_REUSED: (409, "The idempotency key was used for another request"),
    ErrorCode.KEY_IN_PROGRESS: (409, "A request with this key is still being worked on"),
    ErrorCode.EVENT_NOT_FOUND: (404, "There is no such event"),
    ErrorCode.EVENT_NOT_ON_SALE: (409, "The event is not on sale"),
    ErrorCode.SEAT_UNKNOWN: (422, "The plan has no such seat"),
    ErrorCode.SEATS_TAKEN: (409, "Seats were taken by somebody else"),
    ErrorCode.ACCOUNT_LIMIT: (409, "The ticket limit of this account is reached"),
    ErrorCode.OPEN_HOLD_EXISTS: (409, "An earlier hold is still open"),
    ErrorCode.HOLD_NOT_FOUND: (404, "There is no such hold"),
    ErrorCode.HOLD_EXPIRED: (409, "The hold has expired"),
    ErrorCode.HOLD_NOT_OPEN: (409, "The hold is no longer open"),
    ErrorCode.TOO_LITTLE_TIME: (409, "Too little time is left to start paying"),
    ErrorCode.PAYING_CAP_REACHED: (409, "Too many seats of this event are being paid right now"),
    ErrorCode.PRICE_UNKNOWN: (422, "There is no such price for this seat"),
    ErrorCode.PRICE_CHANGED: (409, "The total is not what was shown"),
    ErrorCode.ORDER_NOT_FOUND: (404, "There is no such order"),
    ErrorCode.ORDER_NOT_PAYABLE: (409, "The order cannot be paid in its state"),
    ErrorCode.ORDER_NOT_CANCELLABLE: (409, "The order cannot be cancelled in its state"),
    ErrorCode.PAYMENT_RUNNING: (409, "Another payment of this order is running"),
    ErrorCode.AMOUNT_MISMATCH: (409, "The amount is not that of the order"),
    ErrorCode.TENDERED_TOO_LITTLE: (422, "The money given does not cover the amount"),
    ErrorCode.OPERATION_NOT_FOUND: (404, "There is no such payment operation"),
    ErrorCode.OPERATION_NOT_YOURS: (403, "Another device opened this payment operation"),
    ErrorCode.RESULT_CONFLICT: (409, "Another result was reported before"),
    ErrorCode.PRINT_JOB_NOT_FOUND: (404, "There is no such print job"),
    ErrorCode.PRINT_JOB_CONFLICT: (409, "The print job has ended in another state"),
    ErrorCode.TICKET_NOT_FOUND: (404, "There is no such ticket"),
    ErrorCode.SEAT_ORPHANED: (409, "This choice would leave a single seat"),
    ErrorCode.NO_BLOCK_LEFT: (409, "There are no such seats beside each other"),
    ErrorCode.TIER_UNKNOWN: (422, "The event has no such tier"),
    ErrorCode.TIER_SOLD_OUT: (409, "The places of this tier are sold out"),
    ErrorCode.TIER_IN_HOLDS: (409, "All places left are in holds and may come back"),
    ErrorCode.CARD_LIMIT: (409, "The ticket limit of this card is reached"),
    ErrorCode.ACCESS_CODE_REFUSED: (409, "The access code does not open this sale"),
    ErrorCode.RATE_LIMITED: (429, "Too many requests"),
    ErrorCode.HOUSE_HOLD_NOT_FOUND: (404, "There is no such house hold"),
    ErrorCode.SETTINGS_CHANGED: (409, "Somebody else changed the settings"),
    ErrorCode.EVENT_STATE_CONFLICT: (409, "The event is not in the state for this"),
    ErrorCode.PLAN_CONFLICT: (409, "The new plan lacks seats that are taken"),
    ErrorCode.PLAN_CHANGED: (409, "Somebody else saved another version of this plan"),
    ErrorCode.CAPACITY_TOO_SMALL: (409, "More places are taken than the new capacity holds"),
    ErrorCode.EVENT_HAS_NO_ROOM: (409, "The event has no waiting room that could be paused"),
    ErrorCode.REFUND_TOO_MUCH: (409, "More would go back than was taken"),
    ErrorCode.TICKET_NOT_REFUNDABLE: (409, "The money of this ticket cannot go back"),
    ErrorCode.ITEM_NOT_FOUND: (404, "There is no such reconciliation item"),
    ErrorCode.ITEM_CHANGED: (409, "Somebody else has changed this item"),
    ErrorCode.ACTION_NOT_ALLOWED: (409, "The state of the item does not allow this"),
    ErrorCode.SECOND_PERSON_NEEDED: (403, "Another person has to decide this"),
    ErrorCode.RUN_NOT_FOUND: (404, "There is no such comparison"),
    ErrorCode.ALARM_NOT_FOUND: (404, "There is no such alarm"),
    ErrorCode.UNKNOWN_EXPONENT: (422, "How this provider counts this currency is not known"),
    ErrorCode.INEXACT_AMOUNT: (422, "The provider cannot count this amount"),
    ErrorCode.WEBHOOK_REFUSED: (400, "The event is not the provider's"),
    ErrorCode.ADMISSION_REQUIRED: (403, "This event is sold through its waiting room"),
    ErrorCode.ADMISSION_REFUSED: (403, "The admission token is not good here"),
    ErrorCode.REGISTRATION_REFUSED: (403, "The queue is for those who have registered"),
    ErrorCode.BOT_CHECK_FAILED: (403, "Whoever joins was not found to be a person"),
    ErrorCode.PLACE_NOT_FOUND: (404, "The account has no place in this queue"),
    ErrorCode.QUEUE_CLOSED: (409, "The queue takes nobody any more"),
    ErrorCode.BUSY: (503, "The service is busy"),
    ErrorCode.AUTHORITY_AWAY: (503, "The booking database cannot be reached"),
    ErrorCode.INTERNAL: (500, "Something went wrong on our side"),
}

_RETRY_AFTER_S: Mapping[ErrorCode, int] = {
    ErrorCode.BUSY: 1,
    ErrorCode.AUTHORITY_AWAY: 2,
    ErrorCode.KEY_IN_PROGRESS: 1,
    ErrorCode.TOO_MANY_ATTEMPTS: 30,
    ErrorCode.RATE_LIMITED: 1,
}


class UnknownAddressError(NotFoundError):
    """No route has this address."""

    code = "not-found"


class MethodNotAllowedError(RequestError):
    """The address exists, the method does not. `allowed` goes into the Allow header."""

    code = "method-not-allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This address knows {allowed}.")
        self.allowed = allowed


class BodyTooLargeError(RequestError):
    """The body is longer than its route accepts."""

    code = "body-too-large"


class BodyLateError(InvalidRequestError):
    """The body stopped coming. The connection is closed after the answer: its rest would be taken for a request."""


class UnsupportedMediaTypeError(RequestError):
    """A body came as something else than JSON in UTF-8."""

    code = "unsupported-media-type"


class KeyMissingError(RequestError):
    """A mutating call came without `Idempotency-Key` (R6)."""

    code = "key-missing"


def problem_of(error: BookingError, request_id: str) -> wire.Problem:
    """The problem that says `error`; `retry_after_s` is set whenever trying again can help."""
    code = ErrorCode(error.code)
    status, title = STATUS_AND_TITLE[code]
    wait_s = error.retry_after_s if error.retry_after_s is not None else _RETRY_AFTER_S.get(code)
    return wire.Problem(
        type=f"urn:taquilla:problem:{code}",
        title=title,
        status=status,
        code=code,
        detail=error.detail,
        request_id=request_id,
        fields=tuple(
            wire.FieldProblem(pointer=f.pointer, message=f.message, says=f.says, values=f.values) for f in error.fields
        ),
        seats=tuple(msgspec.convert(seat, wire.SeatRef, from_attributes=True) for seat in error.seats),
        retry_after_s=wait_s,
        offer=tuple(msgspec.convert(seat, wire.SeatRef, from_attributes=True) for seat in error.offer),
    )


def internal_problem(request_id: str) -> wire.Problem:
    """What a caller learns of a failure that nobody foresaw: its request id, nothing else."""
    status, title = STATUS_AND_TITLE[ErrorCode.INTERNAL]
    return wire.Problem(
        type=f"urn:taquilla:problem:{ErrorCode.INTERNAL}",
        title=title,
        status=status,
        code=ErrorCode.INTERNAL,
        detail="Give the request id to support.",
        request_id=request_id,
    )


def problem_response(problem: wire.Problem, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """The answer with its media type, and `Retry-After` and `WWW-Authenticate` where they belong."""
    named = dict(headers)
    if problem.retry_after_s is not None:
        named["Retry-After"] = str(problem.retry_after_s)
    if problem.status == 401:
        named["WWW-Authenticate"] = "Bearer"
    return Response(msgspec.json.encode(problem), problem.status, headers=named, media_type=wire.PROBLEM_MEDIA_TYPE)
