"""The one place that wires objects: from options to a running console, and stage by stage down again.

Start: settings, crash reporter, device thread, journal, client, store, desk, window, bindings. Stop: deeds first, so
that nothing new begins; then the terminal, the journal and the client; the thread; the window; the hooks last.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

import psutil
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication, QIcon, QPixmap
from PySide6.QtWidgets import QApplication

from app.actions.desk import CardWay, Desk, Patience
from app.bridge.crash import CrashReporter
from app.bridge.deeds import Deeds
from app.bridge.device_thread import DeviceThread, TerminalOnThread
from app.bridge.dialogs import ask
from app.bridge.loop import run
from app.bridge.stop_signals import StopSignals
from app.bridge.ticket_pdf import PdfTicketPrinter, Stock
from app.core.errors import DeviceFileError, JournalError
from app.core.hold_clock import ServerClock
from app.core.store import ConsoleStore
from app.device_identity import FILE_NAME, device_of
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal
from app.i18n import use_language
from app.journal.async_journal import AsyncJournal
from app.journal.credentials import CredentialVault
from app.journal.journal import Journal
from app.journal.plan_draft_file import PlanDraftFile
from app.screens.bindings import Bindings, Credentials
from app.screens.looks import apply_direction, theme_of
from app.screens.main_window import MainWindow, Surroundings
from app.screens.refused_start import RefusedStart, start_words
from app.screens.words import Advice, advice_for
from app.settings import (
    CARD_WAY,
    HAND_OVER_AFTER_S,
    HOLD_WARNING_S,
    LANGUAGE,
    PATTERNS,
    PRINTER_DPI,
    SERVER_URL,
    SIGN_IN_NAME,
    STOCK_HEIGHT_MM,
    STOCK_WIDTH_MM,
    TERMINAL_ADDRESS,
    THEME,
    TICKET_STOCK,
    Settings,
    host_and_port,
)
from backend_client.client import BookingClient
from backend_client.errors import InsecureAddressError
from backend_client.feed import Dial, dial_websocket
from backend_client.steady_time import steady_seconds
from backend_client.wire import DeviceId
from resources import read_bytes
from widgets.theme import apply_theme, undressed

DONE, FOUND_WRONG, WRONG_USE, CANNOT_REACH = 0, 1, 2, 3
_PARENT_LOOK_MS: Final = 1000
_LOG_BYTES: Final = 5_000_000
_LOGS_BEFORE: Final = 3
"""A till runs for years: its log never fills the disk on which its sales are written down."""
_NOBODY_SEES: Final = frozenset({"offscreen", "minimal"})
_LOG = logging.getLogger("taquilla.console")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says; empty means: as the settings say."""

    data: Path
    server: str = ""
    terminal: str = ""
    language: str = ""
    theme: str = ""
    size: tuple[int, int] = (0, 0)
    credentials: Credentials | None = None
    parent_pid: int | None = None


@dataclass(slots=True)
class Console:
    """A running console; what a driver (the tour, the screenshots) is given."""

    window: MainWindow
    desk: Desk
    deeds: Deeds
    bindings: Bindings
    crash: CrashReporter
    settings: Settings
    ended: asyncio.Future[int] = field(repr=False)

    def end(self, code: int = DONE) -> None:
        """Begin to stop; the first code counts."""
        if not self.ended.done():
            self.ended.set_result(code)


Refuse = Callable[..., Coroutine[Any, Any, int]]
Driver = Callable[[Console], Coroutine[Any, Any, int]]


def run_console(options: Options, driver: Driver | None = None) -> int:
    """Run a console to its end; returns the exit code. `driver` drives the windows and its code ends the program."""
    trouble: OSError | None = None
    try:
        options.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        _log_to(options.data / "console.log")
    except OSError as error:
        trouble = error
    settings = Settings.load(options.data / "settings.toml")
    for fault in settings.faults:
        _LOG.warning("setting ignored: %s", fault)
    application = make_application(settings, options)
    crash = CrashReporter()
    crash.install()
    attended = driver is None and QGuiApplication.platformName() not in _NOBODY_SEES

    async def refuse(words: Advice, code: int, where: Path = options.data) -> int:
        await refuse_start(words, where, settings, options.parent_pid, attended=attended)
        return code

    async def live() -> int:
        if trouble is not None:
            return await refuse(start_words(trouble), CANNOT_REACH)
        return await _live(options, settings, crash, driver, refuse)

    try:
        return run(application, live, crash.on_loop_error)
    finally:
        crash.uninstall()


def make_application(settings: Settings, options: Options) -> QApplication:
    """The application in the language and colours that options or settings ask for; options are not kept."""
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("Taquilla")
    icon = QPixmap()
    if icon.loadFromData(read_bytes("icons/taquilla.svg")):
        application.setWindowIcon(QIcon(icon))
    if options.language:
        settings.set(LANGUAGE, use_language(options.language).code, keep=False)
    if options.theme:
        settings.set(THEME, options.theme, keep=False)
    use_language(settings.get(LANGUAGE))
    apply_direction()
    apply_theme(application, theme_of(settings.get(THEME)))
    return application


async def refuse_start(
    words: Advice, where: Path, settings: Settings, parent_pid: int | None, *, attended: bool
) -> None:
    """Say why there is no console: on stderr, in the log, and in a window until somebody who is there closes it."""
    _complain(f"{words.title} ({where}). {words.detail}")
    _LOG.error("not started: %s", words.title)
    if not attended:
        return
    dialog = RefusedStart(theme_of(settings.get(THEME)), words, str(where))
    signals = StopSignals(dialog.reject)
    watch = _watch_parent(dialog, dialog.reject, parent_pid)
    try:
        await ask(dialog)
    finally:
        signals.close()
        if watch is not None:
            watch.stop()


async def _live(
    options: Options, settings: Settings, crash: CrashReporter, driver: Driver | None, refuse: Refuse
) -> int:
    server = options.server or settings.get(SERVER_URL)
    if not server:
        return await refuse(advice_for("no-server"), WRONG_USE)
    devices = DeviceThread()
    devices.start()
    try:
        journal = AsyncJournal(await devices.call(Journal.open, options.data), devices.call)
        identity = device_of(options.data / FILE_NAME, may_make=not await journal.has_history())
        desk = make_desk(options, settings, server, identity, journal, devices)
    except (JournalError, DeviceFileError, InsecureAddressError, OSError) as error:
        devices.stop()
        where = error.path if isinstance(error, DeviceFileError) else options.data
        return await refuse(start_words(error), CANNOT_REACH, where)
    except ValueError as error:
        devices.stop()
        _complain(str(error))
        return await refuse(advice_for("terminal-address-wrong"), WRONG_USE)
    try:
        return await _serve(make_console(desk, settings, crash, server, options), options, driver)
    finally:
        await _close_desk(desk, journal)
        devices.stop()


def make_desk(
    options: Options, settings: Settings, server: str, identity: DeviceId, journal: AsyncJournal, devices: DeviceThread
) -> Desk:
    """Client, journal, devices and store of this counter.

    Raises:
        InsecureAddressError: plain HTTP to another machine.
        ValueError: the terminal's address is no host:port.
    """
    address = options.terminal or settings.get(TERMINAL_ADDRESS)
    terminal = None
    if address:
        host, port = host_and_port(address)
        terminal = TerminalOnThread(ZvtTerminal(ZvtSettings(host, port)), devices)
    stock = Stock(settings.get(STOCK_WIDTH_MM), settings.get(STOCK_HEIGHT_MM), on_a4=settings.get(TICKET_STOCK) == "a4")
    clock = ServerClock(steady_seconds)
    return Desk(
        client=BookingClient(server, device_id=identity),
        journal=journal,
        store=ConsoleStore(clock),
        now=clock.now_here,
        vault=CredentialVault(f"{server} {identity}"),
        terminal=terminal,
        card_way=CardWay(settings.get(CARD_WAY)),
        patience=Patience(hand_over_s=settings.get(HAND_OVER_AFTER_S)),
        printer=PdfTicketPrinter(options.data / "tickets", stock, settings.get(PRINTER_DPI)),
        plan_drafts=PlanDraftFile(options.data),
        device_name=platform.node() or "console",
        language=settings.get(LANGUAGE),
    )


def make_console(
    desk: Desk,
    settings: Settings,
    crash: CrashReporter,
    server: str,
    options: Options,
    dial: Dial = dial_websocket,
) -> Console:
    """The window over a desk, with everything bound."""
    theme = theme_of(settings.get(THEME), patterned=settings.get(PATTERNS))
    around = Surroundings(server, settings.get(SIGN_IN_NAME), settings.get(HOLD_WARNING_S), steady_seconds)
    with undressed():
        window = MainWindow(theme, desk.store, around, settings.get(THEME))
    if all(options.size):
        window.resize(*options.size)
    elif QGuiApplication.platformName() not in _NOBODY_SEES:
        window.fit_to_screen()
    deeds = Deeds(window)
    bindings = Bindings(window, desk, deeds, settings, dial)
    console = Console(window, desk, deeds, bindings, crash, settings, asyncio.get_running_loop().create_future())
    bindings.closing.connect(console.end)
    bindings.failed.connect(crash.on_task_failure)
    crash.failure_seen.connect(bindings.tell_failure)
    return console


async def _serve(console: Console, options: Options, driver: Driver | None) -> int:
    """Show the window until the person, a signal, the parent's end or the driver ends it."""
    signals = StopSignals(console.end)
    watch = _watch_parent(console.window, console.end, options.parent_pid)
    console.window.show()
    _LOG.info("the console is open")
    console.bindings.start(options.credentials if driver is None else None)
    if driver is not None:
        console.deeds.start("driver", _driven(console, driver))
    try:
        return await console.ended
    finally:
        signals.close()
        if watch is not None:
            watch.stop()
        await close_console(console)
        _LOG.info("the console is closed")


def _driven(console: Console, driver: Driver) -> Callable[[], Coroutine[Any, Any, None]]:
    async def drive() -> None:
        code = FOUND_WRONG
        try:
            code = await driver(console)
        finally:
            console.end(code)

    return drive


async def close_console(console: Console) -> None:
    """Stop what runs, then take the window down."""
    await console.bindings.plans.keep_now()
    for name in await console.deeds.stop():
        _LOG.error("did not stop: %s", name)
    console.bindings.signals.close()
    console.window.allow_close()
    console.window.close()
    console.window.deleteLater()


async def _close_desk(desk: Desk, journal: AsyncJournal) -> None:
    """Each part is closed even when another will not."""
    parts: list[Callable[[], Coroutine[Any, Any, None]]] = [desk.client.close, journal.close]
    if desk.terminal is not None:
        parts.insert(0, desk.terminal.close)
    for close in parts:
        try:
            await asyncio.wait_for(close(), timeout=5)
        except Exception:  # noqa: BLE001  # the other parts are closed all the same
            _LOG.exception("while closing")


def _watch_parent(owner: QObject, on_gone: Callable[[], None], parent_pid: int | None) -> QTimer | None:
    """End with the process that started this one, so that a crash there leaves nothing behind here."""
    if parent_pid is None:
        return None
    timer = QTimer(owner)
    timer.setInterval(_PARENT_LOOK_MS)

    def look() -> None:
        if os.getppid() != parent_pid and not psutil.pid_exists(parent_pid):
            on_gone()

    timer.timeout.connect(look)
    timer.start()
    return timer


def _log_to(path: Path) -> None:
    handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=_LOGS_BEFORE, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)


def _complain(words: str) -> None:
    sys.stderr.write(f"taquilla console: {words}\n")
