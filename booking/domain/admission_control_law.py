"""The law of admission: fall fast, come back to what went well, feel the way further on (R20).

Between letting somebody in and the hold that this person asks for lie ten to thirty seconds of looking at the map.
Whatever raises the rate until it hurts therefore raises it for that long too far: plain AIMD and PI on queue age hunt
(docs/admission-control.md shows by how much). So the law remembers `good`, the rate that was in force while all was
well, and treats the ways up differently:

- strain above 1: the rate falls each second, the more the worse the strain, to a half within two seconds at the worst;
  for the first dead time not below `keep_share · good`, because the harm of that long is on its way anyhow;
- below `return_share · good`: back up by `rise_factor` a second at most, once `calm_after_s` have been calm;
- above it: `probe_per_s` of `good` a second, slower than the dead time can turn into harm, and slower still for
  `forgets_s` after a strain;
- between `calm` and 1: kept (hysteresis), which damps the approach to a limit.

The rate at which a strain was met is remembered as the `wall`. Each time that it is met again, what lies just below it
is felt for `caution_factor` times more slowly, as CUBIC does it: else the law goes up to the same wall every few
minutes, for hours. A rate that goes well beyond the wall shows that it is not there any more.

`good` rises when a higher rate has gone well for a dead time. It falls when a strain lasts `blip_s`, once in a dead
time: by `blame` when the rate had been proven before (then something else made the database slow, and the rate comes
back almost whole), by `blame_unproven` when it had only just been reached (then the rate itself was too much).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, isfinite

NEVER_S = 86_400.0
_LEAST_TRUST = 0.25
_SEED = 0.01
"""The share of the cap at which a rise from nothing begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LawSettings:
    """The law's numbers. Shares are of 1, times seconds.

    `cut_per_s` is the share that one second at strain 2 or more takes off; `dead_time_s` how long it takes until people
    who were let in show in the figures; smaller moves than `told_step` of the rate are not told to the room; so near to
    the wall as `wall_share` of it is at the wall.
    """

    calm: float = 0.7
    cut_per_s: float = 0.35
    calm_after_s: float = 3.0
    rise_factor: float = 1.25
    return_share: float = 0.95
    probe_per_s: float = 0.004
    keep_share: float = 0.25
    blip_s: float = 4.0
    blame: float = 0.05
    blame_unproven: float = 0.35
    wall_share: float = 0.2
    caution_factor: float = 2.0
    most_caution: float = 16.0
    dead_time_s: float = 30.0
    forgets_s: float = 120.0
    told_step: float = 0.05

    def __post_init__(self) -> None:
        bounds = {
            "calm": (0.05, 0.95), "cut_per_s": (0.05, 0.95), "calm_after_s": (0.0, 120.0), "rise_factor": (1.001, 3.0),
            "return_share": (0.1, 1.0), "probe_per_s": (0.0, 0.2), "keep_share": (0.0, 0.5), "blame": (0.0, 0.5),
            "blame_unproven": (0.0, 0.9), "dead_time_s": (1.0, 600.0), "forgets_s": (1.0, 3_600.0),
            "blip_s": (0.0, 60.0), "told_step": (0.0, 0.2), "wall_share": (0.0, 0.5), "caution_factor": (1.0, 16.0),
            "most_caution": (1.0, 64.0),
        }  # fmt: skip
        for name, (least, most) in bounds.items():
            value = getattr(self, name)
            if not (isfinite(value) and least <= value <= most):
                raise ValueError(f"{name}: from {least:g} to {most:g}, not {value}")


@dataclass(frozen=True, slots=True)
class LawState:
    """The law's memory: rates are new users per minute, `strains` the two last seconds' (the middle of three counts).

    `calm_s` and `well_s`: since when strain has been low, and the rate back where it went well; `blamed_s`: since a
    strain last took something off `good`; `strained_s` for how long the strain has been over its limit. `hit` is the
    rate at which the last strain began, `wall` the one at which a strain was last blamed (0: none is known), `caution`
    how many times more slowly what lies below it is felt for.
    """

    rate: float = 0.0
    good: float = 0.0
    calm_s: float = 0.0
    well_s: float = 0.0
    blamed_s: float = NEVER_S
    strained_s: float = 0.0
    strains: tuple[float, float] = (0.0, 0.0)
    hit: float = 0.0
    wall: float = 0.0
    caution: float = 1.0


def next_rate(
    state: LawState, law: LawSettings, strain: float, step_s: float, *, least: float, most: float
) -> LawState:
    """The law's memory `step_s` later under the worst `strain`. `rate` lies within least and most, both per minute.

    From one and the same memory a worse strain never gives a higher rate.
    """
    seen = sorted((*state.strains, strain))[1]
    state = replace(
        state, strains=(state.strains[1], strain), rate=_within(state.rate, least, most), good=min(state.good, most),
        blamed_s=min(state.blamed_s + step_s, NEVER_S),
    )  # fmt: skip
    if seen > 1:
        return _fall(state, law, seen, step_s, least, most)
    calm_s = state.calm_s + step_s if seen <= law.calm else 0.0
    well_s = state.well_s + step_s if state.rate >= state.good * law.return_share else 0.0
    state = replace(state, calm_s=calm_s, well_s=well_s, strained_s=0.0)
    return _rise(state, law, step_s, least, most) if calm_s > law.calm_after_s else state


def _fall(state: LawState, law: LawSettings, seen: float, step_s: float, least: float, most: float) -> LawState:
    """Over a limit: down each second. One strain is blamed once, and what follows on its heels is part of it."""
    if state.strained_s == 0.0:
        state = replace(state, hit=state.rate)
    lasts_s = state.strained_s + step_s
    keep = law.keep_share * state.good if lasts_s <= law.dead_time_s else 0.0
    cut = state.rate * (1 - law.cut_per_s * min(seen - 1, 1.0)) ** step_s
    rate = _within(max(cut, min(keep, state.rate)), least, most)
    state = replace(state, rate=rate, calm_s=0.0, strained_s=lasts_s)
    if lasts_s < law.blip_s:
        return state
    if lasts_s - step_s >= law.blip_s or state.blamed_s < law.dead_time_s:
        return replace(state, well_s=0.0)
    blame = law.blame if state.well_s >= law.dead_time_s else law.blame_unproven
    is_again = state.wall > 0 and abs(state.hit - state.wall) <= law.wall_share * state.wall
    caution = min(state.caution * law.caution_factor, law.most_caution) if is_again else 1.0
    good = max(state.good * (1 - blame), min(least, most))
    return replace(state, good=good, well_s=0.0, blamed_s=0.0, wall=state.hit, caution=caution)


def _rise(state: LawState, law: LawSettings, step_s: float, least: float, most: float) -> LawState:
    """Calm for long enough: fast up to what went well, slowly beyond."""
    home = state.good * law.return_share
    if state.rate < home:
        rate = min(home, max(state.rate, _SEED * most) * law.rise_factor**step_s)
    else:
        trust = min(max(state.blamed_s / law.forgets_s, _LEAST_TRUST), 1.0)
        if state.rate > (1 + law.wall_share) * state.wall:
            state = replace(state, wall=0.0, caution=1.0)
        if state.rate > (1 - law.wall_share) * state.wall:
            trust /= state.caution
        rate = state.rate + trust * law.probe_per_s * state.good * step_s
    rate = _within(rate, least, most)
    if state.well_s <= law.dead_time_s or rate <= state.good:
        return replace(state, rate=rate)
    nearer = 1 - exp(-step_s / law.dead_time_s)
    return replace(state, rate=rate, good=state.good + (rate - state.good) * nearer)


def _within(value: float, least: float, most: float) -> float:
    return min(max(value, min(least, most)), most)
