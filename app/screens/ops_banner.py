"""How an act of operators went, above their pages: it says of which event, and is there no longer than it is true."""

from __future__ import annotations

from collections.abc import Callable

from app.core.ops_board import OpsBoard
from app.i18n import _, figures
from app.screens.words import Advice
from backend_client.wire import OpsEventFigures
from widgets.status_banner import StatusBanner
from widgets.theme import Theme


class OpsBanner(StatusBanner):
    """Goes when another event is watched, when what it says was seen to be so and is so no more, or by its button."""

    def __init__(self, theme: Theme, board: OpsBoard) -> None:
        super().__init__(theme)
        self._board = board
        self._watched = board.event_id
        self._is_so: Callable[[], bool] | None = None
        self._was_so = False

    def tell_of(
        self, words: Advice, event: OpsEventFigures | None = None, is_so: Callable[[], bool] | None = None
    ) -> None:
        """Say it; of an event, with its name, unless the words have it. `is_so`: whether the board shows it so now."""
        named = event is None or event.name in words.title
        title = words.title if named or event is None else figures().joined((event.name, words.title))
        self._watched, self._is_so, self._was_so = self._board.event_id, is_so, False
        self.tell(words.tone, title, words.detail, _("Close"))

    def show_board(self) -> None:
        """The board is another one: what is said here may not be so any more."""
        if self.isHidden():
            return
        is_so = self._is_so is not None and self._is_so()
        if self._board.event_id != self._watched or (self._was_so and not is_so):
            self.clear()
        self._was_so = self._was_so or is_so
