"""What a plan calls its places: the parts of a seat's name, as the booking system answers them too (`SeatRef`)."""

from __future__ import annotations

from typing import Final

from backend_client.wire import Plan, SeatRef

TABLE: Final = "table"
BOOTH: Final = "booth"


def row_kinds(plan: Plan) -> dict[int, str]:
    """By its number, what each row of the plan is that is none: `TABLE` or `BOOTH`."""
    return {row_no: table.kind for table in plan.tables for row_no in (table.row_no, *table.more_rows)}


def seat_ref(plan: Plan, seat_no: int) -> SeatRef:
    """Section, row and number of a seat, and what its row is."""
    row_no = plan.seats.row_no[seat_no]
    row = plan.rows[row_no]
    return SeatRef(
        seat_no=seat_no,
        section=plan.sections[row.section_no].name,
        row=row.label,
        number=plan.seats.number[seat_no],
        row_kind=row_kinds(plan).get(row_no, ""),
    )
