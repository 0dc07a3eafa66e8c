"""Garbage of the interface is destroyed in the interface's thread, whichever thread allocates."""

from __future__ import annotations

import asyncio
import gc
import threading

from PySide6.QtCore import QObject, QTimer

from tests.gui.conftest import QLoop, until


class Doomed(QObject):
    """Part of a cycle, with a timer that runs; says in which thread it went."""

    gone_in: list[int] = []  # noqa: RUF012 - shared on purpose: the object itself is gone when it is read

    def __init__(self) -> None:
        super().__init__()
        self.itself = self
        self.timer = QTimer(self)
        self.timer.start(1)

    def __del__(self) -> None:
        Doomed.gone_in.append(threading.get_ident())


def allocate_much() -> None:
    """More than enough for the automatic collection of every generation."""
    kept = [[] for _ in range(200_000)]  # type: ignore[var-annotated]
    assert len(kept) == 200_000


def test_a_window_in_a_cycle_never_dies_in_a_worker(qloop: QLoop) -> None:
    async def scene() -> None:
        Doomed.gone_in.clear()
        for _ in range(5):
            Doomed()
        await asyncio.to_thread(allocate_much)
        assert Doomed.gone_in == []
        allocate_much()
        await until(lambda: len(Doomed.gone_in) == 5, "the collection here")
        assert set(Doomed.gone_in) == {threading.get_ident()}

    qloop.run(scene())


def test_automatic_collection_is_off_while_the_interface_runs_and_comes_back(qloop: QLoop) -> None:
    from app.bridge.collector import GuiThreadCollector

    assert not gc.isenabled()
    gc.enable()
    collector = GuiThreadCollector()
    collector.start()
    assert not gc.isenabled()
    collector.stop()
    assert gc.isenabled()
    gc.disable()
