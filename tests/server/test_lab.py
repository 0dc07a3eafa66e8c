"""The lab (R37): each experiment comes out as the document says, on a real PostgreSQL, and harms nobody's database."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from booking.lab import command, general_admission, hold_expiry, seat_ways
from booking.lab.own_functions import OwnExperiments
from booking.lab.place import OWN_SCHEMA, SCHEMA, given_place, with_search_path

NOBODY_THERE = "postgresql://nobody@127.0.0.1:1/none"


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = command.DONE) -> Any:
    """The verb with `--json`, after checking its exit code."""
    assert command.main([*words, "--json"]) == code, capsys.readouterr()
    return json.loads(capsys.readouterr().out)


async def schemas_of(dsn: str) -> set[str]:
    link = await asyncpg.connect(dsn)
    try:
        rows = await link.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'taquilla%'")
    finally:
        await link.close()
    return {row["nspname"] for row in rows}


async def execute(dsn: str, text: str) -> None:
    link = await asyncpg.connect(dsn)
    try:
        await link.execute(text)
    finally:
        await link.close()


# ---------------------------------------------------------------- what the document shows


@pytest.mark.parametrize("mode", ["naive", "for-update-autocommit"])
def test_reading_and_then_writing_sells_one_seat_to_several_and_ours_does_not(
    mode: str, empty_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = run(capsys, mode, "8", "--dsn", empty_dsn)
    assert told["winners"] == told["results"]["booked"] == told["bookings"] > 1
    assert told["ours"] == {
        "buyers": 8, "winners": 1, "results": {"held": 1, "seats-taken": 7}, "seconds": told["ours"]["seconds"],
        "breaches": 0, "as_expected": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "win", "lose"),
    [
        ("for-update", "booked", "taken"),
        ("conditional", "held", "taken"),
        ("optimistic", "booked", "conflict"),
        ("unique-index", "booked", "error: UniqueViolation"),
    ],
)
def test_the_sound_ways_sell_one_seat_once(
    mode: str, win: str, lose: str, empty_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = run(capsys, mode, "6", "--dsn", empty_dsn)
    assert (told["mode"], told["buyers"], told["winners"], told["results"][win]) == (mode, 6, 1, 1)
    # A buyer who reads late finds the seat sold already; everybody else loses in the way of the experiment.
    assert told["results"].get(lose, 0) + (told["results"].get("taken", 0) if lose != "taken" else 0) == 5
    assert told["bookings"] == (0 if mode == "conditional" else 1)
    assert told["seconds"] > 0


async def test_an_expired_hold_is_taken_over_and_its_owner_pays_too_late(empty_dsn: str) -> None:
    """B4, F1: by the predicate alone; there is no sweeper anywhere near."""
    async with given_place(empty_dsn) as place, OwnExperiments.open(place.own) as own:
        documents = await hold_expiry.let_a_hold_expire(place.documents, ttl_s=0.4, wait_s=0.5)
        ours = await own.let_a_hold_expire(ttl_s=1, wait_s=1.1)
    steps = {"held": 2, "not free": 1, "payment refused": 1, "sold": 1}
    assert (documents.good, documents.results, documents.lines[-1]) == (True, steps, "('sold', 'buyer-B')")
    assert (ours.as_expected, ours.results, ours.breaches) == (True, steps, 0)
    words = ("hold until", "seat not free", "hold until", "payment refused (refund the charge)", "payment accepted")
    for lines in (documents.lines, ours.lines[1:]):
        assert all(part in line for part, line in zip(words, lines, strict=False))


async def test_a_hold_that_did_not_expire_is_not_as_expected(empty_dsn: str) -> None:
    async with given_place(empty_dsn) as place:
        found = await hold_expiry.let_a_hold_expire(place.documents, ttl_s=30, wait_s=0)
    assert not found.good
    assert found.results == {"held": 1, "not free": 2, "payment refused": 1, "sold": 1}


def test_neither_way_of_places_without_numbers_oversells(empty_dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, general_admission.MODE, "60", "--dsn", empty_dsn)
    assert (told["capacity"], told["winners"], told["results"]) == (30, 30, {"sold": 30, "sold out": 30})
    counter, rows = told["ways"]["one counter row"], told["ways"]["SKIP LOCKED"]
    assert (counter["sold"], counter["counter"], counter["rows_sold"]) == (30, 30, 0)
    assert (rows["sold"], rows["counter"], rows["rows_sold"]) == (30, 0, 30)
    assert (told["ours"]["winners"], told["ours"]["results"]) == (30, {"held": 30, "tier-in-holds": 30})


def test_ours_alone_is_an_experiment_too(empty_dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "ours", "20", "--dsn", empty_dsn)
    assert (told["mode"], told["winners"], told["breaches"]) == ("ours", 1, 0)
    assert told["results"] == {"held": 1, "seats-taken": 19}


def test_the_table_is_the_documents(empty_dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["for-update", "3", "--dsn", empty_dsn]) == command.DONE
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert re.fullmatch(r"for-update   buyers=3  time=\d+\.\d\ds  results=\{'booked': 1, 'taken': 2\}", lines[0])
    assert re.fullmatch(r" {13}bookings rows for A1: 1  first=(buyer-0\d)  seat now: sold by \1", lines[1])
    assert lines[2].startswith("ours         buyers=3  time=")
    assert "each buyer is a task with a connection of its own" in err


def test_without_a_dsn_it_runs_on_a_cluster_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "conditional", "4")
    assert (told["winners"], told["ours"]["winners"]) == (1, 1)


def test_all_runs_every_experiment(
    empty_dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hold_expiry, "TTL_S", 1.0)
    monkeypatch.setattr(hold_expiry, "WAIT_S", 1.1)
    monkeypatch.setattr(general_admission, "BUYERS", 40)
    told = run(capsys, "all", "4", "--dsn", empty_dsn)
    assert [one["mode"] for one in told] == list(command.EXPERIMENTS)
    assert all(one["as_expected"] and one["ours"]["as_expected"] for one in told)


# ---------------------------------------------------------------- what it says when it is not so


def test_a_way_that_does_not_keep_its_promise_is_exit_code_1(
    empty_dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check can fail: FOR UPDATE without its lock is the naive way, and is found out."""
    broken = replace(seat_ways.WAYS["naive"], oversells=False)
    monkeypatch.setitem(as_dict(seat_ways.WAYS), "for-update", broken)
    told = run(capsys, "for-update", "6", "--dsn", empty_dsn, code=command.FOUND_WRONG)
    assert told["winners"] > 1
    assert told["as_expected"] is False


def as_dict(ways: Mapping[str, seat_ways.Way]) -> dict[str, seat_ways.Way]:
    assert isinstance(ways, dict)
    return ways


# ---------------------------------------------------------------- whose database


def test_a_database_with_taquillas_tables_is_refused_and_left_alone(
    dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["naive", "2", "--dsn", dsn]) == command.WRONG_USE
    assert "Taquilla's own tables are in the schema 'public'" in capsys.readouterr().err


async def test_the_labs_schemas_are_gone_at_the_end_and_those_of_a_killed_lab_are_replaced(empty_dsn: str) -> None:
    async with given_place(empty_dsn):
        assert await schemas_of(empty_dsn) == {SCHEMA, OWN_SCHEMA}
        await execute(with_search_path(empty_dsn, OWN_SCHEMA), "CREATE TABLE order_holds (); CREATE TABLE left_over ()")
    assert await schemas_of(empty_dsn) == set()
    leftover = f"CREATE SCHEMA {SCHEMA}; COMMENT ON SCHEMA {SCHEMA} IS 'made by taquilla lab; dropped when it ends'"
    await execute(empty_dsn, leftover)
    async with given_place(empty_dsn):
        assert await schemas_of(empty_dsn) == {SCHEMA, OWN_SCHEMA}


def test_a_schema_that_the_lab_did_not_make_is_left_alone(empty_dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(execute(empty_dsn, f"CREATE SCHEMA {SCHEMA}; CREATE TABLE {SCHEMA}.precious ()"))
    assert command.main(["naive", "2", "--dsn", empty_dsn]) == command.WRONG_USE
    assert "it is left alone" in capsys.readouterr().err
    asyncio.run(execute(empty_dsn, f"SELECT FROM {SCHEMA}.precious"))


async def test_two_labs_do_not_share_a_database(empty_dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with given_place(empty_dsn):
        code = await asyncio.to_thread(command.main, ["naive", "2", "--dsn", empty_dsn])
    assert code == command.UNREACHABLE
    assert "another lab is running" in capsys.readouterr().err


# ---------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    "words",
    [
        [], ["nave"], ["naive", "0"], ["naive", "-3"], ["naive", "501"], ["naive", "many"], ["naive", "1.5"],
        ["general-admission", "1"], ["general-admission", "100001"], ["naive", "5", "6"],
    ],
)  # fmt: skip
def test_wrong_use_is_exit_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == command.WRONG_USE
    assert "taquilla lab: error:" in capsys.readouterr().err


@pytest.mark.parametrize("dsn", ["host=localhost dbname=x", "mysql://a/b", ""])
def test_an_address_of_something_else_is_exit_code_2(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["naive", "2", "--dsn", dsn]) == command.WRONG_USE
    assert "postgresql://" in capsys.readouterr().err


def test_nobody_at_the_dsn_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["naive", "2", "--dsn", NOBODY_THERE]) == command.UNREACHABLE
    assert "no PostgreSQL answers there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("postgresql:///lab?host=/run/x", f"postgresql:///lab?host=%2Frun%2Fx&search_path={SCHEMA}"),
        ("postgresql://a:b@h:5/lab", f"postgresql://a:b@h:5/lab?search_path={SCHEMA}"),
        ("postgresql://h/lab?search_path=public", f"postgresql://h/lab?search_path={SCHEMA}"),
    ],
)
def test_sessions_see_the_labs_schema_only(dsn: str, expected: str) -> None:
    assert with_search_path(dsn, SCHEMA) == expected
