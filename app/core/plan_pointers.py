"""From a place in a plan file to the thing of the draft that was written there: a refusal leads to what it is about."""

from __future__ import annotations

from app.core.plan_draft import NOTHING, PlanDraft, Selection


def selection_at(draft: PlanDraft, pointer: str) -> Selection:
    """What stands at `/plan/sections/0/rows/1/seats/2/number` and the like; nothing where nothing is drawn."""
    steps = [step for step in pointer.split("/") if step]
    if steps[:1] == ["plan"]:
        steps = steps[1:]
    places = {name: int(value) for name, value in zip(steps[::2], steps[1::2], strict=False) if value.isdecimal()}
    if "sections" in places:
        return _in_section(draft, places)
    for name, keys in (
        ("areas", [shape.shape_id for shape in draft.shapes]),
        ("standing", [area.area.shape_id for area in draft.standing]),
        ("pictures", [picture.picture_id for picture in draft.pictures]),
    ):
        if places.get(name, len(keys)) < len(keys):
            return Selection(shapes=frozenset({keys[places[name]]}))
    return NOTHING


def _in_section(draft: PlanDraft, places: dict[str, int]) -> Selection:
    if places["sections"] >= len(draft.sections):
        return NOTHING
    rows = draft.rows_of(draft.sections[places["sections"]].section_id)
    if places.get("rows", len(rows)) >= len(rows):
        return Selection(frozenset(row.row_id for row in rows))
    row = rows[places["rows"]]
    if places.get("seats", len(row.seats)) < len(row.seats):
        return Selection(seats=frozenset({row.seats[places["seats"]].guid}))
    return Selection(frozenset({row.row_id}))
