"""The reconciliation items of `FakeBookingServer`: an inbox in memory with its acts, second persons and comparisons.

It keeps the promises of the wire: an act goes with the version that was read, an act above the limit waits for another
person, who asked cannot approve, a reason is needed, and nothing says that money moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from backend_client.testing_house import RefusalError
from backend_client.wire import (
    AllowedAction,
    ApprovalAsked,
    ApprovalDecision,
    DeviceId,
    ErrorCode,
    FieldProblem,
    ItemAction,
    ItemActionRequest,
    ItemDetail,
    ItemId,
    ItemList,
    ItemState,
    Order,
    PaymentOperation,
    ReconciliationItem,
    ReconciliationRun,
    ReconciliationRunList,
    ReconciliationRunRequest,
    Role,
    RunId,
    RunState,
    Till,
    TillList,
    TimelineEntry,
    TimelineKind,
)

_READERS = frozenset({Role.OPS, Role.SUPERVISOR, Role.ADMIN})
_ACTORS = frozenset({Role.SUPERVISOR, Role.ADMIN})
_ID = "([0-9a-f-]{36})"
_MOVES_MONEY = frozenset(
    {ItemAction.CAPTURE, ItemAction.TAKE_BACK, ItemAction.VOID, ItemAction.REFUND, ItemAction.HAND_TO_TILL}
)


@dataclass(frozen=True, slots=True)
class AreaCall:
    """One call as the areas of the fake see it; `query` has one value a name."""

    method: str
    path: str
    query: dict[str, str]
    content: bytes
    name: str
    role: Role
    device_id: DeviceId


@dataclass(slots=True)
class ItemEntry:
    """One item and everything behind it. `asker` is who asked for the act that waits."""

    item: ReconciliationItem
    timeline: tuple[TimelineEntry, ...] = ()
    actions: tuple[AllowedAction, ...] = (
        AllowedAction(action=ItemAction.ASK_AGAIN),
        AllowedAction(action=ItemAction.NOTE),
    )
    operations: tuple[PaymentOperation, ...] = ()
    order: Order | None = None
    approval: ApprovalAsked | None = None


@dataclass(slots=True)
class ItemShelf:
    """`now` is the server's time. `second_person_above` is the limit in minor units; None: nobody is needed twice."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    entries: dict[ItemId, ItemEntry] = field(default_factory=dict)
    runs: dict[RunId, ReconciliationRun] = field(default_factory=dict)
    tills: list[Till] = field(default_factory=list)
    """Where somebody is at work."""
    second_person_above: int | None = 50_000
    page: int = 200
    acted: list[tuple[ItemId, ItemActionRequest, str]] = field(default_factory=list)
    """What was done, by whom; what waits for a second person is not done."""

    def answer(self, call: AreaCall) -> object | None:
        """The answer to a call of this area; None for any other."""
        for method, pattern, roles, handler in _ROUTES:
            match = re.fullmatch(pattern, call.path)
            if match is None or method != call.method:
                continue
            if call.role not in roles:
                raise RefusalError(ErrorCode.FORBIDDEN if call.name else ErrorCode.NOT_SIGNED_IN)
            return handler(self, call, match)
        return None

    def add(self, entry: ItemEntry) -> ItemId:
        """An item more."""
        self.entries[entry.item.item_id] = entry
        return entry.item.item_id

    def change(self, item_id: ItemId, **members: object) -> ItemEntry:
        """Something about the item changes behind the person's back: its version goes up."""
        entry = self.entries[item_id]
        entry.item = msgspec.structs.replace(entry.item, version=entry.item.version + 1, **members)
        return entry

    # ------------------------------------------------------------ calls

    def list_items(self, query: dict[str, str]) -> ItemList:
        """Oldest first, in pages."""
        state = query.get("state", "")
        wanted = [entry.item for entry in self.entries.values() if _has_state(entry.item, state)]
        wanted.sort(key=lambda item: (item.opened_at, item.item_id.int))
        start = int(query.get("after") or 0)
        end = start + min(self.page, int(query.get("limit") or 50))
        open_count = sum(_has_state(entry.item, "") for entry in self.entries.values())
        return ItemList(
            items=tuple(wanted[start:end]),
            next=str(end) if end < len(wanted) else "",
            open_count=open_count,
            server_time=self.now(),
        )

    def read(self, item_id: UUID, name: str) -> ItemDetail:
        """An item as `name` may see it."""
        entry = self._find(item_id)
        approval = entry.approval
        if approval is not None:
            approval = msgspec.structs.replace(approval, may_decide=approval.asked_by != name)
        actions = entry.actions
        if approval is not None:
            actions = tuple(
                act if act.action is ItemAction.NOTE else msgspec.structs.replace(act, why_not="awaiting-approval")
                for act in actions
            )
        if entry.item.state is ItemState.RESOLVED:
            actions = ()
        return ItemDetail(
            item=entry.item, timeline=entry.timeline, actions=actions, operations=entry.operations, order=entry.order,
            approval=approval, server_time=self.now(),
        )  # fmt: skip

    def act(self, item_id: UUID, request: ItemActionRequest, name: str) -> ItemDetail:
        """Do an act, or let it wait for a second person."""
        entry = self._find(item_id)
        allowed = next((act for act in self.read(item_id, name).actions if act.action is request.action), None)
        if request.version != entry.item.version:
            raise RefusalError(ErrorCode.ITEM_CHANGED)
        if allowed is None or allowed.why_not:
            raise RefusalError(ErrorCode.ACTION_NOT_ALLOWED)
        _check(request, allowed, {till.device_id for till in self.tills})
        amount = request.amount_minor or entry.item.amount_minor
        limit = self.second_person_above
        if request.action in _MOVES_MONEY and limit is not None and amount > limit:
            entry.approval = ApprovalAsked(
                action=request.action, asked_by=name, asked_at=self.now(), reason=request.reason,
                amount_minor=request.amount_minor, reference=request.reference, order_id=request.order_id,
                seats_to_sale=request.seats_to_sale, device_id=request.device_id, way=request.way,
            )  # fmt: skip
            self._happened(entry, "approval-asked", name, request.reason)
            self.change(entry.item.item_id, state=ItemState.AWAITING_APPROVAL, asked_by=name)
        else:
            self._do(entry, request, name)
        return self.read(item_id, name)

    def decide(self, item_id: UUID, decision: ApprovalDecision, name: str) -> ItemDetail:
        """A second person's word; who asked may only take the wish back."""
        entry = self._find(item_id)
        asked = entry.approval
        if decision.version != entry.item.version:
            raise RefusalError(ErrorCode.ITEM_CHANGED)
        if asked is None:
            raise RefusalError(ErrorCode.ACTION_NOT_ALLOWED)
        if decision.approve and asked.asked_by == name:
            raise RefusalError(ErrorCode.SECOND_PERSON_NEEDED)
        entry.approval = None
        self._happened(entry, "approval-given" if decision.approve else "approval-refused", name, decision.reason)
        self.change(entry.item.item_id, state=ItemState.OPEN, asked_by="")
        if decision.approve:
            request = ItemActionRequest(
                action=asked.action, version=entry.item.version, reason=asked.reason, amount_minor=asked.amount_minor,
                reference=asked.reference, order_id=asked.order_id, seats_to_sale=asked.seats_to_sale,
                device_id=asked.device_id, way=asked.way,
            )  # fmt: skip
            self._do(entry, request, asked.asked_by)
        return self.read(item_id, name)

    def start_run(self, request: ReconciliationRunRequest, name: str) -> ReconciliationRun:
        """A comparison; one of the same day that runs already is taken."""
        for run in self.runs.values():
            if (run.provider, run.day, run.state) == (request.provider, request.day, RunState.RUNNING):
                return run
        run = ReconciliationRun(
            run_id=RunId(uuid7()), provider=request.provider, day=request.day, state=RunState.RUNNING, expected=400,
            started_at=self.now(), started_by=name,
        )  # fmt: skip
        self.runs[run.run_id] = run
        return run

    def list_runs(self) -> ReconciliationRunList:
        """Newest first."""
        runs = sorted(self.runs.values(), key=lambda run: run.started_at, reverse=True)
        return ReconciliationRunList(runs=tuple(runs), server_time=self.now())

    def read_run(self, run_id: UUID) -> ReconciliationRun:
        """A comparison as it stands."""
        run = self.runs.get(RunId(run_id))
        if run is None:
            raise RefusalError(ErrorCode.RUN_NOT_FOUND)
        return run

    def advance_run(self, run_id: RunId, **members: object) -> None:
        """A comparison goes on, or ends."""
        self.runs[run_id] = msgspec.structs.replace(self.runs[run_id], **members)

    # ------------------------------------------------------------ inside

    def _find(self, item_id: UUID) -> ItemEntry:
        entry = self.entries.get(ItemId(item_id))
        if entry is None:
            raise RefusalError(ErrorCode.ITEM_NOT_FOUND)
        return entry

    def _do(self, entry: ItemEntry, request: ItemActionRequest, name: str) -> None:
        self.acted.append((entry.item.item_id, request, name))
        self._happened(entry, f"act-{request.action.value}", name, request.reason)
        settles = request.action in {ItemAction.ATTACH, ItemAction.TAKE_BACK, ItemAction.SETTLED_OUTSIDE}
        members: dict[str, object] = {"state": ItemState.OPEN}
        if settles:
            members = {
                "state": ItemState.RESOLVED, "resolved_at": self.now(), "resolved_by": name,
                "resolution": request.reference or request.reason,
            }  # fmt: skip
        self.change(entry.item.item_id, **members)

    def _happened(self, entry: ItemEntry, title: str, name: str, body: str) -> None:
        entry.timeline = (
            *entry.timeline,
            TimelineEntry(at=self.now(), kind=TimelineKind.PERSON, title=title, source=name, body=body),
        )


def _has_state(item: ReconciliationItem, state: str) -> bool:
    if state in {"", "all"}:
        return state == "all" or item.state is not ItemState.RESOLVED
    return item.state.value == state


def _check(request: ItemActionRequest, allowed: AllowedAction, tills: set[DeviceId]) -> None:
    """A member that the act needs and does not have, named as the real thing names it."""
    lacks = {
        "/reason": not request.reason.strip(),
        "/reference": request.action is ItemAction.SETTLED_OUTSIDE and not request.reference.strip(),
        "/order_id": request.action is ItemAction.ATTACH and request.order_id is None,
        "/outcome": allowed.needs_outcome and request.outcome is None,
        "/device_id": (request.action is ItemAction.HAND_TO_TILL) != (request.device_id in tills),
        "/way": (request.action is ItemAction.HAND_TO_TILL) != (request.way in allowed.ways),
        "/amount_minor": (request.amount_minor or 0) > (allowed.most_minor or 10**12),
    }
    faults = tuple(FieldProblem(pointer=pointer, message="is needed") for pointer, lacking in lacks.items() if lacking)
    if faults:
        raise RefusalError(ErrorCode.INVALID_REQUEST, fields=faults)


_Handler = Callable[[ItemShelf, AreaCall, re.Match[str]], object]
_ITEMS = "/v1/reconciliation/items"
_RUNS = "/v1/reconciliation/runs"


def _act(shelf: ItemShelf, call: AreaCall, match: re.Match[str]) -> object:
    return shelf.act(UUID(match[1]), msgspec.json.decode(call.content, type=ItemActionRequest), call.name)


def _decide(shelf: ItemShelf, call: AreaCall, match: re.Match[str]) -> object:
    return shelf.decide(UUID(match[1]), msgspec.json.decode(call.content, type=ApprovalDecision), call.name)


def _start(shelf: ItemShelf, call: AreaCall, _match: re.Match[str]) -> object:
    return shelf.start_run(msgspec.json.decode(call.content, type=ReconciliationRunRequest), call.name)


_ROUTES: tuple[tuple[str, str, frozenset[Role], _Handler], ...] = (
    ("GET", _ITEMS, _READERS, lambda shelf, call, _match: shelf.list_items(call.query)),
    ("GET", f"{_ITEMS}/{_ID}", _READERS, lambda shelf, call, match: shelf.read(UUID(match[1]), call.name)),
    ("POST", f"{_ITEMS}/{_ID}/actions", _ACTORS, _act),
    ("POST", f"{_ITEMS}/{_ID}/approval", _ACTORS, _decide),
    (
        "GET",
        "/v1/tills",
        _READERS,
        lambda shelf, _call, _match: TillList(tills=tuple(shelf.tills), server_time=shelf.now()),
    ),
    ("GET", _RUNS, _READERS, lambda shelf, _call, _match: shelf.list_runs()),
    ("POST", _RUNS, _ACTORS, _start),
    ("GET", f"{_RUNS}/{_ID}", _READERS, lambda shelf, _call, match: shelf.read_run(UUID(match[1]))),
)
