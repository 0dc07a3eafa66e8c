"""Why the console does not start, in a window of its own: somebody who double-clicked an icon sees no terminal."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.core.errors import ConsoleError, DeviceFileNotWrittenError, JournalWriteError
from app.i18n import _
from app.screens.words import Advice, advice_for
from backend_client.errors import BookingClientError
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, label, row
from widgets.theme import Theme

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL_AT_SQLITE: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


class RefusedStart(AnswerDialog):
    """What is the matter, where, and what to do."""

    def __init__(self, theme: Theme, words: Advice, where: str) -> None:
        super().__init__()
        self.words = words
        self.setWindowTitle("Taquilla")
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.detail)
        self.title = label(words.title, kind="title", wrap=True)
        self.detail = label(words.detail, wrap=True)
        self.where = label(where, kind="caption", tone="muted", wrap=True)
        self.where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.shut = QPushButton(_("Close"))
        self.shut.setAccessibleName(self.shut.text())
        self.shut.setDefault(True)
        self.shut.setMinimumHeight(theme.sizes["touch"])
        self.shut.clicked.connect(self.accept)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.shut)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addWidget(label(_("The console did not start"), kind="caption", tone="muted"))
        page.addWidget(self.title)
        page.addWidget(self.detail)
        page.addWidget(self.where)
        page.addSpacing(theme.space("small"))
        page.addLayout(end)
        self.setMinimumWidth(520)


def start_words(error: ConsoleError | BookingClientError | OSError) -> Advice:
    """Words for what stopped the start; the cause tells a full disk from a folder that may not be written."""
    if isinstance(error, OSError):
        return advice_for("disk-full" if error.errno in _FULL else "folder-not-writable")
    cause = error.__cause__
    if isinstance(error, DeviceFileNotWrittenError) and isinstance(cause, OSError):
        return start_words(cause)
    if isinstance(error, JournalWriteError) and isinstance(cause, sqlite3.Error):
        full = (cause.sqlite_errorcode or 0) & 0xFF in _FULL_AT_SQLITE
        return advice_for("disk-full" if full else "folder-not-writable")
    return advice_for(error.code)
