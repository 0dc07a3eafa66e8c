"""The part of a report that is about the consoles: what the counter sold and how long it waited, and the pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from booking.rush.counter import Company, CounterReport, Picture, Waits

_SHOWN = {
    "admission_set_per_min": "set {:,.0f} a minute",
    "admission_measured_per_min": "let in {:,.0f} a minute",
    "room_waiting": "{:,.0f} wait",
    "hold_p99_ms": "hold p99 {:,.0f} ms",
    "lock_waits": "{:,.0f} wait for locks",
    "shed_per_s": "{:,.0f} turned back a second",
    "seats_sold": "{:,.0f} seats sold",
}
_LOOKS = {"": "light, 1280 × 800", "dark": "dark, 1920 × 1080", "large": "large mode", "blockers": "who waits for whom"}


def as_json(company: Company) -> dict[str, object]:
    """`counter`, `pictures` and `console_problems`, where consoles took part."""
    if company.counter is None:
        return {}
    return {
        "counter": asdict(company.counter),
        "pictures": [asdict(picture) for picture in company.pictures],
        "console_problems": list(company.problems),
    }


def as_words(company: Company) -> list[str]:
    """The same in a few lines, and whatever is wrong."""
    counter = company.counter
    if counter is None:
        return []
    ways = ", ".join(f"{sold} of {buyers} by {_way(how)}" for how, (buyers, sold) in counter.by_way.items())
    refusals = ", ".join(f"{code} {times}" for code, times in counter.refusals.items()) or "none"
    words = [
        f"the console: {counter.buyers:,} buyers, {counter.tickets:,} tickets in {counter.orders:,} orders ({ways})",
        f"refused on its way: {refusals}",
        "from the click to the ticket: " + "; ".join(_waits_words(name, one) for name, one in counter.waits.items()),
        f"{len(company.pictures)} pictures of the operators' screen",
    ]
    words += [f"called sold and not sold: {number}" for number in counter.not_in_database]
    words += [f"sold and never shown as sold: {number}" for number in counter.not_on_screen]
    return words + [f"console: {problem}" for problem in (*counter.problems, *company.problems)]


def _way(how: str) -> str:
    return {"map": "the map", "best": "best available"}.get(how, how)


def _waits_words(name: str, waits: Waits) -> str:
    return f"{name} p50 {_ms(waits.ticket_p50_ms)}, most {_ms(waits.ticket_max_ms)} ms"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def as_html(company: Company, folder: Path) -> str:
    """A table of the counter and the pictures, which become part of the page."""
    if company.counter is None:
        return ""
    return f"<h2>At the counter</h2>{_counter(company.counter)}{_gallery(company.pictures, folder)}"


def _counter(counter: CounterReport) -> str:
    head = (
        "<tr><th></th><th>buyers</th><th>sold</th><th>hold p50 ms</th><th>ticket p50</th><th>p99</th><th>most</th></tr>"
    )
    rows = "".join(_waits_row(name, waits) for name, waits in counter.waits.items())
    refusals = _table("refused on the way", counter.refusals)
    return (
        "<p>One real console: seats picked on its map or the best available, cash, a printed ticket. The waits are the"
        f" clerk's, from the click on hold to held seats and to the ticket.</p><table>{head}{rows}</table>{refusals}"
    )


def _waits_row(name: str, waits: Waits) -> str:
    figures = (waits.hold_p50_ms, waits.ticket_p50_ms, waits.ticket_p99_ms, waits.ticket_max_ms)
    cells = "".join(f"<td>{_ms(value)}</td>" for value in figures)
    return f"<tr><td>{escape(name)}</td><td>{waits.buyers:,}</td><td>{waits.sold:,}</td>{cells}</tr>"


def _table(title: str, counts: Mapping[str, int]) -> str:
    rows = "".join(f"<tr><td>{escape(code)}</td><td>{times:,}</td></tr>" for code, times in counts.items())
    return f"<table><tr><th>{title}</th><th>times</th></tr>{rows}</table>" if rows else ""


def _gallery(pictures: Sequence[Picture], folder: Path) -> str:
    shown = "".join(_figure(picture, folder) for picture in pictures)
    return f"<h2>The operators' screen</h2>{shown}" if shown else ""


def _figure(picture: Picture, folder: Path) -> str:
    words = [
        template.format(value) for name, template in _SHOWN.items() if (value := picture.figures.get(name)) is not None
    ]
    title = f"{picture.phase}, {_LOOKS.get(picture.look, picture.look)}: {picture.said}"
    told = f"{title} ({picture.at_s:.0f} s; {', '.join(words)})"
    image = b64encode((folder / picture.file).read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="{escape(title, quote=True)}" src="data:image/png;base64,{image}">'
        f"<figcaption>{escape(told)}</figcaption></figure>"
    )
