"""Lines of a sale in words, also of one that is for another event than the open one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.i18n import use_language
from app.screens.seat_words import line_faces
from backend_client.wire import EventId
from tests.unit.counter import Counter, make_counter, open_journal


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    use_language("en")
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()


async def test_a_category_is_named_by_the_event_of_the_sale_alone(counter: Counter) -> None:
    sale = await counter.hold(0)
    store = counter.desk.store
    assert store.event is not None
    name = next(one.name for one in store.event.categories if one.category_no == sale.picks[0].category_no)
    assert name in line_faces(sale, store)[0].place
    [face] = line_faces(replace(sale, event_id=EventId(99)), store)
    assert sale.hold is not None
    assert face.place == sale.hold.seats[0].section, "numbers of categories are those of their event"
