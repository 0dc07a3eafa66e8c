"""Play one cell of an operation that a till does, and look at the terminal's ledger and ours afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from app.actions.desk import Desk
from app.devices.zvt.simulator.ledger import Ledger
from booking.domain.caller import Role
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemWish
from booking.domain.model import ResultOutcome
from booking.services import issue_tickets, item_actions, settle_items
from booking.services.orders import order_as_it_stands
from booking.services.sign_in import create_staff
from booking.services.sweep_expired import sweep_once
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.matrix import books
from tests.matrix.consoles import JournalStep
from tests.matrix.counters import (
    ACTS,
    BEFORE,
    CLERK,
    NOT_NOW,
    TOTAL,
    begin,
    bring_to_an_end,
    close,
    open_desk,
    stop_while_it_asks,
)
from tests.matrix.deaths import Step, times_fired
from tests.matrix.house import AFTERWARDS_S, one_person_is_enough
from tests.matrix.processes import Started
from tests.matrix.table import (
    API_DEATHS,
    BACK_AT_TERMINAL,
    CONSOLE_DEATHS,
    IN_CASH,
    Fault,
    Operation,
)
from tests.matrix.ways import End
from tests.server.box_office import ADULT_PRICE, Clock, make_event, till
from tests.server.web_api import PASSWORD

SCENES: Final[Mapping[Fault, str]] = {
    Fault.DECLINE: "decline",
    Fault.TERMINAL_LOST_BEFORE: "line-lost-before-result",
    Fault.TERMINAL_LOST_AFTER: "line-lost-after-approval",
    Fault.TERMINAL_LOST_RESULT: "line-lost-after-result",
    Fault.TERMINAL_LOST_VERDICT: "line-lost-after-verdict",
    Fault.TERMINAL_DEAD: "dead",
    Fault.TERMINAL_RESTART: "line-lost-after-approval",
    Fault.ABORT_CROSSES: "abort-crossing-approval",
    Fault.OTHER_AMOUNT: "partial-approval",
}
"""What the terminal plays for a payment or a refund."""
REVERSALS: Final[Mapping[Fault, str]] = {
    Fault.TERMINAL_LOST_BEFORE: "line-lost-before",
    Fault.TERMINAL_LOST_AFTER: "line-lost-after",
    Fault.TERMINAL_RESTART: "line-lost-after",
    Fault.OTHER_AMOUNT: "wrong-amount",
}
"""What it plays for a reversal."""
JOURNAL_STEPS: Final = dict(
    zip(
        (
            Fault.CONSOLE_DIES_OPENED, Fault.CONSOLE_DIES_JOURNALED, Fault.CONSOLE_DIES_DONE, Fault.CONSOLE_DIES_HEARD,
            Fault.CONSOLE_DIES_REPORTED,
        ),
        JournalStep,
        strict=True,
    )
)  # fmt: skip
EARLIER_MINOR: Final = 1_234
"""A terminal has sold before: its last transaction is not ours. A new one proves nothing by an empty answer."""
_ASKED: Final = {Operation.REVERSAL: "reversals_asked", Operation.TERMINAL_REFUND: "refunds_asked"}


@dataclass
class TerminalSide:
    """A card terminal in a process of its own; what it stores survives it."""

    folder: Path
    anew: bool
    port: int = 0
    control_port: int = 0
    process: Started | None = None
    is_stopped: bool = False

    @property
    def state(self) -> Path:
        return self.folder / "terminal.json"

    async def start(self) -> None:
        if not self.state.exists():
            earlier = Ledger.load(self.state)
            earlier.book(EARLIER_MINOR, "EUR", datetime.now())  # noqa: DTZ005 - a terminal's clock is local
        ready = self.folder / f"terminal-{len(list(self.folder.iterdir()))}.ready"
        self.process = Started(
            "terminal", self.folder, anew=self.anew, ready_file=str(ready), state=str(self.state), parent=os.getpid(),
            port=self.port, control_port=self.control_port,
        )  # fmt: skip
        facts = await self.process.ready(ready)
        self.port, self.control_port = facts["port"], facts["control_port"]

    async def kill_and_restart(self) -> None:
        assert self.process is not None
        await self.process.kill()
        assert self.process.exit_code == -signal.SIGKILL
        await self.start()

    async def end(self) -> None:
        if self.process is not None and self.process.exit_code is None:
            await self.process.kill()

    def stop(self) -> None:
        """It hangs whole: whoever calls is let in by its machine, and never answered."""
        assert self.process is not None
        self.is_stopped = True
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.process is not None
        self.is_stopped = False
        os.kill(self.process.pid, signal.SIGCONT)

    async def asked(self, operation: Operation) -> int:
        """How often it was asked for what the operation needs; no scene may be left to be played."""
        status = await self.ask(do="status")
        assert status["queued"] == 0
        return int(status[_ASKED.get(operation, "payments_asked")])

    async def ask(self, **request: Any) -> dict[str, Any]:
        """One request to its control port."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.control_port)
        try:
            writer.write(json.dumps(request).encode() + b"\n")
            answer: dict[str, Any] = json.loads(await reader.readline())
        finally:
            writer.close()
        assert answer["ok"], answer
        return answer


@dataclass
class TillHouse:
    """A database, an event on sale, an API and a terminal in processes of their own, one counter."""

    dsn: str
    db: Database
    clock: Clock
    event_id: int
    folder: Path
    anew: bool
    terminal: TerminalSide
    apis: list[Started] = field(default_factory=list)
    api_port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    async def start_api(self, **death: Any) -> Started:
        """An API, on the port of the one before."""
        ready = self.folder / f"api-{len(self.apis)}.json"
        api = Started(
            "api", self.folder, anew=self.anew, ready_file=str(ready), dsn=self.dsn, parent=os.getpid(),
            port=self.api_port, **death,
        )  # fmt: skip
        self.apis.append(api)
        self.api_port = (await api.ready(ready))["port"]
        return api

    def desk(self) -> Desk:
        return open_desk(self.url, self.terminal.port, self.folder)

    async def issue(self) -> None:
        await issue_tickets.issue_new(self.db)


@asynccontextmanager
async def open_till_house(dsn: str, folder: Path, *, anew: bool) -> AsyncIterator[TillHouse]:
    """A house on the database at `dsn`. `anew`: processes are started, not forked."""
    async with AsyncExitStack() as stack:
        db = await Database.open(dsn, application="matrix")
        stack.push_async_callback(db.close)
        clock = Clock(db)
        await clock.install()
        await issue_tickets.prepare(db)
        event_id = await make_event(db)
        await create_staff(db, CLERK, "Carla", Role.CLERK, PASSWORD)
        terminal = TerminalSide(folder, anew)
        await terminal.start()
        stack.push_async_callback(terminal.end)
        house = TillHouse(dsn, db, clock, event_id, folder, anew, terminal)
        try:
            yield house
        finally:
            for api in house.apis:
                if api.exit_code is None:
                    await api.kill()


async def play(house: TillHouse, operation: Operation, fault: Fault) -> None:
    """The whole cell: before, the fault, the rest, and the verdict."""
    group = API_DEATHS if fault in API_DEATHS else CONSOLE_DEATHS if fault in CONSOLE_DEATHS else None
    if group is API_DEATHS:
        desk = await _api_dies(house, operation, fault)
    elif group is CONSOLE_DEATHS:
        desk = await _console_dies(house, operation, fault)
    else:
        desk = await _terminal_fails(house, operation, fault)
    try:
        await bring_to_an_end(desk, operation)
        await _rest(house)
        await _judge(house, operation, fault)
    finally:
        await close(desk)


async def _rest(house: TillHouse) -> None:
    """Long afterwards nothing of it has become anything else."""
    await house.issue()
    await house.clock.move(seconds=AFTERWARDS_S)
    await sweep_once(house.db)
    await PaymentWorker(house.db, {}).work_once()
    await ReconciliationWorker(house.db, {}).work_once()
    await house.issue()


async def _judge(house: TillHouse, operation: Operation, fault: Fault) -> None:
    operations = await books.all_operations(house.db)
    end = ends(operation, fault)
    books.all_definite(operations)
    books.same_as_terminal(house.terminal.state, operations)
    stayed = books.one_charge_each(operations)
    (row,) = await house.db.fetch("SELECT order_id FROM orders")
    order = await order_as_it_stands(house.db, UUID(str(row["order_id"])))
    assert (order.status.value, stayed.get(order.order_id, 0)) == (end.order, end.stayed)
    assert await books.open_items(house.db) == list(end.items)
    await books.nothing_broken(house.dsn)


def ends(operation: Operation, fault: Fault) -> End:
    """How a cell ends."""
    if operation is Operation.REVERSAL:
        return End("CANCELLED", 0)
    if operation is Operation.TERMINAL_REFUND:
        given_up = fault is Fault.OTHER_AMOUNT
        return End("CONFIRMED", TOTAL, ("refund-failed",)) if given_up else End("PARTLY_REFUNDED", ADULT_PRICE)
    told = fault is Fault.OTHER_AMOUNT  # the terminal took it back by itself: a person reads of it
    return End("CONFIRMED", TOTAL, ("amount-mismatch",) if told else ())


# ------------------------------------------------------------ what goes wrong


async def _before(house: TillHouse, operation: Operation) -> Desk:
    """A console that has done what comes before."""
    desk = house.desk()
    await begin(desk, house.event_id)
    if operation is Operation.CASH_INSTEAD:
        await house.terminal.ask(do="scenario", name="line-lost-after-approval")
    await BEFORE[operation](desk)
    await house.issue()
    return desk


async def _act(desk: Desk, operation: Operation) -> None:
    """The clerk tries, and reads what went wrong."""
    with suppress(*NOT_NOW):
        await ACTS[operation](desk)


async def _terminal_fails(house: TillHouse, operation: Operation, fault: Fault) -> Desk:
    await house.start_api()
    terminal = house.terminal
    if operation is Operation.CASH_INSTEAD:
        desk = house.desk()
        await begin(desk, house.event_id)
        await terminal.ask(do="scenario", name=SCENES[fault])
        await BEFORE[operation](desk)
    else:
        desk = await _before(house, operation)
        await _plan(house, desk, operation, fault)
        await (stop_while_it_asks(desk) if fault is Fault.ABORT_CROSSES else _act(desk, operation))
    if terminal.is_stopped:
        terminal.go_on()
        assert await terminal.asked(operation) == 0
    else:
        assert await terminal.asked(operation) == 1
    if fault is Fault.TERMINAL_RESTART:
        await terminal.kill_and_restart()
    elif operation is Operation.REVERSAL:
        await terminal.ask(do="faults")
    if fault is Fault.OTHER_AMOUNT and operation is Operation.TERMINAL_REFUND:
        await _a_person_settles(house, desk)
    if operation is Operation.CASH_INSTEAD:
        await _act(desk, operation)
    return desk


async def _plan(house: TillHouse, desk: Desk, operation: Operation, fault: Fault) -> None:
    if operation is not Operation.REVERSAL:
        await house.terminal.ask(do="scenario", name=SCENES[fault])
    elif fault is Fault.TERMINAL_DEAD:
        house.terminal.stop()
    elif fault is Fault.DECLINE:
        assert desk.terminal is not None
        await desk.terminal.end_of_day()  # what is in a closed day cannot be reversed any more
    else:
        await house.terminal.ask(do="faults", reversal=REVERSALS[fault])


async def _a_person_settles(house: TillHouse, desk: Desk) -> None:
    """The terminal moved another amount than was asked for: nobody guesses, a supervisor has it taken back there."""
    await settle_items.end_settled_items(house.db)
    assert await books.open_items(house.db) == ["amount-mismatch"]
    assert desk.terminal is not None
    moved = Ledger.load(house.terminal.state).bookings[-1]
    await desk.terminal.reverse(moved.receipt_no, amount_minor=moved.amount_minor, original_trace=moved.trace)
    await one_person_is_enough(house.db)
    (item,) = await house.db.fetch("SELECT item_id, version FROM reconciliation_items WHERE resolved_at IS NULL")
    wish = ItemWish(
        ItemAction.SETTLED_OUTSIDE, item["version"], "taken back at the terminal", reference="its receipts",
        outcome=ResultOutcome.DECLINED,
    )  # fmt: skip
    await item_actions.act_on_item(house.db, till(Role.SUPERVISOR), item["item_id"], wish, key="once", digest=b"")


async def _api_dies(house: TillHouse, operation: Operation, fault: Fault) -> Desk:
    mark = house.folder / "died"
    step, kind = _api_step(operation, fault)
    death = {"step": step.value, "kind": kind, "mark": str(mark)}
    before = {"dies_before": "yes"} if step is Step.ANSWERED and operation in IN_CASH else {}
    api = await house.start_api(death=death, **before)
    desk = await _before(house, operation)
    await _act(desk, operation)
    assert (await api.ended(), times_fired(mark)) == (-signal.SIGKILL, 1), api.words()
    await house.start_api()
    return desk


def _api_step(operation: Operation, fault: Fault) -> tuple[Step, str]:
    if operation in IN_CASH:
        return (Step.ANSWERED if fault is Fault.API_DIES_ANSWERED else Step.OPENED), "cash"
    if fault is Fault.API_DIES_SENT:
        openers = {Operation.REVERSAL: "cancel", Operation.TERMINAL_REFUND: "refund"}
        return Step.OPENED, openers.get(operation, "sale")
    step = Step.ANSWERED if fault is Fault.API_DIES_ANSWERED else Step.RECORDED
    return step, "refund" if operation in BACK_AT_TERMINAL else "sale"


async def _console_dies(house: TillHouse, operation: Operation, fault: Fault) -> Desk:
    mark = house.folder / "died"
    await house.start_api()
    await close(await _before(house, operation))
    if operation is Operation.CASH_INSTEAD:
        await house.terminal.ask(do="faults", forgets_receipts=True)  # the console that comes cannot clear it up
    console = Started(
        "console", house.folder, anew=house.anew, url=house.url, terminal_port=house.terminal.port,
        folder=str(house.folder), event_id=house.event_id, operation=operation.value, step=JOURNAL_STEPS[fault].value,
        mark=str(mark),
    )  # fmt: skip
    assert (await console.ended(), times_fired(mark)) == (-signal.SIGKILL, 1), console.words()
    await house.terminal.ask(do="faults")
    desk = house.desk()
    await begin(desk, house.event_id)
    return desk
