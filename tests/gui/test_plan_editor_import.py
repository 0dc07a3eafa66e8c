"""Plan files of other formats in the console: what is in them, what may be mended, what is told at a save (I3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.actions.load_plan import note_of
from app.core.plan_faults import faults_of, may_be_saved
from app.core.plan_work import PlanOrigin, PlanWork, empty_plan
from app.screens.plan_import_dialog import REPAIR_WORDS, ImportPlanDialog
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, FieldProblem, PlanFile, PlanFileReport
from booking.domain.errors import InvalidRequestError
from booking.domain.seating_plan.repairs import DEFAULT_REPAIRS, Repair
from booking.services.check_plan_file import look_at_plan_file
from booking.web.handlers.plans import report_of
from tests.fixtures.plans import SHARED
from tests.gui.conftest import QLoop, rest, until
from tests.gui.plan_stage import VENUE, choose_file, dialog_of, editor_of

FAULTY = {
    "name": "Hall",
    "zones": [
        {
            "name": "Parterre",
            "position": {"x": 0, "y": 0},
            "rows": [
                {
                    "row_number": "A",
                    "position": {"x": 0, "y": 0},
                    "seats": [
                        {"seat_guid": guid, "seat_number": number, "category": "Stalls", "position": {"x": x, "y": 10}}
                        for guid, number, x in (("a", "1", 10), ("a", "2", 40), ("c", "", 70))
                    ],
                }
            ],
        }
    ],
    "categories": [{"name": "Stalls", "color": "#1f77b4"}],
    "size": {"width": 100, "height": 100},
}
"""In the format of pretix: one guid twice, and a seat without a number."""


def real_reader(file: PlanFile) -> PlanFileReport:
    """As the booking system reads."""
    try:
        return report_of(look_at_plan_file(file.data, file.name, file.repairs, file.seat_pattern))
    except InvalidRequestError as error:
        fields = tuple(FieldProblem(pointer=one.pointer, message=one.message) for one in error.fields)
        raise RefusalError(ErrorCode.INVALID_REQUEST, fields=fields) from error


async def offered(showcase: Showcase, path: Path) -> ImportPlanDialog:
    """The dialog about a file, once it was looked at."""
    showcase.server.plans.reader = real_reader
    showcase.console.window.screens.plans.import_requested.emit()
    await choose_file(path)
    dialog = await dialog_of(ImportPlanDialog, "the report")
    await until(lambda: bool(dialog.counts.text()) or "danger" in str(dialog.verdict.property("tone")), "the reading")
    return dialog


def lines(dialog: ImportPlanDialog) -> list[str]:
    plain = str.maketrans("", "", "\u2066\u2069")
    return [dialog.findings.item(row).text().translate(plain) for row in range(dialog.findings.count())]


def test_a_faulty_file_is_mended_by_choice_and_what_was_mended_is_told(qloop: QLoop, tmp_path: Path) -> None:
    (tmp_path / "hall.json").write_text(json.dumps(FAULTY))

    async def scene() -> None:
        async with editor_of(tmp_path, hall=False) as (showcase, editor, work):
            dialog = await offered(showcase, tmp_path / "hall.json")
            assert dialog.counts.text() == "pretix · 3 seats · 1 section · 1 price category"
            assert dialog.verdict.text().startswith("2 faults: the file cannot be taken.")
            assert not dialog.yes.isEnabled()
            assert [line.split("\n")[0] for line in lines(dialog)] == [
                "✕ /zones/0/rows/0/seats/1/seat_guid", "✕ /zones/0/rows/0/seats/2/seat_number",
            ]  # fmt: skip
            shown = [name for name, box in dialog.repairs.items() if box.isVisible()]
            assert shown == ["make-guids", "number-seats"]
            dialog.repairs["number-seats"].click()
            await until(lambda: dialog.verdict.text().startswith("1 fault"), "the second reading")
            dialog.repairs["make-guids"].click()
            await until(dialog.yes.isEnabled, "a right file")
            assert dialog.verdict.text() == "2 things were mended; it is kept with the plan"
            assert set(showcase.server.plans.looked_at[-1].repairs or ()) == {
                "make-guids", "number-seats", *DEFAULT_REPAIRS,
            }  # fmt: skip
            dialog.yes.click()
            await until(lambda: work.draft.seat_count == 3, "the draft")
            await rest(showcase)
            assert [seat.number for row in work.draft.rows for seat in row.seats] == ["1", "2", "3"]
            assert len({seat.guid for row in work.draft.rows for seat in row.seats}) == 3
            work.origin = PlanOrigin(VENUE.venue_id, VENUE.name)
            work.choose(work.selection)
            editor.show_work()
            await until(editor.save.isEnabled, "a right plan")
            editor.save.click()
            await until(lambda: not work.is_changed, "the version")
            await rest(showcase)
            (note,) = showcase.server.plans.notes
            assert note is not None
            assert (note.format, sorted(note.repair_counts)) == ("pretix", ["guid-generated", "seat-numbered"])
            assert [repair.pointer for repair in note.repairs] == sorted(repair.pointer for repair in note.repairs)
            assert work.origin_note is None  # told once

    qloop.run(scene())


def test_what_was_mended_outlives_the_console() -> None:
    report = real_reader(PlanFile(data=json.dumps(FAULTY).encode(), repairs=("make-guids", "number-seats")))
    work, again = PlanWork(), PlanWork()
    work.begin(work.draft, work.origin, saved=False, note=note_of(report))
    again.unpack(work.pack())
    assert again.origin_note == work.origin_note
    assert again.origin_note is not None


def test_the_pattern_of_a_drawing_is_typed_and_trouble_is_said(qloop: QLoop, tmp_path: Path) -> None:
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"><circle id="x_S_A_1" cx="9" cy="9" r="4"/></svg>'
    (tmp_path / "hall.svg").write_text(drawing)

    async def scene() -> None:
        async with editor_of(tmp_path, hall=False) as (showcase, _editor, work):
            dialog = await offered(showcase, tmp_path / "hall.svg")
            assert dialog.pattern.isVisible()
            assert not dialog.yes.isEnabled()
            QTest.keyClicks(dialog.pattern, "seat")
            await until(lambda: "{" in dialog.verdict.text(), "the refusal of the pattern")
            dialog.pattern.clear()
            QTest.keyClicks(dialog.pattern, "x_{section}_{row}_{number}")
            await until(dialog.yes.isEnabled, "a right pattern")
            showcase.server.fail(Fault.UNREACHABLE, "/plan-files", times=9)
            dialog.pattern.textEdited.emit("")
            await until(lambda: not dialog.yes.isEnabled() and dialog.report is None, "the trouble")
            await until(lambda: dialog.verdict.property("tone") == "danger", "the words")
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
            await rest(showcase)
            assert work.draft.seat_count == 0

    qloop.run(scene())


def test_every_repair_has_words() -> None:
    assert REPAIR_WORDS.keys() == set(Repair)


EXPECTED = {
    "audience1st-csv__valid_seatmap.csv": ("CSV · 4 seats · 1 section · 1 price category", 0),
    "pretix-schema__seatmap-canvas-stadium.json": ("pretix · 738 seats · 2 sections · 5 price categories", 0),
    "seatsio__sampleChart.json": ("seats.io · 32 seats · 200 standing places · 1 section · 3 price categories", 0),
    "seatsio__sampleChartWithErrors.json": (
        "seats.io · 32 seats · 200 standing places · 1 section · 2 price categories", 3,
    ),
    "seatsio__sampleChartWithSections.json": ("seats.io · 71 seats · 2 sections · 2 price categories", 0),
    "seatsio__sampleChartWithTables.json": ("seats.io · 12 seats · 1 section · 2 price categories", 0),
    "tessitura-svg__amazing-venue.svg": ("SVG · 152 seats · 12 sections · 1 price category", 0),
}  # fmt: skip


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public plans (../shared/plans) are not here")
def test_each_public_plan_shows_its_counts_and_faults_and_goes_into_the_editor(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path, hall=False) as (showcase, editor, work):
            for name, (counts, faults) in EXPECTED.items():
                work.begin(empty_plan(), PlanOrigin(), saved=True)
                dialog = await offered(showcase, SHARED / name)
                assert dialog.counts.text() == counts
                assert sum(line.startswith("✕") for line in lines(dialog)) == faults
                if "stadium" in name:
                    assert any("738 seats have 318 distinct" in line for line in lines(dialog))
                    assert dialog.repairs["uuid-for-guid"].isChecked()
                if faults:
                    assert not dialog.yes.isEnabled()
                    for repair in ("number-seats", "add-categories"):
                        dialog.repairs[repair].click()
                await until(dialog.yes.isEnabled, "a right file")
                seats = 0 if dialog.report is None else dialog.report.seats
                dialog.yes.click()
                await until(lambda wanted=seats: work.draft.seat_count == wanted, "the draft")  # type: ignore[misc]
                await rest(showcase)
                assert may_be_saved(faults_of(work.draft))
                assert work.is_changed
                editor.canvas.grab()

    qloop.run(scene())
