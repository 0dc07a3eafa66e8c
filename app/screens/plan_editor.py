"""The plan editor: the hall in the middle, what is chosen at the side, what is not right below it (R13, I3)."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from app.actions.load_plan import new_guid
from app.core import plan_edits as edits
from app.core.plan_draft import NOTHING, DraftShape, PlanDraft, Selection
from app.core.plan_faults import SHOWN_AT_MOST, PlanFault, faults_of, may_be_saved
from app.core.plan_geometry import RowLine
from app.core.plan_work import PlanWork
from app.i18n import _, figures, ngettext
from app.models.plan_scene import GRID, chosen_of, plan_scene, selection_of
from app.screens.plan_drawing import rows_in, text_at
from app.screens.plan_page import PlanPage
from app.screens.plan_seats_page import SeatsPage
from app.screens.plan_shape_page import ShapePage, resized
from app.screens.plan_tools import PlanTools
from app.screens.plan_words import TOOL_WORDS, fault_words, standing_words
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.plan_canvas import CanvasScene, PlanCanvas, Tool
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_SIDE_PX = 316
_FAULTS_PX = 128
_FAULT_LINE_PX = 42
_ROOMY_PX = 560
_SETTLE_MS = 120


class PlanEditorScreen(QWidget):
    """Edits the work of the store; loading, saving and files are wishes."""

    back_requested = Signal()
    save_requested = Signal()
    new_requested = Signal()
    open_requested = Signal()
    file_open_requested = Signal()
    file_save_requested = Signal()
    events_requested = Signal()
    keys_requested = Signal()

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._work = work
        self._faults: tuple[PlanFault, ...] = ()
        self._shown: tuple[PlanDraft, tuple[PlanFault, ...], CanvasScene] | None = None
        self.canvas = PlanCanvas(theme)
        self.tools = PlanTools(theme)
        self.plan_page = PlanPage(theme, work)
        self.seats_page = SeatsPage(theme, work)
        self.shape_page = ShapePage(theme, work)
        self.faults = QListWidget()
        self.banner = StatusBanner(theme)
        self.back = AsyncButton("‹ " + _("Back"))
        self.menu = QPushButton(_("Plan…"))
        self.save = AsyncButton(_("Save as a version"), "primary")
        self._name = label(kind="title")
        self._standing = label(tone="muted", wrap=True)
        self._fault_title = label(kind="lead", wrap=True)
        self._pages = QStackedWidget()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._build()
        self._connect()
        self._unsubscribe = work.subscribe(self.show_work)
        self.show_work()
        self._look_for_faults()

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"save-plan": self.save, "leave-plans": self.back}

    def take_over(self, old: PlanEditorScreen) -> None:
        """Go on in place of another editor, which follows the work no longer."""
        old._unsubscribe()
        self.canvas.take_view_of(old.canvas)

    def focus_first(self) -> None:
        """Put the keyboard on the drawing."""
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def tell(self, words: Advice) -> None:
        """Say what is the matter."""
        self.banner.tell(words.tone, words.title, words.detail)

    def tell_saved(self, words: Advice, action: str) -> None:
        """Say what was saved, with what can be done next."""
        self.banner.tell(words.tone, words.title, words.detail, action)

    # ------------------------------------------------------------ showing

    def show_work(self) -> None:
        """Show the draft as it is now; what is wrong with it follows in a moment."""
        work = self._work
        self.canvas.show_scene(self._scene(), chosen_of(work.selection))
        self._name.setText(work.draft.name.strip() or _("Plan without a name"))
        self._standing.setText(standing_words(work))
        can_copy = bool(work.selection.rows or work.selection.shapes)
        self.tools.show_history(work.history, can_copy=can_copy, can_remove=bool(work.selection))
        self._show_page()
        self._settle.start()

    def _scene(self) -> CanvasScene:
        """The draft as it is drawn; made anew only when it or its faults are others."""
        shown = self._work.draft, self._faults
        if self._shown is None or self._shown[0] is not shown[0] or self._shown[1] is not shown[1]:
            self._shown = *shown, plan_scene(*shown)
        return self._shown[2]

    def _show_page(self) -> None:
        selection = self._work.selection
        page: PlanPage | SeatsPage | ShapePage = self.plan_page
        if selection.rows or selection.seats:
            page = self.seats_page
        elif selection.shapes:
            page = self.shape_page
        page.show_work()
        self._pages.setCurrentIndex([self.plan_page, self.seats_page, self.shape_page].index(page))

    def _look_for_faults(self) -> None:
        """Validate; the list keeps its place while nothing of it changes."""
        found = faults_of(self._work.draft)
        count = len(found)
        self._fault_title.setText(
            ngettext("{count} thing to put right", "{count} things to put right", count).format(
                count=figures().number(count)
            )
            if found
            else _("Nothing to put right")
        )
        self.faults.setVisible(bool(found))
        self.save.setEnabled(may_be_saved(found) and self._work.origin.venue_id is not None and self._work.is_changed)
        if found == self._faults and self.faults.count() == min(count, SHOWN_AT_MOST):
            return
        self._faults = found
        self.faults.clear()
        for fault in found[:SHOWN_AT_MOST]:
            item = QListWidgetItem(("! " if fault.is_warning else "✕ ") + fault_words(fault))
            item.setToolTip(item.text())
            self.faults.addItem(item)
        self._fit_faults()
        self.canvas.show_scene(self._scene(), chosen_of(self._work.selection))

    # ------------------------------------------------------------ the drawing

    def _on_canvas_chosen_changed(self, chosen: object) -> None:
        del chosen
        self._work.choose(selection_of(self.canvas.chosen))

    def _on_canvas_move_requested(self, dx: float, dy: float) -> None:
        self._work.edit(edits.move(self._work.draft, self._work.selection, dx, dy))

    def _on_canvas_row_shaped(self, row_id: int, start: object, end: object, bend: float) -> None:
        if isinstance(start, tuple) and isinstance(end, tuple):
            self._work.edit(edits.reshape_row(self._work.draft, row_id, RowLine(start, end, bend)))

    def _on_canvas_shape_resized(self, shape_id: int, width: float, height: float) -> None:
        shape = self._work.draft.shape(shape_id)
        if shape is not None:
            self._work.edit(edits.change_shape(self._work.draft, resized(shape, width, height)))

    def _on_canvas_drawn(self, tool: object, x0: float, y0: float, x1: float, y1: float) -> None:
        draft = self._work.draft
        if tool in {Tool.ROW, Tool.ROWS}:
            made, selection = rows_in(draft, self._work.selection, (x0, y0), (x1, y1), block=tool is Tool.ROWS)
        elif tool is Tool.STAGE:
            left, top = min(x0, x1), min(y0, y1)
            stage = DraftShape(
                0, "rectangle", left, top, max(abs(x1 - x0), GRID), max(abs(y1 - y0), GRID), text=_("Stage")
            )
            made, selection = edits.add_shape(draft, stage), Selection(shapes=frozenset({draft.next_id}))
        else:
            made, selection = text_at(draft, (x1, y1), _("Text"))
        self._work.edit(made, selection)
        self.focus_page()

    def focus_page(self) -> None:
        """Put the keyboard on the words of what is chosen."""
        if self._work.selection.rows or self._work.selection.seats:
            self.seats_page.focus_first()
        elif self._work.selection.shapes:
            self.shape_page.focus_first()
        else:
            self.plan_page.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_remove(self) -> None:
        self._work.edit(edits.remove(self._work.draft, self._work.selection), NOTHING)

    def _on_duplicate(self) -> None:
        step = round(self._work.draft.distance * 1.5 / GRID) * GRID or GRID
        made, chosen = edits.duplicate(self._work.draft, self._work.selection, 0.0, step, new_guid)
        if chosen:
            self._work.edit(made, chosen)

    def _on_all(self) -> None:
        draft = self._work.draft
        rows = frozenset(one.row_id for one in draft.rows)
        self._work.choose(Selection(rows, shapes=frozenset(shape.shape_id for shape in draft.all_shapes)))

    def _on_fault_chosen(self, item: QListWidgetItem) -> None:
        """Show where it is; what is nowhere in the drawing is put right on the page of the plan."""
        fault = self._faults[self.faults.row(item)]
        self._work.choose(fault.where)
        self.canvas.reveal()

    def _on_undo(self) -> None:
        self._work.undo()

    def _on_redo(self) -> None:
        self._work.redo()

    def _on_tool_key(self, tool: Tool) -> None:
        self.canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.canvas.set_tool(tool)

    def _on_menu_clicked(self) -> None:
        menu = QMenu(self)
        for words, wish in (
            (_("New plan…"), self.new_requested),
            (_("Open a plan…"), self.open_requested),
            (_("Open a file…"), self.file_open_requested),
            (_("Save to a file…"), self.file_save_requested),
            (_("Keys…"), self.keys_requested),
            (_("Put events on this version…"), self.events_requested),
        ):
            action = menu.addAction(words)
            action.triggered.connect(wish)
        origin = self._work.origin
        menu.actions()[-1].setEnabled(bool(origin.version and origin.events and not self._work.is_changed))
        corner = QPoint(self.menu.width() if self.isRightToLeft() else 0, self.menu.height())
        menu.popup(self.menu.mapToGlobal(corner))

    # ------------------------------------------------------------ building

    def _build(self) -> None:
        theme = self._theme
        names = column(theme, gap="hair")
        names.addWidget(self._name)
        names.addWidget(self._standing)
        head = row(theme, gap="medium")
        head.addWidget(self.back)
        head.addLayout(names, 1)
        head.addWidget(self.menu)
        head.addWidget(self.save)
        self.back.setAccessibleName(_("Back to the counter"))
        self.menu.setAccessibleName(_("Plan: new, open, files, events"))
        self.menu.setAutoDefault(False)
        self.save.set_key_hint("Ctrl+S")
        self.canvas.setAccessibleName(_("Drawing of the hall"))
        drawing = frame("card")
        inside = column(theme, gap="", parent=drawing)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self.canvas, 1)
        left = column(theme, gap="small")
        left.addWidget(self.tools)
        left.addWidget(drawing, 1)
        sides = row(theme, gap="medium")
        sides.addLayout(left, 1)
        sides.addWidget(self._side())
        page = column(theme, margin="medium", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addLayout(sides, 1)

    def _side(self) -> QWidget:
        theme = self._theme
        for one in (self.plan_page, self.seats_page, self.shape_page):
            holder = QWidget()
            inner = column(theme, margin="medium", parent=holder)
            inner.addWidget(one)
            self._pages.addWidget(scrolling(holder))
        self.faults.setAccessibleName(_("Things to put right"))
        self.faults.setWordWrap(True)
        card = frame("card")
        inside = column(theme, gap="small", parent=card)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self._pages, 1)
        below = column(theme, gap="tight")
        edge = theme.space("medium")
        below.setContentsMargins(edge, 0, edge, edge)
        below.addWidget(self._fault_title)
        below.addWidget(self.faults)
        inside.addLayout(below)
        card.setFixedWidth(_SIDE_PX)
        return card

    def _connect(self) -> None:
        canvas, tools = self.canvas, self.tools
        canvas.chosen_changed.connect(self._on_canvas_chosen_changed)
        canvas.move_requested.connect(self._on_canvas_move_requested)
        canvas.row_shaped.connect(self._on_canvas_row_shaped)
        canvas.shape_resized.connect(self._on_canvas_shape_resized)
        canvas.drawn.connect(self._on_canvas_drawn)
        canvas.inspect_requested.connect(self.focus_page)
        canvas.removal_requested.connect(self._on_remove)
        canvas.tool_changed.connect(tools.show_tool)
        tools.tool_chosen.connect(self._on_tool_key)
        tools.undo_requested.connect(self._on_undo)
        tools.redo_requested.connect(self._on_redo)
        tools.fit_requested.connect(canvas.fit)
        tools.duplicate_requested.connect(self._on_duplicate)
        tools.removal_requested.connect(self._on_remove)
        self.faults.itemClicked.connect(self._on_fault_chosen)
        self.faults.itemActivated.connect(self._on_fault_chosen)
        self.back.action_requested.connect(self.back_requested)
        self.save.action_requested.connect(self.save_requested)
        self.menu.clicked.connect(self._on_menu_clicked)
        self.banner.action_requested.connect(self.events_requested)
        self._settle.timeout.connect(self._look_for_faults)
        for sequence, slot in (
            ("Ctrl+Z", self._on_undo),
            ("Ctrl+Shift+Z", self._on_redo),
            ("Ctrl+Y", self._on_redo),
            ("Ctrl+D", self._on_duplicate),
            ("Ctrl+S", self.save.click),
        ):
            self._add_key(self, sequence, slot)
        self._add_key(canvas, "Ctrl+A", self._on_all)
        canvas.tool_keys = {key: tool for tool, (_words, key) in TOOL_WORDS.items()}

    def _fit_faults(self) -> None:
        """As high as its lines, and no higher than there is room for."""
        most = _FAULTS_PX if self.height() > _ROOMY_PX else _FAULTS_PX * 2 // 3
        self.faults.setFixedHeight(min(most, _FAULT_LINE_PX * max(self.faults.count(), 1) + 4))

    def _add_key(self, owner: QWidget, sequence: str, slot: object) -> None:
        shortcut = QShortcut(QKeySequence(sequence), owner)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(slot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_faults()
