"""What a run is told as: JSON for scripts, lines for people, and one HTML file with its charts inside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import log10
from pathlib import Path

from booking.charts import Line, rank_chart, time_chart
from booking.histogram import Histogram
from booking.rush import counter_report, room_report
from booking.rush.conductor import Run
from booking.rush.counter import Company, CounterSales
from booking.rush.shopper import CHECKOUT, HOLD, KINDS, MAP, PAY, STATUS
from booking.rush.steered import Steered
from booking.rush.tally import Tally

HTML_NAME, JSON_NAME = "rush.html", "rush.json"
MOST_FAILED = 0.01
LATE_MS = 20.0
"""From here on the senders were late themselves: the figures then measure them as well."""

_DRAWN = (HOLD, CHECKOUT, PAY, STATUS, MAP)
_RANKS = (0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999)
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .25rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr { border-bottom: 1px solid #ddd; }
svg { width: 100%; height: auto; margin: .5rem 0; } svg text { font: 11px system-ui, sans-serif; fill: #333; }
svg .title { font-weight: 600; } svg polyline, svg .key { stroke-width: 1.8; } svg .grid { stroke: #e4e4e4; }
figure { margin: 1.2rem 0; } figure img { width: 100%; height: auto; border: 1px solid #ddd; }
figcaption { color: #555; } svg .axis { stroke: #666; } .bad { color: #a40000; font-weight: 600; }
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run with what the checks said; `breaches` is None when no database was named; `cpu_s` who used how much."""

    run: Run
    breaches: int | None
    details: Sequence[str]
    settings: Mapping[str, object]
    cpu_s: Mapping[str, float] = field(default_factory=dict)
    steered: Steered | None = None
    till: CounterSales | None = None
    company: Company = field(default_factory=Company)
    faults: Sequence[str] = ()

    @property
    def good(self) -> bool:
        """No invariant broken, no two answers that contradict each other, no answer that nobody foresaw.

        And nearly every request was answered, what was to happen beside the run did, and what the screen at the counter
        called sold is sold.
        """
        wrong = self.breaches or self.run.contradictions or self.run.server_errors() or self.faults
        return not wrong and not self.fails_too_often and not self.is_mistaken and self.company.good

    @property
    def is_mistaken(self) -> bool:
        """More than one request in a hundred was refused as a mistake: how fast the API says no was measured."""
        return self.run.mistaken() > MOST_FAILED * self.run.count("offered")

    @property
    def fails_too_often(self) -> bool:
        """More than one request in a hundred got no answer: no connection, cut, too late, or never sent."""
        return self.run.count("failed") > MOST_FAILED * self.run.count("offered")


def as_json(verdict: Verdict) -> dict[str, object]:
    """`{offered, done, p50_ms, p99_ms, shed, breaches}` over all kinds, and the same for each kind."""
    run, latency = verdict.run, verdict.run.latency()
    return {
        "offered": run.count("offered"),
        "done": run.count("done"),
        "shed": run.count("shed"),
        "failed": run.count("failed"),
        "p50_ms": _ms(latency, 0.50),
        "p99_ms": _ms(latency, 0.99),
        "max_ms": round(latency.largest_us / 1000, 3),
        "breaches": verdict.breaches,
        "breach_details": list(verdict.details),
        "contradictions": list(run.contradictions),
        "server_errors": run.server_errors(),
        "fails_too_often": verdict.fails_too_often,
        "mistaken": run.mistaken(),
        "faults": list(verdict.faults),
        "confirmed_orders": run.confirmed,
        "seconds": round(run.elapsed_s, 3),
        "capped": run.capped,
        "cpu_s": dict(verdict.cpu_s),
        "sender_late_p99_ms": _ms(run.lateness, 0.99),
        "kinds": {kind: _kind(run.kinds[kind]) for kind in KINDS if kind in run.kinds},
        "settings": dict(verdict.settings),
        **(
            {}
            if verdict.steered is None or verdict.till is None
            else room_report.as_json(verdict.run, verdict.steered, verdict.till)
        ),
        **counter_report.as_json(verdict.company),
    }


def _kind(tally: Tally) -> dict[str, object]:
    return {
        "offered": tally.offered,
        "done": tally.done,
        "shed": tally.shed,
        "failed": tally.failed,
        "p50_ms": _ms(tally.latency, 0.50),
        "p99_ms": _ms(tally.latency, 0.99),
        "p999_ms": _ms(tally.latency, 0.999),
        "max_ms": round(tally.latency.largest_us / 1000, 3),
        "answers": dict(sorted(tally.answers.items())),
    }


def as_lines(verdict: Verdict) -> list[str]:
    """The result for a person."""
    run = verdict.run
    lines = [f"{'':<14}{'offered':>9}{'done':>9}{'shed':>8}{'failed':>8}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}"]
    rows = [(kind, run.kinds[kind], run.kinds[kind].latency) for kind in KINDS if kind in run.kinds]
    for kind, tally, latency in rows:
        lines.append(_line(kind, (tally.offered, tally.done, tally.shed, tally.failed), latency))
    counts = (run.count("offered"), run.count("done"), run.count("shed"), run.count("failed"))
    lines.append(_line("all", counts, run.latency()))
    return [*lines, "", *_remarks(verdict)]


def _line(name: str, counts: tuple[int, ...], latency: Histogram) -> str:
    offered, done, shed, failed = counts
    return (
        f"{name:<14}{offered:>9,}{done:>9,}{shed:>8,}{failed:>8,}"
        f"{latency.quantile_ms(0.5):>10.1f}{latency.quantile_ms(0.99):>10.1f}{latency.largest_us / 1000:>10.1f}"
    )


def _remarks(verdict: Verdict) -> list[str]:
    """What must not be overlooked."""
    run = verdict.run
    late_ms = run.lateness.quantile_ms(0.99)
    words = [
        f"{run.confirmed:,} orders seen confirmed in {run.elapsed_s:.0f} s; latency runs from the intended instant",
        f"senders were late by {late_ms:.1f} ms at most for 99 % of requests",
    ]
    if verdict.steered is not None and verdict.till is not None:
        words += room_report.as_words(run, verdict.steered, verdict.till)
    words += counter_report.as_words(verdict.company)
    if verdict.cpu_s:
        words.append("CPU seconds: " + ", ".join(f"{name} {used:.1f}" for name, used in verdict.cpu_s.items()))
    if late_ms > LATE_MS:
        words.append("the senders had too little CPU: the latencies are partly theirs; lower the rate or add cores")
    if run.capped:
        words.append("the cap on requests was reached before the time was over")
    words.append(
        "invariants: not looked at (no --dsn)" if verdict.breaches is None else f"invariants broken: {verdict.breaches}"
    )
    words += [f"  {detail}" for detail in verdict.details]
    words += [f"contradiction: {what}" for what in run.contradictions]
    if run.server_errors():
        words.append(f"{run.server_errors()} answers were 5xx other than 503")
    if verdict.fails_too_often:
        words.append(f"{run.count('failed'):,} of {run.count('offered'):,} requests got no answer: more than 1 %")
    if verdict.is_mistaken:
        words.append(
            f"{run.mistaken():,} of {run.count('offered'):,} requests were refused as mistakes (401, 403, 404, 422):"
            " the latencies are of refusals"
        )
    words += [f"not as it was meant to be: {what}" for what in verdict.faults]
    return words


def write(verdict: Verdict, folder: Path) -> Path:
    """Write `rush.html` and `rush.json` into `folder`, which is made if need be. Returns the HTML's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / JSON_NAME).write_text(json.dumps(as_json(verdict), indent=2) + "\n", encoding="utf-8")
    path = folder / HTML_NAME
    path.write_text(as_html(verdict, folder), encoding="utf-8")
    return path


def as_html(verdict: Verdict, folder: Path) -> str:
    """One self-contained page: figures, charts, the pictures that lie in `folder`, settings. It loads nothing."""
    remarks = "".join(f"<li>{escape(words)}</li>" for words in _remarks(verdict))
    verdict_words = "Nothing wrong was found." if verdict.good else "Something wrong was found."
    settings = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>" for name, value in verdict.settings.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Taquilla: a rush</title>'
        f"<style>{_STYLE}</style></head><body><h1>The opening minute</h1>"
        f'<p class="{"" if verdict.good else "bad"}">{verdict_words}</p>'
        f"{_table(verdict.run)}<ul>{remarks}</ul>{_steering(verdict)}"
        f"{counter_report.as_html(verdict.company, folder)}{''.join(_charts(verdict.run))}{_answers(verdict.run)}"
        f"<h2>Settings</h2><table>{settings}</table></body></html>\n"
    )


def _table(run: Run) -> str:
    head = "".join(
        f"<th>{name}</th>" for name in ("kind", "offered", "done", "shed", "failed", "p50 ms", "p99 ms", "max ms")
    )
    rows = [(kind, run.kinds[kind], run.kinds[kind].latency) for kind in KINDS if kind in run.kinds]
    body = "".join(
        f"<tr><td>{kind}</td><td>{tally.offered:,}</td><td>{tally.done:,}</td><td>{tally.shed:,}</td>"
        f"<td>{tally.failed:,}</td><td>{latency.quantile_ms(0.5):.1f}</td><td>{latency.quantile_ms(0.99):.1f}</td>"
        f"<td>{latency.largest_us / 1000:.1f}</td></tr>"
        for kind, tally, latency in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _steering(verdict: Verdict) -> str:
    return "" if verdict.steered is None else "".join(room_report.charts(verdict.run, verdict.steered))


def _charts(run: Run) -> list[str]:
    seconds = run.seconds
    counts = [
        Line(name, [(second.at_s, getattr(second, name)) for second in seconds])
        for name in ("offered", "done", "shed", "failed")
    ]
    latencies = [
        Line(words, [(second.at_s, getattr(second, name)) for second in seconds])
        for name, words in (("p50_ms", "p50"), ("p99_ms", "p99"))
    ]
    ranks = [(_rank(share), f"{share * 100:g} %") for share in _RANKS]
    spread = [
        Line(kind, [(_rank(share), run.kinds[kind].latency.quantile_ms(share)) for share in _RANKS])
        for kind in _DRAWN
        if kind in run.kinds and run.kinds[kind].latency.total
    ]
    return [
        time_chart("Requests", "per second", counts),
        time_chart("Latency", "ms by second", latencies, logarithmic=True),
        rank_chart("Latency by kind", "ms", spread, ranks),
        time_chart(
            "Requests under way",
            "at the end of each second",
            [Line("open", [(second.at_s, second.open) for second in seconds])],
        ),
    ]


def _rank(share: float) -> float:
    """Nines, so that the tail has room: 0, 0.5 → 0.3, 0.9 → 1, 0.99 → 2, …"""
    return -log10(1 - share)


def _answers(run: Run) -> str:
    rows = "".join(
        f"<tr><td>{kind}</td><td>{escape(answer)}</td><td>{count:,}</td></tr>"
        for kind in KINDS
        if kind in run.kinds
        for answer, count in sorted(run.kinds[kind].answers.items())
    )
    return f"<h2>Answers</h2><table><tr><th>kind</th><th>answer</th><th>count</th></tr>{rows}</table>"


def _ms(latency: Histogram, share: float) -> float:
    return round(latency.quantile_ms(share), 3)
