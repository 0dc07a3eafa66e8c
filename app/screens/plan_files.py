"""Files of the plan editor: opened, saved, imported from other formats with what may be mended, pictures put in."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QObject
from PySide6.QtGui import QImageReader
from PySide6.QtWidgets import QFileDialog

from app.actions.desk import Desk
from app.actions.load_plan import add_picture_file, begin_import, look_at_file, open_plan_file, read_import_file
from app.actions.save_plan import write_plan_file
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.errors import PictureRefusedError, PlanFileError
from app.core.plan_areas import PICTURE_SUFFIXES
from app.i18n import _
from app.screens.main_window import MainWindow
from app.screens.plan_editor import PlanEditorScreen
from app.screens.plan_import_dialog import ImportPlanDialog
from app.screens.words import Advice, advice_for, advice_for_error
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import PlanFile

_LOG = logging.getLogger(__name__)


class PlanFiles(QObject):
    """Binds the wishes about files. `may_replace` asks before work that is not saved gives way."""

    def __init__(
        self, window: MainWindow, desk: Desk, deeds: Deeds, may_replace: Callable[[], Awaitable[bool]]
    ) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._may_replace = may_replace
        self._dialog: ImportPlanDialog | None = None
        self._file: PlanFile | None = None

    def connect_screens(self) -> None:
        """Bind the editor that was built just now."""
        editor = self._editor
        editor.file_open_requested.connect(self._on_file_open_requested)
        editor.file_save_requested.connect(self._on_file_save_requested)
        editor.import_requested.connect(self._on_import_requested)
        editor.picture_requested.connect(self._on_picture_requested)

    @property
    def _editor(self) -> PlanEditorScreen:
        return self._window.screens.plans

    # ------------------------------------------------------------ our own format

    def _on_file_open_requested(self) -> None:
        self._deeds.start("open-plan-file", self._open_file)

    async def _open_file(self) -> None:
        if not await self._may_replace():
            return
        dialog = self._file_dialog(_("Open a plan file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if not await ask(dialog):
            return
        path = Path(dialog.selectedFiles()[0])
        try:
            await open_plan_file(self._desk, path)
        except OSError as error:
            _LOG.warning("not read: %s", error)
            self._editor.tell(advice_for("plan-file-not-read"))
        except PlanFileError as error:
            _LOG.warning("no plan: %s: %s", path, error)
            advice = advice_for_error(error)
            self._editor.tell(replace(advice, detail=f"{advice.detail}\n{error}"))
        else:
            self._editor.banner.clear()
            self._editor.canvas.fit()

    def _on_file_save_requested(self) -> None:
        self._deeds.start("save-plan-file", self._save_file)

    async def _save_file(self) -> None:
        dialog = self._file_dialog(_("Save the plan to a file"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile(f"{self._desk.store.plan_work.draft.name.strip() or 'plan'}.json")
        if not await ask(dialog):
            return
        path = Path(dialog.selectedFiles()[0])
        try:
            await write_plan_file(self._desk, path)
        except OSError as error:
            _LOG.warning("not written: %s", error)
            self._editor.tell(advice_for("plan-file-not-written"))
        else:
            self._editor.tell(Advice(_("Saved to the file {name}").format(name=path.name), "", "success"))

    def _file_dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        dialog.setNameFilters([_("Seating plans (*.json)"), _("All files (*)")])
        dialog.setAccessibleName(title)
        return dialog

    # ------------------------------------------------------------ other formats

    def _on_import_requested(self) -> None:
        self._deeds.start("import-plan", self._import)

    async def _import(self) -> None:
        if not await self._may_replace():
            return
        filters = [_("Plans (*.json *.svg *.csv)"), _("All files (*)")]
        path = await self._chosen_file(_("Import a plan file"), filters)
        if path is None:
            return
        try:
            file = await read_import_file(path)
        except OSError as error:
            _LOG.warning("not read: %s", error)
            self._editor.tell(advice_for("plan-file-not-read"))
        except PlanFileError as error:
            self._editor.tell(advice_for_error(error))
        else:
            if self._window.screens.current is self._editor:
                await self._ask_about(file, path.name)

    async def _ask_about(self, file: PlanFile, file_name: str) -> None:
        """Show what is in it; each choice of a repair has it read anew."""
        dialog = ImportPlanDialog(self._window.theme, file_name, self._window)
        dialog.look_requested.connect(self._on_look_requested)
        self._dialog, self._file = dialog, file
        self._on_look_requested()
        try:
            accepted = await ask(dialog)
            report = dialog.report
        finally:
            self._deeds.cancel("look-at-plan-file")
            self._dialog = self._file = None
        if accepted and report is not None:
            await begin_import(self._desk, report)
            self._editor.banner.clear()
            self._editor.canvas.fit()
            self._editor.focus_first()

    def _on_look_requested(self) -> None:
        self._deeds.cancel("look-at-plan-file")
        self._deeds.start("look-at-plan-file", self._look)

    async def _look(self) -> None:
        dialog, file = self._dialog, self._file
        if dialog is None or file is None:
            return
        dialog.show_waiting()
        wanted = structs.replace(file, repairs=dialog.chosen_repairs, seat_pattern=dialog.seat_pattern)
        try:
            report = await look_at_file(self._desk, wanted)
        except BookingRefusedError as error:
            if self._dialog is dialog:
                dialog.show_trouble("\n".join(field.message for field in error.problem.fields) or str(error))
        except BookingClientError as error:
            if self._dialog is dialog:
                advice = advice_for_error(error)
                dialog.show_trouble(advice.title)
        else:
            if self._dialog is dialog:
                dialog.show_report(report)

    # ------------------------------------------------------------ pictures

    def _on_picture_requested(self) -> None:
        self._deeds.start("add-picture", self._add_picture)

    async def _add_picture(self) -> None:
        patterns = " ".join(f"*.{suffix}" for suffix in PICTURE_SUFFIXES)
        path = await self._chosen_file(_("Add a picture"), [_("Pictures ({patterns})").format(patterns=patterns)])
        if path is None:
            return
        size = QImageReader(str(path)).size()
        try:
            await add_picture_file(self._desk, path, size.width(), size.height())
        except OSError as error:
            _LOG.warning("not read: %s", error)
            self._editor.tell(advice_for("plan-file-not-read"))
        except PictureRefusedError as error:
            _LOG.warning("no picture: %s: %s", path, error)
            self._editor.tell(advice_for("picture-refused"))
        else:
            self._editor.banner.clear()
            self._editor.focus_page()

    async def _chosen_file(self, title: str, filters: list[str]) -> Path | None:
        dialog = self._file_dialog(title)
        dialog.setNameFilters(filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        return Path(dialog.selectedFiles()[0]) if await ask(dialog) else None
