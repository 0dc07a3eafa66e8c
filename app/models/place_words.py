"""Places in words: rows, tables, booths and seats, alone and several at once. No other module composes such names.

The booking system and the plan say what a row is (`SeatRef.row_kind`); a kind that is not known is a row.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.i18n import _, figures
from backend_client.plan_names import BOOTH, TABLE
from backend_client.wire import HeldPlaces, SeatRef


def row_name(label: str, kind: str = "") -> str:
    """`Row A`, `Table T2`, `Booth B1`; empty where the plan gives no label."""
    if not label:
        return ""
    if kind == TABLE:
        return _("Table {name}").format(name=label)
    if kind == BOOTH:
        return _("Booth {name}").format(name=label)
    return _("Row {row}").format(row=label)


def rows_between(first: str, last: str, first_kind: str = "", last_kind: str = "") -> str:
    """`Rows A – C`, `Tables T1 – T9`, or `Row K – Table T1`; one of them alone where there is but one."""
    if (first, first_kind) == (last, last_kind) or not (first and last):
        return row_name(first, first_kind) if first == last else ""
    if first_kind != last_kind:
        return f"{row_name(first, first_kind)} – {row_name(last, last_kind)}"
    if first_kind == TABLE:
        return _("Tables {first} – {last}").format(first=first, last=last)
    if first_kind == BOOTH:
        return _("Booths {first} – {last}").format(first=first, last=last)
    return _("Rows {first} – {last}").format(first=first, last=last)


def seat_name(seat: SeatRef) -> str:
    """`Stalls · Row A · Seat 12`, `Floor · Table T2 · Seat 3`; parts that the plan leaves out are left out."""
    return figures().joined(seat_parts(seat))


def seat_parts(seat: SeatRef) -> list[str]:
    """`Stalls`, `Row A`, `Seat 12`, those that the plan has; a seat without any goes by its place in the plan."""
    parts = [part for part in (seat.section, *_in_section(seat, seat.number)) if part]
    return parts or [_seat_number(str(seat.seat_no + 1))]


def seat_in_section(seat: SeatRef) -> str:
    """`Row A · Seat 12`: the name of a seat whose section is said beside it; the whole name where that is all."""
    return figures().joined(_in_section(seat, seat.number)) if seat.number else seat_name(seat)


def seat_names(seats: tuple[SeatRef, ...]) -> str:
    """Several seats in one sentence."""
    return figures().names([seat_name(seat) for seat in seats])


def short_seats(seats: tuple[SeatRef, ...]) -> str:
    """`Row A · Seat 3, 4`, for a narrow place: the first row and its seats; more rows end in an ellipsis."""
    if not seats:
        return ""
    alike = [seat for seat in seats if _row_of(seat) == _row_of(seats[0])]
    *row, numbers = _together(alike)
    return figures().joined((*row, numbers + "…" if len(alike) < len(seats) else numbers))


def short_places(places: HeldPlaces) -> str:
    """`3 × Standing`, for a narrow place."""
    return f"{figures().number(places.quantity)} × {places.name}"


def grouped_seats(seats: tuple[SeatRef, ...]) -> str:
    """`Stalls · Row A · Seat 3, 4`, one line a row, for seats that are many."""
    rows: dict[tuple[str, str, str], list[SeatRef]] = {}
    for seat in seats:
        rows.setdefault(_row_of(seat), []).append(seat)
    return "\n".join(figures().joined((alike[0].section, *_together(alike))) for alike in rows.values())


def _row_of(seat: SeatRef) -> tuple[str, str, str]:
    return seat.section, seat.row, seat.row_kind


def _together(seats: Sequence[SeatRef]) -> list[str]:
    """Seats of one row: `Row A`, `Seat 3, 4`."""
    return _in_section(seats[0], figures().listed(seat.number or str(seat.seat_no + 1) for seat in seats))


def _in_section(seat: SeatRef, numbers: str) -> list[str]:
    """Row and seat, those that there are. A booth that has its name from its one seat is called by that."""
    if seat.row_kind == BOOTH and not seat.row:
        return [row_name(numbers, BOOTH)]
    return [part for part in (row_name(seat.row, seat.row_kind), _seat_number(numbers)) if part]


def _seat_number(numbers: str) -> str:
    return _("Seat {seat}").format(seat=numbers) if numbers else ""
