"""Seats that lie over each other are told, with both places; seats that only stand close are not (case I3)."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

from booking.domain.seating_plan.drafts import RowDraft, SeatDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import Point
from booking.domain.seating_plan.overlaps import check_overlaps

Place = Callable[[int, int], tuple[float, float]]


def rows_of(count: int, seats: int, place: Place, name: str = "r") -> list[RowDraft]:
    return [
        RowDraft(
            f"/{name}/{row}", str(row),
            seats=[
                SeatDraft(f"/{name}/{row}/seats/{seat}", "", "", str(seat), Point(*place(row, seat)), 0)
                for seat in range(seats)
            ],
        )
        for row in range(count)
    ]  # fmt: skip


def found(rows: list[RowDraft]) -> Findings:
    findings = Findings()
    check_overlaps(findings, rows, "/position")
    return findings


def block(row: int, seat: int) -> tuple[float, float]:
    return seat * 25.0, row * 30.0


def test_a_block_that_was_copied_and_hardly_moved_is_told_seat_by_seat() -> None:
    rows = rows_of(4, 6, block)
    rows += rows_of(4, 6, lambda row, seat: (seat * 25.0 + 1.0, row * 30.0 + 0.4), "copy")
    warnings = found(rows).warnings
    assert [one.code for one in warnings] == [FindingCode.SEATS_OVERLAP] * 24
    assert warnings[0].pointer == "/copy/0/seats/0/position"
    assert dict(warnings[0].saying.values) == {"place": "/r/0/seats/0", "distance": 1.077, "size": 25.0}
    assert "/r/3/seats/5" in warnings[-1].message


def test_blocks_of_different_distances_side_by_side_are_sound() -> None:
    rows = rows_of(5, 8, block)
    rows += rows_of(5, 8, lambda row, seat: (300.0 + seat * 14.0, row * 15.0), "narrow")
    assert not found(rows).warnings


def test_two_seats_of_a_sofa_are_sound() -> None:
    assert not found(rows_of(3, 8, lambda row, seat: (seat // 2 * 60.0 + seat % 2 * 22.0, row * 50.0))).warnings


def test_rows_whose_seats_are_all_over_the_hall_are_sound() -> None:
    assert not found(
        rows_of(12, 12, lambda row, seat: ((seat * 5 + row) % 12 * 30.0, (row * 7 + seat * 5) % 12 * 30.0))
    ).warnings


def test_seats_at_one_point_are_left_to_their_own_fault() -> None:
    rows = [*rows_of(4, 6, block), *rows_of(1, 1, lambda row, seat: (25.0, 30.0), "same")]
    assert not found(rows).warnings


def test_one_seat_upon_a_row_is_told_once() -> None:
    rows = [*rows_of(4, 6, block), *rows_of(1, 1, lambda row, seat: (54.0, 31.0), "stray")]
    (warning,) = found(rows).warnings
    assert (warning.pointer, dict(warning.saying.values)["place"]) == ("/stray/0/seats/0/position", "/r/1/seats/2")


def test_nothing_is_said_of_no_seat_or_of_one() -> None:
    assert not found([]).warnings
    assert not found(rows_of(1, 1, block)).warnings


def test_a_heap_of_seats_costs_no_more_than_a_few_looks_at_a_hall() -> None:
    """By the processor's time in one run: a heap has every seat beside every other."""
    hall = rows_of(100, 100, block)
    heap = rows_of(100, 100, lambda row, seat: (row * 0.013, seat * 0.011))
    costs: list[float] = []
    for rows in (hall, heap):
        best = 60.0
        for _ in range(3):
            before = thread_time()
            found(rows)
            best = min(best, thread_time() - before)
        costs.append(best)
    assert costs[1] < 20 * costs[0]
