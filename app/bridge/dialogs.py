"""Dialogs that are awaited: `open()` and a future. A nested event loop would stop every other task for good (D1)."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QDialog, QWidget

_ASKED: dict[QDialog, asyncio.Future[bool]] = {}


async def ask(dialog: QDialog) -> bool:
    """Show `dialog` over its parent and wait for the answer: True when accepted.

    The interface, the seat feed and every other task go on meanwhile. The dialog is closed and deleted at the end, also
    when the waiting task is cancelled.
    """
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def take(result: int) -> None:
        if not answer.done():
            answer.set_result(result == QDialog.DialogCode.Accepted)

    dialog.finished.connect(take)
    _ASKED[dialog] = answer
    dialog.open()
    try:
        return await answer
    finally:
        del _ASKED[dialog]
        dialog.finished.disconnect(take)
        dialog.close()
        dialog.deleteLater()


def dismiss(window: QWidget) -> None:
    """Close every dialog that is open over `window`, as if it had been cancelled: whoever was asked is gone."""
    for dialog, answer in tuple(_ASKED.items()):
        if dialog.parentWidget() is window and not answer.done():
            answer.set_result(False)
