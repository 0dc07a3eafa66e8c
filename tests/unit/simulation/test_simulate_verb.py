"""The verb `simulate`: what it prints, writes, predicts and refuses."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pytest

from booking import crowd
from booking.rush.plan import Traffic
from booking.rush.popularity import SeatPicker
from booking.simulation.command import HTML_NAME, JSON_NAME, main
from booking.simulation.rates import Rates, rates_of
from booking.simulation.rush_prediction import Compared, RushModel, predict

SMALL = ["ordinary-day", "--set", "visitors=300", "--set", "look_s=20", "--set", "form_s=10"]
SETTINGS = {"rate": 60.0, "maps": 20.0, "seconds": 15.0, "skew": 0.8, "groups": 0.1, "double_clicks": 0.05,
            "buyers": 0.5, "seats": 6_000.0}  # fmt: skip


def kind(offered: int, **answers: int) -> dict[str, object]:
    return {"offered": offered, "done": offered, "p50_ms": 12.0, "answers": answers}


# A rush of 15 s on two shared cores, 60 first holds a second, as `rush --json` told it.
REPORT: dict[str, object] = {
    "settings": SETTINGS, "confirmed_orders": 379, "done": 3_169, "cpu_s": {"API": 4.08, "PostgreSQL": 5.01},
    "kinds": {
        "hold": {"offered": 1_590, "p50_ms": 12.0, "answers": {"201": 812, "409 seats-taken": 778}},
        "sent again": kind(79), "release": kind(42), "checkout": kind(393), "pay": kind(393),
        "order status": kind(379),
    },
}  # fmt: skip


def test_it_prints_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SMALL) == 0
    told = capsys.readouterr().out
    assert "edge nodes" in told
    assert "shards" in told
    assert "Gini" in told


def test_json_says_where_each_rate_comes_from_and_is_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--json", "--seed", "3"]) == 0
    first = capsys.readouterr().out
    main([*SMALL, "--json", "--seed", "3"])
    assert capsys.readouterr().out == first
    told = json.loads(first)
    assert set(told["rates"]) == set(told["sources"])
    assert told["needs"]["shards"] == 1
    assert told["totals"]["let_in"] == 300


def test_a_report_has_charts_and_loads_nothing(tmp_path: Path) -> None:
    assert main([*SMALL, "--report", str(tmp_path / "new")]) == 0
    page = (tmp_path / "new" / HTML_NAME).read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    assert "src=" not in page
    assert "<script" not in page
    for chart in page.split("<svg")[1:]:
        ET.fromstring("<svg" + chart.split("</svg>")[0] + "</svg>")
    assert json.loads((tmp_path / "new" / JSON_NAME).read_text(encoding="utf-8"))["visitors"] == 300


def test_it_predicts_a_rush_that_really_ran_within_a_fifth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rush.json"
    path.write_text(json.dumps(REPORT), encoding="utf-8")
    assert main(["--predict", str(path)]) == 0
    assert "within a fifth" in capsys.readouterr().out
    path.write_text(json.dumps({**REPORT, "confirmed_orders": 900}), encoding="utf-8")
    assert main(["--predict", str(path)]) == 1
    assert "!" in capsys.readouterr().out


def test_a_prediction_knows_only_the_settings() -> None:
    twice = predict({**REPORT, "settings": {**SETTINGS, "rate": 120.0}})
    assert not {one.name: one.good for one in twice}["lost"]


def test_a_rush_that_won_as_much_as_it_should_have_lost_is_told(tmp_path: Path) -> None:
    """What both sides ask for alike proves nothing: races won and lost do."""
    narrow: dict[str, float] = {**SETTINGS, "seats": 1_000.0}
    seen = RushModel(narrow, 99).run()
    asked = {name: kind(seen[name]) for name in ("sent again", "release", "checkout", "pay")}

    def rush(won: int, lost: int) -> int:
        hold = {"offered": seen["hold"], "p50_ms": 12.0, "answers": {"201": won, "409 seats-taken": lost}}
        path = tmp_path / "rush.json"
        report = {"settings": narrow, "confirmed_orders": seen["confirmed"], "kinds": {"hold": hold, **asked}}
        path.write_text(json.dumps(report), encoding="utf-8")
        return main(["--predict", str(path)])

    assert rush(seen["won"], seen["lost"]) == 0
    assert rush(seen["lost"], seen["won"]) == 1


def test_what_follows_from_the_settings_judges_nothing() -> None:
    found = {one.name: one for one in predict(REPORT)}
    assert "map" not in found
    assert {name for name, one in found.items() if not one.given} == {"won", "lost", "confirmed"}


def test_the_model_and_the_crowd_have_the_same_habits() -> None:
    """One that changes changes in both."""
    picker, model = SeatPicker(6_000, 0.8, Random(7)), RushModel(SETTINGS, 7)
    theirs = Counter(len(picker.popular()) for _ in range(2_000))
    ours = Counter(size for _, size in (model._popular() for _ in range(2_000)))
    assert max(abs(theirs[size] - ours[size]) for size in crowd.SIZES) < 120
    traffic = Traffic(rate=1.0, maps_per_s=0.0, seconds=1.0, shape="poisson", skew=0.8)
    assert (traffic.declines, traffic.releases) == (crowd.DECLINES, crowd.RELEASES)


def test_more_seats_lose_fewer_races() -> None:
    narrow = RushModel({**SETTINGS, "seats": 1_000.0}, 1).run()
    wide = RushModel({**SETTINGS, "seats": 60_000.0}, 1).run()
    assert wide["lost"] < narrow["lost"]
    assert wide["won"] + wide["lost"] == wide["hold"]


@pytest.mark.parametrize(
    ("predicted", "seen", "good"), [(119, 100, True), (121, 100, False), (0, 5, True), (30, 10, False), (0, 0, True)]
)
def test_small_counts_are_judged_by_chance(predicted: float, seen: float, good: bool) -> None:
    assert Compared("", predicted, seen).good is good


def test_rates_come_from_a_bench_a_rush_or_by_name() -> None:
    bench = rates_of({"lane_per_s": 5_000.0, "cpu_us": {"api": 200.0, "pg": 150.0}, "rows": {}}, "holds.json")
    assert (bench.hold_per_s, bench.hold_api_us) == (5_000, 200)
    assert bench.source("hold_per_s") == "holds.json"
    assert "bench" in bench.source("confirm_per_s")
    rush = rates_of(REPORT, "rush.json", bench)
    assert rush.hold_per_s == 5_000, "what a file does not say stays"
    assert rush.hold_api_us == pytest.approx(1_287, abs=1)
    assert rates_of({"room_polls_per_s": 12_345}, "room.json").room_polls_per_s == 12_345


@pytest.mark.parametrize(
    ("document", "named"),
    [([], "rates"), ({"polls": 1}, "polls"), ({"edge_per_s": 0}, "edge_per_s"), ({"edge_per_s": "fast"}, "edge_per_s"),
     ({"headroom": 2}, "headroom"), ({"lane_per_s": None}, "lane_per_s")],
)  # fmt: skip
def test_rates_that_cannot_be_name_the_field(document: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        rates_of(document, "file", Rates())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "is needed"), (["stadium", "--laws"], "is needed"), (["nowhere"], "invalid choice"),
        ([*SMALL, "--set", "visitors"], "NAME=VALUE"), ([*SMALL, "--set", "seats=0"], "seats"),
        ([*SMALL, "--seed", "-1"], "--seed"), ([*SMALL, "--rates", "/nowhere/rates.json"], "--rates"),
        (["--predict", "/nowhere/rush.json"], "--predict"),
    ],
)  # fmt: skip
def test_wrong_use_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(("text", "told"), [("{", "no JSON"), ("[]", "is an object"), ('{"kinds": {}}', "rush")])
def test_a_file_that_is_no_rush_report_is_refused(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rush.json").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--predict", str(tmp_path / "rush.json")])
    assert told in capsys.readouterr().err
