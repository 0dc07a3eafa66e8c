"""An act that waits for a second person: what is asked, by whom and why, and the other person's word."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.core.refund import is_reason
from app.i18n import _, figures
from app.screens.item_words import act_name, way_words
from backend_client.wire import ApprovalAsked, ItemAction, ItemDetail, ResultOutcome, Till
from widgets.async_button import AsyncButton
from widgets.build import column, label, leading, row
from widgets.facts_grid import FactsGrid
from widgets.theme import Theme


class ApprovalCard(QFrame):
    """Hidden while nothing is asked. The asker may take the wish back; whoever else may decide says why."""

    decided = Signal(bool)
    """Approved or not; `reason` holds the words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("tone", "warn")
        self._title = label(kind="lead", wrap=True)
        self._facts = FactsGrid(theme)
        self._words = label(wrap=True)
        self.reason = QLineEdit()
        self.approve = AsyncButton(_("Approve"), "primary")
        self.refuse = AsyncButton(_("Refuse"))
        self._build(theme)

    def show_asked(
        self, detail: ItemDetail | None, now: datetime | None, own_name: str, *, may_act: bool,
        tills: tuple[Till, ...] = (),
    ) -> None:  # fmt: skip
        """Show what is asked. `own_name` is the person who is signed in: who asked cannot approve."""
        asked = None if detail is None else detail.approval
        self.setVisible(asked is not None)
        if asked is None or detail is None:
            self.reason.clear()
            return
        is_own = asked.asked_by == own_name
        self._title.setText(_("Waits for a second person: {act}").format(act=act_name(asked.action)))
        self.setAccessibleName(self._title.text())
        self._facts.show_facts(_facts(asked, detail, now, tills))
        self._words.setText(_words(asked, own=is_own, may_act=may_act))
        self.setAccessibleDescription(self._words.text())
        may_speak = may_act and (asked.may_decide or is_own)
        self.approve.setVisible(may_act and asked.may_decide)
        self.refuse.setVisible(may_speak)
        self.refuse.set_label(_("Take the wish back") if is_own else _("Refuse"))
        self.reason.setVisible(may_speak)
        self._show_fault()

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """The word was sent."""
        self.reason.setEnabled(not busy)

    def _show_fault(self) -> None:
        said = is_reason(self.reason.text())
        self.approve.setEnabled(said)
        self.refuse.setEnabled(said)

    def _build(self, theme: Theme) -> None:
        self.reason.setPlaceholderText(_("Why, for whoever reads the audit"))
        self.reason.setAccessibleName(_("Reason for the decision"))
        self.reason.setAlignment(leading())
        self.reason.setMaxLength(200)
        self.reason.textChanged.connect(self._show_fault)
        self.approve.action_requested.connect(self._on_approve_requested)
        self.refuse.action_requested.connect(self._on_refuse_requested)
        end = row(theme)
        end.addWidget(self.reason, 1)
        end.addWidget(self.refuse)
        end.addWidget(self.approve)
        page = column(theme, margin="medium", gap="small", parent=self)
        page.addWidget(self._title)
        page.addWidget(self._facts)
        page.addWidget(self._words)
        page.addLayout(end)

    def _on_approve_requested(self) -> None:
        self.decided.emit(True)

    def _on_refuse_requested(self) -> None:
        self.decided.emit(False)


def _till_name(asked: ApprovalAsked, tills: tuple[Till, ...]) -> str:
    """The till that is to give the money; by its id where its name is not known here."""
    return next((till.name for till in tills if till.device_id == asked.device_id), str(asked.device_id))


def _seats(asked: ApprovalAsked) -> str:
    if asked.action is not ItemAction.TAKE_BACK:
        return ""
    return _("The seats go back on sale") if asked.seats_to_sale else _("The seats stay blocked")


def _facts(
    asked: ApprovalAsked, detail: ItemDetail, now: datetime | None, tills: tuple[Till, ...]
) -> list[tuple[str, str]]:
    shown, item = figures(), detail.item
    amount = "" if asked.amount_minor is None else shown.told_money(asked.amount_minor, item.currency)
    since = "" if now is None else shown.age((now - asked.asked_at).total_seconds())
    till = "" if asked.way is None else shown.joined((_till_name(asked, tills), way_words(asked.way)))
    outcomes = {ResultOutcome.SUCCEEDED: _("The money was taken"), ResultOutcome.DECLINED: _("No money was taken")}
    return [
        (_("Asked by"), asked.asked_by),
        (_("Waits"), since),
        (_("Amount"), amount),
        (_("Outcome"), outcomes.get(asked.outcome, "") if asked.outcome is not None else ""),
        (_("Reference of the proof"), asked.reference),
        (_("Order"), "" if asked.order_id is None else str(asked.order_id)),
        (_("Seats"), _seats(asked)),
        (_("Till"), till),
        (_("Reason"), asked.reason),
    ]


def _words(asked: ApprovalAsked, *, own: bool, may_act: bool) -> str:
    if not may_act:
        return _("Your role may read this and not act.")
    if own:
        return _("You have asked for this. Somebody else has to decide; you can take the wish back.")
    if not asked.may_decide:
        return _("You cannot decide this one.")
    return _("You decide for the second pair of eyes: read the evidence below first.")
