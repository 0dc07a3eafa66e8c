"""What a screen reader hears of the map: names in the person's language, money in the event's currency (D10, I1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.store import ConsoleStore
from app.i18n import use_language
from app.screens.map_words import SeatWords, map_texts
from backend_client.wire import EventDetail
from tests.gui.conftest import QLoop, counter_of, rest
from widgets.theme import Theme

SEPARATORS = {"en": ", ", "pt": ", ", "ar": "\u060c ", "ja": "\u3001"}


def priced_in(event: EventDetail, currency: str) -> EventDetail:
    """The event, its amounts being of another currency."""
    values = {name: getattr(event, name) for name in event.__struct_fields__}
    return EventDetail(**{**values, "currency": currency})


def free_seat(store: ConsoleStore) -> int:
    assert store.seat_map is not None
    return next(seat for seat in range(store.seat_map.seat_count) if store.seat_map.is_pickable(seat))


def test_a_seat_is_spoken_as_section_row_seat_price_and_state(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            store = showcase.console.desk.store
            seat = free_seat(store)
            said = SeatWords(store).spoken(seat)
            assert said.startswith("Stalls left, Row A, Seat ")
            assert said.endswith(", €89.00, free")
            assert store.seat_map is not None
            store.seat_map.set_mine([seat])
            assert SeatWords(store).spoken(seat).endswith(", €89.00, in your sale")
            assert SeatWords(store).spoken(10**6) == ""

    qloop.run(scene())


@pytest.mark.parametrize(("code", "separator"), SEPARATORS.items())
def test_every_language_pauses_with_its_own_comma(
    qloop: QLoop, theme: Theme, tmp_path: Path, code: str, separator: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            store = showcase.console.desk.store
            use_language(code)
            words = SeatWords(store).spoken(free_seat(store)).split(separator)
            assert len(words) == 5, words
            assert "89" in words[3]
            texts = map_texts(store)
            assert texts.spoken_section("Stalls", 3).startswith(f"Stalls{separator}")
            assert "3" in texts.spoken_row("K", "", 3)
            assert "K" in texts.spoken_row("K", "", 3)
            assert texts.spoken_row("", "", 3) != ""
            assert "3" in texts.spoken_standing("Pit", 3)

    qloop.run(scene())


@pytest.mark.parametrize(("currency", "price"), [("JPY", "¥8,900"), ("KWD", "8.900"), ("USD", "$89.00")])
def test_the_price_is_spoken_in_the_events_currency(
    qloop: QLoop, theme: Theme, tmp_path: Path, currency: str, price: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            store = showcase.console.desk.store
            assert store.event is not None
            seat = free_seat(store)
            store.put_event(priced_in(store.event, currency))
            said = SeatWords(store).spoken(seat)
            assert price in said, said

    qloop.run(scene())
