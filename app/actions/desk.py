"""What every action works with: the client, the journal, the devices and the store of one counter.

Actions are coroutines that take a `Desk`. They write to the store and return the sale; what the person should hear is a
state of the sale or a notice in the store. They raise only when the thing could not be done at all, with an error that
carries a `code` (`app.core.errors`, `backend_client.errors`, `app.devices.card_terminal`), and then everything stands
as before. A second call of an action while it runs is dropped: it returns at once and does nothing (P1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from uuid_utils.compat import uuid7

from app.core.errors import NoPrinterError, NoTerminalError, SaleNotReadyError
from app.core.sale import ENDED, Sale, SaleId
from app.core.session import Permission, require
from app.core.store import Connection, ConsoleStore, Notice, NoticeCode
from app.devices.card_terminal import CardTerminal
from app.devices.ticket_printer import TicketPrinter
from app.journal.credentials import CredentialVault, KeptCredential
from app.journal.plan_draft_file import PlanDraftFile
from app.journal.terminal_record import CashReturn, DayRecord, Reversal, TerminalRecord, TerminalWord
from backend_client.client import BookingClient
from backend_client.steady_time import steady_seconds
from backend_client.wire import OperationId, OrderId, StaffSession, TerminalTotalsReport


class JournalPort(Protocol):
    """The journal as actions use it (see `AsyncJournal`). A write that returned is on the disk."""

    async def save_sale(self, sale: Sale) -> None: ...
    async def open_sales(self) -> tuple[Sale, ...]: ...
    async def unreadable_sales(self) -> int: ...
    async def begin_terminal_attempt(self, record: TerminalRecord) -> None: ...
    async def record_terminal_result(self, operation_id: OperationId, word: TerminalWord) -> None: ...
    async def acknowledge_terminal_result(self, operation_id: OperationId) -> None: ...
    async def mark_reversal(self, operation_id: OperationId, reversal: Reversal) -> None: ...
    async def terminal_attempt(self, operation_id: OperationId) -> TerminalRecord | None: ...
    async def unsettled_attempts(self) -> tuple[TerminalRecord, ...]: ...
    async def forget_terminal_attempt(self, operation_id: OperationId) -> None: ...
    async def begin_cash_return(self, record: CashReturn) -> None: ...
    async def end_cash_return(self, operation_id: OperationId, *, taken: bool) -> None: ...
    async def compare_cash_return(self, operation_id: OperationId, by: str) -> None: ...
    async def cash_returns(self) -> tuple[CashReturn, ...]: ...
    async def let_order_go(self, order_id: OrderId) -> None: ...
    async def orders_let_go(self) -> tuple[OrderId, ...]: ...
    async def forget_order(self, order_id: OrderId) -> None: ...
    async def begin_day(self, record: DayRecord) -> None: ...
    async def record_day(self, day_id: str, report: TerminalTotalsReport) -> None: ...
    async def close_day(self, day_id: str, *, reported: bool) -> None: ...
    async def open_days(self) -> tuple[DayRecord, ...]: ...
    async def newest_attempt(self) -> TerminalRecord | None: ...
    async def last_trace(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long actions wait, in seconds."""

    report_s: float = 3.0
    """A terminal that has approved waits this long for the API's word (DESIGN §3)."""
    tickets_s: float = 20.0
    """Until the issuer has issued all tickets of an order."""
    settle_s: float = 2.0
    """Between two questions to a terminal that says it booked nothing, before that is believed (T1)."""
    ask_first_s: float = 1.0
    ask_longest_s: float = 15.0
    """Pauses between two questions about the same thing grow from the first to the longest."""
    hand_over_s: float = 300.0
    """After so long an unknown payment is a supervisor's; asking goes on (setting `hand_over_after_s`)."""
    step_in_s: float = 30.0
    """A clerk who steps in while an unclear sale is being asked about waits so long for that to end."""
    watch_s: float = 1.5
    """Between two looks at an order whose card is at a reader that the server drives."""
    reader_silent_s: float = 20.0
    """A booking system that does not answer for so long leaves a payment at a reader unknown."""
    snapshot_retry_s: float = 0.5
    fallback_s: float = 5.0
    """Between two snapshots while the seat feed is away (R15)."""
    house_look_s: float = 2.0
    """After a change of seats that the house keeps back their kinds are read at a random instant of so long."""
    reconnect_window_s: float = 15.0
    """A lost feed is dialled again at a random instant of this window, so that not all consoles come at once (S6)."""
    inbox_s: float = 5.0
    """Between two readings of the inbox while it is looked at."""
    inbox_idle_s: float = 30.0
    """Between two counts of open items while nobody looks at the inbox."""
    inbox_longest_s: float = 60.0
    """While the booking system is away, pauses grow up to this."""
    run_s: float = 1.0
    """Between two looks at a comparison that runs."""
    ops_silence_s: float = 5.0
    """A feed of figures without a statement for so long is dead."""
    ops_window_s: float = 4.0
    """A lost feed of figures is dialled again at a random instant of this window: operators are few."""
    ops_idle_s: float = 20.0
    """Between two readings of the alarms while nobody looks at the figures."""
    admission_s: float = 2.0
    """Between two readings of the admission's settings while they are looked at."""
    limits_s: float = 5.0
    """Between two readings of the limits of alarms while they are looked at."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CardWay(StrEnum):
    """How cards are taken here: at the till's own terminal, or at a reader that the server drives."""

    TERMINAL = "terminal"
    READER = "reader"


@dataclass(slots=True)
class Desk:
    """One counter. `terminal` and `printer` are None when none is set up. `language` is BCP 47, for tickets."""

    client: BookingClient
    journal: JournalPort
    store: ConsoleStore
    vault: CredentialVault
    terminal: CardTerminal | None = None
    printer: TicketPrinter | None = None
    card_way: CardWay = CardWay.TERMINAL
    plan_drafts: PlanDraftFile | None = None
    device_name: str = "console"
    language: str = "en"
    patience: Patience = field(default_factory=Patience)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], datetime] = _utc_now
    new_key: Callable[[], str] = lambda: str(uuid7())
    running: dict[str, object] = field(default_factory=dict)
    """The step of the sale that runs now, if any: `hold`, `price-type`, `pay`, `print`, `release`, …"""
    charging: set[SaleId] = field(default_factory=set)
    """Sales, at the counter or parked, about which the card terminal has been asked and has not said its last word."""
    printer_trouble: str = ""
    """Why the last print job did not end well (`PrintOutcome.reason`, or `unclear`); empty while the printer works."""
    resolving: set[SaleId] = field(default_factory=set)
    """Sales about which the API or the terminal is being asked now."""
    terminal_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever speaks to the card terminal holds it."""
    sign_in_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever opens a session holds it: a kept token is used up once sent, so nothing may cut in or be cut off."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is a new UNKNOWN sale, so that `keep_resolving` need not wait out its pause."""
    inbox_wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the inbox is to be read now."""
    following: object = None
    """Who follows the seats of the open event, the last one that began to."""
    background: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.client.on_time = self.store.observe_time
        self.client.on_reached = self._hear_reached
        self.client.on_session = self._hear_session

    def _hear_reached(self, reached: bool) -> None:
        self.store.put_connection(Connection.ONLINE if reached else Connection.AWAY)

    def _hear_session(self, staff: StaffSession | None) -> None:
        """A renewed session's refresh token is kept in the background; a session that the API ended is shown so.

        Whoever signs in keeps the first token themselves, to hear where it is kept.
        """
        if staff is not None and self.store.session is None:
            return
        if staff is not None:
            credential = KeptCredential(staff.name, staff.refresh_token)
            task = asyncio.get_running_loop().create_task(self._keep_credential(credential), name="keep-credential")
            self.background.add(task)
            task.add_done_callback(self.background.discard)
        elif self.store.session is not None:
            self.store.put_session(None)
            self.store.post(Notice(NoticeCode.SIGNED_OUT))

    async def _keep_credential(self, credential: KeptCredential) -> None:
        await self.vault.save(credential)

    @contextmanager
    def once(self, name: str) -> Iterator[bool]:
        """One step of the sale at a time. False inside when this one runs already: drop the second tap (P1).

        Raises:
            SaleNotReadyError: another step runs.
        """
        if name in self.running:
            yield False
            return
        if self.running:
            raise SaleNotReadyError(f"busy: {', '.join(self.running)}")
        mark = self.running[name] = object()
        try:
            yield True
        finally:
            if self.running.get(name) is mark:
                del self.running[name]

    def set_aside(self, name: str) -> None:
        """The step goes on without the counter, which is free for another one: its sale was parked."""
        self.running.pop(name, None)

    @contextmanager
    def asking(self, sale: Sale) -> Iterator[None]:
        """The API or the terminal is being asked about this sale."""
        self.resolving.add(sale.sale_id)
        try:
            yield
        finally:
            self.resolving.discard(sale.sale_id)

    def idle(self, sale_id: SaleId) -> Sale | None:
        """The sale as it stands now, if nobody works on it: neither a step of the counter, nor the terminal, nor
        somebody in the background. None otherwise, and when it is gone from here.

        Whoever goes through several sales asks for each when its turn comes: an await before, it was another one.
        """
        sale = self.find(sale_id)
        if sale is None or sale_id in self.resolving or sale_id in self.charging:
            return None
        return None if self.running and sale is self.store.sale else sale

    def refuse_while_resolving(self, sale: Sale) -> None:
        """Raises SaleNotReadyError while something is being asked about this sale in the background."""
        if sale.sale_id in self.resolving:
            raise SaleNotReadyError("the sale is being cleared up")

    async def until_asked(self, sale: Sale) -> Sale:
        """The sale once nothing is being asked about it in the background: what the clerk does next builds on it.

        Raises:
            SaleNotReadyError: it is still being asked about after the patience for it.
        """
        deadline = steady_seconds() + self.patience.step_in_s
        while sale.sale_id in self.resolving:
            if steady_seconds() > deadline:
                raise SaleNotReadyError("the sale is being cleared up")
            await self.sleep(0.02)
        return self.find(sale.sale_id) or sale

    async def keep(self, sale: Sale) -> Sale:
        """Write the sale to the journal, then show it: at the counter, or among the parked ones if it stands there."""
        await self.journal.save_sale(sale)
        self.show(sale)
        return sale

    async def keep_fact(self, sale: Sale) -> Sale:
        """As `keep`, for what has happened already: it is shown also when it cannot be written, and that is raised."""
        try:
            await self.journal.save_sale(sale)
        finally:
            self.show(sale)
        return sale

    def show(self, sale: Sale) -> None:
        """Show the sale where it stands, without writing it. It never takes the place of another one at the counter."""
        shown = self.store.sale
        at_counter = shown is None or shown.sale_id == sale.sale_id
        if not at_counter or any(kept.sale_id == sale.sale_id for kept in self.store.parked):
            self.store.put_parked(sale)
        else:
            self.store.put_sale(sale)

    def sale(self) -> Sale:
        """The sale at the counter.

        Raises:
            SaleNotReadyError: there is none, or it has ended.
        """
        sale = self.store.sale
        if sale is None or sale.state in ENDED:
            raise SaleNotReadyError("no sale at the counter")
        return sale

    def find(self, sale_id: SaleId) -> Sale | None:
        """The sale with this id, at the counter or parked."""
        shown = () if self.store.sale is None else (self.store.sale,)
        return next((sale for sale in (*shown, *self.store.parked) if sale.sale_id == sale_id), None)

    def require_seller(self) -> None:
        """Raises NotAllowedError when the person signed in may not sell."""
        require(self.store.session, Permission.SELL)

    def need_terminal(self) -> CardTerminal:
        """The card terminal.

        Raises:
            NoTerminalError: none is set up.
        """
        if self.terminal is None:
            raise NoTerminalError("no card terminal is set up")
        return self.terminal

    def need_printer(self) -> TicketPrinter:
        """The ticket printer.

        Raises:
            NoPrinterError: none is set up.
        """
        if self.printer is None:
            raise NoPrinterError("no ticket printer is set up")
        return self.printer
