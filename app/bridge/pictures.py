"""Pictures of windows, taken once what is due has been drawn."""

from __future__ import annotations

import asyncio
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QTimer
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

_TURNS: Final = 4
"""The store's changes are told in the next turn of the loop, widgets made of them shown in the one after, then laid
out; one more for what that brings."""
_DIM: Final = 110


async def all_drawn() -> None:
    """Wait until what has changed so far is on the windows."""
    for _turn in range(_TURNS):
        await _next_turn()
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


async def _next_turn() -> None:
    """One turn of Qt's loop, not of asyncio's alone: timers that are due and posted events are through."""
    turned: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def turn() -> None:
        if not turned.done():
            turned.set_result(None)

    QTimer.singleShot(0, turn)
    await turned


def picture_of(window: QWidget, dialog: QWidget | None = None) -> QPixmap:
    """The window as it stands, with `dialog` over it as the desktop would show it."""
    picture = window.grab()
    if dialog is not None:
        _paint_over(picture, dialog, window)
    return picture


def _paint_over(picture: QPixmap, dialog: QWidget, window: QWidget) -> None:
    face = dialog.grab()
    painter = QPainter(picture)
    dim = QColor(window.palette().shadow().color())
    dim.setAlpha(_DIM)
    painter.fillRect(window.rect(), dim)
    place = QPoint((window.width() - dialog.width()) // 2, (window.height() - dialog.height()) // 2)
    painter.drawPixmap(place, face)
    painter.setPen(window.palette().mid().color())
    painter.drawRect(place.x() - 1, place.y() - 1, dialog.width() + 1, dialog.height() + 1)
    painter.end()
