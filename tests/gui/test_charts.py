"""Charts of operators: gaps are gaps, limits are drawn, both directions of writing, sharp at every scale (D7, D10)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication

from app.screens.ops_strips import strip_plans
from widgets.charts import ChartStack, ChartStrip, ChartTable, CurveLook, Limit, Span, StripPlan
from widgets.charts.curve_layer import CurveLayer
from widgets.charts.polylines import dashes, polygon_of, runs, stepped, thinned
from widgets.charts.scale import clock_up, round_up, time_ticks, top_of
from widgets.charts.series import Floats
from widgets.charts.strip import HEAD_PX
from widgets.charts.time_axis import TimeAxis
from widgets.theme import Theme

PLAN = StripPlan("a", "Waiting", (CurveLook("a", "People", "info"),), lambda v: f"{v:.0f}", lambda v: f"{v:.0f}")


def table(values: list[float], *, start: float = 0.0, gap_s: float = 3.0) -> ChartTable:
    column = np.array(values, float)
    times: Floats = start + np.arange(len(column), dtype=np.float64)
    return ChartTable(times, {"a": column}, gap_s)


def drawn(theme: Theme, data: ChartTable, span: Span, *, dpr: float = 1.0, line: str = "solid") -> QImage:
    layer = CurveLayer(theme)
    layer.draw((200.0, 50.0), dpr, data, span, (CurveLook("a", "A", "info", line),), 10.0)
    return layer.picture.toImage()


def inked(image: QImage) -> npt.NDArray[np.bool_]:
    """(height, width): where something is drawn."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.width(), 4)
    return np.asarray(rows[:, :, 3] > 40, np.bool_)


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_zone_stands_before_the_instants_and_gives_way_to_the_cross_hair(theme: Theme, mirrored: bool) -> None:
    """The longest words that have room; none of them under the instant of the cross-hair at the edge."""
    axis = TimeAxis(theme, lambda _seconds, _span: "18:48:02")
    axis.setLayoutDirection(Qt.LayoutDirection.RightToLeft if mirrored else Qt.LayoutDirection.LeftToRight)
    axis.resize(600, 20)
    axis.show_span(Span(0.0, 100.0), ())
    axis.show_zone(("A time of a name that has no room before any instant", "Tokyo"))
    assert (axis.zone_words, axis.toolTip()[:6]) == ("Tokyo", "A time")
    head = (axis.width() - HEAD_PX, axis.width()) if mirrored else (0, HEAD_PX)
    far, near = (100.0, 0.0) if not mirrored else (0.0, 100.0)
    axis.show_cross(far)
    whole = axis._zone_box(12.0, axis._cross_box())
    axis.show_cross(near)
    less = axis._zone_box(12.0, axis._cross_box())
    assert head[0] <= less.left() < less.right() <= head[1]
    assert less.width() < whole.width()
    cross = axis._cross_box()
    assert cross is not None
    assert not less.intersects(cross)
    axis.grab()


@pytest.mark.parametrize("line", ["solid", "dash", "dots", "step"])
@pytest.mark.parametrize("missing", ["nan", "absent"])
def test_nothing_is_drawn_where_nothing_is_known(theme: Theme, line: str, missing: str) -> None:
    values = [5.0] * 100
    data = table(values)
    if missing == "nan":
        values[40:60] = [float("nan")] * 20
        data = table(values)
    else:
        kept = np.r_[0:40, 60:100]
        data = ChartTable(data.times[kept], {"a": data.columns["a"][kept]}, 3.0)
    ink = np.flatnonzero(inked(drawn(theme, data, Span(0.0, 100.0), line=line)).any(axis=0))
    assert not ((ink >= 84) & (ink < 116)).any(), "a gap was bridged"
    assert (ink < 70).sum() > 15
    assert (ink >= 130).sum() > 15


def test_a_sample_alone_is_a_dot(theme: Theme) -> None:
    data = ChartTable(np.array([50.0]), {"a": np.array([5.0])})
    ink = inked(drawn(theme, data, Span(0.0, 100.0)))
    columns = np.flatnonzero(ink.any(axis=0))
    assert 2 <= len(columns) <= 5
    assert abs(columns.mean() - 100) < 2


@pytest.mark.parametrize("dpr", [1.0, 1.25, 1.5, 2.0])
def test_a_line_is_as_thick_at_every_scale_of_the_screen_d7(theme: Theme, dpr: float) -> None:
    ink = inked(drawn(theme, table([5.0] * 101), Span(0.0, 100.0), dpr=dpr))
    assert ink.shape == (round(50 * dpr), round(200 * dpr))
    thick = ink[:, ink.shape[1] // 2].sum() / dpr
    assert 1.0 <= thick <= 3.0


def test_what_is_thinned_keeps_its_peak_and_its_ends() -> None:
    x, y = np.linspace(0, 100, 10_000), np.zeros(10_000)
    y[4_321] = 9.0
    thin_x, thin_y = thinned(x, y)
    assert len(thin_x) < 250
    assert thin_y.max() == 9.0
    assert (np.diff(thin_x) >= 0).all()


def test_runs_break_at_what_is_not_known_and_at_seconds_that_did_not_come() -> None:
    times = np.array([0.0, 1, 2, 3, 9, 10, 11])
    values = np.array([1.0, 1, np.nan, 1, 1, 1, np.nan])
    assert list(runs(times, values, 3.0)) == [slice(0, 2), slice(3, 4), slice(4, 6)]
    assert list(runs(times, np.full(7, np.nan), 3.0)) == []


def test_what_is_set_holds_until_it_is_set_anew() -> None:
    x, y = stepped(np.array([0.0, 10.0, 20.0]), np.array([1.0, 5.0, 2.0]))
    assert x.tolist() == [0.0, 10.0, 10.0, 20.0, 20.0]
    assert y.tolist() == [1.0, 1.0, 5.0, 5.0, 2.0]


def test_points_are_copied_exactly_and_dashes_stand_still(qapp: QApplication) -> None:
    made = polygon_of(np.array([1.0, 2.5]), np.array([3.0, -4.0]))
    assert [(made.at(n).x(), made.at(n).y()) for n in range(made.size())] == [(1.0, 3.0), (2.5, -4.0)]
    assert polygon_of(np.empty(0), np.empty(0)).isEmpty()
    short, longer = (dashes(np.arange(float(end)), np.ones(end)) for end in (60, 80))
    assert [dash.first().x() for dash in short] == [dash.first().x() for dash in longer][: len(short)]


def test_scales_end_at_round_numbers_and_do_not_jump() -> None:
    assert [round_up(value) for value in (0, 0.07, 3, 21, 480, 9_999)] == [0, 0.1, 5, 25, 500, 10_000]
    assert [clock_up(value) for value in (12, 55, 700, 4_000)] == [20, 60, 1_200, 7_200]
    top = top_of(400, 10, 0)
    assert top == 500
    assert top_of(250, 10, top) == 500  # still fits well
    assert top_of(40, 10, top) == 50
    assert top_of(700, 10, top) == 1_000


def test_ticks_are_round_on_the_clock_of_the_venue() -> None:
    ticks = time_ticks(1_000.0, 1_900.0, 4, offset_s=1_800.0)
    assert all((tick + 1_800.0) % 300 == 0 for tick in ticks)
    assert 2 <= len(ticks) <= 4


def test_values_are_those_of_the_right_edge_and_of_the_cross_hair(theme: Theme) -> None:
    strip = ChartStrip(theme, PLAN)
    strip.show_data(table([float(second) for second in range(100)]), Span(0.0, 50.0), ())
    assert strip.values == {"a": 50.0}
    strip.show_cross(20.0)
    assert strip.values == {"a": 20.0}
    assert strip.spoken == "People: 20"
    strip.show_cross(None)
    strip.show_data(table([1.0] * 10), Span(20.0, 120.0), ())
    assert strip.values == {"a": None}, "what is old is not of now"
    strip.show_stale(True)
    assert strip.values == {"a": 1.0}


def test_a_limit_in_reach_is_drawn_and_one_far_off_does_not_flatten_the_curve(theme: Theme) -> None:
    strip = ChartStrip(theme, PLAN)
    strip.resize(500, 70)
    strip.show_data(table([4.0] * 60), Span(0.0, 60.0), ())
    strip.show_limits((Limit(8.0, "alarm from 8"),))
    picture = strip.grab().toImage()
    assert strip.top >= 8.0
    danger, plot = theme.color("danger"), strip.plot
    y = round(plot.bottom() - 8.0 / strip.top * (plot.height() - 2))
    near = [picture.pixelColor(x, y + down) for x in range(300, 440) for down in (-1, 0, 1)]
    assert sum(_close(color, danger) for color in near) > 40
    strip.show_limits((Limit(4_000.0, "far"),))
    strip.grab()
    assert strip.top < 100


def test_words_of_limits_that_lie_close_together_stand_beside_each_other(theme: Theme) -> None:
    strip = ChartStrip(theme, PLAN)
    strip.resize(700, 70)
    strip.show_data(table([4_000.0] * 60), Span(0.0, 60.0), ())
    strip.show_limits(
        (Limit(300.0, "alarm from 300"), Limit(75.0, "alarm from 75"), Limit(3_000.0, "alarm from 3,000"))
    )
    strip.grab()
    first, second, third = (box for _limit, _words, box in strip.limit_boxes())
    assert not first.intersects(second)
    assert second.left() > first.right()
    assert third.left() == first.left(), "there is room for it where limits stand"


def _close(one: QColor, other: QColor) -> bool:
    return abs(one.red() - other.red()) + abs(one.green() - other.green()) + abs(one.blue() - other.blue()) < 60


def test_time_runs_from_left_to_right_where_lines_run_the_other_way(theme: Theme, qapp: QApplication) -> None:
    strip = ChartStrip(theme, PLAN)
    strip.resize(500, 70)
    strip.show_data(table([1.0] * 60), Span(0.0, 60.0), ())
    strip.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert strip.x_of(0.0) < strip.x_of(60.0)
    assert strip.plot.right() < 500 - 100, "the names stand at the right"
    assert strip.time_at(strip.x_of(30.0)) == pytest.approx(30.0)


def test_the_mouse_moves_one_cross_hair_and_drags_time(theme: Theme) -> None:
    other = StripPlan("b", "B", PLAN.curves, PLAN.write, PLAN.write_tick)
    stack = ChartStack(theme, [PLAN, other], lambda seconds, _span: str(seconds))
    stack.resize(600, 240)
    stack.show_data(table([1.0] * 60), Span(0.0, 60.0))
    moved: list[float] = []
    stack.moved.connect(moved.append)
    stack.show()
    strip = stack.strips[1]
    x = strip.x_of(30.2)
    strip.mouseMoveEvent(_mouse(QEvent.Type.MouseMove, x))
    assert [one._cross for one in stack.strips] == [30.0, 30.0]
    assert moved == []
    strip.mousePressEvent(_mouse(QEvent.Type.MouseButtonPress, x))
    assert [one.focusPolicy() for one in stack.strips] == [Qt.FocusPolicy.ClickFocus, Qt.FocusPolicy.StrongFocus]
    strip.mouseMoveEvent(_mouse(QEvent.Type.MouseMove, x + strip.plot.width() / 6, held=True))
    assert moved == [pytest.approx(-10.0)]
    strip.mouseMoveEvent(_mouse(QEvent.Type.MouseMove, 2.0))
    assert stack.cross is None, "over the names there is no instant"
    stack.hide()


def _mouse(kind: QEvent.Type, x: float, *, held: bool = False) -> QMouseEvent:
    button = Qt.MouseButton.LeftButton if kind is QEvent.Type.MouseButtonPress or held else Qt.MouseButton.NoButton
    place = QPointF(x, 20.0)
    return QMouseEvent(kind, place, place, button, button, Qt.KeyboardModifier.NoModifier)


def test_curves_of_one_strip_differ_by_their_line_and_not_by_colour_alone_d10() -> None:
    for plan in strip_plans():
        lines = [curve.line for curve in plan.curves]
        assert len(lines) == len(set(lines)), plan.key
