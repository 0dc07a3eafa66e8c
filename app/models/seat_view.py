"""The picture of what people see from a seat, where the plan has one."""

from __future__ import annotations

from backend_client.wire import Plan


def view_from(plan: Plan, seat_no: int) -> bytes:
    """The image file of this seat, else of its section; empty when the plan has none."""
    guid = plan.seats.guid[seat_no]
    section = plan.sections[plan.rows[plan.seats.row_no[seat_no]].section_no].name
    of_section = b""
    for view in plan.views:
        if guid in view.guids:
            return view.image
        if not view.guids and view.section == section:
            of_section = view.image
    return of_section
