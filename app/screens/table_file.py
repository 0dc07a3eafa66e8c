"""Where a list is saved as a file, asked without holding the loop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.dialogs import ask
from app.i18n import _


async def ask_where_to_save(parent: QWidget, name: str) -> Path | None:
    """The file that the person chose for a table, `name` being offered; None when they chose none."""
    dialog = QFileDialog(parent, _("Save the list as a file"))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([_("Tables (*.csv)"), _("All files (*)")])
    dialog.setDefaultSuffix("csv")
    dialog.setAccessibleName(_("Save the list as a file"))
    dialog.selectFile(name)
    return Path(dialog.selectedFiles()[0]) if await ask(dialog) else None
