"""What the tests of alarm limits share: the dialog of a limit, what stands in it, and a colleague who is quicker."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.ops_rule_dialog import RuleDialog
from app.screens.ops_screen import ALARMS
from app.showcase import Showcase
from backend_client.testing import FakeBookingServer
from backend_client.wire import (
    OpsAlarmRule,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    Role,
)
from tests.gui.conftest import rest, until
from tests.gui.money_stage import press
from tests.gui.ops_stage import dialog_of, screen_of

RULE = "holds-slow"


def rule_of(server: FakeBookingServer, name: str = RULE) -> OpsAlarmRule:
    return next(rule for rule in server.ops.rules if rule.rule == name)


def set_behind(
    showcase: Showcase, who: str = "Sofia Lindqvist", why: str = "The bank is slow", **members: object
) -> None:
    """Somebody else sets the limit; this console has not read it yet."""
    server, before = showcase.server, rule_of(showcase.server)
    server.ops.put_rule(msgspec.structs.replace(before, version=before.version + 1, **members))
    server.ops.log.append(OpsLogEntry(
        entry_id=f"audit:{900 + before.version}", at=server.house.now(), kind=OpsLogKind.ALARM,
        action="alarm-rule-changed", who=who, subject=RULE, reason=why,
        changes=tuple(OpsLogChange(name=name, was="", now=str(value)) for name, value in members.items()),
    ))  # fmt: skip


async def open_limit(showcase: Showcase, name: str = RULE) -> RuleDialog:
    """The dialog of a limit, with the quarter of an hour read."""
    screen = screen_of(showcase)
    screen.show_page(ALARMS)
    await rest(showcase)
    showcase.console.deeds.cancel("follow-limits")  # what others set is read when a test says so
    page = screen.alarms
    page.rule_table.choose_row(page.rules.row_of(name))
    press(Qt.Key.Key_L, page.rule_table)
    dialog: RuleDialog = await dialog_of(showcase, RuleDialog)
    await until(lambda: not showcase.console.deeds.is_running("try-limit"), "what it is tried on")
    return dialog


def type_in(dialog: RuleDialog, **texts: str) -> None:
    for name, text in texts.items():
        dialog.fields.edits[name].setText(text)
        dialog.fields.edits[name].textEdited.emit(text)


def facts(dialog: RuleDialog) -> dict[str, str]:
    return dict(dialog.effect.facts)


def sent_keys(server: FakeBookingServer) -> list[str]:
    return [call.key for call in server.calls if call.method == "PUT" and "/alarm-rules/" in call.path]


async def closed(showcase: Showcase) -> None:
    await until(lambda: QApplication.activeModalWidget() is None, "the end of the question")
    await rest(showcase)


async def rest_of(showcase: Showcase) -> None:
    await until(lambda: not showcase.console.deeds.is_running("set-limit"), "nothing under way")


def forbid(server: FakeBookingServer) -> None:
    """From now on the role of everybody who is signed in is a clerk's."""
    server._sessions = {token: (who, Role.CLERK) for token, (who, _role) in server._sessions.items()}
