"""What the plan editor works on: a draft with its way back, where it came from, and whether it is saved.

It belongs to the store: screens are built anew at a language switch, the work stays. It can be packed and unpacked, so
that a draft that was not saved outlives the console.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

import msgspec

from app.core.errors import PlanFileError
from app.core.plan_draft import NOTHING, History, PlanDraft, Selection, Step
from backend_client.wire import PlanEvent, SeatRef

PACK_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class PlanOrigin:
    """Where a draft belongs: a venue, and the newest version of the plan that its author knows of (0: none yet).

    `name` is that of the plan then; under another name the draft is a plan of its own.
    """

    venue_id: UUID | None = None
    venue_name: str = ""
    name: str = ""
    version: int = 0
    newest: int = 0
    events: tuple[PlanEvent, ...] = ()

    def expected_version(self, name: str) -> int:
        """The newest version of the plan of this name, as far as is known."""
        return self.newest if name == self.name else 0


class _Packed(msgspec.Struct):
    """As it lies on the disk."""

    pack: int
    draft: PlanDraft
    venue_id: UUID | None = None
    venue_name: str = ""
    name: str = ""
    version: int = 0
    newest: int = 0


Listener = Callable[[], None]


class PlanWork:
    """See the module. `taken` are seats that kept an event from moving to this plan; they are shown in the drawing."""

    def __init__(self) -> None:
        self.history = History(Step(empty_plan()))
        self.origin = PlanOrigin()
        self.taken: tuple[SeatRef, ...] = ()
        self.serial = 0
        """Counts the drafts that were begun, so that an answer that comes late is not taken for another draft's."""
        self._saved = self.history.present.draft
        self._listeners: list[Listener] = []

    @property
    def draft(self) -> PlanDraft:
        return self.history.present.draft

    @property
    def selection(self) -> Selection:
        return self.history.present.selection

    @property
    def is_changed(self) -> bool:
        """Whether something of it would be lost."""
        return self.draft != self._saved

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def begin(self, draft: PlanDraft, origin: PlanOrigin, *, saved: bool) -> None:
        """Another draft; `saved`: the booking system has it."""
        self.serial += 1
        self.history = History(Step(draft))
        self.origin = origin
        self.taken = ()
        self._saved = draft if saved else empty_plan()
        self._tell()

    def edit(self, draft: PlanDraft, selection: Selection | None = None, merge: str = "") -> None:
        """An edit was made; what was chosen stays chosen unless another choice is given."""
        self.history = self.history.do(draft, self.selection if selection is None else selection, merge)
        self._tell()

    def choose(self, selection: Selection) -> None:
        """Something else is chosen."""
        if selection != self.selection:
            self.history = self.history.choose(selection.within(self.draft))
            self._tell()

    def undo(self) -> None:
        """One step back."""
        self.history = self.history.undo()
        self._tell()

    def redo(self) -> None:
        """One step forth."""
        self.history = self.history.redo()
        self._tell()

    def note_saved(self, draft: PlanDraft, version: int) -> None:
        """The booking system has this draft as this version; edits made meanwhile are not in it."""
        name = draft.name.strip()
        newest = max(version, self.origin.expected_version(name))
        self.origin = replace(self.origin, name=name, version=version, newest=newest)
        self._saved = draft
        self._tell()

    def put_events(self, events: tuple[PlanEvent, ...]) -> None:
        """The events on this plan, as they are now."""
        self.origin = replace(self.origin, events=events)
        self._tell()

    def put_taken(self, seats: tuple[SeatRef, ...]) -> None:
        """Seats that keep an event from moving; they are chosen, so that they show."""
        self.taken = seats
        chosen = seats_named(self.draft, seats)
        self.history = self.history.choose(chosen or NOTHING)
        self._tell()

    def pack(self) -> bytes:
        """For the disk; without the way back."""
        origin = self.origin
        return msgspec.json.encode(
            _Packed(
                PACK_VERSION, self.draft, origin.venue_id, origin.venue_name, origin.name, origin.version,
                origin.newest,
            )
        )  # fmt: skip

    def unpack(self, data: bytes) -> None:
        """What was not saved when the console ended.

        Raises:
            PlanFileError: it cannot be read.
        """
        try:
            packed = msgspec.json.decode(data, type=_Packed)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise PlanFileError(str(error)) from error
        if packed.pack != PACK_VERSION:
            raise PlanFileError(f"pack {packed.pack}")
        origin = PlanOrigin(packed.venue_id, packed.venue_name, packed.name, packed.version, packed.newest)
        self.begin(packed.draft, origin, saved=False)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def empty_plan() -> PlanDraft:
    """A hall without anything in it."""
    return PlanDraft("", 800.0, 600.0)


def seats_named(draft: PlanDraft, seats: tuple[SeatRef, ...]) -> Selection:
    """The seats of the draft that people call so."""
    wanted = {(seat.section, seat.row, seat.number) for seat in seats}
    names = {section.section_id: section.name.strip() for section in draft.sections}
    found = {
        seat.guid
        for row in draft.rows
        for seat in row.seats
        if (names.get(row.section_id, ""), row.label.strip(), seat.number.strip()) in wanted
    }
    return Selection(seats=frozenset(found))
