"""The figures of the code, of the wire and of the page are the same."""

from __future__ import annotations

from pathlib import Path

from backend_client import wire
from booking.domain.alarms import Severity
from booking.domain.figures import FIGURES, Figure
from booking.figures.model import ProcessKind
from booking.services.end_session import SessionOutcome
from booking.services.operations_log import LogKind
from tests.contract.figures_page import write_page

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"


def test_the_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page()


def test_the_wire_names_the_same_figures_and_words() -> None:
    assert [one.value for one in wire.OpsFigure] == [one.value for one in Figure]
    assert set(FIGURES) == set(Figure)
    for told, known in (
        (wire.OpsSeverity, Severity),
        (wire.OpsProcessKind, ProcessKind),
        (wire.OpsSessionOutcome, SessionOutcome),
        (wire.OpsLogKind, LogKind),
    ):
        assert [one.value for one in told] == [one.value for one in known]
