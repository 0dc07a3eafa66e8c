"""What the plan editor works on: a draft with its way back, where it came from, and whether it is saved.

It belongs to the store: screens are built anew at a language switch, the work stays. It can be packed and unpacked, so
that a draft that was not saved outlives the console.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

import msgspec

from app.core.errors import PlanFileError
from app.core.plan_areas import with_picture_ids
from app.core.plan_draft import NOTHING, History, PlanDraft, Selection, Step
from app.core.plan_floors import floor_count, floor_of
from app.core.plan_pointers import selection_at
from app.core.plan_restore import TakenSeat, restored, taken_seats
from backend_client.wire import FieldProblem, PlanEvent, PlanOriginNote, SeatRef

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


@dataclass(frozen=True, slots=True)
class Refused:
    """One thing that the booking system refused: its English words, the name of its sentence and what stands in it.
    `where` is what to choose to see it.
    """

    words: str
    where: Selection = NOTHING
    says: str = ""
    values: dict[str, str | int | float] = field(default_factory=dict, hash=False)


class _Packed(msgspec.Struct):
    """As it lies on the disk."""

    pack: int
    draft: PlanDraft
    venue_id: UUID | None = None
    venue_name: str = ""
    name: str = ""
    version: int = 0
    newest: int = 0
    note: PlanOriginNote | None = None


Listener = Callable[[], None]


class PlanWork:
    """See the module. `taken` are seats that kept an event from moving to this plan; they are shown in the drawing.
    `floor_no` is the floor that is drawn on, `origin_note` what a file had to have mended to become this draft.
    """

    def __init__(self) -> None:
        self.history = History(Step(empty_plan()))
        self.origin = PlanOrigin()
        self.taken: tuple[TakenSeat, ...] = ()
        self.floor_no = 0
        self.origin_note: PlanOriginNote | None = None
        self.refused: tuple[Refused, ...] = ()
        self._taken_from: PlanDraft | None = None
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

    def begin(self, draft: PlanDraft, origin: PlanOrigin, *, saved: bool, note: PlanOriginNote | None = None) -> None:
        """Another draft; `saved`: the booking system has it; `note`: what was mended when it came in."""
        self.serial += 1
        self.history = History(Step(draft))
        self.origin = origin
        self.origin_note = note
        self.taken = ()
        self._taken_from = None
        self.refused = ()
        self.floor_no = 0
        self._saved = draft if saved else empty_plan()
        self._tell()

    def edit(self, draft: PlanDraft, selection: Selection | None = None, merge: str = "") -> None:
        """An edit was made; what was chosen stays chosen unless another choice is given."""
        self.history = self.history.do(draft, self.selection if selection is None else selection, merge)
        self._follow()
        self._tell()

    def choose(self, selection: Selection) -> None:
        """Something else is chosen; its floor is shown."""
        if selection != self.selection:
            self.history = self.history.choose(selection.within(self.draft))
            self._follow()
            self._tell()

    def show_floor(self, floor_no: int) -> None:
        """Another floor is drawn on; nothing on the one before stays chosen."""
        if floor_no != self.floor_no and 0 <= floor_no < floor_count(self.draft):
            self.floor_no = floor_no
            self.history = self.history.choose(NOTHING)
            self._tell()

    def _follow(self) -> None:
        """Show the floor of what is chosen, and never one that the plan does not have."""
        found = floor_of(self.draft, self.selection)
        self.floor_no = min(self.floor_no, floor_count(self.draft) - 1) if found is None else found

    def undo(self) -> None:
        """One step back."""
        self.history = self.history.undo()
        self._follow()
        self._tell()

    def redo(self) -> None:
        """One step forth."""
        self.history = self.history.redo()
        self._follow()
        self._tell()

    def note_saved(self, draft: PlanDraft, version: int) -> None:
        """The booking system has this draft as this version; edits made meanwhile are not in it."""
        name = draft.name.strip()
        newest = max(version, self.origin.expected_version(name))
        self.origin = replace(self.origin, name=name, version=version, newest=newest)
        self._saved = draft
        self.taken, self._taken_from, self.refused = (), None, ()  # what was said of the version before
        self.origin_note = None
        self._tell()

    def put_events(self, events: tuple[PlanEvent, ...]) -> None:
        """The events on this plan, as they are now."""
        self.origin = replace(self.origin, events=events)
        self._tell()

    def put_taken(self, seats: tuple[SeatRef, ...], source: PlanDraft | None = None) -> None:
        """Seats that keep an event from moving; `source` is the version that it is on. They are listed, and those that
        the draft still has are chosen.
        """
        self.taken = taken_seats(seats, self.draft if source is None else source)
        self._taken_from = source
        present = {seat.guid for row in self.draft.rows for seat in row.seats}
        self.choose(Selection(seats=frozenset(seat.guid for seat in self.taken if seat.guid in present)))
        self._tell()

    def choose_taken(self, seat: TakenSeat) -> bool:
        """Choose one of them, or show the floor where it was; False when the draft has it no longer."""
        is_here = bool(seat.guid) and any(one.guid == seat.guid for row in self.draft.rows for one in row.seats)
        if is_here:
            self.choose(Selection(seats=frozenset({seat.guid})))
        else:
            self.show_floor(seat.floor_no)
        return is_here

    @property
    def lost_taken(self) -> tuple[TakenSeat, ...]:
        """Those of them that the draft has no longer."""
        if not self.taken:
            return ()
        present = {seat.guid for row in self.draft.rows for seat in row.seats}
        return tuple(seat for seat in self.taken if seat.guid not in present)

    @property
    def may_restore_taken(self) -> bool:
        """Whether seats in the way can be put back."""
        return self._taken_from is not None and any(seat.guid for seat in self.lost_taken)

    def restore_taken(self) -> None:
        """Put back all that are gone, as the version has them that the event is on; one step of the way back."""
        lost = frozenset(seat.guid for seat in self.lost_taken if seat.guid)
        if self._taken_from is not None and lost:
            self.edit(restored(self.draft, self._taken_from, lost), Selection(seats=lost))

    def put_refused(self, fields: Iterable[FieldProblem], draft: PlanDraft) -> None:
        """What the booking system says is wrong with this draft, each with what to choose to see it."""
        self.refused = tuple(
            Refused(f"{one.pointer}: {one.message}", selection_at(draft, one.pointer), one.says, dict(one.values))
            for one in fields
        )
        self._tell()

    def forget_refusals(self) -> None:
        """Nothing is in the way any more, or nobody wants to see it."""
        self.taken, self._taken_from, self.refused = (), None, ()
        self._tell()

    def pack(self) -> bytes:
        """For the disk; without the way back."""
        origin = self.origin
        return msgspec.json.encode(
            _Packed(
                PACK_VERSION, self.draft, origin.venue_id, origin.venue_name, origin.name, origin.version,
                origin.newest, self.origin_note,
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
        self.begin(with_picture_ids(packed.draft), origin, saved=False, note=packed.note)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def empty_plan() -> PlanDraft:
    """A hall without anything in it."""
    return PlanDraft("", 800.0, 600.0)
