"""A ticket file is whole or not there: a full disk is never reported as printed."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bridge import ticket_pdf
from app.bridge.ticket_pdf import PdfTicketPrinter, Stock
from app.devices.ticket_printer import PrintOutcome, PrintState
from app.whole_file import write_whole
from tests.gui.test_ticket_pdf import SHEET, pages_of
from widgets.theme import Theme

ROOM_BYTES = 4096


def print_into(folder: Path) -> PrintOutcome:
    return asyncio.run(PdfTicketPrinter(folder, Stock()).print_tickets(SHEET))


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_disk_without_room_for_the_file_is_a_failed_print_and_leaves_no_file(theme: Theme, tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM_BYTES, before[1]))
    try:
        outcome = print_into(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (outcome.state, outcome.reason) == (PrintState.FAILED, "disk-full")
    assert list(tmp_path.iterdir()) == []
    again = print_into(tmp_path)
    assert again.state is PrintState.CONFIRMED
    assert len(pages_of(Path(again.location))) == len(SHEET.tickets)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EROFS, "no-access"),
        (errno.EACCES, "no-access"),
        (errno.EIO, "printer-trouble"),
    ],
)
def test_the_reason_of_a_failed_file_is_told_apart(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("app.whole_file.os.fsync", fail)
    outcome = print_into(tmp_path)
    assert (outcome.state, outcome.reason) == (PrintState.FAILED, reason)
    assert outcome.detail
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_keeps_less_than_it_took_is_found_out(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.whole_file.os.fsync", lambda descriptor: os.ftruncate(descriptor, 1000))
    outcome = print_into(tmp_path)
    assert outcome.state is PrintState.FAILED
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_failed_print(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "tickets").write_text("a file stands here")
    outcome = print_into(tmp_path / "tickets")
    assert outcome.state is PrintState.FAILED
    assert outcome.reason


def test_the_interface_goes_on_while_a_slow_disk_takes_the_file(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Event()

    def slow(path: Path, body: bytes, check: Callable[[Path], None] | None = None) -> None:
        assert written.wait(10.0), "nobody went on"
        write_whole(path, body, check)

    monkeypatch.setattr(ticket_pdf, "write_whole", slow)

    async def print_and_go_on() -> PrintOutcome:
        printing = asyncio.create_task(PdfTicketPrinter(tmp_path, Stock()).print_tickets(SHEET), name="printing")
        for _turn in range(100):
            await asyncio.sleep(0.001)
        assert not printing.done()
        written.set()
        return await printing

    assert asyncio.run(print_and_go_on()).state is PrintState.CONFIRMED
