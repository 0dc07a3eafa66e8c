"""Scenes of the dialogs that no sale leads to: printing the seat map, and the plan editor's own."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QApplication, QDialog

from app.core.plan_file import write_plan
from app.screens.plan_import_dialog import ImportPlanDialog
from app.screenshot_settings import SettingScenes
from backend_client.wire import PlanFileReport, PlanFinding


@dataclass(slots=True)
class DialogScenes(SettingScenes):
    """See the module."""

    async def _print_dialog(self) -> None:
        await self._picture_of("print-seat-map", self._open.console.window.chart_requested)

    async def _plan_dialogs(self) -> None:
        """With a plan that was saved already."""
        console, shelf = self._open.console, self._open.server.plans
        draft = self._store.plan_work.draft
        self._store.plan_work.begin(draft, self._store.plan_work.origin, saved=True)
        shelf.plans[shelf.venues[0].venue_id, draft.name] = [write_plan(draft)]
        editor = console.window.screens.plans
        await self._picture_of("plan-keys", editor.keys_requested)
        await self._picture_of("plan-new", editor.new_requested)
        await self._picture_of("plan-open", editor.open_requested)
        dialog = ImportPlanDialog(console.window.theme, "teatro.svg", console.window)
        dialog.show_report(_report())
        dialog.open()
        await self._turn()
        self.take("plan-import", dialog)
        await self._close_dialog()

    async def _picture_of(self, name: str, request: SignalInstance) -> None:
        """Ask for a dialog, take its picture, close it."""
        request.emit()
        await self._until(lambda: QApplication.activeModalWidget() is not None, f"the dialog {name}")
        await self._until(lambda: "load-plans" not in self._open.console.deeds.running, "what it loads")
        await self._turn()
        dialog = QApplication.activeModalWidget()
        self.take(name, dialog)
        if isinstance(dialog, QDialog):
            dialog.reject()
        await self._until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")
        await self._rest()


def _report() -> PlanFileReport:
    """A drawing with a fault that can be mended and one that cannot."""
    return PlanFileReport(
        format="svg", seats=184, ga_capacity=60, sections=2, categories=3, fault_count=2, warning_count=1,
        faults=(
            PlanFinding(pointer="214:7", code="seat-number-missing", message="the seat has no number",
                        repair="number-seats", says="seat-unnumbered"),
            PlanFinding(pointer="230:7", code="seats-coincide", message="this seat stands at the same point as 214:7",
                        says="seats-coincide", values={"place": "214:7"}),
        ),
        offered=("number-seats",),
        warnings=(
            PlanFinding(pointer="9:3", code="category-unused", message="no seat is of it", says="category-unused"),
        ),
    )  # fmt: skip
