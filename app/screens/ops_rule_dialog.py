"""The question before a limit of an alarm is another one: old beside new, what it would do, what others have set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_series import SampleTable
from app.core.rule_draft import MEMBERS, RuleDraft, change_of, read_rule
from app.core.rule_trial import Ringing, Trial, ringing_now, try_rule
from app.i18n import _, figures
from app.screens.ops_dialogs import ActDialog
from app.screens.ops_rule_fields import RuleFields
from app.screens.ops_rule_words import levels_words, ringing_words, theirs_words, trial_words
from app.screens.ops_words import figure_name, value_words
from app.screens.words import advice_for
from backend_client.wire import FieldProblem, OpsAlarmRule, OpsAlarmRuleChange, OpsLogEntry, OpsSeverity
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.facts_grid import FactsGrid
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_ROOM_FOR_ALL_PX = 640
_BESIDE_PX, _BANNER_PX, _LEAST_PX = 330, 95, 120
"""What title, reason, a refusal and the answers take beside what scrolls in a low window; what a colleague's change
takes; the least that is left to scroll in.
"""


class RuleDialog(ActDialog):
    """See the module. What is typed stays over others' changes, refusals and lost answers."""

    who_wanted = Signal()
    """Somebody else has set the limit while this is open: who, and why?"""

    def __init__(
        self, theme: Theme, board: OpsBoard, rule: OpsAlarmRule, is_stale: Callable[[], bool], parent: QWidget
    ) -> None:
        title = _("Limit: {figure}").format(figure=figure_name(rule.figure))
        words = _(
            "An alarm begins once the figure has been at the first level, or worse, for so long without a break. It "
            "is over at the second level, or better."
        )
        has_room = parent.height() >= _ROOM_FOR_ALL_PX
        super().__init__(theme, title, words if has_room else "", _("Set it"), parent)
        self._board, self._is_stale = board, is_stale
        self.draft = RuleDraft(rule)
        self.fields = RuleFields(theme, rule)
        self.standard = label(tone="muted", wrap=True)
        self.to_standard = AsyncButton(_("Back to default"), "quiet")
        self.undo = AsyncButton(_("Take back what is typed"), "quiet")
        self.effect = FactsGrid(theme)
        self.theirs_banner = StatusBanner(theme)
        self._quarter: SampleTable | None = None
        self._quarter_trouble = ""
        self._sent: OpsAlarmRuleChange | None = None
        self._refused: dict[str, str] = {}
        self._told: OpsAlarmRule | None = None
        self._who: OpsLogEntry | None = None
        self._trials: dict[OpsAlarmRule, Trial] = {}
        self._low: QScrollArea | None = None
        """What is inside, where the window is too low for it."""
        self._low_px = 0
        self._build_inside(theme, 0 if has_room else max(parent.height() - _BESIDE_PX, _LEAST_PX))
        self.needs.append(self._is_sendable)
        self.reason.textChanged.connect(self.show_board)
        self.show_board()
        self.fields.focus_first()

    # ------------------------------------------------------------ what is asked of it

    @property
    def change(self) -> OpsAlarmRuleChange | None:
        """What would be sent; None while nothing would change or something is wrong."""
        return change_of(self.draft, self.reason.text())

    @property
    def theirs(self) -> OpsAlarmRule | None:
        """What somebody else has set over what was typed here. A change of ours that waits for its answer is none."""
        now = self._board.rule(self.draft.base.rule)
        if now is None or now.version <= self.draft.base.version:
            return None
        return None if self._sent is not None and self.change == self._sent else now

    def wait_for(self, change: OpsAlarmRuleChange | None) -> None:
        """The answer to this change is not known: the same goes again, and nothing else is said of it. None: it is."""
        self._sent = change
        self.show_board()

    def show_refused(self, problems: Iterable[FieldProblem]) -> None:
        """The booking system's own words about a field, beside it."""
        self._refused = {problem.pointer.removeprefix("/"): problem.message for problem in problems}
        self.show_board()

    def show_quarter(self, table: SampleTable | None, trouble: str = "") -> None:
        """The last quarter of an hour, or why it could not be read."""
        self._quarter, self._quarter_trouble = table, trouble
        self._trials.clear()
        self.show_board()

    def show_who(self, entry: OpsLogEntry | None) -> None:
        """Who has set it meanwhile, as the log has it."""
        self._who = entry
        self.show_board()

    # ------------------------------------------------------------ what is shown

    def show_board(self) -> None:
        """Show how it stands."""
        self._take_silently()
        reading = read_rule(self.draft)
        self.fields.show_draft(self.draft, reading, self._refused)
        base = self.draft.base
        standard = base.standard
        self.standard.setVisible(standard is not None)
        self.to_standard.setVisible(standard is not None)
        if standard is not None:
            self.standard.setText(_("Default: {limit}").format(limit=levels_words(base, standard)))
            self.to_standard.setEnabled(not self.send.busy and not _is_as(reading.wished, base))
        self.undo.setVisible(not reading.is_empty)
        self.undo.setEnabled(not self.send.busy)
        self._show_effect(reading.wished)
        self._show_theirs()
        self.show_answerable()
        if self._low is not None:
            beside = 0 if self.theirs_banner.isHidden() else _BANNER_PX
            self._low.setFixedHeight(max(self._low_px - beside, _LEAST_PX))
        self.fit()

    def _take_silently(self) -> None:
        """Where nothing is typed there is nothing to overwrite: what somebody else sets is what stands there."""
        now = self._board.rule(self.draft.base.rule)
        if now is None or now.version <= self.draft.base.version or self.send.busy:
            return
        if now is not self._told:
            self._told, self._who = now, None
            self.who_wanted.emit()
        if read_rule(self.draft).is_empty and self._sent is None:
            self.draft = self.draft.over(now)

    def _show_effect(self, wished: OpsAlarmRule | None) -> None:
        base = self.draft.base
        value = None if self._board.figures is None else self._board.figures.house.get(base.figure)
        is_open = any(alarm.rule == base.rule for alarm in self._board.alarms)
        shown = _("Not known") if value is None else value_words(base.figure, value)
        if value is not None and self._is_stale():
            shown = _("{value}, out of date").format(value=shown)
        facts: list[tuple[str, str, str]] = [(_("Figure now"), shown, "")]
        if wished is None:
            facts.append((_("With this limit"), _("Not right yet"), "danger"))
        else:
            ringing = ringing_now(wished, value, is_open=is_open)
            loud = "danger" if wished.severity is OpsSeverity.CRITICAL else "warn"
            tone = loud if ringing in {Ringing.RINGS, Ringing.STAYS} else ""
            facts.append((_("With this limit"), ringing_words(wished, ringing, is_open=is_open), tone))
            facts.append((_("Last 15 minutes"), self._quarter_words(wished), ""))
            facts.append((_("As it is set now"), "" if wished == base else self._quarter_words(base), ""))
        self.effect.show_facts(facts)

    def _quarter_words(self, rule: OpsAlarmRule) -> str:
        if self._quarter is None:
            return advice_for(self._quarter_trouble).title if self._quarter_trouble else _("Reading…")
        return trial_words(self._trial(rule))

    def _trial(self, rule: OpsAlarmRule) -> Trial:
        if rule not in self._trials and self._quarter is not None:
            values = self._quarter.columns.get(rule.figure)
            known = () if values is None else values.tolist()
            times = self._quarter.times.tolist() if len(known) else ()
            self._trials = {**dict(list(self._trials.items())[-20:]), rule: try_rule(rule, times, known)}
        return self._trials[rule]

    def _show_theirs(self) -> None:
        theirs, told = self.theirs, self._told
        if told is None or (theirs is None and self._sent is not None):
            self.theirs_banner.clear()
            return
        who = _("Somebody") if self._who is None else self._who.who
        reason = "" if self._who is None else self._who.reason
        title = _("{who} has set this limit meanwhile").format(who=who)
        if theirs is None:
            self.theirs_banner.tell("info", title, reason)
        else:
            detail = figures().joined((theirs_words(self.draft, theirs), reason))
            self.theirs_banner.tell("warn", title, detail, _("Go on with mine"))

    def _is_sendable(self) -> bool:
        """A change that somebody else has overtaken is read before it is sent."""
        return self.theirs is None and self.change is not None

    def set_busy(self, busy: bool) -> None:
        super().set_busy(busy)
        self.fields.set_busy(busy)
        self.show_board()

    # ------------------------------------------------------------ what is typed

    def _put(self, draft: RuleDraft) -> None:
        self.draft, self._refused = draft, {}
        self.show_board()

    def _on_typed(self, name: str, text: str) -> None:
        self._put(self.draft.with_text(name, text))

    def _on_severity_chosen(self, severity: OpsSeverity) -> None:
        self._put(replace(self.draft, severity=severity))

    def _on_enabled_chosen(self, enabled: bool) -> None:  # the signal carries what was chosen
        self._put(replace(self.draft, enabled=enabled))

    def _on_to_standard(self) -> None:
        self.to_standard.set_busy(False)
        self._put(self.draft.to_standard())

    def _on_undo(self) -> None:
        self.undo.set_busy(False)
        self.banner.clear()
        self._told = None
        self._put(RuleDraft(self._board.rule(self.draft.base.rule) or self.draft.base))
        self.fields.focus_first()

    def _on_kept(self) -> None:
        theirs = self.theirs
        if theirs is not None:
            self.banner.clear()
            self._told = None
            self._put(self.draft.over(theirs))
            take_focus(self.reason)

    # ------------------------------------------------------------ wiring

    def _build_inside(self, theme: Theme, most_px: int) -> None:
        """`most_px`: what is inside scrolls in so much height; 0: it has all that it wants."""
        box = frame("sunken")
        lines = column(theme, margin="medium", gap="small", parent=box)
        lines.addWidget(self.effect)
        line = row(theme)
        line.addStretch(1)
        line.addWidget(self.undo)
        line.addWidget(self.to_standard)
        page, inside = QWidget(), self.inside
        if most_px:
            inside = column(theme, gap="small", parent=page)
            self._low = scrolling(page)
            self._low_px = most_px
            self.inside.addWidget(self._low)
        inside.addWidget(self.fields)
        inside.addWidget(self.standard)
        inside.addLayout(line)
        inside.addWidget(box)
        self.inside.addWidget(self.theirs_banner)
        self.fields.typed.connect(self._on_typed)
        self.fields.severity_chosen.connect(self._on_severity_chosen)
        self.fields.enabled_chosen.connect(self._on_enabled_chosen)
        self.to_standard.action_requested.connect(self._on_to_standard)
        self.undo.action_requested.connect(self._on_undo)
        self.theirs_banner.action_requested.connect(self._on_kept)
        order = (*self.fields.order, self.undo, self.to_standard, self.reason, self.cancel, self.send)
        for first, second in pairwise(order):
            self.setTabOrder(first, second)


def _is_as(wished: OpsAlarmRule | None, base: OpsAlarmRule) -> bool:
    """Whether what is wished is the program's own."""
    if wished is None or base.standard is None:
        return False
    return all(getattr(wished, name) == getattr(base.standard, name) for name in MEMBERS)
