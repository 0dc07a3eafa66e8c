"""What people see from a seat: images that come with a plan, bounded, named after what it has, kept by its versions."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from app.models.seat_view import view_from
from backend_client import wire
from booking.domain.seating_plan.document import document_of_body, encode_body, encode_document, plan_of_document
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import Category, LabelPosition, Row, Seat, SeatingPlan, SeatView, Section
from booking.domain.seating_plan.numbering import number_as_before
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.views import MAX_VIEW_BYTES, MAX_VIEWS, media_type_of, views_of_files
from booking.services import plan_command

PLAN_ID = UUID(int=7)
JPEG = b"\xff\xd8\xff\xe0 a picture"
PNG = b"\x89PNG\r\n\x1a\n another"
WEBP = b"RIFF\x10\x00\x00\x00WEBPVP8 "


def hall(*names: str) -> SeatingPlan:
    seats = tuple(Seat(name, str(place), 20.0 * place, 10.0, 0) for place, name in enumerate(names, start=1))
    row = Row("A", seats, LabelPosition.BOTH)
    return SeatingPlan("Hall", 500.0, 300.0, (Category("Stalls", "#336699"),), (Section("Stalls", (row,)),))


PLAN = replace(
    hall("A1", "A2", "A3"), views=(SeatView("image/jpeg", JPEG, "Stalls"), SeatView("image/png", PNG, "", ("A2",)))
)


def own(**views: object) -> PlanReading:
    value = json.loads(write_own(hall("A1", "A2", "A3")))
    value["views"] = [views]
    return read_plan(json.dumps(value).encode())


def codes(reading: PlanReading) -> list[tuple[str, FindingCode]]:
    return [(fault.pointer, fault.code) for fault in reading.faults]


def test_the_wire_has_them_and_the_console_finds_that_of_a_seat() -> None:
    plan = msgspec.json.decode(encode_document(PLAN, PLAN_ID, 1), type=wire.Plan, strict=True)
    assert [(view.media_type, view.section, view.guids) for view in plan.views] == [
        ("image/jpeg", "Stalls", ()),
        ("image/png", "", ("A2",)),
    ]
    assert [view_from(plan, seat) for seat in range(3)] == [JPEG, PNG, JPEG]
    assert view_from(msgspec.structs.replace(plan, views=plan.views[1:]), 0) == b""


def test_a_plan_without_views_has_the_document_that_it_had() -> None:
    assert b"views" not in encode_document(hall("A1"), PLAN_ID, 1)


def test_they_go_through_the_document_and_our_own_format_unchanged() -> None:
    assert plan_of_document(encode_document(PLAN, PLAN_ID, 1)) == PLAN
    reading = read_plan(write_own(PLAN))
    assert reading.faults == ()
    assert reading.plan == PLAN


def test_a_new_version_keeps_them_with_their_seats() -> None:
    """Seats get other numbers (I4); views go by guid."""
    before = document_of_body(encode_body(PLAN), PLAN_ID, 1)
    later = replace(hall("A0", "A2", "A1"), views=PLAN.views)
    numbered = document_of_body(number_as_before(encode_body(later), before), PLAN_ID, 2)
    plan = msgspec.json.decode(numbered, type=wire.Plan)
    seats = {guid: number for number, guid in enumerate(plan.seats.guid)}
    assert view_from(plan, seats["A2"]) == PNG
    assert view_from(plan, seats["A0"]) == JPEG


@pytest.mark.parametrize(("image", "kind"), [(JPEG, "image/jpeg"), (PNG, "image/png"), (WEBP, "image/webp"), (b"", "")])
def test_images_are_known_by_what_they_hold(image: bytes, kind: str) -> None:
    assert media_type_of(image) == kind


def test_each_fault_is_told_at_its_place() -> None:
    image = b64encode(JPEG).decode()
    assert codes(own(image=image, section="Balcony")) == [("/views/0", FindingCode.UNKNOWN_VALUE)]
    assert codes(own(image=image, seats=["A1", "Z9"])) == [("/views/0", FindingCode.UNKNOWN_VALUE)]
    assert codes(own(image=image)) == [("/views/0/section", FindingCode.MEMBER_MISSING)]
    assert codes(own(image="%%%", section="Stalls")) == [("/views/0/image", FindingCode.UNKNOWN_VALUE)]
    svg = b64encode(b"<svg onload='x'/>").decode()
    assert codes(own(image=svg, section="Stalls")) == [("/views/0", FindingCode.UNKNOWN_VALUE)]
    big = b64encode(JPEG + bytes(MAX_VIEW_BYTES)).decode()
    assert codes(own(image=big, section="Stalls")) == [("/views/0", FindingCode.FILE_TOO_LARGE)]
    assert codes(own(image="https://example.org/a.jpg", section="Stalls")) == [
        ("/views/0/image", FindingCode.UNKNOWN_VALUE)
    ]


def test_two_views_of_one_seat_are_refused() -> None:
    value = json.loads(write_own(PLAN))
    value["views"].append(value["views"][1])
    assert codes(read_plan(json.dumps(value).encode())) == [("/views/2", FindingCode.MEMBER_REPEATS)]


def test_files_beside_a_plan_are_named_as_its_sections_and_seats() -> None:
    findings = Findings()
    views = views_of_files(hall("A1", "A2"), {"Stalls.jpg": JPEG, "A2.png": PNG}, findings)
    assert findings.faults == []
    assert views == (SeatView("image/png", PNG, "", ("A2",)), SeatView("image/jpeg", JPEG, "Stalls"))
    views_of_files(hall("A1"), {"Pit.jpg": JPEG}, findings)
    assert [fault.pointer for fault in findings.faults] == ["Pit.jpg"]
    assert views_of_files(hall("A1"), {f"{n}.jpg": JPEG for n in range(MAX_VIEWS + 1)}, findings) == ()


def test_the_command_takes_them_from_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "hall.json"
    plan.write_bytes(write_own(hall("A1", "A2")))
    folder = tmp_path / "views"
    folder.mkdir()
    (folder / "Stalls.JPG").write_bytes(JPEG)
    (folder / "notes.txt").write_text("not an image")
    assert plan_command.main(["check", str(plan), "--views", str(folder)]) == plan_command.DONE
    (folder / "Gallery.jpg").write_bytes(JPEG)
    assert plan_command.main(["check", str(plan), "--views", str(folder), "--json"]) == plan_command.FOUND_FAULTS
    assert "Gallery.jpg" in capsys.readouterr().out
    assert plan_command.main(["check", str(plan), "--views", str(tmp_path / "none")]) == plan_command.WRONG_USE
