"""The cells of what a provider does: authorize, capture, void, refund, a supervisor's acts (R22–R27, P3, P30, B14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.cells_of_providers import play
from tests.matrix.house import open_house
from tests.matrix.table import BY_PROVIDER, CELLS, Fault, Operation

_MINE = [pytest.param(one, fault, id=f"{one}-{fault}") for one, fault in CELLS if one in BY_PROVIDER]


@pytest.mark.parametrize(("operation", "fault"), _MINE)
async def test_cell(dsn: str, tmp_path: Path, operation: Operation, fault: Fault) -> None:
    async with open_house(dsn, tmp_path, anew=False) as house:
        await play(house, operation, fault)


@pytest.mark.long
@pytest.mark.parametrize(("operation", "fault"), _MINE)
async def test_cell_over_real_processes(dsn: str, tmp_path: Path, operation: Operation, fault: Fault) -> None:
    """Each process started as a house starts it, and settled by workers at their own pace."""
    async with open_house(dsn, tmp_path, anew=True) as house:
        await play(house, operation, fault)
