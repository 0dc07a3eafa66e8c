"""Every pair of an operation and a fault is a cell that is played, or says why it cannot be."""

from __future__ import annotations

import pytest

from tests.matrix.table import BY_PROVIDER, BY_TILL, CELLS, Fault, Operation, in_words, reason
from tests.matrix.ways import WAYS


def test_each_pair_is_a_cell_or_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    for operation in Operation:
        for fault in Fault:
            assert ((operation, fault) in CELLS) is (reason(operation, fault) == "")
            assert reason(operation, fault) == "" or len(reason(operation, fault)) > 20
    with capsys.disabled():
        print(f"\n{in_words()}")


def test_each_operation_and_each_fault_is_played() -> None:
    assert {operation for operation, _ in CELLS} == set(Operation)
    assert {fault for _, fault in CELLS} == set(Fault)
    assert set(WAYS) == BY_PROVIDER
    assert set(Operation) == BY_PROVIDER | BY_TILL
