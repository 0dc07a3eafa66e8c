"""Names as long as they are let in, on a small screen and at twice the type: nothing is clipped, nothing sticks out."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.main import Options, make_application
from app.settings import Settings
from app.showcase import TheatreHouse, make_showcase
from backend_client.wire import EventDetail, SeatRef
from tests.gui.conftest import QLoop
from tests.gui.test_every_screen import Inspector

SENTENCE = "Die wunderbare und überaus lange Geschichte der Donaudampfschifffahrtsgesellschaft in drei Akten"
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


class LongHouse(TheatreHouse):
    """A house whose every name is as long as somebody could make it, some in one word."""

    def __init__(self) -> None:
        super().__init__()
        sections = tuple(replace(section, name=f"{WORD} {section.name}") for section in self.plan.sections)
        self.plan = replace(self.plan, name=SENTENCE, sections=sections)

    def event(self) -> EventDetail:
        event = super().event()
        return replace(
            event,
            name=SENTENCE,
            venue_name=WORD,
            categories=tuple(replace(one, name=f"{one.name} {WORD}") for one in event.categories),
            price_types=tuple(replace(one, name=f"{one.name} {WORD}") for one in event.price_types),
        )

    def seat(self, seat_no: int) -> SeatRef:
        return replace(super().seat(seat_no), section=WORD, row="ABCDEFGHIJ", number="123456789")


class LongNames(Inspector):
    """Looks at what a clerk sees of a sale, in parts and parked, and at the orders."""

    async def work(self) -> int:
        for scene in (self._clerk, self._order_desk):
            with tempfile.TemporaryDirectory(prefix="taquilla-") as data:
                self._showcase = make_showcase(Path(data), self.settings, house=LongHouse(), size=self.size)
                try:
                    self._showcase.console.window.show()
                    await scene("carla")
                finally:
                    await self._showcase.close()
        return 0


@pytest.mark.parametrize("size", [(960, 540)], ids=["200 % of 1920x1080"])
def test_long_names_are_shortened_and_never_clipped(qloop: QLoop, tmp_path: Path, size: tuple[int, int]) -> None:
    settings = Settings()
    make_application(settings, Options(data=tmp_path, theme="light", size=size))
    inspector = LongNames(tmp_path, settings, size)
    assert qloop.run(inspector.work(), 180) == 0
    assert "payment-parked" in inspector.names
    assert inspector.faults == []
