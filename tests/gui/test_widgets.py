"""The reusable parts: values in, signals out."""

from __future__ import annotations

import time

import pytest
from babel import Locale
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.i18n.figures import Figures
from app.models.quick_tender import quick_tenders
from widgets.async_button import AsyncButton
from widgets.countdown import Countdown, Urgency
from widgets.elided_label import ElidedLabel
from widgets.flow_layout import FlowLayout
from widgets.key_gate import KeyGate, keyboard
from widgets.map_legend import LegendCategory, LegendWords, MapLegend
from widgets.money_edit import MoneyEdit
from widgets.status_banner import StatusBanner
from widgets.status_lamp import StatusLamp
from widgets.theme import Theme
from widgets.twice_button import TwiceButton

ENGLISH = Figures(Locale.parse("en"))


def test_enter_held_down_asks_once_p1(theme: Theme) -> None:
    button = AsyncButton("Card", role="primary")
    asked: list[int] = []
    button.action_requested.connect(lambda: asked.append(1))
    button.show()
    for repeated in (False, True, True, True):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", repeated)
        QApplication.sendEvent(button, event)
    assert asked == [1]
    button.set_busy(False)
    QApplication.sendEvent(
        button, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    )
    assert asked == [1]
    keyboard.forget()  # the key went up, and some time has passed
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert asked == [1, 1]


def test_enter_held_down_asks_once_where_repeats_do_not_say_what_they_are(theme: Theme) -> None:
    """Under X a held key may arrive as releases and presses; the focus may move to another button meanwhile."""
    now = [100.0]
    gate = KeyGate(lambda: now[0])
    counted = []
    for _repeat in range(60):
        counted.append(gate.press())
        now[0] += 0.02
        gate.release()
        now[0] += 0.02
    assert counted == [True] + [False] * 59
    now[0] += 0.31
    assert gate.press()
    now[0] += 0.7  # still down, the first repeat of a slow keyboard
    assert not gate.press()
    gate.release()
    now[0] += 0.31
    assert gate.press()


def test_a_button_that_has_just_come_up_is_not_meant_by_a_double_click(theme: Theme) -> None:
    button = AsyncButton("Exact cash")
    button.set_calm(0.1)
    asked: list[int] = []
    button.action_requested.connect(lambda: asked.append(1))
    button.show()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert asked == []
    end = time.monotonic() + 5
    while not button.listens and time.monotonic() < end:
        QApplication.sendPostedEvents()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked == [1]


def test_what_cannot_be_undone_is_asked_twice(theme: Theme) -> None:
    button = TwiceButton("Release the seats", "Press again to release the seats")
    button.set_calm(0.0)
    meant: list[int] = []
    button.meant.connect(lambda: meant.append(1))
    button.show()
    for _half in range(2):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.text() == button.accessibleName() == "Press again to release the seats"
    assert meant == []
    end = time.monotonic() + 5
    while not button.means_it and time.monotonic() < end:
        QApplication.sendPostedEvents()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert meant == [1]
    button.ask()
    button.hide()
    assert not button.asks


def test_the_keys_name_is_shown_beside_a_text_that_leaves_the_middle_too_narrow(theme: Theme) -> None:
    button = AsyncButton("Cash with change")
    button.resize(195, 36)
    plain = button.grab().toImage()
    button.set_key_hint("F7")
    hinted = button.grab().toImage()
    width = hinted.width()
    end = [(x, y) for x in range(width * 4 // 5, width - 6) for y in range(8, hinted.height() - 8)]
    assert any(hinted.pixel(x, y) != plain.pixel(x, y) for x, y in end)
    assert button.sizeHint().width() <= 195


def test_a_busy_button_keeps_focus_and_name_and_looks_busy(theme: Theme) -> None:
    button = AsyncButton("Hold 3 seats")
    button.resize(240, 40)
    button.show()
    button.setFocus()
    idle = button.grab().toImage()
    button.click()
    assert button.busy
    assert button.isEnabled()
    assert button.accessibleName() == "Hold 3 seats"
    assert button.grab().toImage() != idle


def test_a_countdown_says_its_urgency_in_words_too_d10(theme: Theme) -> None:
    countdown = Countdown(theme)
    countdown.resize(300, countdown.sizeHint().height())
    countdown.show_time("Held for the buyer", "4:59", 0.99, Urgency.CALM)
    calm = countdown.grab().toImage()
    countdown.show_time("The hold ends soon", "0:42", 0.14, Urgency.WARNING)
    assert countdown.accessibleName() == "The hold ends soon"
    assert countdown.accessibleDescription() == "0:42"
    assert countdown.grab().toImage() != calm


def test_a_money_field_knows_what_it_says_and_why_not_d6(theme: Theme) -> None:
    field = MoneyEdit(lambda text: ENGLISH.parse_money(text, "EUR"), lambda amount: ENGLISH.amount(amount, "EUR"))
    changes: list[tuple[int | None, str]] = []
    field.amount_changed.connect(lambda: changes.append((field.amount_minor, field.fault)))
    field.set_amount(6500)
    QTest.keyClicks(field, "12,50")
    field.setText("12,,5")
    assert changes[0] == (6500, "")
    assert (1250, "") in changes
    assert (125_000, "") not in changes
    assert changes[-1] == (None, "amount-unreadable")


@pytest.mark.parametrize(
    ("total", "currency", "offered"),
    [
        (1350, "EUR", (1350, 1400, 1500, 2000, 5000, 10000)),
        (2000, "EUR", (2000, 5000, 10000, 20000)),
        (7300, "JPY", (7300, 8000, 10000)),  # there are notes of 1,000, 2,000, 5,000 and 10,000 and no others
        (640, "JPY", (640, 1000, 2000, 5000, 10000)),
        (7500, "KWD", (7500, 8000, 10000, 20000)),
        (7300, "XTS", (7300,)),
    ],
)
def test_quick_amounts_begin_with_the_exact_one_and_rise(total: int, currency: str, offered: tuple[int, ...]) -> None:
    assert quick_tenders(total, currency) == offered


def legend(theme: Theme) -> MapLegend:
    words = LegendWords(
        "Yours", "Counter", "Buyer", "House", "Sold", "Blocked", "Accessible", "Companion", "Restricted"
    )
    made = MapLegend(theme, words)
    made.show_categories(tuple(LegendCategory(number, "", f"Category {number}", "€10.00") for number in range(3)))
    return made


def test_a_click_on_a_category_puts_the_others_back(theme: Theme) -> None:
    made = legend(theme)
    dimmed: list[list[int]] = []
    made.categories_dimmed.connect(dimmed.append)
    made.chips[1].click()
    made.chips[2].click()
    made.chips[1].click()
    made.chips[2].click()
    assert dimmed == [[0, 2], [0], [0, 1], []]


def test_a_legend_wraps_and_leaves_its_marks_out_where_room_is_short(theme: Theme) -> None:
    made = legend(theme)
    layout = made.layout()
    assert layout is not None
    wide, narrow = layout.heightForWidth(1200), layout.heightForWidth(320)
    assert narrow > 2 * wide
    made.show()
    made.show_marks(False)
    assert layout.heightForWidth(320) < narrow


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_a_flow_begins_on_the_side_of_the_language(theme: Theme, direction: Qt.LayoutDirection) -> None:
    parent = QWidget()
    parent.setLayoutDirection(direction)
    flow = FlowLayout(parent, 4)
    buttons = [QPushButton(text) for text in ("one", "two", "three")]
    for button in buttons:
        flow.addWidget(button)
    parent.resize(600, 100)
    parent.show()
    flow.setGeometry(QRect(0, 0, 600, 100))
    lefts = [button.x() for button in buttons]
    assert lefts == sorted(lefts, reverse=direction is Qt.LayoutDirection.RightToLeft)


@pytest.mark.parametrize(("room", "taken"), [(600, 400), (300, 186), (160, 160)])
def test_a_field_takes_what_its_line_has_left_as_far_as_it_may_grow(theme: Theme, room: int, taken: int) -> None:
    parent = QWidget()
    flow, field, button = FlowLayout(parent, 4), QLineEdit(), QPushButton("Clear")
    flow.setContentsMargins(0, 0, 0, 0)
    field.setMaximumWidth(400)
    button.setFixedWidth(110)
    for part in (field, button):
        flow.addWidget(part)
    flow.setGeometry(QRect(0, 0, room, 100))
    assert (field.width(), button.width()) == (taken, 110)
    assert (button.y() > field.y()) is (room == 160), "too little for both: two lines"


def test_a_lamp_shows_its_state_by_shape_as_well_as_colour_d10(theme: Theme) -> None:
    lamp = StatusLamp(theme)
    pictures: list[QImage] = []
    for state in ("good", "waiting", "trouble", "bad", "off"):
        lamp.tell(state, "Terminal", "detail")
        lamp.resize(lamp.sizeHint())
        grey = lamp.grab().toImage().convertToFormat(lamp.grab().toImage().Format.Format_Grayscale8)
        mark = grey.copy(0, 0, 12, grey.height())
        assert all(mark != other for other in pictures)
        pictures.append(mark)
    assert lamp.accessibleName() == "Terminal"


def test_a_banner_carries_its_tone_as_a_mark_and_its_words_for_screen_readers(theme: Theme) -> None:
    banner = StatusBanner(theme)
    assert banner.isHidden()
    pressed: list[int] = []
    banner.action_requested.connect(lambda: pressed.append(1))
    banner.tell("warn", "The card was declined", "Try another card.", "Close")
    assert (banner.accessibleName(), banner.accessibleDescription()) == ("The card was declined", "Try another card.")
    banner.findChild(QPushButton).click()  # type: ignore[union-attr]
    assert pressed == [1]
    banner.clear()
    assert banner.isHidden()


def test_a_text_that_does_not_fit_is_cut_and_told_whole(theme: Theme) -> None:
    label = ElidedLabel("Stalls centre · Row A · a very long name of a category")
    label.resize(80, 20)
    label.show()
    seen = [(label.is_elided, label.toolTip())]
    label.resize(900, 20)
    seen.append((label.is_elided, label.toolTip()))
    assert seen == [(True, label.text()), (False, "")]


def test_a_question_about_one_thing_is_not_answered_about_another(theme: Theme) -> None:
    button = TwiceButton("Release the seats", "Press again to release the seats")
    button.set_about("the first sale")
    button.ask()
    button.set_about("the first sale")
    assert button.asks
    button.set_about("the second sale")
    assert button.text() == "Release the seats"


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_cross_that_empties_a_search_field_stands_in_the_middle_of_its_edge(
    qtbot: QtBot, theme: Theme, direction: Qt.LayoutDirection
) -> None:
    edit = QLineEdit()
    qtbot.addWidget(edit)
    edit.setLayoutDirection(direction)
    edit.setClearButtonEnabled(True)
    edit.resize(400, edit.sizeHint().height())
    edit.setText("abc")
    with qtbot.waitExposed(edit):
        edit.show()
    cross = edit.findChildren(QToolButton)[0].geometry()
    assert abs(cross.center().y() - edit.rect().center().y()) <= 1
    assert edit.rect().contains(cross)
