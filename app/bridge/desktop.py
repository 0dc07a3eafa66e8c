"""Handing a file to the desktop: its viewer, its file browser."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


def open_path(path: Path) -> bool:
    """Open a file or a folder with what the desktop has for it; False when it is gone or nothing opens it."""
    return path.exists() and QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
