"""Scenes of operations: calm, trouble, who waits for whom, admission, history, the large mode, the feed away."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QApplication, QWidget

from app.core.ops_parts import OpsView
from app.i18n import _
from app.screens.ops_dialogs import ActDialog, AdmissionDialog, SessionDialog
from app.screens.ops_rule_dialog import RuleDialog
from app.screens.ops_screen import ALARMS, BLOCKERS, LIVE, LOG, OpsScreen
from app.screenshot_money import MoneyScenes
from app.screenshot_steps import ScreenshotError
from app.showcase_ops import give_minutes, play_evening
from backend_client.steady_time import steady_seconds


@dataclass(slots=True)
class OpsScenes(MoneyScenes):
    """See the module."""

    async def _operations(self, name: str) -> None:
        """An administrator's evening: calm, then somebody holds locks."""
        server = self._open.server
        play_evening(server)
        give_minutes(server)
        await self._sign_in(name)
        await self._see_operations()
        self._picture("ops-calm")
        await self._see_history()
        play_evening(server, trouble_at=40)
        self._store.ops.clear()
        server.cut_ops_feeds()
        await self._see_operations()
        screen = self._ops
        screen.live.charts.set_cross(screen.live.now_s - 18)
        await self._turn()
        self._picture("ops-trouble")
        screen.live.charts.set_cross(None)
        await self._see_pages()
        await self._see_admission()
        screen.show_large(True)
        await self._turn()
        self._picture("ops-large")
        screen.show_large(False)
        server.feed_reachable = False
        server.cut_ops_feeds()
        self._store.ops.heard_at = (self._store.ops.heard_at or 0.0) - 42
        await self._until(lambda: screen.health.value == "late", "the figures to be old")
        screen.show_all()
        await self._turn()
        self.take("ops-away")

    async def _see_operations(self) -> None:
        self._open.console.window.screen_requested.emit("ops")
        await self._heard()

    async def _heard(self) -> None:
        board = self._store.ops
        await self._until(lambda: board.figures is not None and len(board.house) > 800, "the figures")
        await self._until(lambda: board.control is not None and bool(board.rules), "admission")
        await self._rest()
        self._ops.show_all()
        await self._turn()

    async def _see_history(self) -> None:
        board, live = self._store.ops, self._ops.live
        board.look_at(OpsView(21_600.0, live.now_s - 300))
        await self._until(lambda: not board.minutes.table.is_empty, "the history")
        await self._rest()
        live.charts.set_cross(live.now_s - 9_000)
        await self._turn()
        self._picture("ops-history")
        live.charts.set_cross(None)
        board.look_at(OpsView())
        await self._rest()

    async def _see_pages(self) -> None:
        screen = self._ops
        screen.show_page(BLOCKERS)
        await self._turn()
        self._picture("ops-blockers")
        screen.blockers.end.click()
        dialog = await self._act_dialog(SessionDialog)
        if isinstance(dialog, SessionDialog):
            dialog.number.setText("4712")
            dialog.reason.setText(_("A report that nobody waits for"))
        await self._turn()
        self._picture("ops-end-session", dialog)
        dialog.reject()
        await self._rest()
        screen.show_page(ALARMS)
        await self._rest()
        self._picture("ops-alarms")
        await self._see_limit()
        screen.show_page(LOG)
        await self._until(lambda: bool(screen.log.shown), "the log")
        await self._rest()
        self._picture("ops-log")
        screen.show_page(LIVE)

    async def _see_limit(self) -> None:
        """Another limit than the one that rings, and a colleague who was faster."""
        self._press(self._ops.alarms.change)
        dialog = await self._act_dialog(RuleDialog)
        if isinstance(dialog, RuleDialog):
            for name, text in (("raise_at", "900"), ("clear_at", "700")):
                dialog.fields.edits[name].setText(text)
                dialog.fields.typed.emit(name, text)
            dialog.reason.setText(_("The derby begins at eight"))
        await self._until(lambda: not self._open.console.deeds.is_running("try-limit"), "what it is tried on")
        await self._turn()
        self._picture("ops-limit", dialog)
        dialog.reject()
        await self._rest()

    async def _see_admission(self) -> None:
        screen, board = self._ops, self._store.ops
        panel = screen.admission
        field = panel.fields["cap_per_minute"]
        field.setText("900")
        field.textEdited.emit("900")
        await self._until(lambda: board.preview is not None, "the preview")
        await self._turn()
        self._press(panel.review)
        dialog = await self._act_dialog(AdmissionDialog)
        dialog.reason.setText(_("The derby begins at eight"))
        self._open.server.ops.put_settings(changed_by="Omar Haddad", cap_per_minute=1_000)
        await self._until(lambda: board.theirs is not None, "somebody else's change")
        await self._turn()
        self._picture("ops-admission", dialog)
        dialog.reject()
        await self._rest()
        board.take_theirs()

    async def _act_dialog(self, kind: type[ActDialog]) -> ActDialog:
        await self._until(lambda: isinstance(QApplication.activeModalWidget(), kind), "the dialog")
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, ActDialog):
            raise ScreenshotError("another dialog is open")
        await self._turn()
        return dialog

    def _picture(self, name: str, dialog: QWidget | None = None) -> None:
        """A picture in which the figures are of now."""
        self._store.ops.heard_at = steady_seconds()
        self._ops.show_time()
        self.take(name, dialog)

    @property
    def _ops(self) -> OpsScreen:
        return self._open.console.window.screens.ops
