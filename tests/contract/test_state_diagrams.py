"""The page of diagrams says what the state tables say (design §3)."""

from __future__ import annotations

from pathlib import Path

from booking.domain.states import OPERATION_TRANSITIONS, OperationStatus
from tests.contract.state_diagrams import draw_page

PAGE = Path(__file__).parents[2] / "docs" / "states.md"


def test_the_page_is_drawn_from_the_tables() -> None:
    assert PAGE.read_text("utf-8") == draw_page(), "run: python -m tests.contract.state_diagrams > docs/states.md"


def test_nothing_leaves_an_answered_operation() -> None:
    assert OPERATION_TRANSITIONS[OperationStatus.SUCCEEDED] == frozenset()
    assert OPERATION_TRANSITIONS[OperationStatus.DECLINED] == frozenset()
