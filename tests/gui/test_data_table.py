"""The table of lists: columns as wide as what they hold, titles whole, and a ring about the whole of it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from widgets.data_table import ColumnPlan, DataTable
from widgets.theme import Theme

TITLES = ("No.", "What has happened to it", "Made", "Note")
PLANS = (ColumnPlan(120, 1, 0), ColumnPlan(40, 1, 1), ColumnPlan(90, 1, 2), ColumnPlan(60, 2, 3))


def rows_of(*texts: tuple[str, ...]) -> list[CellRow]:
    return [CellRow(number, tuple(Cell(text) for text in row)) for number, row in enumerate(texts)]


@pytest.fixture
def table(qtbot: QtBot, theme: Theme) -> DataTable:
    made = DataTable(theme, PLANS)
    made.setModel(CellTableModel([CellColumn(title) for title in TITLES], made))
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    return made


def show(table: DataTable, *texts: tuple[str, ...]) -> None:
    model = table.model()
    assert isinstance(model, CellTableModel)
    model.show_rows(rows_of(*texts))
    QApplication.processEvents()


def widths(table: DataTable) -> list[int]:
    return [table.columnWidth(column) for column in range(len(PLANS))]


def test_a_column_with_short_texts_lends_its_room_to_one_with_long_texts(table: DataTable) -> None:
    show(table, ("7", "sold", "Mon, Nov 30, 2026, 10:41 AM", ""))
    model, delegate = table.model(), table.itemDelegate()
    needed = delegate.width_of(model.index(0, 2))  # type: ignore[attr-defined]  # it is the CellDelegate
    assert needed > PLANS[2].least_px
    assert table.columnWidth(2) >= needed
    assert table.columnWidth(0) < PLANS[0].least_px + 60


def test_no_title_is_cut(table: DataTable) -> None:
    show(table, ("7", "", "", ""))
    head = table.horizontalHeader()
    assert head.sectionSizeHint(1) > PLANS[1].least_px
    assert all(table.columnWidth(column) >= head.sectionSizeHint(column) for column in range(len(PLANS)))


def test_one_long_text_does_not_take_the_room_of_all(table: DataTable) -> None:
    show(table, ("x" * 500, "sold", "Mon, Nov 30, 2026, 10:41 AM", "a note"))
    assert table.columnWidth(0) <= 0.4 * table.viewport().width()
    assert sum(widths(table)) <= table.viewport().width()


def test_columns_do_not_jump_when_texts_become_short_again(table: DataTable) -> None:
    show(table, ("7", "sold", "Mon, Nov 30, 2026, 10:41 AM", ""))
    before = widths(table)
    show(table, ("7", "sold", "now", ""))
    table._measure()
    assert widths(table) == before


def test_the_ring_about_the_table_is_not_painted_over(table: DataTable, theme: Theme) -> None:
    show(table, *[(str(number), "sold", "now", "") for number in range(4)])
    plain = table.viewport().geometry()
    table.setFocus()
    QApplication.processEvents()
    assert table.hasFocus()
    ring = theme.sizes["focus_ring"]
    assert table.viewport().geometry().left() >= ring
    assert table.width() - table.viewport().geometry().right() - 1 >= ring
    assert table.viewport().geometry() == plain
