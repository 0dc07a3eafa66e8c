"""What may be done with an item: one button for each act, why not where it cannot be, and what the act needs to know.

Nothing here decides: the acts are those that the booking system allows. What is typed stays when the item changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLineEdit, QPushButton, QRadioButton, QWidget

from app.core.inbox import ActDraft
from app.core.refund import is_reason
from app.i18n import MoneyTextError, _, figures
from app.screens.item_choices import SeatsChoice, TillChoice
from app.screens.item_words import act_name, act_words, why_not_words
from app.screens.words import advice_for
from backend_client.wire import AllowedAction, ItemAction, ItemDetail, RefundWay, ResultOutcome
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, leading, row
from widgets.flow_layout import FlowLayout
from widgets.focus import take_focus
from widgets.theme import Theme

_OF_AN_AMOUNT: Final = frozenset({ItemAction.REFUND, ItemAction.HAND_TO_TILL})
_LONGEST = 200


class ItemForm(QWidget):
    """Shows the acts of an item and the fields of the chosen one. `draft_changed` carries an `ActDraft`."""

    draft_changed = Signal(object)
    act_requested = Signal()
    tills_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._draft = ActDraft()
        self._detail: ItemDetail | None = None
        self._telling = False
        self._may_act = False
        self.acts: dict[ItemAction, QPushButton] = {}
        self.words = label(tone="muted", wrap=True)
        self.amount = QLineEdit()
        self.order = QLineEdit()
        self.reference = QLineEdit()
        self.reason = QLineEdit()
        self.went_through = QRadioButton(_("The money was taken"))
        self.came_to_nothing = QRadioButton(_("No money was taken"))
        self.seats = SeatsChoice(theme)
        self.tills = TillChoice(theme)
        self.second = label(tone="warn", wrap=True)
        self.fault = label(tone="danger", wrap=True)
        self.do = AsyncButton("", "primary")
        self._why = label(tone="muted", wrap=True)
        self._fields = frame("sunken")
        self._outcome = QButtonGroup(self)
        self._captions: dict[QWidget, QWidget] = {}
        self._build()
        self._connect()

    @property
    def draft(self) -> ActDraft:
        """What is chosen and typed."""
        return self._draft

    @property
    def amount_minor(self) -> int | None:
        """The typed amount; None for an empty field, and for what cannot be read."""
        text = self.amount.text().strip()
        if not text or self._detail is None:
            return None
        try:
            return figures().parse_money(text, self._currency)
        except MoneyTextError:
            return None

    def show_item(self, detail: ItemDetail | None, draft: ActDraft, *, may_act: bool) -> None:
        """Show the acts of an item and what is typed about it."""
        self._detail, self._may_act = detail, may_act
        self.setVisible(detail is not None and bool(detail.actions))
        self._show_acts(() if detail is None else detail.actions)
        self.show_draft(draft)

    def show_draft(self, draft: ActDraft) -> None:
        """Show what is typed; fields that say it already are left alone, with their cursor."""
        self._draft = draft
        self._telling = True
        try:
            texts = (
                (self.reason, draft.reason), (self.amount, draft.amount_text), (self.reference, draft.reference),
                (self.order, draft.order_number),
            )  # fmt: skip
            for edit, text in texts:
                if edit.text() != text:
                    edit.setText(text)
            self._outcome.setExclusive(False)
            self.went_through.setChecked(draft.outcome is ResultOutcome.SUCCEEDED)
            self.came_to_nothing.setChecked(draft.outcome is ResultOutcome.DECLINED)
            self._outcome.setExclusive(True)
            self.seats.show_choice(seats_to_sale=draft.seats_to_sale)
            act = self._act(draft.action)
            self.tills.show_choice(() if act is None else act.ways, draft.device_id, _way_of(draft, act))
        finally:
            self._telling = False
        self._show_fields()

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """The act was sent; nothing may be chosen meanwhile."""
        self._fields.setEnabled(not busy)
        for action, button in self.acts.items():
            act = self._act(action)
            button.setEnabled(not busy and self._may_act and act is not None and not act.why_not)

    # ------------------------------------------------------------ acts

    def _show_acts(self, allowed: tuple[AllowedAction, ...]) -> None:
        wanted = [act.action for act in allowed]
        for action in [action for action in self.acts if action not in wanted]:
            button = self.acts.pop(action)
            button.hide()
            button.deleteLater()
        told: dict[str, list[str]] = {}
        for act in allowed:
            button = self.acts.get(act.action) or self._add_act(act.action)
            why = why_not_words(act)
            button.setEnabled(self._may_act and not act.why_not)
            button.setToolTip(why or act_words(act.action))
            button.setAccessibleDescription(why or act_words(act.action))
            if why:
                told.setdefault(why, []).append(act_name(act.action))
        reasons = [
            _("Not now: {acts}. {why}").format(acts=figures().names(acts), why=why) for why, acts in told.items()
        ]
        if not self._may_act and allowed:
            reasons = [_("Your role may read this and not act.")]
        self._why.setText("\n".join(reasons))
        self._why.setVisible(bool(reasons))

    def _add_act(self, action: ItemAction) -> QPushButton:
        button = _ActButton(act_name(action), action)
        button.chosen.connect(self._on_act_chosen)
        self.acts[action] = button
        self._line.addWidget(button)
        return button

    def _act(self, action: ItemAction | None) -> AllowedAction | None:
        actions = () if self._detail is None else self._detail.actions
        return next((act for act in actions if act.action is action), None)

    @property
    def chosen(self) -> AllowedAction | None:
        """The chosen act, while it can be done."""
        act = self._act(self._draft.action)
        return act if act is not None and not act.why_not and self._may_act else None

    # ------------------------------------------------------------ fields

    def _show_fields(self) -> None:
        act = self.chosen
        for action, button in self.acts.items():
            button.setChecked(act is not None and action is act.action)
        self._fields.setVisible(act is not None)
        if act is None:
            return
        self.words.setText(act_words(act.action))
        needs_outcome = act.needs_outcome
        shown = {
            self.amount: act.action in _OF_AN_AMOUNT,
            self.seats: act.action is ItemAction.TAKE_BACK,
            self.tills: act.action is ItemAction.HAND_TO_TILL,
            self.order: act.action is ItemAction.ATTACH,
            self.reference: act.action is ItemAction.SETTLED_OUTSIDE,
            self.went_through: needs_outcome,
            self.came_to_nothing: needs_outcome,
        }
        for part, visible in shown.items():
            part.setVisible(visible)
            if part in self._captions:
                self._captions[part].setVisible(visible)
        if act.most_minor is not None and self._currency:
            most = figures().money(act.most_minor, self._currency)
            self.amount.setPlaceholderText(_("All that can go back: {amount}").format(amount=most))
        self.second.setText(
            _("This needs a second person: they decide, and you are told here.") if act.needs_second_person else ""
        )
        self.second.setVisible(act.needs_second_person)
        self.do.set_label(_("Ask a second person") if act.needs_second_person else act_name(act.action))
        self._show_faults(act)

    def _show_faults(self, act: AllowedAction) -> None:
        fault = self._fault(act)
        self.do.setEnabled(fault is None)
        self.fault.setText(fault or "")
        self.fault.setVisible(bool(fault))

    def _fault(self, act: AllowedAction) -> str | None:
        """What keeps the act from being sent: None when nothing does, empty while a field is simply not filled yet."""
        if act.action in _OF_AN_AMOUNT and self.amount.text().strip():
            words = self._amount_fault(act)
            if words:
                return words
        missing = (
            not is_reason(self._draft.reason)
            or (act.action is ItemAction.ATTACH and not self._draft.order_number.strip())
            or (act.action is ItemAction.SETTLED_OUTSIDE and not self._draft.reference.strip())
            or (act.needs_outcome and self._draft.outcome is None)
            or (act.action is ItemAction.HAND_TO_TILL and None in (self.tills.device_id, self.tills.way))
        )
        return "" if missing else None

    def _amount_fault(self, act: AllowedAction) -> str:
        try:
            amount = figures().parse_money(self.amount.text(), self._currency)
        except MoneyTextError as error:
            return advice_for(error.code).title
        if amount == 0:
            return _("Type an amount")
        if act.most_minor is not None and amount > act.most_minor:
            most = figures().money(act.most_minor, self._currency)
            return _("At most {amount} can go back").format(amount=most)
        return ""

    @property
    def _currency(self) -> str:
        if self._detail is None:
            return ""
        item, order = self._detail.item, self._detail.order
        return item.currency or (order.currency if order is not None else "")

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        acts = QWidget()
        self._line = FlowLayout(acts, theme.space("small"))
        self._line.setContentsMargins(0, 0, 0, 0)
        inside = column(theme, margin="medium", gap="small", parent=self._fields)
        inside.addWidget(self.words)
        for group in (self.went_through, self.came_to_nothing):
            self._outcome.addButton(group)
            group.setAccessibleName(group.text())
        outcome = row(theme, gap="large")
        outcome.addWidget(self.went_through)
        outcome.addWidget(self.came_to_nothing)
        outcome.addStretch(1)
        for edit, caption in (
            (self.amount, _("Amount")), (self.order, _("Number or id of the order")),
            (self.reference, _("Reference of the proof")), (self.reason, _("Reason")),
        ):  # fmt: skip
            edit.setAccessibleName(caption)
            edit.setMaxLength(_LONGEST)
            edit.setAlignment(leading())
            said = label(caption)
            said.setBuddy(edit)
            self._captions[edit] = said
            inside.addWidget(said)
            inside.addWidget(edit)
            if edit is self.reference:
                inside.addLayout(outcome)
        self.reason.setPlaceholderText(_("Why, for whoever reads the audit"))
        inside.insertWidget(1, self.tills)
        inside.insertWidget(1, self.seats)
        inside.addWidget(self.second)
        inside.addWidget(self.fault)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.do)
        inside.addLayout(end)
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("What can be done"), kind="lead"))
        page.addWidget(acts)
        page.addWidget(self._why)
        page.addWidget(self._fields)

    def _connect(self) -> None:
        for edit in (self.amount, self.order, self.reference, self.reason):
            edit.textChanged.connect(self._on_typed)
            edit.returnPressed.connect(self._on_return_pressed)
        self._outcome.buttonClicked.connect(self._on_typed)
        self.seats.changed.connect(self._on_typed)
        self.tills.changed.connect(self._on_typed)
        self.do.action_requested.connect(self.act_requested)

    def _on_act_chosen(self, action: ItemAction) -> None:
        again = self._draft.action is action
        self.draft_changed.emit(replace(self._draft, action=None if again else action))
        if not again:
            if action is ItemAction.HAND_TO_TILL:
                self.tills_wanted.emit()
            first = next(
                (
                    one
                    for one in (self.tills.tills, self.amount, self.order, self.reference, self.reason)
                    if one.isVisible()
                ),
                None,
            )
            if first is not None:
                take_focus(first)

    def _on_typed(self) -> None:
        if self._telling:
            return
        outcome = None
        if self.went_through.isChecked():
            outcome = ResultOutcome.SUCCEEDED
        elif self.came_to_nothing.isChecked():
            outcome = ResultOutcome.DECLINED
        self._draft = ActDraft(
            self._draft.action,
            self.reason.text(),
            self.amount.text(),
            self.reference.text(),
            self.order.text(),
            outcome,
            self.seats.seats_to_sale,
            self.tills.device_id,
            self.tills.way,
        )
        self.draft_changed.emit(self._draft)

    def _on_return_pressed(self) -> None:
        """Enter in a field goes on to the button, and never does the act by itself."""
        if self.do.isEnabled():
            take_focus(self.do, Qt.FocusReason.TabFocusReason)


def _way_of(draft: ActDraft, act: AllowedAction | None) -> RefundWay | None:
    """How a till gives the money: what was chosen, else the one way that there is."""
    ways = () if act is None else act.ways
    return draft.way if draft.way in ways else ways[0] if len(ways) == 1 else None


class _ActButton(QPushButton):
    chosen = Signal(object)

    def __init__(self, text: str, action: ItemAction) -> None:
        super().__init__(text)
        self._action = action
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setAccessibleName(text)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.chosen.emit(self._action)
