"""`python -m tests.gui.spoken_console FOLDER`: a console on a real display, for a screen reader in another process.

It is the whole console over a booking system in memory, with an event open and the keyboard on the map. One line of
standard input at a time drives it, and each is answered by one line on standard output: `key NAME` presses a key on the
map (`Right`, `Ctrl+Down`), `sell focused` has the seat under the keyboard sold elsewhere, `end` ends.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bridge.loop import close, new_loop
from app.showcase import Showcase
from tests.gui.conftest import counter_of, rest, until
from widgets.theme import Theme, apply_theme


def main() -> int:
    """Run until told to end; 0 when all went well."""
    application = QApplication(sys.argv)
    apply_theme(application, Theme.light())
    loop = new_loop(application)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(_serve(Path(sys.argv[1])))
    finally:
        close(loop)
    return 0


async def _serve(folder: Path) -> None:
    async with counter_of(folder) as showcase:
        await rest(showcase)
        counter = showcase.console.window.screens.counter
        showcase.console.window.activateWindow()
        await until(showcase.console.window.isActiveWindow, "an active window; no window manager is here to make one")
        counter.focus_map()
        counter.map.focus_seat(0)
        print("ready", flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)).strip() not in {"", "end"}:
            _do(showcase, line.split())
            await rest(showcase)
            print("done", flush=True)


def _do(showcase: Showcase, words: list[str]) -> None:
    verb, what = words
    seat_map = showcase.console.window.screens.counter.map
    if verb == "key":
        name = what.removeprefix("Ctrl+")
        keys = Qt.KeyboardModifier.NoModifier if name == what else Qt.KeyboardModifier.ControlModifier
        QTest.keyClick(seat_map, Qt.Key[f"Key_{name}"], keys)
    else:
        showcase.server.sell_elsewhere(seat_map.focused_seat)


if __name__ == "__main__":
    raise SystemExit(main())
