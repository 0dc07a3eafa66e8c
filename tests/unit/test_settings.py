"""Settings: declared once, and a broken file never stops a counter."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from app import settings as declared
from app.settings import (
    ALL_SETTINGS,
    HOLD_WARNING_S,
    LANGUAGE,
    LAST_EVENT,
    PRINTER_DPI,
    SERVER_URL,
    STOCK_WIDTH_MM,
    THEME,
    Setting,
    Settings,
)


def test_every_setting_is_listed_and_its_default_is_allowed() -> None:
    found = [value for value in vars(declared).values() if isinstance(value, Setting)]
    assert {setting.key for setting in found} == {setting.key for setting in ALL_SETTINGS}
    assert len({setting.key for setting in ALL_SETTINGS}) == len(ALL_SETTINGS)
    for setting in ALL_SETTINGS:
        assert setting.fault_of(setting.default) is None
        assert setting.words


def test_values_outlive_the_program(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    settings = Settings.load(path)
    settings.set(LANGUAGE, "pt")
    settings.set(SERVER_URL, 'https://a"b\\c/ü')
    settings.set(STOCK_WIDTH_MM, 150.5)
    again = Settings.load(path)
    assert again.get(LANGUAGE) == "pt"
    assert again.get(SERVER_URL) == 'https://a"b\\c/ü'
    assert again.get(STOCK_WIDTH_MM) == 150.5
    assert again.faults == []


def test_a_missing_file_gives_defaults(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "settings.toml")
    assert settings.get(THEME) == THEME.default
    assert settings.faults == []


@pytest.mark.parametrize("text", ["language = ", "\x00", "[["])
def test_a_broken_file_gives_defaults_and_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    settings = Settings.load(path)
    assert settings.get(LANGUAGE) == "en"
    assert len(settings.faults) == 1


def test_a_bad_value_is_left_out_and_the_rest_counts(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('language = "xx"\nhold_warning_s = 5\ntheme = "dark"\nstock_width_mm = 140\nprinter_dpi = true\n')
    settings = Settings.load(path)
    assert settings.get(LANGUAGE) == "en"
    assert settings.get(HOLD_WARNING_S) == HOLD_WARNING_S.default
    assert settings.get(THEME) == "dark"
    assert settings.get(STOCK_WIDTH_MM) == 140.0
    assert len(settings.faults) == 3


def test_setting_a_bad_value_is_refused(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "settings.toml")
    with pytest.raises(ValueError, match="hold_warning_s"):
        settings.set(HOLD_WARNING_S, 1)
    assert not (tmp_path / "settings.toml").exists()


def test_a_value_that_is_not_to_be_kept_stays_in_memory(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "settings.toml")
    settings.set(THEME, "dark", keep=False)
    assert settings.get(THEME) == "dark"
    assert not (tmp_path / "settings.toml").exists()


def test_what_was_set_while_the_disk_took_its_time_is_not_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(tmp_path / "settings.toml")
    settings.set(PRINTER_DPI, 300)

    def full(_path: Path, _body: bytes) -> None:
        settings.set(LAST_EVENT, 7, keep=False)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("app.settings.write_whole", full)
    with pytest.raises(OSError, match="No space"):
        settings.set_all({PRINTER_DPI: 600, HOLD_WARNING_S: 90})
    assert (settings.get(PRINTER_DPI), settings.get(HOLD_WARNING_S), settings.get(LAST_EVENT)) == (300, 60, 7)
