"""The theme file: complete in both looks, readable, and its categories told apart by everyone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QFontMetrics, QPalette, QRawFont
from PySide6.QtWidgets import QApplication, QWidget

from widgets.build import column, frame, label
from widgets.filled_button import FilledButton
from widgets.theme import Theme, ThemeError, apply_theme, load_fonts, load_theme, undressed

Floats = npt.NDArray[np.float64]
THEMES = [Theme.light(), Theme.dark()]
TEXT_PAIRS = [
    *[(text, ground) for text in ("text", "text_muted") for ground in ("window", "surface", "surface_raised")],
    *[("text", ground) for ground in ("surface_sunken", "accent_soft", "info_soft", "success_soft", "warn_soft")],
    *[(tone, "surface") for tone in ("accent_text", "success", "warn", "danger", "info", "text_disabled")],
    *[(tone, f"{tone}_soft") for tone in ("success", "warn", "danger", "info")],
    *[("on_accent", ground) for ground in ("accent", "accent_hover", "accent_pressed")],
    *[(f"on_{tone}", tone) for tone in ("success", "warn", "danger", "tooltip")],
    ("on_danger", "danger_hover"),
    ("text", "danger_soft"),
    ("text_disabled", "window"),
]
# Machado, Oliveira, Fernandes 2009, severity 1: protanopia, deuteranopia, tritanopia, in linear RGB.
COLOUR_BLINDNESS = [
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
]


def linear(color: str) -> Floats:
    channel = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    light: Floats = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    return light


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio."""
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb: Floats) -> Floats:
    lms = np.cbrt(
        np.array([[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]) @ rgb.clip(0)
    )
    lab: Floats = (
        np.array([[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]) @ lms
    )
    return lab


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
def test_text_keeps_a_contrast_of_four_and_a_half(theme: Theme, text: str, ground: str) -> None:
    assert contrast(theme.hex(text), theme.hex(ground)) >= 4.5


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["window", "surface", "surface_raised", "surface_sunken", "accent_soft"])
def test_secondary_text_keeps_four_and_a_half_and_disabled_text_three(theme: Theme, ground: str) -> None:
    assert contrast(theme.hex("text_muted"), theme.hex(ground)) >= 4.5
    assert contrast(theme.hex("text_disabled"), theme.hex(ground)) >= 3.0


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize(
    ("mark", "ground"),
    [("focus", "surface"), ("focus", "window"), ("border_strong", "surface"), ("border_strong", "window")],
)
def test_frames_and_focus_keep_a_contrast_of_three(theme: Theme, mark: str, ground: str) -> None:
    assert contrast(theme.hex(mark), theme.hex(ground)) >= 3.0


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ink", ["till", "fan", "house", "mine", "focus", "hover", "lost", "stale", "label"])
def test_marks_of_the_map_stand_out_from_the_bed(theme: Theme, ink: str) -> None:
    assert contrast(theme.map_colors[ink], theme.map_colors["bed"]) >= 3.0


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_seat_number_is_readable_on_every_category(theme: Theme) -> None:
    inks = [theme.map_colors["seat_light_ink"], theme.map_colors["seat_dark_ink"]]
    for fill in theme.categories:
        assert max(contrast(ink, fill) for ink in inks) >= 4.5, fill


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_eight_categories_stay_apart_under_colour_blindness(theme: Theme) -> None:
    """D10: states and prices are not told by colours that some cannot tell apart."""
    assert len(theme.categories) >= 8
    for matrix in [np.eye(3), *map(np.array, COLOUR_BLINDNESS)]:
        seen = [oklab(np.clip(matrix @ linear(color), 0, 1)) for color in theme.categories]
        assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) >= 0.1


def test_both_themes_know_the_same_tokens() -> None:
    light, dark = THEMES
    assert light.colors.keys() == dark.colors.keys()
    assert light.map_colors.keys() == dark.map_colors.keys()


def test_a_token_that_the_file_lacks_is_refused_by_name() -> None:
    with pytest.raises(ThemeError, match="no-such-token"):
        Theme.light().hex("no-such-token")
    with pytest.raises(ThemeError, match="solar"):
        load_theme("solar")


def test_the_bundled_fonts_load_and_write_latin_greek_cyrillic_and_arabic(qapp: QApplication) -> None:
    font = Theme.light().font("body")
    assert font.family() == load_fonts() == "DejaVu Sans"
    raw = QRawFont.fromFont(font)
    for text in ("Straße", "Θέατρο", "Партер", "المسرح"):
        assert all(raw.supportsCharacter(ord(letter)) for letter in text), text
    assert QFontMetrics(font).height() > 0


def test_the_application_is_dressed_and_can_change_at_run_time(qapp: QApplication) -> None:
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    try:
        for theme in THEMES:
            apply_theme(qapp, theme)
            assert qapp.palette().color(QPalette.ColorRole.Window).name().upper() == theme.hex("window")
            assert theme.hex("accent") in qapp.styleSheet()
    finally:
        qapp.setPalette(before[0])
        qapp.setFont(before[1])
        qapp.setStyleSheet(before[2])


def test_what_is_built_undressed_looks_the_same_once_it_is_built(qapp: QApplication) -> None:
    apply_theme(qapp, THEMES[0])
    sheet = qapp.styleSheet()

    def card() -> QWidget:
        outside, inside = frame("sunken"), frame("raised")
        column(THEMES[0], margin="large", parent=outside).addWidget(inside)
        page = column(THEMES[0], parent=inside)
        page.addWidget(label("12:30", kind="display"))
        page.addWidget(FilledButton("Take", "primary"))
        return outside

    with undressed():
        assert qapp.styleSheet() == ""
        one = card()
    assert qapp.styleSheet() == sheet
    assert one.grab().toImage() == card().grab().toImage()
    with pytest.raises(LookupError), undressed():
        raise LookupError
    assert qapp.styleSheet() == sheet
