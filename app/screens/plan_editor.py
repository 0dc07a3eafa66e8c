"""The plan editor: the hall in the middle, what is chosen at the side, what is not right below it (R13, I3)."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.actions.load_plan import new_guid
from app.core import plan_edits as edits
from app.core.plan_areas import change_picture, resized
from app.core.plan_draft import NOTHING
from app.core.plan_faults import PlanFault, faults_of, may_be_saved
from app.core.plan_floors import things_on
from app.core.plan_geometry import RowLine
from app.core.plan_tables import change_table
from app.core.plan_work import PlanWork
from app.i18n import _
from app.models.plan_scene import GRID, chosen_of, plan_scene, selection_of
from app.screens.plan_drawing import drawn_with
from app.screens.plan_floor_tabs import PlanFloorTabs
from app.screens.plan_side import PlanSide
from app.screens.plan_tools import PlanTools
from app.screens.plan_words import TOOL_WORDS, standing_words
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row
from widgets.focus import take_focus
from widgets.plan_canvas import CanvasScene, PlanCanvas, Tool
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_SETTLE_MS = 120


class PlanEditorScreen(QWidget):
    """Edits the work of the store; loading, saving and files are wishes."""

    back_requested = Signal()
    save_requested = Signal()
    new_requested = Signal()
    open_requested = Signal()
    file_open_requested = Signal()
    file_save_requested = Signal()
    import_requested = Signal()
    picture_requested = Signal()
    events_requested = Signal()
    keys_requested = Signal()

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._work = work
        self._faults: tuple[PlanFault, ...] = ()
        self._with_neighbours = False
        self._shown: tuple[tuple[object, ...], CanvasScene] | None = None
        self._drawn_from: tuple[object, ...] = ()
        """Kept, so that no other draft gets the id of the one that is drawn."""
        self.canvas = PlanCanvas(theme)
        self.tools = PlanTools(theme)
        self.floors = PlanFloorTabs(work)
        self.side = PlanSide(theme, work)
        self.banner = StatusBanner(theme)
        self.back = AsyncButton("‹ " + _("Back"))
        self.menu = QPushButton(_("Plan…"))
        self.save = AsyncButton(_("Save as a version"), "primary")
        self._name = label(kind="title")
        self._standing = label(tone="muted", wrap=True)
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
        take_focus(self.canvas)

    def forget_person(self) -> None:
        """What was said here was said to somebody else; what was drawn stays, and is kept."""
        self.banner.clear()

    def focus_refusals(self) -> None:
        """Put the keyboard on what was refused."""
        self.side.refusals.focus_first()

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
        self.floors.show_work()
        self.side.show_work()
        self._settle.start()

    def _scene(self) -> CanvasScene:
        """The floor as it is drawn; made anew only when something of it is another."""
        work = self._work
        with_focus = not work.selection  # it would be in the way of whoever works on something else
        shown: tuple[object, ...] = (
            id(work.draft), id(self._faults), work.floor_no, self._with_neighbours, with_focus, work.taken,
        )  # fmt: skip
        if self._shown is None or self._shown[0] != shown:
            made = plan_scene(
                work.draft,
                self._faults,
                work.floor_no,
                with_neighbours=self._with_neighbours,
                with_focus=with_focus,
                lost=work.lost_taken,
            )
            self._shown = shown, made
            self._drawn_from = work.draft, self._faults
        return self._shown[1]

    def _look_for_faults(self) -> None:
        """Validate."""
        found = faults_of(self._work.draft)
        self.side.show_faults(found)
        self.save.setEnabled(may_be_saved(found) and self._work.origin.venue_id is not None and self._work.is_changed)
        if found != self._faults:
            self._faults = found
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

    def _on_canvas_shape_resized(self, key: int, width: float, height: float) -> None:
        """A corner was dragged: of a shape, a picture, or the table of a row, which keep their upper left corner."""
        draft = self._work.draft
        shape, picture, one = draft.shape(key), draft.picture(key), draft.row(key)
        if shape is not None:
            self._work.edit(edits.change_shape(draft, resized(shape, width, height)))
        elif picture is not None:
            high = width * picture.height / picture.width  # in proportion
            self._work.edit(change_picture(draft, replace(picture, width=width, height=round(high, 3))))
        elif one is not None and one.table is not None:
            table = one.table
            x, y = table.x + (width - table.width) / 2, table.y + (height - table.height) / 2
            self._work.edit(change_table(draft, key, replace(table, x=x, y=y, width=width, height=height), new_guid))

    def _on_canvas_drawn(self, tool: object, x0: float, y0: float, x1: float, y1: float) -> None:
        if not isinstance(tool, Tool):
            return
        work = self._work
        made, selection = drawn_with(tool, work.draft, work.selection, work.floor_no, (x0, y0), (x1, y1))
        work.edit(made, selection)
        if tool is not Tool.FOCUS:
            self.focus_page()

    def focus_page(self) -> None:
        """Put the keyboard on the words of what is chosen."""
        self.side.focus_page()

    def _on_remove(self) -> None:
        self._work.edit(edits.remove(self._work.draft, self._work.selection), NOTHING)

    def _on_duplicate(self) -> None:
        step = round(self._work.draft.distance * 1.5 / GRID) * GRID or GRID
        made, chosen = edits.duplicate(self._work.draft, self._work.selection, 0.0, step, new_guid)
        if chosen:
            self._work.edit(made, chosen)

    def _on_all(self) -> None:
        """Everything on this floor but pictures, which lie under it all."""
        draft = self._work.draft
        found = things_on(draft, self._work.floor_no)
        pictures = {picture.picture_id for picture in draft.pictures}
        self._work.choose(replace(found, shapes=found.shapes - pictures))

    def _on_fault_chosen(self, fault: object) -> None:
        """Show where it is; what is nowhere in the drawing is put right on the page of the plan."""
        if isinstance(fault, PlanFault):
            self._work.choose(fault.where)
            self.canvas.reveal()

    def _on_refusal_chosen(self, number: int) -> None:
        """Show the seat that is in the way, or where it was; of a refused plan what the line is about."""
        work = self._work
        if work.taken:
            seat = work.taken[number]
            if work.choose_taken(seat):
                self.canvas.reveal()
            elif seat.place is not None:
                self.canvas.show_place(*seat.place)
        elif number < len(work.refused):
            work.choose(work.refused[number].where)
            self.canvas.reveal()

    def _on_neighbours_toggled(self, on: bool) -> None:
        self._with_neighbours = on
        self.show_work()

    def _on_undo(self) -> None:
        self._work.undo()

    def _on_redo(self) -> None:
        self._work.redo()

    def _on_next_floor(self) -> None:
        self.floors.step(1)

    def _on_floor_before(self) -> None:
        self.floors.step(-1)

    def _on_tool_key(self, tool: Tool) -> None:
        take_focus(self.canvas, Qt.FocusReason.ShortcutFocusReason)
        self.canvas.set_tool(tool)

    def _on_menu_clicked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, wish in (
            (_("New plan…"), self.new_requested),
            (_("Open a plan…"), self.open_requested),
            (_("Open a file…"), self.file_open_requested),
            (_("Import a file…"), self.import_requested),
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
        left.addWidget(self.floors)
        left.addWidget(drawing, 1)
        sides = row(theme, gap="medium")
        sides.addLayout(left, 1)
        sides.addWidget(self.side)
        page = column(theme, margin="medium", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addLayout(sides, 1)

    def _connect(self) -> None:
        canvas, tools, side = self.canvas, self.tools, self.side
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
        tools.neighbours_toggled.connect(self._on_neighbours_toggled)
        side.fault_chosen.connect(self._on_fault_chosen)
        side.refusals.entry_chosen.connect(self._on_refusal_chosen)
        side.plan_page.pictures.picture_requested.connect(self.picture_requested)
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
            ("Ctrl+PgUp", self._on_next_floor),
            ("Ctrl+PgDown", self._on_floor_before),
        ):
            self._add_key(self, sequence, slot)
        self._add_key(canvas, "Ctrl+A", self._on_all)
        self._add_key(canvas, "N", tools.neighbours.toggle)
        canvas.tool_keys = {key: tool for tool, (_words, key) in TOOL_WORDS.items()}

    def _add_key(self, owner: QWidget, sequence: str, slot: object) -> None:
        shortcut = QShortcut(QKeySequence(sequence), owner)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(slot)
