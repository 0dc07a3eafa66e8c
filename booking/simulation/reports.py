"""An opening told: lines for people, JSON for scripts, one HTML page with its charts inside. Values in, text out."""

from __future__ import annotations

from html import escape

from booking.charts import Line, Point, time_chart
from booking.simulation.opened import Opened, fairness, quantiles
from booking.simulation.rates import SOURCES

_POINTS = 700
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .25rem .7rem; text-align: left; }
tr { border-bottom: 1px solid #ddd; } pre { font: 13px/1.45 ui-monospace, monospace; }
svg { width: 100%; height: auto; margin: .5rem 0; } svg text { font: 11px system-ui, sans-serif; fill: #333; }
svg .title { font-weight: 600; } svg polyline, svg .key { stroke-width: 1.8; } svg .grid { stroke: #e4e4e4; }
svg .axis { stroke: #666; }
"""
PEAKS = ("edge", "joins", "polls", "waiting", "inside", "holds", "payments", "orders", "queue_age_ms")


def as_json(opened: Opened, seed: int) -> dict[str, object]:
    """All figures; `sources` says where each rate comes from."""
    needs, rates = opened.needs(), opened.rates
    return {
        "scenario": opened.scenario.name, "source": opened.scenario.source, "seed": seed,
        "visitors": opened.scenario.visitors, "seats": opened.scenario.seats,
        "needs": {
            "edge_nodes": needs.edge_nodes, "room_processes": needs.room_processes, "shards": needs.shards,
            "api_processes": needs.api_processes, "shard_load": round(needs.shard_load, 4),
            "room_load": round(needs.room_load, 4), "binds": list(needs.binds),
        },
        "peaks": {name: round(opened.peak(name), 1) for name in PEAKS},
        "wait_s": quantiles(opened.waits_s()),
        "hold_ms": quantiles(opened.hold_waits_s, 1_000),
        "fairness": fairness(opened),
        "totals": {"seats_sold": opened.seats_sold, "let_in": len(opened.waits_s()), **opened.totals},
        "sold_out_s": opened.sold_out_s,
        "simulated_s": len(opened.seconds),
        "admission_changes": len(opened.changes),
        "rates": {name: getattr(rates, name) for name in SOURCES},
        "sources": {name: rates.source(name) for name in SOURCES},
    }  # fmt: skip


def as_lines(opened: Opened) -> list[str]:
    """The result for a person."""
    scenario, needs = opened.scenario, opened.needs()
    told = f" (the document: {scenario.edge_told_per_s:,.0f})" if scenario.edge_told_per_s else ""
    room = f", its room {100 * needs.room_load:.0f} %" if scenario.room else ""
    needed = (
        f"{needs.edge_nodes} edge nodes, {needs.room_processes} room processes, {needs.shards} shards, "
        f"{needs.api_processes} API processes; planned at {100 * opened.rates.headroom:.0f} % of the rates"
    )
    busiest = (
        f"edge {opened.peak('edge'):,.0f}/s{told}, joins {opened.peak('joins'):,.0f}/s, "
        f"polls {opened.peak('polls'):,.0f}/s, holds {opened.peak('holds'):,.0f}/s, "
        f"payments {opened.peak('payments'):,.0f}/s; the event's shard {100 * needs.shard_load:.0f} % busy"
        f"{room}"
    )
    return [
        f"{scenario.name}: {scenario.visitors:,} visitors, {scenario.seats:,} seats ({scenario.source})",
        "",
        f"needed    {needed}",
        *(f"binds     {_bound(name, opened)}" for name in needs.binds),
        f"busiest   {busiest}",
        *_people(opened),
        *_sale(opened),
    ]


def _bound(name: str, opened: Opened) -> str:
    """What cannot be had more of: an event has one room and one shard."""
    needs = opened.needs()
    load = {"room": needs.room_load, "shard": needs.shard_load}[name]
    return (
        f"the {name} of one event: one process writes it, planned at {100 * needs.bears:.0f} %, and this opening needs "
        f"{100 * load:,.0f} % of one: {load / needs.bears:.1f} times as much as can be had"
    )


def _people(opened: Opened) -> list[str]:
    waits, fair, totals = quantiles(opened.waits_s()), fairness(opened), opened.totals
    inside = (
        f"{opened.peak('waiting'):,.0f} waiting and {opened.peak('inside'):,.0f} inside at most, "
        f"{len(opened.waits_s()):,} let in, {totals.get('abandoned', 0):,} lost patience, "
        f"{totals.get('told_sold_out', 0):,} were told sold out"
    )
    fairly = (
        f"Gini of the waits {fair['gini_of_waits']:.2f}; a later comer first in {100 * fair['inversions']:.1f} % of "
        f"pairs, {100 * fair['inversions_after_opening']:.1f} % after the opening ({opened.scenario.policy})"
    )
    return [
        f"people    {inside}",
        f"wait      p50 {waits['p50']:,.0f} s, p90 {waits['p90']:,.0f} s, p99 {waits['p99']:,.0f} s of those let in",
        f"fairness  {fairly}",
    ]


def _sale(opened: Opened) -> list[str]:
    holds, totals = quantiles(opened.hold_waits_s, 1_000), opened.totals
    ends = "not sold out" if opened.sold_out_s is None else f"sold out after {opened.sold_out_s:,} s"
    sale = (
        f"{totals.get('orders', 0):,} orders, {opened.seats_sold:,} seats, {ends}; {totals.get('holds', 0):,} holds, "
        f"{totals.get('conflicts', 0):,} lost to others, {totals.get('found_nothing', 0):,} found nothing, "
        f"{totals.get('expired', 0):,} ran out, {totals.get('declined', 0):,} declined, "
        f"{totals.get('given_up', 0):,} gave up"
    )
    hold = f"p50 {holds['p50']:.0f} ms, p99 {holds['p99']:.0f} ms; admission changed {len(opened.changes):,} times"
    return [f"sale      {sale}", f"hold      {hold}"]


def as_html(opened: Opened, seed: int) -> str:
    """One self-contained page: figures, charts, where the rates come from. It loads nothing."""
    rates = "".join(
        f"<tr><td>{name}</td><td>{getattr(opened.rates, name):g}</td><td>{escape(opened.rates.source(name))}</td></tr>"
        for name in SOURCES
    )
    lines = escape("\n".join(as_lines(opened)))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Taquilla: an opening, simulated</title>'
        f"<style>{_STYLE}</style></head><body><h1>An opening, simulated</h1><pre>{lines}</pre>{''.join(charts(opened))}"
        f"<h2>Rates</h2><table>{rates}</table><p>Seed {seed}.</p></body></html>\n"
    )


def charts(opened: Opened) -> list[str]:
    """SVG elements over the seconds since the opening."""

    def line(words: str, name: str, scale: float = 1.0) -> Line:
        return Line(
            words, _thinned([(one.at_s, getattr(one, name) * scale) for one in opened.seconds if one.at_s >= 0])
        )

    return [
        time_chart("At the edge and in the room", "requests per second",
                   [line("edge", "edge"), line("joins", "joins"), line("polls", "polls")]),
        time_chart("People", "at the end of each second", [line("waiting", "waiting"), line("inside", "inside")]),
        time_chart("Admission", "new users per minute",
                   [line("set", "set_per_minute"), line("measured", "admitted", 60.0)]),
        time_chart("The sale", "per second",
                   [line("holds", "holds"), line("payments", "payments"), line("shed", "shed")]),
        time_chart("Oldest request in the lane", "ms", [line("queue age", "queue_age_ms")], logarithmic=True),
        time_chart("Seats sold", "so far", [line("sold", "sold")]),
    ]  # fmt: skip


def _thinned(points: list[Point]) -> list[Point]:
    """At most so many points as can be told apart: the largest of each stretch."""
    step = -(-len(points) // _POINTS) or 1
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]
