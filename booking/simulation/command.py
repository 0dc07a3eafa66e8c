"""The verb `simulate`: an opening at the scale of the internet, from rates measured here.

    python3 run.py simulate two-million|stadium|ordinary-day [--rates FILE] [--set NAME=VALUE] [--report DIR] [--json]
    python3 run.py simulate --laws                    the laws of admission side by side, on a model of the lane
    python3 run.py simulate --predict rush.json       predict a rush from its settings, beside what it saw

Exit codes: 0 done, 1 a prediction is off by more than a fifth, 2 wrong use (also: a file that cannot be read).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from booking.simulation import reports, room_prediction
from booking.simulation.control_laws import LAWS
from booking.simulation.control_trials import TRIALS, run_trial, table
from booking.simulation.opening import Opening
from booking.simulation.rates import Rates, rates_of
from booking.simulation.rush_prediction import Compared, predict
from booking.simulation.scenarios import PRESETS, Scenario, scenario_of

DONE, OFF = 0, 1
HTML_NAME, JSON_NAME = "simulation.html", "simulation.json"


def main(arguments: Sequence[str]) -> int:
    """Simulate and print. Returns the exit code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if sum((chosen.preset is not None, chosen.laws, chosen.predict is not None)) != 1:
        parser.error(f"one of {', '.join(PRESETS)}, --laws or --predict FILE is needed")
    if chosen.report is not None and chosen.report.exists() and not chosen.report.is_dir():
        parser.error(f"--report: {chosen.report} is no folder")
    try:
        if chosen.laws:
            return _laws(chosen)
        return _predict(chosen) if chosen.predict is not None else _open(chosen)
    except ValueError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="taquilla simulate",
        description="A discrete-event simulation of an opening: how many edge nodes, room processes and shards it"
        " needs, how long people wait and how fairly. The same seed gives the same result.",
    )
    parser.add_argument("preset", nargs="?", choices=sorted(PRESETS), help="figures of one of the three documents")
    parser.add_argument("--laws", action="store_true", help="compare the laws of admission on a model of the lane")
    parser.add_argument("--predict", type=Path, metavar="FILE", help="a rush.json: predict it and compare within 20 %%")
    parser.add_argument(
        "--rates",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="measured rates: JSON by name, bench holds --json, or a rush.json; may be given again",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="another value in the scenario"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, metavar="DIR", help=f"write {HTML_NAME} and {JSON_NAME}")
    parser.add_argument("--json", action="store_true")
    return parser


def _open(chosen: argparse.Namespace) -> int:
    rates = Rates()
    for path in chosen.rates:
        rates = rates_of(_read(path, "--rates"), path.name, rates)
    scenario = _scenario(PRESETS[chosen.preset], chosen.set)
    opened = Opening(scenario, rates, _seed(chosen)).run()
    if chosen.report is not None:
        chosen.report.mkdir(parents=True, exist_ok=True)
        document = json.dumps(reports.as_json(opened, chosen.seed), indent=2) + "\n"
        (chosen.report / JSON_NAME).write_text(document, encoding="utf-8")
        (chosen.report / HTML_NAME).write_text(reports.as_html(opened, chosen.seed), encoding="utf-8")
    _print(chosen, reports.as_json(opened, chosen.seed), reports.as_lines(opened))
    return DONE


def _scenario(preset: Scenario, changes: Sequence[str]) -> Scenario:
    document: dict[str, object] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise ValueError(f"--set: NAME=VALUE is needed, not {change!r}")
        try:
            document[name] = json.loads(text)
        except ValueError:
            document[name] = text
    return replace(scenario_of(document, preset), name=preset.name) if document else preset


def _laws(chosen: argparse.Namespace) -> int:
    outcomes = [run_trial(trial, law, _seed(chosen)) for trial in TRIALS for law in LAWS]
    _print(chosen, {"outcomes": [asdict(one) for one in outcomes]}, table(outcomes))
    return DONE


def _predict(chosen: argparse.Namespace) -> int:
    report = _read(chosen.predict, "--predict")
    if not isinstance(report, dict):
        raise ValueError("--predict: a rush.json is an object")  # noqa: TRY004 - a fault of the file
    through_room = room_prediction.is_through_room(report)
    compared = room_prediction.predict(report, _seed(chosen)) if through_room else predict(report, _seed(chosen))
    lines = [f"{'':<12}{'predicted':>11}{'seen':>9}{'off':>8}", *map(_compared_line, compared)]
    good = all(one.good for one in compared if not one.given)
    lines.append("within a fifth" if good else "off by more than a fifth")
    _print(chosen, {"good": good, "figures": [{**asdict(one), "good": one.good} for one in compared]}, lines)
    return DONE if good else OFF


def _compared_line(one: Compared) -> str:
    mark = "  given" if one.given else "" if one.good else "  !"
    off = f"{100 * (one.predicted / one.seen - 1):+.0f} %" if one.seen else ""
    return f"{one.name:<12}{one.predicted:>11,.0f}{one.seen:>9,.0f}{off:>8}{mark}"


def _seed(chosen: argparse.Namespace) -> int:
    seed: int = chosen.seed
    if not 0 <= seed < 2**31:
        raise ValueError("--seed: from 0 to 2147483647")
    return seed


def _read(path: Path, option: str) -> object:
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{option}: {path}: {error.strerror}") from None
    except ValueError:
        raise ValueError(f"{option}: {path} is no JSON") from None
    return document


def _print(chosen: argparse.Namespace, document: dict[str, object], lines: Sequence[str]) -> None:
    sys.stdout.write((json.dumps(document) if chosen.json else "\n".join(lines)) + "\n")
