"""Where Qt and asyncio meet: tasks end with their owner, deeds run once, dialogs stop nothing, failures show once."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget
from shiboken6 import isValid

from app.bridge.crash import CrashReporter
from app.bridge.deeds import Deeds
from app.bridge.device_thread import DeviceThread, TerminalOnThread
from app.bridge.dialogs import ask
from app.bridge.store_signals import StoreSignals
from app.bridge.tasks import TaskOwner
from app.core.hold_clock import ServerClock
from app.core.store import Change, Connection, ConsoleStore
from app.devices.card_terminal import Progress, TerminalOutcome, TerminalResult, Verdict
from app.devices.fake_terminal import FakeCardTerminal
from tests.gui.conftest import QLoop, until


def test_tasks_are_cancelled_when_their_owner_is_destroyed(qloop: QLoop) -> None:
    async def scene() -> bool:
        owner = QObject()
        tasks = TaskOwner(owner)
        task = tasks.start(asyncio.sleep(60), name="long")
        assert task is not None
        owner.deleteLater()
        await until(task.done)
        assert tasks.start(asyncio.sleep(60), name="late") is None
        return task.cancelled()

    assert qloop.run(scene())


def test_a_failing_task_is_told_with_its_name(qloop: QLoop) -> None:
    async def fail() -> None:
        raise ValueError("no")

    async def scene() -> list[str]:
        owner = QObject()
        tasks = TaskOwner(owner)
        told: list[str] = []
        tasks.task_failed.connect(lambda name, error: told.append(f"{name}: {error}"))
        tasks.start(fail(), name="sum")
        await until(lambda: told)
        return told

    assert qloop.run(scene()) == ["sum: no"]


def test_a_deed_runs_once_however_often_it_is_asked_for_p1(qloop: QLoop) -> None:
    runs: list[str] = []

    async def scene() -> None:
        deeds = Deeds()
        gate = asyncio.Event()

        async def deed() -> None:
            runs.append("run")
            await gate.wait()

        assert deeds.start("pay", deed)
        assert not deeds.start("pay", deed)
        await until(lambda: runs)
        assert not deeds.start("pay", deed)
        gate.set()
        await until(lambda: not deeds.running)
        assert deeds.start("pay", deed)
        await until(lambda: not deeds.running)

    qloop.run(scene())
    assert runs == ["run", "run"]


def test_a_cancelled_deed_frees_its_name_at_once_and_ends_once(qloop: QLoop) -> None:
    async def scene() -> list[str]:
        deeds = Deeds()
        ended: list[str] = []
        deeds.ended.connect(ended.append)
        deeds.start("follow", lambda: asyncio.sleep(60))
        await asyncio.sleep(0)
        deeds.cancel("follow")
        assert deeds.start("follow", lambda: asyncio.sleep(60))
        assert deeds.is_running("follow")
        assert await deeds.stop() == []
        return ended

    assert qloop.run(scene()) == ["follow", "follow"]


def test_a_refused_deed_is_told_and_the_next_one_starts(qloop: QLoop) -> None:
    async def scene() -> list[str]:
        deeds = Deeds()
        told: list[str] = []
        deeds.refused.connect(lambda name, error: told.append(f"{name} {error}"))
        deeds.ended.connect(lambda name: told.append(f"{name} ended"))

        async def deed() -> None:
            raise ValueError("refused")

        deeds.start("hold", deed)
        await until(lambda: not deeds.running)
        return told

    assert qloop.run(scene()) == ["hold refused", "hold ended"]


def test_other_tasks_go_on_while_a_dialog_is_open_d1(qloop: QLoop, theme: object) -> None:
    async def scene() -> tuple[bool, int]:
        window = QWidget()
        window.show()
        dialog = QDialog(window)
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        feed = asyncio.get_running_loop().create_task(beat(), name="feed")
        answer = asyncio.get_running_loop().create_task(ask(dialog), name="ask")
        await until(dialog.isVisible)
        before = beats
        await until(lambda: beats > before + 20)
        dialog.accept()
        accepted = await answer
        feed.cancel()
        await asyncio.gather(feed, return_exceptions=True)
        window.close()
        return accepted, beats

    accepted, beats = qloop.run(scene())
    assert accepted
    assert beats > 20


def test_a_cancelled_question_closes_its_dialog(qloop: QLoop, theme: object) -> None:
    async def scene() -> bool:
        window = QWidget()
        window.show()
        dialog = QDialog(window)
        answer = asyncio.get_running_loop().create_task(ask(dialog), name="ask")
        await until(dialog.isVisible)
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        await until(lambda: not isValid(dialog))
        window.close()
        return QApplication.activeModalWidget() is None

    assert qloop.run(scene())


def test_a_slot_that_raises_is_shown_once_logged_each_time_and_the_program_goes_on_d3(
    qloop: QLoop, caplog: pytest.LogCaptureFixture
) -> None:
    reporter = CrashReporter()
    reporter.install()
    shown: list[str] = []
    reporter.failure_seen.connect(shown.append)

    class Clerk(QObject):
        def on_clicked(self) -> None:
            raise ZeroDivisionError("slot")

    async def scene() -> None:
        clerk, button = Clerk(), QPushButton()
        button.clicked.connect(clerk.on_clicked)
        with caplog.at_level(logging.ERROR):
            for _press in range(3):
                QTimer.singleShot(0, button.click)
                await asyncio.sleep(0.01)
        await until(lambda: reporter.seen.total() == 3)

    try:
        # pytest-qt takes over sys.excepthook for the test's run; the reporter has to be the one that is asked.
        hook = sys.excepthook
        qloop.run(scene())
        assert sys.excepthook is hook
    finally:
        reporter.uninstall()
    assert len(shown) == 1
    assert "ZeroDivisionError" in shown[0]
    assert len([record for record in caplog.records if record.exc_info]) == 3


@pytest.mark.filterwarnings("default::pytest.PytestUnhandledThreadExceptionWarning")
def test_failures_of_threads_and_finalizers_reach_the_same_reporter_d3(qapp: QApplication) -> None:
    reporter = CrashReporter()
    reporter.install()
    try:

        def fail() -> None:
            raise RuntimeError("thread")

        thread = threading.Thread(target=fail, name="worker")
        thread.start()
        thread.join()

        class Broken:
            def __del__(self) -> None:
                raise RuntimeError("finalizer")

        Broken()
    finally:
        reporter.uninstall()
    kinds = sorted(kind.split(":")[0] for kind in reporter.seen)
    assert kinds == ["finalizer", "thread worker"]


def test_changes_of_one_turn_come_as_one_signal(qloop: QLoop) -> None:
    async def scene() -> list[Change]:
        store = ConsoleStore(ServerClock(lambda: 0.0))
        signals = StoreSignals(store)
        told: list[Change] = []
        signals.changed.connect(told.append)
        store.put_connection(Connection.ONLINE)
        store.hear_feed(1.0)
        await until(lambda: told)
        await asyncio.sleep(0.01)
        signals.close()
        store.put_connection(Connection.AWAY)
        await asyncio.sleep(0.01)
        return told

    assert qloop.run(scene()) == [Change.CONNECTION | Change.FEED]


def test_the_terminal_lives_on_its_own_thread_and_answers_here(qloop: QLoop) -> None:
    async def scene() -> tuple[TerminalResult, set[str], list[Progress]]:
        thread = DeviceThread()
        thread.start()
        terminal = TerminalOnThread(FakeCardTerminal(), thread)
        threads: set[str] = set()
        progress: list[Progress] = []

        def hear(step: Progress) -> None:
            threads.add(threading.current_thread().name)
            progress.append(step)

        async def decide(result: TerminalResult) -> Verdict:
            threads.add(threading.current_thread().name)
            return Verdict.ACCEPT

        result = await terminal.pay(1250, "EUR", on_progress=hear, on_result=decide)
        assert (await thread.call(threading.current_thread)).name == "taquilla-devices"
        thread.stop()
        return result, threads, progress

    result, threads, progress = qloop.run(scene())
    assert result.outcome is TerminalOutcome.APPROVED
    assert threads == {threading.main_thread().name}
    assert progress == [Progress.PRESENT_CARD]


def test_a_frozen_window_does_not_stop_the_device_thread(qloop: QLoop) -> None:
    async def scene() -> int:
        thread = DeviceThread()
        thread.start()
        beats = 0
        running = threading.Event()

        async def beat() -> None:
            nonlocal beats
            for _beat in range(50):
                beats += 1
                await asyncio.sleep(0.001)
            running.set()

        task = asyncio.get_running_loop().create_task(thread.run(beat()), name="beats")
        await asyncio.sleep(0)
        # This blocks Qt's loop, on purpose: the devices must not notice.
        assert running.wait(5)
        seen = beats
        await task
        thread.stop()
        return seen

    assert qloop.run(scene()) == 50
