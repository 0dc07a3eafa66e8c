"""`python3 run.py bench NAME [options]`: run one of the measured tables of README. Alone it lists them.

Each bench is a package beside this file with a `__main__`; its own `--help` says what it takes. Exit code 2 is wrong
use.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import runpy
import sys
from collections.abc import Sequence

BENCHES = {
    "holds": "the hold lane against one function call a hold, in the database and over HTTP",
    "payments": "checkout, payment and order status through their lanes against one call each",
    "settling": "confirmations offered to a provider that fails now and then, until each is settled",
    "admission": "general admission against the documents' counter and SKIP LOCKED",
    "room": "joins and polls of one process of the waiting room, memory of a waiting visitor, with each of its stores",
    "feed": "a change of a seat until it shows on another console",
    "feed-fanout": "changes of one map to two thousand clients of one API process",
    "figures": "what it costs to tell and to add up the figures of the whole system once a second",
    "seat-detail": "who has a seat and all that happened to it, in a house with a long past",
    "seat-map": "the seat map against QGraphicsScene and pyqtgraph",
    "ops-charts": "a second of the charts of operators against pyqtgraph",
    "soak": "an hour of changes on one console: memory, and how long the loop is held",
}
DONE, WRONG_USE = 0, 2


def main(arguments: Sequence[str]) -> int:
    """List the benches, or become the one that is named. Returns the exit code."""
    if not arguments or arguments[0] in {"-h", "--help"}:
        sys.stdout.write(usage())
        return DONE
    name, *rest = arguments
    if name not in BENCHES:
        near = difflib.get_close_matches(name, BENCHES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        sys.stderr.write(f"bench: there is no bench {name!r}.{hint}\n{usage()}")
        return WRONG_USE
    module = module_of(name)
    if not is_here(module):
        sys.stderr.write(f"bench: {name} is not in this copy\n")
        return WRONG_USE
    sys.argv = [f"taquilla bench {name}", *rest]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=False)
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            sys.stderr.write(f"{leaving.code}\n")
            return 1
        return leaving.code or DONE
    return DONE


def is_here(module: str) -> bool:
    """Whether the bench can be run: an installed copy has no tests."""
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.util.find_spec(f"{module}.__main__") is not None
    return False


def module_of(name: str) -> str:
    """Where a bench lives."""
    return f"{__package__ or 'tests.bench'}.{name.replace('-', '_')}"


def usage() -> str:
    """The benches, one a line."""
    lines = [f"  {name:<12}{words}" for name, words in BENCHES.items()]
    return "\n".join(["usage: taquilla bench NAME [options]     (NAME --help says more)", "", *lines, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
