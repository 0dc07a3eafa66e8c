"""The map as a screen reader walks it: map → section → row → seat, each node made when it is first asked for.

Traps of Qt and PySide6 6.11 that this module is built around, each tried out:
- Qt's cache owns every interface that was given an id, and drops one by itself only when its QObject dies. Nodes have
  none, so they are handed back (`deleteAccessibleInterface`) when the plan changes and when the map dies.
- Python must hold a reference to each interface for as long as Qt may call it; for the map's own, longer than the map's
  Python object lives: that one goes first when Qt destroys a window, and would take an interface it holds with it,
  which Qt then deletes again. `_TREES` holds them.
- Qt's cache knows an object by its meta object, which PySide makes anew when a class gets another slot: the same map is
  asked for again, and each answer is deleted on its own. So each gets an interface of its own; the last one counts.
- An override of `interface_cast` that answers with a Python action interface ends the process; nodes have no actions,
  seats are picked with the keys of the map, which has the focus.
- What an override raises reaches nobody: every override answers for a map that is gone, too.
"""

from __future__ import annotations

import weakref
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import shiboken6
from PySide6.QtCore import QObject, QPoint, QPointF, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QColor, QWindow
from PySide6.QtWidgets import QAccessibleWidget, QWidget

from widgets.seat_map.plan import Indices

if TYPE_CHECKING:
    from widgets.seat_map.drawn_view import DrawnSeatMap


class Kind(IntEnum):
    """What a node stands for; its number is the plan's."""

    SECTION = 0
    ROW = 1
    SEAT = 2
    STANDING = 3


# The stubs of PySide6 do not know that "none" is an answer; Qt asks for it.
_NO_INTERFACE: Final = cast("QAccessibleInterface", None)
_NO_OBJECT: Final = cast("QObject", None)
_NO_WINDOW: Final = cast("QWindow", None)
_ROLES = {
    Kind.SECTION: QAccessible.Role.Grouping,
    Kind.ROW: QAccessible.Role.List,
    Kind.SEAT: QAccessible.Role.ListItem,
    Kind.STANDING: QAccessible.Role.StaticText,
}


_BELOW = {Kind.SECTION: Kind.ROW, Kind.ROW: Kind.SEAT}


class MapTree(QAccessibleWidget):
    """The map itself: its children are the widgets that lie on it, then the sections that have seats."""

    def __init__(self, view: DrawnSeatMap) -> None:
        super().__init__(view, QAccessible.Role.Grouping, view.accessibleName())
        self._view = weakref.ref(view)
        self._nodes: dict[tuple[Kind, int], MapNode] = {}
        self._sections: list[int] | None = None
        self._rows: dict[int, list[int]] = {}
        view.destroyed.connect(self.forget)

    @property
    def view(self) -> DrawnSeatMap | None:
        """The map, None once it is gone."""
        view = self._view()
        return view if view is not None and shiboken6.isValid(view) else None

    @property
    def node_count(self) -> int:
        """How many nodes were asked for since the plan is shown."""
        return len(self._nodes)

    def forget(self) -> None:
        """Hand all nodes back: another plan, or the end of the map."""
        nodes, self._nodes, self._sections, self._rows = self._nodes, {}, None, {}
        for node in nodes.values():
            if shiboken6.isValid(node):
                QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(node))

    def node(self, kind: Kind, number: int) -> MapNode:
        """The node of a section, row or seat, the same one each time."""
        found = self._nodes.get((kind, number))
        if found is None:
            found = self._nodes[kind, number] = MapNode(self, kind, number)
        return found

    def known(self, kind: Kind, number: int) -> MapNode | None:
        """The node if it was asked for before."""
        return self._nodes.get((kind, number))

    def sections(self, view: DrawnSeatMap) -> list[int]:
        """Numbers of the sections that have seats, in the plan's order."""
        if self._sections is None:
            self._sections = np.unique(view.plan.present.seat_section).tolist()
        return self._sections

    def rows(self, view: DrawnSeatMap, section: int) -> list[int]:
        """Numbers of the rows of a section that have seats."""
        found = self._rows.get(section)
        if found is None:
            plan = view.plan
            found = np.flatnonzero((plan.row_section == section) & (plan.row_seats > 0)).tolist()
            self._rows[section] = found
        return found

    # ------------------------------------------------------------------ Qt

    def childCount(self) -> int:
        view = self.view
        if view is None:
            return 0
        return super().childCount() + len(self.sections(view)) + len(view.scene.standing.names)

    def child(self, index: int) -> QAccessibleInterface:
        view = self.view
        if view is None:
            return _NO_INTERFACE
        widgets, sections = super().childCount(), self.sections(view)
        if index < widgets:
            return super().child(index)
        if index - widgets < len(sections):
            return self.node(Kind.SECTION, sections[index - widgets])
        number = index - widgets - len(sections)
        return self.node(Kind.STANDING, number) if number < len(view.scene.standing.names) else _NO_INTERFACE

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        view = self.view
        if view is None:
            return -1
        if isinstance(child, MapNode):
            of_map = child.kind in {Kind.SECTION, Kind.STANDING}
            return super().childCount() + child.place(view) if of_map else -1
        return super().indexOfChild(child)

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        view = self.view
        if view is None:
            return _NO_INTERFACE
        seat = view.seat_at(QPointF(view.mapFromGlobal(QPoint(x, y))))
        return self.node(Kind.SEAT, seat) if seat >= 0 else super().childAt(x, y)

    def focusChild(self) -> QAccessibleInterface:
        view = self.view
        if view is None:
            return _NO_INTERFACE
        seat = view.focused_seat
        return self.node(Kind.SEAT, seat) if seat >= 0 and view.hasFocus() else super().focusChild()


class MapNode(QAccessibleInterface):
    """A section, a row or a seat of a map. It has no QObject; what it says is asked of the map each time."""

    def __init__(self, tree: MapTree, kind: Kind, number: int) -> None:
        super().__init__()
        self._tree = tree
        self.kind = kind
        self.number = number

    def place(self, view: DrawnSeatMap) -> int:
        """Index among the siblings."""
        plan = view.plan
        if self.kind is Kind.STANDING:
            return len(self._tree.sections(view)) + self.number
        if self.kind is Kind.SECTION:
            return self._tree.sections(view).index(self.number)
        if self.kind is Kind.ROW:
            return self._tree.rows(view, int(plan.row_section[self.number])).index(self.number)
        return int(np.searchsorted(plan.present_in_row(int(plan.row_no[self.number])), self.number))

    def _view(self) -> DrawnSeatMap | None:
        return self._tree.view if shiboken6.isValid(self._tree) else None

    def _name(self, view: DrawnSeatMap) -> str:
        if self.kind is Kind.SEAT:
            return view.texts.spoken(self.number)
        if self.kind is Kind.STANDING:
            name = view.scene.standing.names[self.number]
            left = view.scene.standing.free(name)
            return name if left is None else view.texts.spoken_standing(name, left)
        free = int(view.pickable(self._seats(view)).sum())
        if self.kind is Kind.ROW:
            return view.texts.spoken_row(view.plan.row_label[self.number], view.plan.kind_of(self.number), free)
        return view.texts.spoken_section(view.plan.section_name[self.number], free)

    def _rect(self, view: DrawnSeatMap) -> QRect:
        if self.kind is Kind.STANDING:
            return view.scene.standing.rect(self.number, view.camera)
        return view.seats_rect(self._seats(view))

    def _seats(self, view: DrawnSeatMap) -> Indices:
        if self.kind is Kind.SEAT:
            return np.array([self.number], np.intp)
        column = view.plan.seat_section if self.kind is Kind.SECTION else view.plan.row_no
        return np.flatnonzero((column == self.number) & ~view.plan.gone)

    # ------------------------------------------------------------------ Qt

    def isValid(self) -> bool:
        return self._view() is not None

    def object(self) -> QObject:
        return _NO_OBJECT

    def window(self) -> QWindow:
        view = self._view()
        return _NO_WINDOW if view is None else view.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        view = self._view()
        if view is None:
            return _NO_INTERFACE
        if self.kind in {Kind.SECTION, Kind.STANDING}:
            return self._tree
        if self.kind is Kind.ROW:
            return self._tree.node(Kind.SECTION, int(view.plan.row_section[self.number]))
        return self._tree.node(Kind.ROW, int(view.plan.row_no[self.number]))

    def childCount(self) -> int:
        view = self._view()
        if view is None or self.kind in {Kind.SEAT, Kind.STANDING}:
            return 0
        if self.kind is Kind.SECTION:
            return len(self._tree.rows(view, self.number))
        return int(view.plan.row_seats[self.number])

    def child(self, index: int) -> QAccessibleInterface:
        view = self._view()
        if view is None or not 0 <= index < self.childCount():
            return _NO_INTERFACE
        if self.kind is Kind.SECTION:
            return self._tree.node(Kind.ROW, self._tree.rows(view, self.number)[index])
        return self._tree.node(Kind.SEAT, int(view.plan.present_in_row(self.number)[index]))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        view = self._view()
        if view is None or not isinstance(child, MapNode) or child.kind is not _BELOW.get(self.kind):
            return -1
        return child.place(view)

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        view = self._view()
        return _NO_INTERFACE if view is None or self.kind is Kind.SEAT else self._tree.childAt(x, y)

    def text(self, which: QAccessible.Text) -> str:
        view = self._view()
        return "" if view is None or which is not QAccessible.Text.Name else self._name(view)

    def setText(self, which: QAccessible.Text, text: str) -> None:
        """Names are the plan's."""

    def rect(self) -> QRect:
        view = self._view()
        if view is None:
            return QRect()
        rect = self._rect(view)
        return QRect(view.mapToGlobal(rect.topLeft()), rect.size())

    def role(self) -> QAccessible.Role:
        return _ROLES[self.kind]

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        view = self._view()
        if view is None:
            state.invalid = True
            return state
        state.offscreen = not view.rect().intersects(self._rect(view))
        if self.kind is Kind.SEAT:
            state.focusable = True
            state.focused = view.hasFocus() and view.focused_seat == self.number
            state.selected = self.number in view.mine
            state.selectable = bool(view.pickable(self._seats(view)).all())
        return state

    def backgroundColor(self) -> QColor:
        return QColor()

    def foregroundColor(self) -> QColor:
        return QColor()


class SpokenMap:
    """The voice of one map: makes its tree when somebody listens, and tells listeners what happened."""

    def __init__(self, view: DrawnSeatMap) -> None:
        self._view = weakref.ref(view)
        self._tree: MapTree | None = None
        _install()

    def new_tree(self) -> MapTree | None:
        """An interface for the map, Qt's to delete; nodes of the one before are handed back."""
        self.forget()
        view = self._view()
        self._tree = None if view is None else _kept(MapTree(view))
        return self._tree

    def forget(self) -> None:
        """Another plan."""
        if self._tree is not None and shiboken6.isValid(self._tree):
            self._tree.forget()

    def tell_focus(self, seat_no: int) -> None:
        """The keyboard is on another seat: a screen reader says its name."""
        self._tell(seat_no, QAccessible.Event.Focus, made=True)

    def tell_changed(self, seat_no: int) -> None:
        """A seat that a listener knows stands otherwise now; its name says how."""
        self._tell(seat_no, QAccessible.Event.NameChanged, made=False)

    def _tell(self, seat_no: int, event: QAccessible.Event, *, made: bool) -> None:
        view = self._view() if seat_no >= 0 and QAccessible.isActive() else None
        tree = None if view is None else QAccessible.queryAccessibleInterface(view)
        if not isinstance(tree, MapTree):
            return
        node = tree.node(Kind.SEAT, seat_no) if made else tree.known(Kind.SEAT, seat_no)
        if node is not None:
            QAccessible.updateAccessibility(QAccessibleEvent(node, event))


_TREES: list[MapTree] = []


def _kept(tree: MapTree) -> MapTree:
    """Hold a tree until Qt has deleted it, and let go of those that it has."""
    _TREES[:] = [*(kept for kept in _TREES if shiboken6.isValid(kept)), tree]
    return tree


@cache
def _install() -> None:
    """Have Qt ask for the trees of maps; once for the process."""
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, thing: QObject) -> QAccessibleInterface | None:
    spoken = getattr(thing, "spoken", None) if isinstance(thing, QWidget) else None
    return spoken.new_tree() if isinstance(spoken, SpokenMap) else None
