"""The plan canvas by itself: what it paints anew, where things snap, zooming, and the fields beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu

from app.core import plan_edits as edits
from app.core import plan_row_faults
from app.core.plan_draft import DraftRow, PlanDraft, Selection
from app.core.plan_geometry import RowLine
from app.core.plan_numbering import Numbering
from app.core.plan_work import PlanOrigin, PlanWork, empty_plan
from app.models.plan_scene import chosen_of, plan_scene
from app.screens.plan_editor import PlanEditorScreen
from app.screens.plan_fields import NumberField
from app.showcase import small_hall
from tests.gui.conftest import QLoop
from widgets.plan_canvas import CanvasRow, CanvasScene, CanvasSeat, Chosen, PlanCanvas, seat_painter
from widgets.plan_canvas import painter as painting
from widgets.plan_canvas.scene import Floats
from widgets.plan_canvas.snapping import Guides
from widgets.plan_canvas.stepping import step_seat, step_thing
from widgets.seat_map import glyphs
from widgets.theme import Theme
from widgets.tick_box import TickBox

LEFT = Qt.MouseButton.LeftButton
WORDS = {"stalls": "Stalls", "balcony": "Balcony", "stage": "Stage", "bar": "Bar"}


def scene_of_hall() -> CanvasScene:
    return plan_scene(small_hall(WORDS), ())


def shown_canvas(theme: Theme) -> PlanCanvas:
    canvas = PlanCanvas(theme)
    canvas.resize(900, 620)
    canvas.show()
    canvas.show_scene(scene_of_hall(), Chosen())
    return canvas


def test_dragging_paints_the_hall_once(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    canvas = shown_canvas(theme)
    canvas.grab()
    painted: list[int] = []
    paint = painting.HallPainter.paint

    def counted(self: painting.HallPainter, ratio: float) -> None:
        painted.append(1)
        paint(self, ratio)

    monkeypatch.setattr(painting.HallPainter, "paint", counted)
    seat = canvas.scene.rows[3].seats[4]
    at = canvas.view.to_px(seat.x, seat.y)
    QTest.mousePress(canvas, LEFT, Qt.KeyboardModifier.NoModifier, at.toPoint())
    for step in range(1, 30):
        QTest.mouseMove(canvas, (at + QPointF(2 * step, step)).toPoint())
        canvas.grab()
    assert len(painted) == 1  # the row that was pressed is chosen now; after that only the preview changes
    QTest.mouseRelease(canvas, LEFT, Qt.KeyboardModifier.NoModifier, (at + QPointF(60, 30)).toPoint())


def test_zoom_keeps_what_is_under_the_pointer(theme: Theme) -> None:
    canvas = shown_canvas(theme)
    at = QPointF(300, 200)
    before = canvas.view.to_plan(at)
    for _step in range(5):
        canvas.view.zoom(1.3, at)
    after = canvas.view.to_plan(at)
    assert (after - before).manhattanLength() < 0.01
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_0)
    assert canvas.view.to_px(0, 0).x() > 0


def test_things_rest_in_line_with_others_before_the_grid() -> None:
    guides = Guides((100.0, 203.0), (50.0,), 5.0)
    at = guides.snap(201.0, 77.0, 2.0)
    assert (at.x, at.y, at.upright, at.level) == (203.0, 75.0, 203.0, None)
    free = Guides((), (), 0.0).snap(201.3, 77.7, 2.0)
    assert (free.x, free.y) == (201.3, 77.7)
    moved = guides.snap_move((10.0, 10.0), 88.0, 41.5, 2.0)
    assert (moved.x, moved.y) == (90.0, 40.0)


def test_stepping_goes_round_and_along() -> None:
    scene = scene_of_hall()
    first = step_thing(scene, Chosen(), 1)
    assert first == Chosen(rows=frozenset({scene.rows[0].key}))
    last = step_thing(scene, first, -1)
    assert last == Chosen(shapes=frozenset({scene.shapes[-1].key}))
    assert step_thing(scene, last, 1) == first
    seat = step_seat(scene, first, -1)
    assert seat == Chosen(seats=frozenset({scene.rows[0].seats[-1].key}))
    two = step_seat(scene, seat, -1, extend=True)
    assert two.seats == {scene.rows[0].seats[-1].key, scene.rows[0].seats[-2].key}
    assert step_thing(CanvasScene(1, 1, 1), Chosen(), 1) == Chosen()


@pytest.mark.parametrize(
    ("typed", "value"),
    [("12", 12.0), ("12,5", 12.5), ("-3", 1.0), ("9999", 500.0), ("abc", 7.0), ("nan", 7.0), ("", 7.0)],
)
def test_a_number_is_bounded_and_what_is_none_gives_way(theme: Theme, typed: str, value: float) -> None:
    field = NumberField(1, 500, 5.0, 1)
    field.set_value(7)
    heard: list[float] = []
    field.value_changed.connect(lambda: heard.append(field.value))
    field.selectAll()
    QTest.keyClicks(field, typed) if typed else field.clear()
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.value == value
    assert heard == ([] if value == 7.0 else [value])


def test_arrows_step_a_number(theme: Theme) -> None:
    field = NumberField(1, 20, 5.0)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.text() == "6"
    for _press in range(9):
        QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.text() == "20"
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert field.count == 15


def test_a_box_is_ticked_anywhere_on_its_line_and_shows_it(theme: Theme) -> None:
    box = TickBox(theme, "Companion seat")
    box.resize(220, 30)
    bare = box.grab().toImage()
    QTest.mouseClick(box, LEFT, Qt.KeyboardModifier.NoModifier, box.rect().center())
    assert box.isChecked()
    assert box.grab().toImage() != bare
    assert box.accessibleName() == "Companion seat"


def test_the_menu_offers_what_can_be_done(qloop: QLoop, theme: Theme) -> None:
    work = PlanWork()
    editor = PlanEditorScreen(theme, work)
    editor.resize(1100, 700)
    editor.show()
    work.begin(small_hall(WORDS), PlanOrigin(), saved=False)
    wished: list[str] = []
    editor.open_requested.connect(lambda: wished.append("open"))
    QTest.mouseClick(editor.menu, LEFT)
    (menu,) = [one for one in editor.findChildren(QMenu) if one.isVisible()]
    enabled = [action.text() for action in menu.actions() if action.isEnabled()]
    assert enabled == ["New plan…", "Open a plan…", "Open a file…", "Import a file…", "Save to a file…", "Keys…"]
    menu.actions()[1].trigger()
    menu.close()
    assert wished == ["open"]


def test_names_are_typed_at_the_lines_of_sections(qloop: QLoop, theme: Theme) -> None:
    work = PlanWork()
    editor = PlanEditorScreen(theme, work)
    editor.show()
    work.begin(small_hall(WORDS), PlanOrigin(), saved=True)
    line = editor.side.plan_page.sections[1]
    assert isinstance(line.name, QLineEdit)
    line.name.selectAll()
    QTest.keyClicks(line.name, "Gallery")
    assert work.draft.sections[1].name == "Gallery"
    assert work.is_changed
    work.undo()
    assert editor.side.plan_page.sections[1].name.text() == "Balcony"
    editor.side.plan_page.sections[1].remove.click()
    assert {row.section_id for row in work.draft.rows} == {work.draft.sections[0].section_id}
    assert chosen_of(work.selection) == Chosen()


def big_hall(rows: int, seats: int) -> PlanDraft:
    numbers = count(1)
    draft = edits.add_section(edits.add_category(empty_plan(), "Stalls", "#0f34b4"), "Parterre")
    draft = edits.resize_hall(edits.rename_plan(draft, "Stadium"), seats * 20 + 100, rows * 30 + 100)
    lines = [RowLine((50.0, 50.0 + 30 * n), (50.0 + 20 * (seats - 1), 50.0 + 30 * n)) for n in range(rows)]
    labels = [str(number) for number in range(rows)]
    return edits.add_rows(draft, 2, lines, [seats] * rows, labels, 1, Numbering(), lambda: f"s{next(numbers)}")


def test_an_edit_of_forty_thousand_seats_looks_at_its_own_row_alone(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = PlanWork()
    editor = PlanEditorScreen(theme, work)
    editor.resize(1280, 760)
    editor.show()
    work.begin(big_hall(200, 200), PlanOrigin(), saved=True)
    editor.canvas.grab()
    editor._look_for_faults()
    made: list[str] = []
    facts: list[str] = []
    placed, facts_of = CanvasRow.placed, plan_row_faults._facts_of

    def counted(row: CanvasRow) -> CanvasRow:
        made.append(row.label)
        return placed(row)

    def looked(row: DraftRow) -> plan_row_faults.RowFacts:
        facts.append(row.label)
        return facts_of(row)

    monkeypatch.setattr(CanvasRow, "placed", counted)
    monkeypatch.setattr(plan_row_faults, "_facts_of", looked)
    work.choose(Selection(seats=frozenset({work.draft.rows[70].seats[9].guid})))
    work.edit(edits.move(work.draft, work.selection, 3, 0))
    editor._look_for_faults()
    assert (made, facts) == (["70"], ["70"])
    work.undo()
    editor._look_for_faults()
    assert (made, facts) == (["70", "70"], ["70", "70"])


def test_a_frame_of_forty_thousand_seats_is_one_sheet_and_one_call(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = PlanCanvas(theme)
    canvas.resize(1200, 700)
    canvas.show()
    drawn: list[int] = []
    draw = glyphs.draw_fragments

    def counted(painter: QPainter, fragments: Floats, pixmap: QPixmap) -> None:
        drawn.append(len(fragments))
        draw(painter, fragments, pixmap)

    monkeypatch.setattr(seat_painter, "draw_fragments", counted)
    canvas.show_scene(plan_scene(big_hall(200, 200), ()), Chosen())
    canvas.grab()
    assert drawn == [40_000]
    canvas.grab()
    assert drawn == [40_000]  # nothing changed: the picture is still there
    canvas.view.zoom(40.0, QPointF(600, 350))
    canvas.update()
    canvas.grab()
    assert 0 < drawn[1] < 3_000  # rows out of sight are not looked at, all of a row that is in sight is
    canvas.fit()
    drawn.clear()
    shown = canvas.grab().toImage()
    middle = canvas.view.to_px(*canvas.scene.rows[100].at[100]).toPoint()
    assert shown.pixelColor(middle).blue() > shown.pixelColor(middle).red() + 60


def test_a_view_that_somebody_chose_stays_when_the_window_changes(theme: Theme) -> None:
    canvas = shown_canvas(theme)
    whole = canvas.view.scale
    canvas.resize(500, 400)
    assert canvas.view.scale < whole, "nobody has zoomed: the whole hall stays in view"
    canvas.zoom_in()
    canvas.zoom_in()
    scale, middle = canvas.view.scale, canvas.view.to_plan(QPointF(250, 200))
    canvas.resize(500, 340)
    assert canvas.view.scale == scale
    assert canvas.view.to_plan(QPointF(250, 170)).y() == pytest.approx(middle.y())
    canvas.fit()
    canvas.resize(900, 620)
    assert canvas.view.scale == pytest.approx(whole)


def test_the_next_canvas_shows_the_part_of_the_plan_that_the_one_before_showed(theme: Theme) -> None:
    before, after = shown_canvas(theme), PlanCanvas(theme)
    before.zoom_in()
    before.zoom_in()
    middle = before.view.to_plan(QPointF(450, 310))
    after.take_view_of(before)
    after.show_scene(scene_of_hall(), Chosen())
    after.resize(700, 500)
    after.show()
    assert after.view.scale == before.view.scale
    shown = after.view.to_plan(QPointF(350, 250))
    assert [shown.x(), shown.y()] == pytest.approx([middle.x(), middle.y()])
    after.zoom_in()
    assert after.view.scale > before.view.scale, "each has its own"


def test_what_is_shown_by_the_keyboard_stays_in_view(theme: Theme) -> None:
    canvas = shown_canvas(theme)
    canvas.show_place(0, 0)
    scale = canvas.view.scale
    canvas.resize(900, 600)
    assert canvas.view.scale == scale


def test_a_step_from_many_chosen_seats_goes_through_them_once(theme: Theme) -> None:
    del theme
    rows = tuple(
        CanvasRow(at, str(at), str(at), tuple(
            CanvasSeat(f"{at}-{place}", place * 10.0, at * 10.0, "#112233", str(place)) for place in range(4)
        )).placed()
        for at in range(300)
    )  # fmt: skip
    scene = CanvasScene(1000, 1000, 4, rows)

    class Counted(frozenset[str]):
        gone_through = 0

        def __iter__(self) -> Iterator[str]:
            Counted.gone_through += 1
            return super().__iter__()

    chosen = Chosen(seats=Counted(f"{at}-{place}" for at in range(299) for place in range(2)))
    assert step_thing(scene, chosen, 1) == Chosen(rows=frozenset({299}))
    assert step_seat(scene, chosen, 1) == Chosen(seats=frozenset({"0-2"}))
    assert Counted.gone_through <= 4


def test_a_menu_that_was_closed_is_gone(qloop: QLoop, theme: Theme) -> None:
    editor = PlanEditorScreen(theme, PlanWork())
    editor.show()
    for _time in range(3):
        QTest.mouseClick(editor.menu, LEFT)
        (menu,) = [one for one in editor.findChildren(QMenu) if one.isVisible()]
        QTest.keyClick(menu, Qt.Key.Key_Escape)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert editor.findChildren(QMenu) == []
