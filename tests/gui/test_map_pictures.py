"""Pictures of the map: every plan at every level, as all kinds of eyes see it, with nothing cut off (D10, R14)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.__main__ import main as console_main
from app.bridge.eyes import MATRICES, Eyes, seen_by, seen_colors
from app.main import Options, make_application
from app.map_pictures import VENUE, MapPhotographer
from app.models.map_plan import map_plan
from app.settings import Settings
from app.showcase_maps import PlanHouse, UnreadablePlanError, bowl, plan_of
from tests.fixtures.plans import FOLDER, SHARED
from tests.gui.conftest import QLoop
from tests.gui.test_every_screen import clipped
from tests.gui.test_theme import COLOUR_BLINDNESS, linear
from widgets.seat_map.seat_bits import LOOK_OF_STATE, Look

SMALL_BOWL = 2_400


@dataclass(slots=True)
class MapInspector(MapPhotographer):
    """Looks for what is cut off, and takes the pictures."""

    faults: list[str] = field(default_factory=list)

    def _shoot(self, name: str, *eyes: Eyes) -> None:
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.faults += [f"{self._name}-{name}: {fault}" for fault in clipped(self._open.console.window)]
        MapPhotographer._shoot(self, name, *eyes)


@pytest.mark.parametrize(("language", "theme", "hall"), [("en", "light", "theatre"), ("ar", "dark", "bowl")])
def test_pictures_of_every_level_and_trouble_for_all_eyes_with_nothing_cut_off(
    qloop: QLoop, tmp_path: Path, language: str, theme: str, hall: str
) -> None:
    settings = Settings()
    make_application(settings, Options(data=tmp_path, language=language, theme=theme))
    plan = plan_of(VENUE) if hall == "theatre" else bowl(SMALL_BOWL)
    inspector = MapInspector(tmp_path, settings, (1280, 800), plans=(plan,))
    assert qloop.run(inspector.work(), 180) == 0
    names = [path.stem[4:] for path in inspector.taken]
    for level in ("far", "middle", "middle-patterned", "deep"):
        assert f"plan1-{level}" in names
        assert {f"plan1-{level}-{eyes.value}" for eyes in MATRICES} <= set(names)
    assert {f"plan1-{name}" for name in (
        "far-filtered", "best-available", "finding", "found", "seats-lost", "out-of-date"
    )} <= set(names)  # fmt: skip
    assert inspector.faults == []
    for path in inspector.taken:
        assert path.stat().st_size > 20_000
        path.unlink()


def test_the_evening_of_the_pictures_has_every_look_that_a_legend_explains() -> None:
    house = PlanHouse(plan_of(VENUE))
    looks = {Look(look) for look in LOOK_OF_STATE[house.states].tolist()}
    assert {
        Look.FREE, Look.HELD_TILL, Look.HELD_FAN, Look.HELD_HOUSE, Look.PAYING_FAN, Look.SOLD, Look.PRINTED, Look.USED,
        Look.BLOCKED,
    } <= looks  # fmt: skip
    assert house.seat_house_holds


def test_the_bowl_has_60_000_seats_three_rings_tables_and_standing_places() -> None:
    plan = bowl()
    count = len(plan.seats.x)
    assert abs(count - 60_000) < 3_000
    assert len(plan.sections) == 121
    assert (len(plan.tables), len(plan.standing)) == (9, 2)
    assert sorted({*plan.seats.flags}) == [0, 1, 2, 4]
    assert all(0 <= x <= plan.width for x in plan.seats.x)
    assert all(0 <= y <= plan.height for y in plan.seats.y)
    assert sum(row.seat_count for row in plan.rows) == count


def test_a_table_bears_its_name_and_its_row_not_once_more() -> None:
    house = PlanHouse(bowl(SMALL_BOWL))
    drawn = map_plan(house.plan, house.event())
    named = {table.row_no for table in house.plan.tables}
    assert named
    assert {drawn.row_label_position[row] for row in named} == {"none"}
    assert all(drawn.row_label_position[row] == "" for row in range(len(house.plan.rows)) if row not in named)
    texts = {area.text for area in drawn.areas if area.kind == "table"}
    assert texts == {house.plan.rows[row].label for row in named}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public plans are not here")
def test_a_plan_file_of_any_format_is_read_by_the_booking_system() -> None:
    stadium = plan_of(SHARED / "pretix-schema__seatmap-canvas-stadium.json")
    assert len(stadium.seats.x) == 738
    assert len(plan_of(SHARED / "seatsio__sampleChartWithTables.json").tables) == 2


def test_a_plan_with_faults_is_no_picture_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = FOLDER / "labels_look_alike.json"
    with pytest.raises(UnreadablePlanError, match="labels_look_alike"):
        plan_of(broken)
    with pytest.raises(SystemExit) as ended:
        console_main(["screenshots", str(tmp_path), "--maps", str(broken)])
    assert ended.value.code == 2
    assert "labels_look_alike" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("eyes", "matrix"),
    list(zip((Eyes.PROTANOPIA, Eyes.DEUTERANOPIA, Eyes.TRITANOPIA), COLOUR_BLINDNESS, strict=True)),
    ids=str,
)
def test_a_picture_is_seen_as_the_matrices_say(eyes: Eyes, matrix: list[list[float]]) -> None:
    rng = np.random.default_rng(5)
    colors = rng.integers(0, 256, (300, 3)).astype(np.uint8)
    seen = seen_colors(colors, eyes)
    for color, got in zip(colors.tolist(), seen.tolist(), strict=True):
        light = np.clip(np.array(matrix) @ linear("#{:02X}{:02X}{:02X}".format(*color)), 0, 1)
        exact = 255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
        assert np.abs(exact - got).max() <= 2.0  # light is told in 4,096 steps
    image = QImage(colors.tobytes(), 20, 15, 60, QImage.Format.Format_RGB888)
    picture = seen_by(image, eyes)
    assert (picture.width(), picture.height()) == (20, 15)
    places = ((picture, seen), (seen_by(image, Eyes.ALL), colors))
    for shown, wanted in places:
        at = shown.pixelColor(7, 3)
        assert [at.red(), at.green(), at.blue()] == wanted[3 * 20 + 7].tolist()
