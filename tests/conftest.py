"""For all tests: no screen, no user's settings, no keyring of this machine."""

from __future__ import annotations

import os

# Before anything imports Qt: GUI tests run without a display, and two bindings must not be mixed.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"
os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

import gc
from collections.abc import Iterator

import pytest

_DRAWS = ("tests/gui/", "tests/bench/seat_map/", "tests/windows/")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """What a test with windows leaves behind is collected here, in the windows' own thread, when nothing refers to it.

    Fixtures' values live until the protocol of their test is over. Collected later by a worker of another test, a
    window would leave timers in Qt that reach freed memory (see `app.bridge.collector`).
    """
    draws = item.nodeid.startswith(_DRAWS)
    if draws:
        gc.disable()
    try:
        return (yield)
    finally:
        if draws:
            gc.collect()
            gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long` runs the long form of slow proofs."""
    parser.addoption("--long", action="store_true", help="run the long form of slow proofs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--long`, tests marked `long` are skipped."""
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="the long form of a slow proof; run it with --long")
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(skip)
