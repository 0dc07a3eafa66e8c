"""Everything that can go wrong between a client and the booking API.

    BookingClientError
    ├── NothingDoneError               the request had no effect; sending it again is safe
    │   ├── ServiceUnavailableError    not reached, or busy; `retry_after_s`       service-unavailable
    │   └── InsecureAddressError       plain HTTP to another machine is refused    insecure-address
    ├── AnswerUnknownError             it left, and no readable answer came: it may have taken effect.
    │                                  Ask again with the same key, never a new    answer-unknown
    ├── BookingRefusedError            the API said no (`problem`), nothing done   the problem's own code
    │   ├── NotSignedInError           no session, or it ended                     not-signed-in, token-expired …
    │   ├── ForbiddenError             the role or the device may not              forbidden, operation-not-yours
    │   ├── SeatsTakenError            `seats` names every seat that was lost      seats-taken
    │   ├── SeatOrphanedError          `seats` would be left single                seat-orphaned
    │   ├── HoldGoneError              the hold is over                            hold-expired, hold-not-open …
    │   └── KeyInProgressError         the first call with this key still runs     key-in-progress
    └── AnswerUnreadableError          a reading call's answer cannot be read      answer-unreadable

`code` is stable and kebab-case; branch on the class or the code, never on text. `request_id` finds the call in the
server's log.
"""

from __future__ import annotations

from backend_client.wire import ErrorCode, Problem, SeatRef


class BookingClientError(Exception):
    """Base of all."""

    code: str = "booking-client-error"

    def __init__(self, message: str, *, request_id: str = "") -> None:
        super().__init__(message)
        self.request_id = request_id


class NothingDoneError(BookingClientError):
    code = "nothing-done"


class ServiceUnavailableError(NothingDoneError):
    """`retry_after_s` is the server's word, None when it could not be reached at all."""

    code = "service-unavailable"

    def __init__(self, message: str, *, request_id: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, request_id=request_id)
        self.retry_after_s = retry_after_s


class InsecureAddressError(NothingDoneError):
    code = "insecure-address"


class AnswerUnknownError(BookingClientError):
    code = "answer-unknown"


class AnswerUnreadableError(BookingClientError):
    code = "answer-unreadable"


class BookingRefusedError(BookingClientError):
    """`problem` is what the API said."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title, request_id=problem.request_id)
        self.problem = problem
        self.code = problem.code.value

    @property
    def is_word(self) -> bool:
        """False: only who asks, or how often, was refused. It says nothing about what was asked: somebody else, or
        the same person later, may be taken; and an earlier call with the same key may have taken effect.
        """
        return self.problem.code not in _ABOUT_THE_CALLER

    @property
    def seats(self) -> tuple[SeatRef, ...]:
        """The seats that the refusal names."""
        return self.problem.seats

    @property
    def offer(self) -> tuple[SeatRef, ...]:
        """The nearest block that could be held instead, promised to nobody."""
        return self.problem.offer


class NotSignedInError(BookingRefusedError):
    """There is no session, or it ended."""


class ForbiddenError(BookingRefusedError):
    """The role or the device may not do this."""


class SeatsTakenError(BookingRefusedError):
    """`seats` names every seat that was lost."""


class SeatOrphanedError(BookingRefusedError):
    """`seats` would be left single by the hold, and the event does not allow that."""


class HoldGoneError(BookingRefusedError):
    """The hold is over."""


class KeyInProgressError(BookingRefusedError):
    """The first call with this key still runs."""


_ABOUT_THE_CALLER = frozenset({
    ErrorCode.NOT_SIGNED_IN, ErrorCode.TOKEN_EXPIRED, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMITED,
})  # fmt: skip

_CLASS_OF_CODE: dict[ErrorCode, type[BookingRefusedError]] = {
    ErrorCode.NOT_SIGNED_IN: NotSignedInError,
    ErrorCode.TOKEN_EXPIRED: NotSignedInError,
    ErrorCode.WRONG_CREDENTIALS: NotSignedInError,
    ErrorCode.FORBIDDEN: ForbiddenError,
    ErrorCode.OPERATION_NOT_YOURS: ForbiddenError,
    ErrorCode.SEATS_TAKEN: SeatsTakenError,
    ErrorCode.SEAT_ORPHANED: SeatOrphanedError,
    ErrorCode.HOLD_EXPIRED: HoldGoneError,
    ErrorCode.HOLD_NOT_OPEN: HoldGoneError,
    ErrorCode.HOLD_NOT_FOUND: HoldGoneError,
    ErrorCode.KEY_IN_PROGRESS: KeyInProgressError,
}


def refusal(problem: Problem) -> BookingRefusedError:
    """The error class that fits the problem's code."""
    return _CLASS_OF_CODE.get(problem.code, BookingRefusedError)(problem)
