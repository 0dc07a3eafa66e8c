"""People who come and go at the inbox in the tests of windows."""

from __future__ import annotations

from typing import Any

from app.showcase import PASSWORD
from tests.gui.conftest import rest, until
from tests.gui.money_stage import store_of


async def _sign_in(showcase: Any, name: str) -> None:
    screen = showcase.console.window.screens.sign_in
    screen.sign_in_requested.emit(name, PASSWORD)
    await until(lambda: store_of(showcase).session is not None and store_of(showcase).session.name == name, name)
    await rest(showcase)
