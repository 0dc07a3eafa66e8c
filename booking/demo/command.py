"""The verb `demo`: everything embedded, then the console; without a screen, the tour of a whole sale."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import platformdirs

ROLES = ("clerk", "ops", "supervisor", "admin")
DEFAULT_TOUR = "card:3,cash:2"
_ROOT_HOME = Path("/var/lib/taquilla")


def main(arguments: Sequence[str]) -> int:
    """Run the demo. Exit codes: 0 done, 1 the console or the tour failed, 2 wrong use, 3 a part did not start."""
    options = _parse(arguments)
    from booking.demo import session

    return session.run(options, options.data or default_folder())


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla demo", description="Everything embedded, then the console.")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"keeps everything; default: {default_folder()}")
    parser.add_argument("--person", choices=ROLES, default="clerk", help="who is signed in (default: clerk)")
    parser.add_argument("--headless", action="store_true", help="no window: the tour of a sale, with pictures")
    parser.add_argument(
        "--tour", default=DEFAULT_TOUR, metavar="PLAN", help=f"what the tour sells (default: {DEFAULT_TOUR})"
    )
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="where the tour's pictures go")
    parser.add_argument("--no-console", action="store_true", help="the stack alone; implies --stay")
    parser.add_argument(
        "--stay",
        action="store_true",
        help="keep the stack up after the tour, until standard input ends or SIGTERM, and write DIR/stack.json",
    )
    parser.add_argument("--terminal-delay", type=float, metavar="S", help="how long a card payment takes")
    return parser.parse_args(arguments)


def default_folder() -> Path:
    """The user's own data folder; root's database has a place of its own, so root's demo lives there too."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return _ROOT_HOME / "demo"
    return platformdirs.user_data_path("taquilla", appauthor=False) / "demo"
