"""The verb `plan check`: what a person reads, what a script reads, and the exit codes (design §9)."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from backend_client import wire
from booking.services import plan_command
from tests.fixtures.plans import FOLDER


def run(*arguments: str) -> int:
    return plan_command.main(arguments)


def fixture(name: str) -> str:
    return str(FOLDER / f"{name}.json")


def test_a_sound_plan_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", fixture("valid")) == 0
    out = capsys.readouterr().out
    assert "5 seats in 1 sections" in out
    assert "can be imported" in out


def test_i3_a_refused_plan_lists_every_fault_in_order_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", fixture("everything_of_i3")) == 1
    lines = capsys.readouterr().out.splitlines()
    pointers = [line.split(":")[0].strip() for line in lines[2:11]]
    assert pointers == sorted(pointers)
    assert pointers[0] == "/zones/0/rows/0/seats/0/seat_number"
    assert "9 faults" in lines[-2]
    assert lines[-1] == (
        "Some can be mended: --repair add-categories --repair drop-empty --repair make-guids --repair numbers-as-text"
    )


def test_the_json_report_has_the_keys_that_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", fixture("everything_of_i3"), "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        "format", "seats", "ga_capacity", "sections", "categories", "faults", "warnings", "repairs",
    ]  # fmt: skip
    assert (report["format"], report["seats"], report["ga_capacity"]) == ("pretix", 7, 0)
    assert all(fault.keys() - {"repair"} == {"pointer", "code", "message"} for fault in report["faults"])


def test_repairs_are_made_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", fixture("guid_missing"), "--json") == 1
    assert json.loads(capsys.readouterr().out)["repairs"] == []
    assert run("check", fixture("guid_missing"), "--json", "--repair") == 0
    assert [item["code"] for item in json.loads(capsys.readouterr().out)["repairs"]] == ["guid-generated"] * 2


def test_a_bare_repair_means_all_of_them_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--repair", fixture("guid_missing"), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["repairs"]) == 2


def test_a_fault_offers_the_repair_that_would_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", fixture("guid_missing"), "--json") == 1
    assert {fault["repair"] for fault in json.loads(capsys.readouterr().out)["faults"]} == {"make-guids"}
    assert run("check", fixture("guid_missing"), "--json", "--repair", "drop-empty") == 1
    capsys.readouterr()
    assert run("check", fixture("guid_missing"), "--json", "--repair", "make-guids") == 0
    repairs = json.loads(capsys.readouterr().out)["repairs"]
    assert [(item["code"], item["repair"]) for item in repairs] == [("guid-generated", "make-guids")] * 2


def test_what_was_derived_is_shown_for_correction(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FOLDER / "csv/list.csv")
    assert run("check", file, "--json") == 0
    derived = json.loads(capsys.readouterr().out)["derived"]
    assert derived["focal_point"] == {"x": 50.5, "y": 0, "from": "upper-edge"}
    assert (derived["rows"], derived["row_parts"]) == (2, 3)
    assert derived["divided_rows"] == [{"section": "Stalls", "row": "A", "parts": [2, 2]}]
    assert derived["standing"] == [{"name": "Pit", "capacity": 50}]
    assert run("check", file, "--json", "--focal=-5,3.5") == 0
    corrected = json.loads(capsys.readouterr().out)["derived"]["focal_point"]
    assert corrected == {"x": -5, "y": 3.5, "from": "corrected"}
    assert run("check", file) == 0
    text = capsys.readouterr().out
    assert "Stalls, row A: 2 + 2" in text
    assert "--focal X,Y corrects it" in text


def test_a_pattern_and_a_format_can_be_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "Grand hall.svg"
    file.write_text('<svg xmlns="http://www.w3.org/2000/svg"><circle id="A_1" cx="5" cy="5" r="2"/></svg>')
    assert run("check", str(file), "--json") == 1
    assert [fault["code"] for fault in json.loads(capsys.readouterr().out)["faults"]] == ["no-seats"]
    assert run("check", str(file), "--json", "--seat-pattern", "{row}_{number}") == 0
    assert json.loads(capsys.readouterr().out)["seats"] == 1
    assert run("check", str(file), "--json", "--format", "csv-grid") == 1
    assert json.loads(capsys.readouterr().out)["format"] == "csv-grid"


def test_a_file_that_is_not_there_is_wrong_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("check", str(tmp_path / "none.json")) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "none.json" in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["check"],
        ["burn", "x.json"],
        ["import", fixture("valid"), "--venue", "Hall", "--zone", "Europe/Lisbon"],
        ["export", "not-a-uuid", "--dsn", "postgresql:///x"],
        ["check", fixture("valid"), "--repair=renumber"],
        ["check", fixture("valid"), "--focal", "middle"],
        ["check", fixture("valid"), "--focal", "1e9,0"],
        ["check", fixture("valid"), "--seat-pattern", "{row}"],
        ["check", fixture("valid"), "--format", "docx"],
    ],
)
def test_wrong_use_exits_2(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TAQUILLA_DSN", raising=False)
    with pytest.raises(SystemExit) as leaving:
        run(*arguments)
    assert leaving.value.code == 2
    assert "usage: taquilla plan" in capsys.readouterr().err


def test_a_refused_plan_never_reaches_the_database() -> None:
    unreachable = "postgresql://127.0.0.1:1/none"
    where = ("--venue", "Hall", "--zone", "Europe/Lisbon", "--dsn", unreachable)
    assert run("import", fixture("guid_missing"), *where) == 1


def test_an_unreachable_database_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    unreachable = "postgresql://127.0.0.1:1/none"
    where = ("--venue", "Hall", "--zone", "Europe/Lisbon", "--dsn", unreachable)
    assert run("import", fixture("valid"), *where) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "taquilla plan:" in captured.err


def test_warnings_that_come_by_the_hundred_are_counted_for_people(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = json.loads((FOLDER / "valid.json").read_bytes())
    plan["zones"][0]["rows"][0] |= {f"member {number}": 1 for number in range(50)}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    assert run("check", str(file)) == 0
    out = capsys.readouterr().out
    assert out.count("[unknown-member]") == 11
    assert "40 more" in out


def test_a_sound_plan_is_written_as_consoles_are_given_it_and_a_faulty_one_not_at_all(tmp_path: Path) -> None:
    sound, faulty = tmp_path / "sound.json", tmp_path / "faulty.json"
    assert run("check", fixture("valid"), "--document", str(sound)) == 0
    plan = msgspec.json.decode(sound.read_bytes(), type=wire.Plan)
    assert (len(plan.seats.x), len(plan.sections), plan.version) == (5, 1, 1)
    assert run("check", fixture("everything_of_i3"), "--document", str(faulty)) == 1
    assert not faulty.exists()
    assert run("check", fixture("valid"), "--document", str(tmp_path / "no" / "folder.json")) == 2
