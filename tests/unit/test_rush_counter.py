"""The counter of a rush: what its screen called sold against what is sold, its waits, and how others join a run."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from booking.domain.caller import Role
from booking.rush import command
from booking.rush.announced import Announcement
from booking.rush.conductor import Run
from booking.rush.counter import CONSOLE, Company, CounterReport, judged, read_pictures
from booking.rush.counter_report import as_html, as_json, as_words
from booking.rush.report import Verdict
from booking.rush.staff import Staffer

STARTS_AT = 1_000.0
SLOW = (10.0, 20.0)
STAFF = {
    Role.CLERK: Staffer(UUID(int=1), "clara", "her secret", "t1"),
    Role.OPS: Staffer(UUID(int=2), "otto", "his secret", "t2"),
}


def sale(number: str, at_s: float = 1.0, state: str = "DONE", **more: Any) -> dict[str, Any]:
    plain = {
        "how": "map", "began_at": STARTS_AT + at_s, "state": state, "number": number, "seats": [4, 5],
        "amount_minor": 9_000, "hold_ms": 40.0, "ticket_ms": 200.0, "refusals": [], "was_parked": False,
    }  # fmt: skip
    return {**plain, **more}


def read(*sales: dict[str, Any], really: dict[str, tuple[list[int], int]] | None = None) -> CounterReport:
    told = {"sales": list(sales), "problems": []}
    found = {"A": ([4, 5], 9_000), "B": ([6, 7], 9_000)} if really is None else really
    return judged(told, found, STARTS_AT, SLOW)


def test_a_screen_that_says_what_the_database_says_is_true() -> None:
    seen = read(sale("A"), sale("B", 12, seats=[6, 7], how="best", ticket_ms=900.0), sale("", 15, "REFUSED",
                refusals=["seats-taken", "busy"], hold_ms=70.0, seats=[], how="best"))  # fmt: skip
    assert seen.true
    assert (seen.buyers, seen.orders, seen.tickets, seen.amount_minor) == (3, 2, 4, 18_000)
    assert seen.by_way == {"map": (1, 1), "best": (2, 1)}
    assert seen.refusals == {"seats-taken": 1, "busy": 1}
    assert {name: (one.buyers, one.sold, one.ticket_max_ms) for name, one in seen.waits.items()} == {
        "before": (1, 1, 200.0), "during": (2, 1, 900.0), "after": (0, 0, None), "all": (3, 2, 900.0),
    }  # fmt: skip
    till = seen.as_sales()
    assert (till.by, till.orders, till.tickets, till.refused, till.worst_s) == (CONSOLE, 2, 4, 1, 0.9)


@pytest.mark.parametrize(
    ("really", "not_in_database", "not_on_screen"),
    [
        ({}, ["A"], []),
        ({"A": ([4], 9_000)}, ["A"], []),
        ({"A": ([4, 5], 8_999)}, ["A"], []),
        ({"A": ([4, 5], 9_000), "B": ([6], 4_500)}, [], ["B"]),
    ],
)
def test_each_difference_between_screen_and_database_is_a_fault(
    really: dict[str, tuple[list[int], int]], not_in_database: list[str], not_on_screen: list[str]
) -> None:
    seen = read(sale("A"), really=really)
    assert (seen.not_in_database, seen.not_on_screen, seen.true) == (not_in_database, not_on_screen, False)
    verdict = Verdict(Run(), 0, (), {}, company=Company(seen))
    assert not verdict.good
    assert any(number in words for words in as_words(verdict.company) for number in (*not_in_database, *not_on_screen))


def test_a_parked_payment_that_is_unclear_at_the_end_is_not_called_sold() -> None:
    seen = read(sale("A", state="UNKNOWN"), really={})
    assert (seen.true, seen.orders) == (True, 0)
    assert read(sale("A", state="UNKNOWN"), really={"A": ([4, 5], 9_000)}).not_on_screen == ["A"]


def test_two_sales_under_one_number_and_problems_of_a_console_are_faults() -> None:
    assert not read(sale("A"), sale("A"), really={"A": ([4, 5], 9_000)}).true
    assert not Company(read(sale("A"), really={"A": ([4, 5], 9_000)}), (), ("the windows stood still",)).good
    assert Company().good


def test_the_report_shows_pictures_within_itself(tmp_path: Path) -> None:
    (tmp_path / "ops-before.png").write_bytes(b"\x89PNG a picture")
    figures = {"hold_p99_ms": 44.4, "lock_waits": None}
    picture = {"file": "ops-before.png", "phase": "before", "look": "", "at": 1_007.0, "health": "well", "alarms": []}
    told = {"pictures": [{**picture, "said": "All is <well>", "figures": figures}]}
    company = Company(read(sale("A"), sale("B", seats=[6, 7])), read_pictures(told, STARTS_AT))
    page = as_html(company, tmp_path)
    assert "data:image/png;base64,iVBORyBhIHBpY3R1cmU=" in page
    assert "All is &lt;well&gt; (7 s; hold p99 44 ms)" in page
    assert as_html(Company(), tmp_path) == ""
    assert (as_json(Company()), as_words(Company())) == ({}, [])
    text = json.dumps(as_json(company))
    assert json.loads(text)["counter"]["orders"] == 2


def test_others_are_told_in_a_file_that_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "made" / "join.json"
    told = Announcement(path, api_url="http://a", room_url="http://r", event_id=7, staff=STAFF)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    told.tell(starts_at=5.0, slow_begins_at=None)
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert facts == {
        "api_url": "http://a", "room_url": "http://r", "event_id": 7, "over": False, "starts_at": 5.0,
        "slow_begins_at": None,
        "people": {
            "clerk": {"name": "clara", "password": "her secret"}, "ops": {"name": "otto", "password": "his secret"},
        },
    }  # fmt: skip
    assert [one.name for one in path.parent.iterdir()] == ["join.json"]
    told.withdraw()
    assert list(path.parent.iterdir()) == []
    assert "secret" not in repr(STAFF)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--counter", "console"), "--counter goes with --fans"),
        (("--announce", "somewhere"), "--announce goes with --fans"),
        (("--fans", "10", "--counter", "console"), "its pictures need --report"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(words)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
