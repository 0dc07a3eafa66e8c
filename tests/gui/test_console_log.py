"""The console's own log never fills the disk on which sales are written down."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import main


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as it was before."""
    logger = logging.getLogger()
    level, before = logger.level, list(logger.handlers)
    yield logger
    for handler in [one for one in logger.handlers if one not in before]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)


def test_the_log_of_a_till_that_runs_for_years_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: logging.Logger
) -> None:
    monkeypatch.setattr(main, "_LOG_BYTES", 10_000)
    main._log_to(tmp_path / "console.log")
    for number in range(2_000):
        root.info("line %d: %s", number, "x" * 80)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["console.log", "console.log.1", "console.log.2", "console.log.3"]
    assert sum(file.stat().st_size for file in files) <= 40_000
    assert "line 1999" in (tmp_path / "console.log").read_text("utf-8")
