"""The opening of a sale in a simulation: nobody is lost, seats add up, the same seed gives the same result (R41)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.simulation.opened import Opened, fairness, gini, inversions, quantiles
from booking.simulation.opening import Opening
from booking.simulation.rates import Rates
from booking.simulation.reports import as_json, as_lines
from booking.simulation.scenarios import FIFO, PRESETS, Scenario, scenario_of
from booking.simulation.stations import House, Station
from booking.simulation.waiting import Waiting, arrivals

SMALL = replace(
    PRESETS["two-million"], visitors=8_000, seats=600, cap_per_minute=600.0, total_active_users=400, look_s=10.0,
    form_s=10.0, hold_ttl_s=30.0, early_s=60, patience_s=1_200.0, arrive_s=60,
)  # fmt: skip


@cache
def opened(seed: int = 1, **changes: object) -> Opened:
    return Opening(replace(SMALL, **changes), Rates(), seed).run()  # type: ignore[arg-type]


def test_every_visitor_ends_somewhere_and_no_seat_twice() -> None:
    run = opened()
    let_in = int((~np.isnan(run.admitted_s)).sum())
    assert let_in + run.totals["abandoned"] + run.totals["told_sold_out"] == SMALL.visitors
    assert run.seats_sold == run.seats_taken == SMALL.seats, "all are sold, and none that was not held"
    assert run.seconds[-1].waiting == run.seconds[-1].inside == 0
    assert run.totals["orders"] <= run.totals["holds"] <= let_in * SMALL.hold_tries


def test_the_room_keeps_its_bounds_every_second() -> None:
    run = opened()
    assert all(0 <= second.inside <= SMALL.total_active_users for second in run.seconds)
    assert all(second.set_per_minute <= SMALL.cap_per_minute for second in run.seconds)
    per_minute = [sum(one.admitted for one in run.seconds[at : at + 60]) for at in range(60, len(run.seconds) - 60)]
    assert max(per_minute) <= SMALL.cap_per_minute + 1


def test_the_same_seed_gives_the_same_result() -> None:
    again = Opening(SMALL, Rates(), 1).run()
    assert list(again.seconds) == list(opened().seconds)
    assert list(opened(2).seconds) != list(opened().seconds)


def test_first_come_first_served_has_no_inversion_and_a_draw_has() -> None:
    assert fairness(opened(policy=FIFO))["inversions"] == 0
    drawn = fairness(opened(early=0.9, burst=0.05))
    assert drawn["inversions"] > 0.02, "those before the opening are drawn by lot"
    assert drawn["inversions_after_opening"] == 0


def test_few_are_let_in_for_nothing() -> None:
    run = opened()
    assert run.totals["found_nothing"] < 0.25 * len(run.waits_s())


def test_a_slow_database_lowers_admission_in_the_large_model_too() -> None:
    run = opened(
        visitors=3_000, seats=20_000, total_active_users=9_000, slow_from_s=40, slow_for_s=20, slower=1_000.0,
        arrive_s=30, longest_s=120,
    )  # fmt: skip
    by_second = {one.at_s: one for one in run.seconds}
    assert by_second[39].set_per_minute == 600
    assert min(by_second[at].set_per_minute for at in range(41, 50)) <= 300
    assert run.totals["given_up"] > 0


def test_without_a_room_everybody_is_in_at_once() -> None:
    run = opened(room=False, visitors=500, early=0.0)
    assert float(run.waits_s().max()) <= 1
    assert run.needs().room_processes == 0


def test_needs_grow_with_the_load_and_an_event_keeps_one_shard() -> None:
    one, many = opened().needs(), opened(events=50).needs()
    assert one.shards == 1
    assert many.edge_nodes >= one.edge_nodes
    slow = replace(opened(), rates=Rates(hold_per_s=10.0, edge_per_s=100.0))
    assert slow.needs().shards == 1, "an event is never split"
    assert slow.needs().shard_load > one.shard_load
    assert slow.needs().edge_nodes > one.edge_nodes


def test_an_opening_that_one_room_cannot_bear_says_so() -> None:
    """A room of an event is one process: more of them would not help."""
    run = opened()
    assert run.needs().binds == ()
    slow = replace(run, rates=Rates(room_joins_per_s=50.0))
    needs = slow.needs()
    assert (needs.binds, needs.room_processes) == (("room",), 1)
    assert needs.room_load > 1
    assert any(line.startswith("binds     the room of one event") for line in as_lines(slow))
    assert as_json(slow, 1)["needs"]["binds"] == ["room"]  # type: ignore[index]
    assert replace(run, rates=Rates(hold_per_s=1.0)).needs().binds == ("shard",)


def test_two_million_who_wait_are_bearable_for_one_room() -> None:
    """As often as the room tells them to ask, with turns at any rate that the controller may set."""
    people = Waiting.of(SMALL, np.random.default_rng(1))
    people.waiting = 2_000_000
    planned = Rates().room_polls_per_s * Rates().headroom
    for second, per_s in ((-60, 0.0), (-1, 0.0), (600, 0.0), (600, 10.0), (600, 100.0)):
        to_turn = (lambda ahead, per_s=per_s: ahead / per_s) if per_s else None
        assert people.polls(second, to_turn) <= planned
    people.waiting = 30_000
    assert people.polls(600, lambda ahead: ahead / 10) <= 30_000 / 30, "no more often than in a line that is short"


# ---------------------------------------------------------------- the parts


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.001, 0.5)), min_size=1, max_size=30))
def test_a_station_serves_in_order_and_one_at_a_time(asks: list[tuple[float, float]]) -> None:
    came = np.array(sorted(at for at, _ in asks))
    work = np.array([one for _, one in asks])
    station, slowly = Station(), -np.inf
    half = len(asks) // 2
    done = np.concatenate([station.serve(came[:half], work[:half]), station.serve(came[half:], work[half:])])
    for at, cost, ends in zip(came, work, done, strict=True):
        slowly = max(at, slowly) + cost
        assert ends == pytest.approx(slowly)


def test_a_station_sheds_what_would_wait_too_long() -> None:
    station = Station(0.15)
    done = station.serve(np.array([0.0, 0.0, 0.0, 0.3]), np.full(4, 0.1))
    assert done[:2] == pytest.approx([0.1, 0.2])
    assert np.isnan(done[2])
    assert done[3] == pytest.approx(0.4)


def test_a_house_gives_all_or_nothing_and_takes_shorter_runs_when_long_ones_are_gone() -> None:
    house, rng = House(6, 0.5), np.random.default_rng(1)
    house.redraw()
    assert house.take(np.array([0, 1, 3]), np.array([2, 2, 2])).tolist() == [True, False, True]
    house.redraw()
    first, sizes = house.choose(np.array([6, 1]), rng)
    assert sizes.tolist() == [1, 1]
    assert set(first.tolist()) <= {2, 5}
    house.give_back(np.array([0]), np.array([2]))
    assert house.free == 4


def test_arrivals_are_as_many_and_where_they_should_be() -> None:
    came = arrivals(SMALL, np.random.default_rng(3))
    assert len(came) == SMALL.visitors
    assert (np.diff(came) >= 0).all()
    assert (came < 0).mean() == pytest.approx(SMALL.early, abs=0.001)
    assert came.min() >= -SMALL.early_s
    assert came.max() <= SMALL.arrive_s


def test_the_room_lets_in_by_place_and_skips_who_has_gone() -> None:
    scenario = replace(SMALL, policy=FIFO, visitors=10, early=1.0, burst=0.0)
    people = Waiting.of(scenario, np.random.default_rng(1))
    people.begin_second(-1)
    people.left_s[[0, 2]] = 0
    assert people.admit(3, 0).tolist() == [1, 3, 4]
    assert people.admit(99, 0).tolist() == [5, 6, 7, 8, 9]


def test_gini_and_inversions_of_known_cases() -> None:
    assert gini(np.array([5.0, 5.0, 5.0])) == pytest.approx(0)
    assert gini(np.array([0.0, 0.0, 0.0, 9.0])) == pytest.approx(0.75)
    assert gini(np.empty(0)) == 0
    order = np.arange(100.0)
    assert inversions(order, order) == 0
    assert inversions(order, -order) == pytest.approx(0.99, abs=0.01)
    assert quantiles(np.arange(101.0)) == {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"visitors": 0}, "visitors"), ({"seats": "many"}, "seats"), ({"patience": 1}, "patience"),
        ({"early": 0.9, "burst": 0.2}, "burst"), ({"policy": "lottery"}, "policy"), ({"wanted": [1]}, "wanted"),
        ({"wanted": [0.5, 0.1, 0, 0, 0, 0]}, "wanted"), ({"room": 1}, "room"), ({"seats": 6.5}, "seats"),
        ([], "scenario"),
    ],
)  # fmt: skip
def test_a_scenario_out_of_bounds_names_the_field(change: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        scenario_of(change, SMALL)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_presets_carry_the_documents_figures(preset: Scenario) -> None:
    assert "document" in preset.source
    assert scenario_of({}, preset) == preset
