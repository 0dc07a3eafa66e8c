"""PySide6 6.12.0 on Python 3.11 loses a reference to None with each void call and aborts after some thousands."""

from __future__ import annotations

import os
import subprocess
import sys

CALLS = """
import sys
from PySide6.QtWidgets import QApplication, QLabel
app = QApplication([])
label = QLabel()
before = sys.getrefcount(None)
for number in range(20_000):
    label.setText(str(number))
lost = before - sys.getrefcount(None)
assert lost < 100, lost
print("kept")
"""
OVERRIDES = """
import sys
from PySide6.QtCore import QCoreApplication, QObject, QTimerEvent
class Ticker(QObject):
    def timerEvent(self, event):
        pass
app = QCoreApplication([])
ticker = Ticker()
event = QTimerEvent(1)
before = sys.getrefcount(None)
for _ in range(500):
    QCoreApplication.sendEvent(ticker, event)
lost = before - sys.getrefcount(None)
assert lost < 100, lost
print("kept")
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_twenty_thousand_void_calls_keep_the_references_to_none() -> None:
    done = run(CALLS)
    assert done.returncode == 0, done.stderr
    assert "kept" in done.stdout


def test_overrides_that_return_none_keep_the_references_to_none() -> None:
    done = run(OVERRIDES)
    assert done.returncode == 0, done.stderr
    assert "kept" in done.stdout
