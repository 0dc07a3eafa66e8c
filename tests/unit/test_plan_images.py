"""Views from seats and pictures under the drawing go through the plan editor unharmed (R13, I3)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.core import plan_edits as edits
from app.core.errors import PlanFileError
from app.core.plan_draft import PlanDraft, Selection
from app.core.plan_file import plan_body, read_plan, write_plan
from app.core.plan_work import PlanOrigin, PlanWork
from booking.domain.seating_plan.formats import read_plan as read_any_plan
from booking.domain.seating_plan.own_writer import write_own

Json = dict[str, Any]  # Any: a JSON value
DOCS = Path(__file__).parents[2] / "docs"
IMAGE = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()


def guids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"new-{next(numbers)}"


def documented_plan() -> Json:
    """The example of the format's page, with the members that it leaves out: every member of the format."""
    page = (DOCS / "seating-plan-format.md").read_text(encoding="utf-8")
    plan: Json = json.loads(page.split("```json\n")[1].split("```")[0])
    plan["$schema"] = "seating-plan.schema.json"
    shapes: list[Json] = [
        {"shape": "circle", "position": {"x": 30, "y": 30}, "circle": {"radius": 5}, "floor": 1},
        {"shape": "polygon", "position": {"x": 9, "y": 9}, "polygon": {"points": [{"x": n, "y": n * n} for n in range(3)]}},  # noqa: E501
        {"shape": "text", "position": {"x": 50, "y": 50}, "text": {"text": "Bar", "position": {"x": 0, "y": 0}, "size": 12}},  # noqa: E501
    ]  # fmt: skip
    plan["areas"] += shapes
    plan["views"] += [
        {"seats": ["s-a-1", "s-a-2"], "image": IMAGE},
        {"section": "Balcony", "seats": ["b-a-1"], "image": IMAGE},
    ]
    return plan


def opened() -> PlanDraft:
    return read_plan(json.dumps(documented_plan()).encode(), guids())


def members_of(value: object) -> set[str]:
    """The names of all members, however deep."""
    if isinstance(value, list):
        return set().union(*(members_of(item) for item in value))
    return set(value).union(*(members_of(item) for item in value.values())) if isinstance(value, dict) else set()


def properties_of(schema: object) -> set[str]:
    """The names of all members that a JSON Schema knows."""
    if isinstance(schema, list):
        return set().union(*(properties_of(item) for item in schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("properties", {})
    return set(own).union(*(properties_of(item) for item in schema.values()), *map(properties_of, own.values()))


def without_noughts(value: object) -> object:
    """Without a rotation of 0, which says what holds anyway."""
    if isinstance(value, list):
        return [without_noughts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: without_noughts(item) for name, item in value.items() if name != "rotation" or item != 0}


def views_of(draft: PlanDraft) -> list[tuple[str | None, list[str] | None]]:
    return [(view.get("section"), view.get("seats")) for view in plan_body(draft).get("views", [])]


def test_the_plan_of_these_tests_has_every_member_of_the_format() -> None:
    schema = json.loads((DOCS / "seating-plan.schema.json").read_text(encoding="utf-8"))
    wanted = properties_of(schema) - {"properties"}
    assert {"views", "pictures", "opacity", "$schema", "start_direction", "polygon", "whole"} <= wanted
    assert wanted - members_of(documented_plan()) == set()


def test_a_plan_with_every_member_of_the_format_is_written_as_it_was_read() -> None:
    written = json.loads(write_plan(opened()))
    assert without_noughts(written) == without_noughts(documented_plan())
    assert written["views"] == documented_plan()["views"]
    assert written["pictures"] == documented_plan()["pictures"]


def test_the_booking_system_reads_the_same_plan_from_what_the_editor_wrote() -> None:
    before = read_any_plan(json.dumps(documented_plan()).encode())
    after = read_any_plan(write_plan(opened()))
    assert before.plan is not None
    assert after.plan == before.plan
    assert len(before.plan.views) == 3
    assert len(before.plan.pictures) == 1
    again = read_plan(write_own(before.plan), guids())
    assert [(view.guids, view.image) for view in again.views] == [(view.guids, view.image) for view in opened().views]


# ---------------------------------------------------------------- edits


def test_the_view_of_a_section_follows_its_new_name_and_back() -> None:
    work = PlanWork()
    work.begin(opened(), PlanOrigin(), saved=True)
    before = views_of(work.draft)
    work.edit(edits.rename_section(work.draft, work.draft.sections[0].section_id, " Parterre "))
    assert views_of(work.draft) == [("Parterre", None), *before[1:]]
    reading = read_any_plan(write_plan(work.draft))
    assert (reading.faults, reading.plan and reading.plan.views[0].section) == ((), "Parterre")
    assert read_plan(write_plan(work.draft), guids()).views == work.draft.views
    work.undo()
    assert views_of(work.draft) == before
    assert not work.is_changed


def test_the_view_of_a_seat_goes_with_it_and_comes_back_with_it() -> None:
    work = PlanWork()
    work.begin(opened(), PlanOrigin(), saved=True)
    before = views_of(work.draft)
    work.edit(edits.remove(work.draft, Selection(seats=frozenset({"s-a-1"}))))
    assert views_of(work.draft) == [("Stalls", None), (None, ["s-a-2"]), ("Balcony", ["b-a-1"])]
    work.edit(edits.remove(work.draft, Selection(seats=frozenset({"s-a-2"}))))
    assert views_of(work.draft) == [("Stalls", None), ("Balcony", ["b-a-1"])]
    assert read_any_plan(write_plan(work.draft)).faults == ()
    work.undo()
    work.undo()
    assert views_of(work.draft) == before


def test_rows_made_shorter_and_removed_take_the_views_of_their_seats_along() -> None:
    draft = opened()
    first = draft.rows[0]
    assert views_of(edits.set_seat_count(draft, first.row_id, 1, guids()))[1] == (None, ["s-a-1"])
    assert edits.set_seat_count(draft, first.row_id, 5, guids()).views == draft.views
    left = edits.remove(draft, Selection(frozenset({first.row_id})))
    assert views_of(left) == [("Stalls", None), ("Balcony", ["b-a-1"])]


def test_a_removed_section_takes_its_views_along_and_never_makes_one_of_a_seat_its_own() -> None:
    draft = opened()
    stalls, balcony = (section.section_id for section in draft.sections)
    assert views_of(edits.remove_section(draft, stalls)) == [("Balcony", ["b-a-1"])]
    seat_gone = edits.remove(draft, Selection(seats=frozenset({"b-a-1"})))
    assert views_of(seat_gone) == views_of(draft)[:2]
    moved = edits.move_to_section(draft, [draft.rows[-1].row_id], stalls)
    assert views_of(edits.remove_section(moved, balcony))[2] == (None, ["b-a-1"])


def test_other_edits_and_copies_leave_views_and_pictures_alone() -> None:
    draft = opened()
    everything = Selection(
        frozenset(row.row_id for row in draft.rows), shapes=frozenset(one.shape_id for one in draft.all_shapes)
    )
    copied, _chosen = edits.duplicate(draft, everything, 0, 150, guids())
    for after in (
        copied,
        edits.move(draft, everything, 5, 5),
        edits.rename_plan(draft, "Another"),
        edits.remove(draft, Selection(shapes=everything.shapes)),
    ):
        assert after != draft
        assert (after.views, after.pictures, after.schema) == (draft.views, draft.pictures, draft.schema)


def test_a_kept_draft_has_them_again(tmp_path: Path) -> None:
    work, again = PlanWork(), PlanWork()
    work.begin(opened(), PlanOrigin(), saved=False)
    (tmp_path / "draft").write_bytes(work.pack())
    again.unpack((tmp_path / "draft").read_bytes())
    assert again.draft == work.draft
    assert plan_body(again.draft)["views"] == documented_plan()["views"]


def test_a_draft_kept_by_an_earlier_console_is_read_without_them() -> None:
    work, again = PlanWork(), PlanWork()
    work.begin(opened(), PlanOrigin(), saved=False)
    packed = json.loads(work.pack())
    for name in ("views", "pictures", "schema"):
        del packed["draft"][name]
    again.unpack(json.dumps(packed).encode())
    assert again.draft == replace(work.draft, views=(), pictures=(), schema="")


# ---------------------------------------------------------------- what cannot be carried


@pytest.mark.parametrize(
    ("pointer", "member", "value", "says"),
    [
        ([], "lighting", [], "unknown field `lighting`"),
        (["sections", 0, "rows", 0, "seats", 0], "armrest", 1, "unknown field `armrest`"),
        (["sections", 0, "rows", 1, "table"], "cloth", "red", "unknown field `cloth`"),
        (["areas", 0, "text"], "font", "serif", "unknown field `font`"),
        (["pictures", 0], "rotation", 3, "unknown field `rotation`"),
        (["views", 0], "caption", "x", "unknown field `caption`"),
        (["views", 0], "section", "Gallery", 'no section "Gallery" - at `$.views[0].section`'),
        (["views", 1], "seats", ["nobody"], 'no seat "nobody" - at `$.views[1].seats`'),
        (["sections", 0, "rows", 0, "seats", 0], "marks", ["throne"], "Invalid enum value 'throne'"),
    ],
)
def test_a_plan_with_what_a_draft_would_lose_is_not_opened(
    pointer: list[str | int], member: str, value: object, says: str
) -> None:
    plan = documented_plan()
    place: Any = plan
    for step in pointer:
        place = place[step]
    place[member] = value
    with pytest.raises(PlanFileError) as refused:
        read_plan(json.dumps(plan).encode(), guids())
    assert says in str(refused.value)
