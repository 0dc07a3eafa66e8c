"""Every setting of the console, declared once: key, type, default, bounds, words. Kept in one TOML file.

A value that is missing, of the wrong type or out of bounds never stops the counter: the default counts, and
`Settings.faults` says so for the log.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

from app.whole_file import write_whole

Scalar = str | int | float | bool
Kind = TypeVar("Kind", str, int, float, bool)


@dataclass(frozen=True, slots=True)
class Setting(Generic[Kind]):
    """One setting. `words` is its English description; bounds are inclusive, in the unit that the key ends with."""

    key: str
    default: Kind
    words: str
    low: float | None = None
    high: float | None = None
    choices: tuple[Kind, ...] = ()

    def fault_of(self, value: object) -> str | None:
        """Why `value` cannot be used, or None."""
        kind = type(self.default)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            return f"{self.key}: {kind.__name__} expected, got {type(value).__name__}"
        if len(self.choices) and value not in self.choices:
            return f"{self.key}: one of {', '.join(map(str, self.choices))} expected"
        if self._outside(value):
            return f"{self.key}: {value} is outside {self.low}–{self.high}"
        return None

    def _outside(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return False
        return (self.low is not None and value < self.low) or (self.high is not None and value > self.high)


SERVER_URL: Final = Setting("server_url", "", "Address of the booking system")
TERMINAL_ADDRESS: Final = Setting("terminal_address", "", "Card terminal, as host:port; empty when there is none")
CARD_WAY: Final = Setting(
    "card_way", "terminal", "Where cards are taken: at this till's terminal, or at a reader that the server drives",
    choices=("terminal", "reader"),
)  # fmt: skip
HAND_OVER_AFTER_S: Final = Setting(
    "hand_over_after_s", 300, "Seconds after which an unclear payment is a supervisor's", 30, 3600
)
LANGUAGE: Final = Setting("language", "en", "Language", choices=("en", "ar", "ja", "pt"))
THEME: Final = Setting("theme", "system", "Colours", choices=("system", "light", "dark"))
MOTION: Final = Setting("motion", "system", "Motion on the map", choices=("system", "less", "full"))
PATTERNS: Final = Setting("patterns", False, "Patterns beside the colours of price categories")
TICKET_STOCK: Final = Setting("ticket_stock", "stock", "Paper in the ticket printer", choices=("stock", "a4"))
STOCK_WIDTH_MM: Final = Setting("stock_width_mm", 140.0, "Width of a ticket in millimetres", 60.0, 300.0)
STOCK_HEIGHT_MM: Final = Setting("stock_height_mm", 50.0, "Height of a ticket in millimetres", 40.0, 300.0)
PRINTER_DPI: Final = Setting("printer_dpi", 203, "Dots per inch of the ticket printer", 150, 1200)
HOLD_WARNING_S: Final = Setting(
    "hold_warning_s", 60, "Seconds before a hold ends at which the countdown warns", 10, 300
)
SIGN_IN_NAME: Final = Setting("sign_in_name", "", "Name that signed in last at this counter")
LAST_EVENT: Final = Setting("last_event", 0, "Event that was open last", 0, 2**31 - 1)

AnySetting = Setting[str] | Setting[int] | Setting[float] | Setting[bool]

ALL_SETTINGS: Final[tuple[AnySetting, ...]] = (
    SERVER_URL, TERMINAL_ADDRESS, CARD_WAY, HAND_OVER_AFTER_S, LANGUAGE, THEME, MOTION, PATTERNS, TICKET_STOCK,
    STOCK_WIDTH_MM, STOCK_HEIGHT_MM, PRINTER_DPI, HOLD_WARNING_S, SIGN_IN_NAME, LAST_EVENT,
)  # fmt: skip


@dataclass(slots=True)
class Settings:
    """The values in use; `path` None keeps them in memory."""

    path: Path | None = None
    faults: list[str] = field(default_factory=list)
    _values: dict[str, Scalar] = field(default_factory=dict)
    _turn: Lock = field(default_factory=Lock, repr=False, compare=False)

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read the file; a missing or broken one gives defaults, with the reason in `faults`."""
        settings = cls(path)
        try:
            raw = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return settings
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            settings.faults.append(f"{path.name}: {error}")
            return settings
        for setting in ALL_SETTINGS:
            if setting.key in raw:
                settings._take(setting, raw[setting.key])
        return settings

    def _take(self, setting: AnySetting, value: Scalar) -> None:
        fault = setting.fault_of(value)
        if fault is None:
            self._values[setting.key] = float(value) if isinstance(setting.default, float) else value
        else:
            self.faults.append(fault)

    def get(self, setting: Setting[Kind]) -> Kind:
        """The value of `setting`, its default when nothing else is set."""
        value = self._values.get(setting.key, setting.default)
        return type(setting.default)(value)

    def value_of(self, setting: AnySetting) -> Scalar:
        """As `get`, of a setting whose type is not known here."""
        return self._values.get(setting.key, setting.default)

    def set(self, setting: Setting[Kind], value: Kind, *, keep: bool = True) -> None:
        """Set a value; `keep` writes the file.

        Raises:
            ValueError: the value is of the wrong type or out of bounds.
        """
        fault = setting.fault_of(value)
        if fault is not None:
            raise ValueError(fault)
        self._values[setting.key] = value
        if keep:
            self.write()

    def set_all(self, values: Mapping[AnySetting, Scalar]) -> None:
        """Set several and write the file once: all of them or, when it cannot be written, none.

        Raises:
            ValueError: one of them is of the wrong type or out of bounds.
            OSError: the file cannot be written.
        """
        faults = [fault for setting, value in values.items() if (fault := setting.fault_of(value)) is not None]
        if faults:
            raise ValueError("; ".join(faults))
        before = {setting.key: self._values.get(setting.key) for setting in values}
        self._values.update({setting.key: value for setting, value in values.items()})
        try:
            self.write()
        except OSError:
            self._put_back(before)
            raise

    def _put_back(self, before: Mapping[str, Scalar | None]) -> None:
        """Only these: others may have been set while the disk took its time."""
        for key, value in before.items():
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value

    def write(self) -> None:
        """Write the file with the values as they are now; from any thread, one write after the other.

        Raises:
            OSError: the file cannot be written; the one that was there is as it was.
        """
        if self.path is None:
            return
        with self._turn:
            lines = [f"{key} = {_toml(value)}\n" for key, value in sorted(dict(self._values).items())]
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, "".join(lines).encode())


def host_and_port(address: str) -> tuple[str, int]:
    """`host:port` of a device.

    Raises:
        ValueError: it is none.
    """
    host, _colon, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"the card terminal's address must be host:port, not {address!r}")
    return host, int(port)


def _toml(value: Scalar) -> str:
    """One scalar as TOML; its basic strings share JSON's escapes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
