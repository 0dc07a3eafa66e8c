"""What only a look at the pictures of other languages shows: edges, first lines, cut names, signs of money."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from babel import Locale
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel, QStyle, QStyleOptionComboBox, QWidget
from pytestqt.qtbot import QtBot

from app.i18n.figures import Figures
from widgets.choice_box import ChoiceBox
from widgets.facts_grid import FactsGrid
from widgets.first_lines import first_ascent
from widgets.sides import Sides
from widgets.theme import Theme

LRM = "\u200e"


@pytest.fixture(params=[Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft], ids=["ltr", "rtl"])
def direction(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[Qt.LayoutDirection]:
    before = qapp.layoutDirection()
    qapp.setLayoutDirection(request.param)
    yield request.param
    qapp.setLayoutDirection(before)


@pytest.mark.parametrize("width", [701, 1000, 1256])
def test_neither_of_two_parts_beside_each_other_loses_its_edge(
    qtbot: QtBot, theme: Theme, direction: Qt.LayoutDirection, width: int
) -> None:
    sides, parts = Sides(theme), [QWidget(), QWidget()]
    qtbot.addWidget(sides)
    for part in parts:
        sides.addWidget(part)
    sides.resize(width, 200)
    sides.show()
    whole = QRect(0, 0, width, 200)
    assert all(whole.contains(part.geometry()) for part in parts)
    assert not parts[0].geometry().intersects(parts[1].geometry())
    first_is_left = parts[0].x() < parts[1].x()
    assert first_is_left == (direction == Qt.LayoutDirection.LeftToRight)


def test_a_caption_and_its_value_stand_upon_one_line_whatever_letters_they_have(qtbot: QtBot, theme: Theme) -> None:
    grid = FactsGrid(theme)
    qtbot.addWidget(grid)
    grid.show_facts([("金額", "€192.00"), ("Amount", "佐藤 葵"), ("المبلغ", "Visa"), ("作成", "2026年11月30日")])
    grid.resize(500, 200)
    grid.show()
    labels = grid.findChildren(QLabel)
    assert len(labels) == 8
    for caption, value in zip(labels[::2], labels[1::2], strict=True):
        lines = [one.mapTo(grid, one.contentsRect().topLeft()).y() + first_ascent(one) for one in (caption, value)]
        assert abs(lines[0] - lines[1]) <= 1.0, caption.text()


def test_a_choice_that_is_too_long_ends_in_an_ellipsis_and_never_in_half_a_letter(qtbot: QtBot, theme: Theme) -> None:
    box = ChoiceBox(theme)
    qtbot.addWidget(box)
    name = "すべてのブロック"
    box.add_choice(name, "", 1)
    box.setFixedSize(box.width_of(name), 36)
    box.show()
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    style, part = box.style(), QStyle.SubControl.SC_ComboBoxEditField
    room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box).width()
    assert room >= box.fontMetrics().horizontalAdvance(name), "as wide as it says, it shows the name whole"
    whole = box.grab().toImage()
    box.setFixedWidth(box.width_of(name) - 30)
    short = box.grab().toImage()
    box.setItemText(0, "すべてのブ…")
    box.setItemData(0, "すべてのブ…", Qt.ItemDataRole.UserRole + 1)
    assert short.width() < whole.width()
    assert short == box.grab().toImage() or box.fontMetrics().elidedText(
        name, Qt.TextElideMode.ElideRight, room - 30
    ).endswith("…")  # fmt: skip


def test_a_currency_sign_stays_behind_its_letters_from_right_to_left() -> None:
    arabic, english = Figures(Locale.parse("ar")), Figures(Locale.parse("en"))
    yen = arabic.money(980_000, "JPY")
    symbol = "JP¥" if "JP¥" in yen else ""
    assert not symbol or f"JP¥{LRM}" in yen
    assert LRM not in english.money(980_000, "JPY")
    assert arabic.parse_money(yen.replace("JP", ""), "JPY") == 980_000
    assert LRM not in arabic.money(6_400, "EUR").strip("\u200f")


@pytest.mark.parametrize(("code", "shown"), [("en", "3, 4"), ("pt", "3, 4"), ("ar", "3\u060c 4"), ("ja", "3、4")])
def test_numbers_of_seats_are_listed_with_the_comma_of_the_language(code: str, shown: str) -> None:
    assert Figures(Locale.parse(code)).listed(["3", "", "4"]) == shown
