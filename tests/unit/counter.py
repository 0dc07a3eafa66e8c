"""A counter with fakes all round: booking server, terminal, printer, keyring; the journal is a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import httpx

from app.actions.desk import Desk, JournalPort, Patience
from app.actions.hold_seats import hold_picked
from app.actions.pick_seats import toggle_seat
from app.actions.show_event import open_event
from app.actions.sign_in import sign_in
from app.core.hold_clock import ServerClock
from app.core.sale import Sale
from app.core.session import CredentialStorage
from app.core.store import ConsoleStore, NoticeCode
from app.devices.card_terminal import CardTerminal
from app.devices.fake_terminal import FakeCardTerminal
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketSheet
from app.journal.async_journal import AsyncJournal
from app.journal.credentials import CredentialVault, KeptCredential
from app.journal.journal import Journal
from backend_client.client import BookingClient
from backend_client.retry import RetryPolicy
from backend_client.steady_time import steady_seconds
from backend_client.testing import FakeBookingServer
from backend_client.wire import DeviceId

DEVICE = DeviceId(UUID(int=7))
FAST = Patience(
    report_s=0.5,
    tickets_s=0.2,
    settle_s=0.0,
    ask_first_s=0.001,
    ask_longest_s=0.01,
    snapshot_retry_s=0.001,
    fallback_s=0.01,
    house_look_s=0.005,
    reconnect_window_s=0.01,
)
QUICK_RETRY = RetryPolicy(attempts=3, base_s=0.0, cap_s=0.0)


class MemoryVault(CredentialVault):
    """Keeps the credential in memory, as a keyring that works."""

    def __init__(self) -> None:
        super().__init__("test")
        self.kept: KeptCredential | None = None
        self.storage = CredentialStorage.KEYRING

    async def save(self, credential: KeptCredential) -> CredentialStorage:
        self.kept = credential
        return self.storage

    async def load(self) -> KeptCredential | None:
        return self.kept

    async def forget(self) -> None:
        self.kept = None


@dataclass(slots=True)
class FakePrinter:
    """Prints into `sheets`; `outcome` is what it says, `breaks` lets it fail in a way that it promised not to."""

    sheets: list[TicketSheet] = field(default_factory=list)
    state: PrintState = PrintState.CONFIRMED
    breaks: bool = False

    @property
    def name(self) -> str:
        return "fake printer"

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        self.sheets.append(sheet)
        if self.breaks:
            raise RuntimeError("the driver broke")
        return PrintOutcome(self.state, tuple(face.ticket_id for face in sheet.tickets), "tickets.pdf")


@dataclass(slots=True)
class Counter:
    """A desk and everything around it. `restart` is a new process on the same journal, server and terminal."""

    desk: Desk
    server: FakeBookingServer
    terminal: FakeCardTerminal
    printer: FakePrinter
    vault: MemoryVault

    @property
    def sale(self) -> Sale:
        assert self.desk.store.sale is not None
        return self.desk.store.sale

    @property
    def notices(self) -> list[NoticeCode]:
        return [notice.code for notice in self.desk.store.notices]

    async def open(self) -> None:
        """Sign in and show the event."""
        await sign_in(self.desk, "carla", "secret")
        await open_event(self.desk, self.server.house.event_id)

    async def hold(self, *seats: int) -> Sale:
        """Pick and hold seats."""
        for seat in seats:
            toggle_seat(self.desk, seat)
        return await hold_picked(self.desk)

    def restart(self, journal: JournalPort) -> Counter:
        """The console again, after it died."""
        return make_counter(journal, self.server, self.terminal, self.printer, self.vault)

    @property
    def charged_minor(self) -> int:
        """What cards were charged, as the terminal has it."""
        return sum(result.amount_minor for result in self.terminal.booked)


def make_counter(
    journal: JournalPort,
    server: FakeBookingServer | None = None,
    terminal: FakeCardTerminal | None = None,
    printer: FakePrinter | None = None,
    vault: MemoryVault | None = None,
    *,
    driver: CardTerminal | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    patience: Patience = FAST,
) -> Counter:
    """A counter. `driver` is what the desk sees as its terminal, `transport` leads to the API: fakes by default."""
    server = server or FakeBookingServer()
    terminal = terminal or FakeCardTerminal()
    printer = printer or FakePrinter()
    vault = vault or MemoryVault()
    client = BookingClient(
        server.base_url, device_id=DEVICE, transport=transport or server.transport, retry=replace(QUICK_RETRY)
    )
    store = ConsoleStore(ServerClock(steady_seconds))
    desk = Desk(client, journal, store, vault, driver or terminal, printer, patience=patience)
    return Counter(desk, server, terminal, printer, vault)


def open_journal(folder: Path) -> AsyncJournal:
    """A real journal on this thread."""
    return AsyncJournal(Journal.open(folder))


async def until(true: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait until `true()`; polls, and fails at the deadline."""
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.001)
