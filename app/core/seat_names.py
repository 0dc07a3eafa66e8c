"""A seat of a plan as people name it."""

from __future__ import annotations

from backend_client.wire import Plan, SeatRef


def seat_ref(plan: Plan, seat_no: int) -> SeatRef:
    """Section, row and number of a seat."""
    row = plan.rows[plan.seats.row_no[seat_no]]
    section = plan.sections[row.section_no].name
    return SeatRef(seat_no=seat_no, section=section, row=row.label, number=plan.seats.number[seat_no])
