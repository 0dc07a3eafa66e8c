"""A counter over a journal on disk and a booking system that is played, for the tests of what a till does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.counter import Counter, make_counter, open_journal


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()
