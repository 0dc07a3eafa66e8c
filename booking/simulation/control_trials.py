"""Trials of the laws: a slow database, a load beyond the database, a database that stays slower, one that is away."""

from __future__ import annotations

from dataclasses import dataclass, field

from booking.quantiles import nearest_rank
from booking.simulation.control_laws import LAWS, Law
from booking.simulation.lane_plant import Disturbance, LanePlant, PlantSettings

SECONDS = 600
FAULT_S, FAULT_LASTS_S = 180, 20
_SETTLING_S = 60
_TURN = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A plant, what happens to it, and ops' cap as a share of what the plant can bear."""

    name: str
    cap_share: float
    disturbances: tuple[Disturbance, ...] = ()
    plant: PlantSettings = field(default_factory=PlantSettings)

    @property
    def cap(self) -> float:
        """New users a minute."""
        return self.cap_share * self.plant.bearable_per_minute()


_ENDS_S = FAULT_S + FAULT_LASTS_S
TRIALS = (
    Trial(
        name="slow for 20 s", cap_share=0.6, plant=PlantSettings(fans=15_000),
        disturbances=(Disturbance(FAULT_S, _ENDS_S, 20.0, lock_waits=12),),
    ),
    Trial(name="cap twice too high", cap_share=2.0),
    Trial(name="half as fast for good", cap_share=0.75, disturbances=(Disturbance(FAULT_S, SECONDS, 2.0),)),
    Trial(
        name="away for 20 s", cap_share=0.6, plant=PlantSettings(fans=15_000),
        disturbances=(Disturbance(FAULT_S, _ENDS_S, 20.0, lock_waits=12, away=True),),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One law in one trial. Rates per minute, `rates` one a second; None where a figure has no meaning.

    `half_after_s`: from the fault until the rate was half of what it had been; `overshoot`: the highest rate on the way
    back over the mean before the fault, less 1; `turns`: how often the rate changed its direction by more than 10 % of
    the cap after the first minute; `p99_ms` of holds answered from a minute after the fault on (or over the whole run).
    """

    law: str
    trial: str
    rates: tuple[float, ...]
    queue_ages_ms: tuple[float, ...]
    half_after_s: int | None
    overshoot: float | None
    turns: int
    p99_ms: float
    sold: int
    admitted: int
    given_up: int
    shed: int


def run_trial(trial: Trial, law_name: str, seed: int = 1, seconds: int = SECONDS) -> Outcome:
    """Run one law through one trial; the same seed gives the same outcome."""
    plant = LanePlant(trial.plant, trial.disturbances, seed)
    law: Law = LAWS[law_name](trial.cap)
    rates, ages = [], []
    rate = 0.0
    for second in range(seconds):
        rates.append(rate)
        signals = plant.second(rate)
        ages.append(signals.queue_age_ms or 0.0)
        rate = law.decide(signals, second)
    counts = plant.counts
    well_from_s = FAULT_S + FAULT_LASTS_S + _SETTLING_S if trial.disturbances else _SETTLING_S
    return Outcome(
        law=law_name, trial=trial.name, rates=tuple(rates), queue_ages_ms=tuple(ages),
        half_after_s=_half_after(rates) if trial.disturbances else None,
        overshoot=_overshoot(rates) if trial.disturbances else None,
        turns=turns(rates[_SETTLING_S:], _TURN * trial.cap),
        p99_ms=_p99_ms([latency for at, latency in counts.latencies if at >= well_from_s]),
        sold=counts.sold, admitted=counts.admitted, given_up=counts.given_up, shed=counts.shed,
    )  # fmt: skip


def turns(rates: list[float], least: float) -> int:
    """How often a line changes its direction by at least `least`: sign changes of its slope without the small ones."""
    found, direction = 0, 0
    extreme = rates[0]
    for rate in rates[1:]:
        if (direction >= 0 and rate > extreme) or (direction <= 0 and rate < extreme):
            extreme = rate
        moved = rate - extreme
        if direction == 0 and abs(rate - rates[0]) >= least:
            direction = 1 if rate > rates[0] else -1
            extreme = rate
        elif (direction > 0 and moved <= -least) or (direction < 0 and moved >= least):
            found, direction, extreme = found + 1, -direction, rate
    return found


def _half_after(rates: list[float]) -> int | None:
    before = rates[FAULT_S - 1]
    return next((at - FAULT_S for at in range(FAULT_S, len(rates)) if rates[at] <= before / 2), None)


def _overshoot(rates: list[float]) -> float:
    before = sum(rates[FAULT_S - 30 : FAULT_S]) / 30
    return max(rates[FAULT_S + FAULT_LASTS_S :]) / before - 1


def _p99_ms(latencies: list[float]) -> float:
    return 1_000 * (nearest_rank(latencies, 0.99) or 0.0)


def table(outcomes: list[Outcome]) -> list[str]:
    """The outcomes for a person, a trial after the other."""
    head = f"{'':<24}{'half after':>11}{'overshoot':>11}{'turns':>7}{'p99 ms':>9}{'sold':>8}{'gave up':>9}{'shed':>8}"
    lines = [head]
    for trial in dict.fromkeys(one.trial for one in outcomes):
        lines.append(trial)
        for one in outcomes:
            if one.trial == trial:
                half = "" if one.half_after_s is None else f"{one.half_after_s} s"
                over = "" if one.overshoot is None else f"{100 * one.overshoot:.0f} %"
                lines.append(
                    f"  {one.law:<22}{half:>11}{over:>11}{one.turns:>7}{one.p99_ms:>9.0f}"
                    f"{one.sold:>8,}{one.given_up:>9,}{one.shed:>8,}"
                )
    return lines
