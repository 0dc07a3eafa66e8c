"""The cells of what a till does: sales and money back at its terminal, cash, parts (R24, R30, R31, T1, T4, T6, T9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.cells_of_tills import open_till_house, play
from tests.matrix.table import BY_TILL, CELLS, Fault, Operation

_MINE = [pytest.param(one, fault, id=f"{one}-{fault}") for one, fault in CELLS if one in BY_TILL]


@pytest.mark.parametrize(("operation", "fault"), _MINE)
async def test_cell(dsn: str, tmp_path: Path, operation: Operation, fault: Fault) -> None:
    async with open_till_house(dsn, tmp_path, anew=False) as house:
        await play(house, operation, fault)


@pytest.mark.long
@pytest.mark.parametrize(("operation", "fault"), _MINE)
async def test_cell_over_real_processes(dsn: str, tmp_path: Path, operation: Operation, fault: Fault) -> None:
    """Each process started as a house starts it."""
    async with open_till_house(dsn, tmp_path, anew=True) as house:
        await play(house, operation, fault)
