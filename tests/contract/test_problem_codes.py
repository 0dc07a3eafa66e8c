"""Every refusal of the booking system has a code that the wire knows, and a status."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from backend_client import wire
from backend_client.wire import ErrorCode
from booking.domain.errors import BookingError, FieldFault, SeatsTakenError
from booking.domain.model import SeatRef
from booking.web import problems
from booking.web.problems import STATUS_AND_TITLE, internal_problem, problem_of, problem_response


def all_errors(parent: type[BookingError] = BookingError) -> Iterator[type[BookingError]]:
    yield parent
    for child in parent.__subclasses__():
        yield from all_errors(child)


@pytest.mark.parametrize("error", sorted(all_errors(), key=str))
def test_each_error_has_a_code_of_the_wire_and_a_status(error: type[BookingError]) -> None:
    assert ErrorCode(error.code) in STATUS_AND_TITLE


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_of_the_wire_is_in_the_table_with_an_error_status(code: ErrorCode) -> None:
    status, title = STATUS_AND_TITLE[code]
    assert 400 <= status < 600
    assert title


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_is_carried_by_an_error_class(code: ErrorCode) -> None:
    assert code in {error.code for error in all_errors()}


def test_a_conflict_names_all_lost_seats_and_each_wrong_field() -> None:
    error = SeatsTakenError(
        "Two are gone.",
        seats=(SeatRef(3, "Stalls", "A", "4"), SeatRef(4, "Stalls", "A", "5")),
        fields=(FieldFault("/seats/0", "taken"),),
    )

    problem = problem_of(error, "request-1")

    assert problem == wire.Problem(
        type="urn:taquilla:problem:seats-taken",
        title=problem.title,
        status=409,
        code=ErrorCode.SEATS_TAKEN,
        detail="Two are gone.",
        request_id="request-1",
        fields=(wire.FieldProblem(pointer="/seats/0", message="taken"),),
        seats=(
            wire.SeatRef(seat_no=3, section="Stalls", row="A", number="4"),
            wire.SeatRef(seat_no=4, section="Stalls", row="A", number="5"),
        ),
    )


@pytest.mark.parametrize(
    "code", [ErrorCode.BUSY, ErrorCode.AUTHORITY_AWAY, ErrorCode.KEY_IN_PROGRESS, ErrorCode.TOO_MANY_ATTEMPTS]
)
def test_whatever_helps_to_repeat_says_when(code: ErrorCode) -> None:
    error = next(kind for kind in all_errors() if kind.code == code)("later")

    response = problem_response(problem_of(error, "request-1"))

    assert int(response.headers["retry-after"]) >= 1
    assert msgspec.json.decode(bytes(response.body), type=wire.Problem).retry_after_s == int(
        response.headers["retry-after"]
    )


def test_an_unforeseen_failure_tells_its_request_id_and_nothing_else() -> None:
    response = problem_response(internal_problem("request-1"))

    assert response.status_code == 500
    assert response.headers["content-type"] == wire.PROBLEM_MEDIA_TYPE
    problem = msgspec.json.decode(bytes(response.body), type=wire.Problem)
    assert (problem.code, problem.request_id) == (ErrorCode.INTERNAL, "request-1")
    assert "Traceback" not in problem.detail


def test_web_errors_are_told_apart_from_the_domains() -> None:
    assert problems.UnknownAddressError("x").code == ErrorCode.NOT_FOUND
    assert problems.MethodNotAllowedError("GET").allowed == "GET"
