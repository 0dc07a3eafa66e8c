"""A session of the demo: the stack up, the console or the tour, the stack down, whatever happens in between."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from booking.demo.child import ChildError, end_process
from booking.demo.console import ConsoleRun, take_tour, tour_words
from booking.demo.people import PEOPLE
from booking.demo.progress import say
from booking.demo.stack import DemoFolders, FolderInUseError, Stack
from booking.domain.errors import BookingError
from booking.embedded import EmbeddedError

DONE, FOUND_WRONG, UNREACHABLE = 0, 1, 3
_CONSOLE_STOP_S = 8.0
_STANDARD_INPUT = 0


def run(options: argparse.Namespace, folder: Path) -> int:
    """Run the demo on `folder`. Returns the exit code of the verb."""
    try:
        return asyncio.run(_until_stopped(options, folder.absolute()))
    except (FolderInUseError, EmbeddedError, ChildError, BookingError, OSError) as error:
        say(str(error))
        return UNREACHABLE


def has_screen(platform: str, environment: Mapping[str, str]) -> bool:
    """Whether a window can be shown here."""
    if environment.get("QT_QPA_PLATFORM", "").split(":")[0] in {"offscreen", "minimal"}:
        return False
    if platform.startswith(("win", "darwin")):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


async def _until_stopped(options: argparse.Namespace, folder: Path) -> int:
    """Run the session; SIGINT and SIGTERM end it in order, and that is a good end."""
    session = asyncio.create_task(_session(options, folder), name="demo")
    loop = asyncio.get_running_loop()
    stopped_by: list[int] = []

    def stop(number: int) -> None:
        if not stopped_by:
            say("stopping")
            stopped_by.append(number)
            session.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: loop.call_soon_threadsafe(stop, number))
    try:
        return await session
    except asyncio.CancelledError:
        return DONE


async def _session(options: argparse.Namespace, folder: Path) -> int:
    folders = DemoFolders(folder)
    say(f"data in {folders.home}")
    headless = options.headless or not has_screen(sys.platform, os.environ)
    async with Stack(folders, terminal_delay_s=options.terminal_delay) as stack:
        name = PEOPLE[options.person]
        run = ConsoleRun(stack.api_url, folders.console, stack.terminal_address, name, stack.passwords[name])
        code = DONE
        say(f"fans buy at {stack.page_url}")
        if options.stay or options.no_console:
            stack.write_description()
        if options.no_console:
            say(f"the stack is up: {folders.stack}")
        elif headless:
            if not options.headless:
                say("there is no screen here: giving the tour without one")
            pictures = (options.pictures or folders.home / "pictures").absolute()
            code = await take_tour(run, folders, pictures, options.tour)
            sys.stdout.write(tour_words(folders.tour_report, pictures))
            sys.stdout.flush()
        else:
            say(who_may_sign_in(stack.passwords, in_terminal=sys.stderr.isatty()))
            code = await _show_console(run, folders)
        if options.stay or options.no_console:
            say("staying until standard input ends")
            await _standard_input_ends()
        say("stopping")
        return code


def who_may_sign_in(passwords: Mapping[str, str], *, in_terminal: bool) -> str:
    """How somebody else takes over at the demo's counter, or gives a second person's word.

    The passwords are new at each start. They are for the eyes at a terminal: where the words may go into a file, the
    file that only its owner may read is named instead.
    """
    if not in_terminal:
        return "passwords for signing in as somebody else: in stack.json, with --stay"
    people = "".join(f"\n  {name:<8}{role:<12}{passwords[name]}" for role, name in PEOPLE.items())
    return f"sign in as somebody else with (until this demo ends):{people}"


async def _show_console(run: ConsoleRun, folders: DemoFolders) -> int:
    process = await run.start(folders.log("console"))
    say(f"the console opens and signs {run.name} in; closing it stops the demo")
    try:
        code = await process.wait()
    finally:
        await asyncio.shield(end_process(process, "console", _CONSOLE_STOP_S))
    if code != 0:
        say(f"the console ended with {code}; its log is {folders.log('console')}")
    return DONE if code == 0 else FOUND_WRONG


async def _standard_input_ends() -> None:
    """Return once nobody holds our standard input open. A thread reads it, and dies with the process."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def read() -> None:
        # Not through sys.stdin: a thread that waits inside its buffer would abort the interpreter's end.
        with contextlib.suppress(OSError):
            while os.read(_STANDARD_INPUT, 4096):
                pass
        with contextlib.suppress(RuntimeError):  # the loop is closed: we were stopped by a signal
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, name="standard-input", daemon=True).start()
    await ended.wait()
