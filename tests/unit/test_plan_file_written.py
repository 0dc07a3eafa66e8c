"""A plan that is written over an older file: whole, or the older one stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.actions.save_plan import write_plan_file
from app.core.plan_file import read_plan
from tests.unit.counter import make_counter, open_journal


async def test_a_disk_that_is_full_leaves_the_plan_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_journal(tmp_path / "till")
    counter = make_counter(journal)
    path = tmp_path / "hall.json"
    await write_plan_file(counter.desk, path)
    before = path.read_bytes()
    assert read_plan(before, lambda: "a guid") == counter.desk.store.plan_work.draft

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await write_plan_file(counter.desk, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["hall.json"]
    await counter.desk.client.close()
    await journal.close()
