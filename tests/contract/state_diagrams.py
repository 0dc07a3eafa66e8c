"""Draws every state table as a diagram: `python -m tests.contract.state_diagrams` prints `docs/states.md`.

The tables are the source (`booking/domain/states.py`, `app/core/sale.py`, `backend_client/feed_protocol.py`); a test
holds the page to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from app.core import sale
from backend_client import feed_protocol
from booking.domain import states

_HEAD = """# States

Drawn from the tables in the code by `python -m tests.contract.state_diagrams > docs/states.md`;
a test holds this page to them.
"""
_BOOKING: Mapping[str, Mapping[Any, frozenset[Any]]] = {
    "Seat": states.SEAT_TRANSITIONS,
    "Hold": states.HOLD_TRANSITIONS,
    "Order": states.ORDER_TRANSITIONS,
    "Payment operation": states.OPERATION_TRANSITIONS,
    "Ticket": states.TICKET_TRANSITIONS,
    "Print job": states.PRINT_JOB_TRANSITIONS,
}
_STEPPED: Mapping[str, Mapping[tuple[Any, Any], Any]] = {
    "Sale at the counter": sale.TRANSITIONS,
    "Seat feed of a client": feed_protocol.TRANSITIONS,
}


def draw_page() -> str:
    """The whole page, Markdown with Mermaid diagrams."""
    parts = [_HEAD]
    for title, table in _BOOKING.items():
        parts.append(_section(title, _edges_of(table)))
    for title, steps in _STEPPED.items():
        edges = (f"{name_of(before)} --> {name_of(after)}: {name_of(step)}" for (before, step), after in steps.items())
        parts.append(_section(title, edges))
    return "\n".join(parts)


def name_of(member: Enum) -> str:
    """How a diagram calls a state or step."""
    return member.name


def _edges_of(table: Mapping[Any, frozenset[Any]]) -> Iterator[str]:
    for before, following in table.items():
        for after in sorted(following, key=name_of):
            yield f"{name_of(before)} --> {name_of(after)}"
        if not following:
            yield f"{name_of(before)} --> [*]"


def _section(title: str, edges: Iterator[str]) -> str:
    lines = "\n".join(f"    {edge}" for edge in edges)
    return f"## {title}\n\n```mermaid\nstateDiagram-v2\n{lines}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(draw_page())
