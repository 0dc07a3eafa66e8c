"""Rules that keep PySide6 and asyncio apart where they hurt each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WINDOWS = [*sorted((ROOT / "app").rglob("*.py")), *sorted((ROOT / "widgets").rglob("*.py"))]


def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_nothing_runs_a_nested_event_loop_d1() -> None:
    banned = re.compile(r"\.exec_?\(|processEvents\(|QEventLoop\(\)")
    found = [str(path.relative_to(ROOT)) for path in WINDOWS if banned.search(source(path))]
    assert found == []


def test_qasync_is_named_in_one_module_only() -> None:
    found = [path.name for path in WINDOWS if "qasync" in re.sub(r'"""[\s\S]*?"""', "", source(path))]
    assert found == ["loop.py"]


def calls_in(path: Path, name: str) -> list[ast.Call]:
    """Calls of a method of this name."""
    nodes = ast.walk(ast.parse(source(path)))
    return [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name]


def pins(argument: ast.expr) -> bool:
    """A lambda or a partial keeps what it closes over alive."""
    is_partial = isinstance(argument, ast.Call) and getattr(argument.func, "id", "") == "partial"
    return isinstance(argument, ast.Lambda) or is_partial


def test_signals_are_never_connected_to_lambdas_or_partials() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in WINDOWS
        for call in calls_in(path, "connect")
        if any(pins(argument) for argument in call.args)
    ]
    assert found == []


def test_no_window_names_a_colour() -> None:
    banned = re.compile(r"#[0-9A-Fa-f]{6}\b|QColor\(\d|GlobalColor\.(?!black|white|transparent)")
    # A hall has colours of its own: they are part of its plan, which `showcase_maps` makes up.
    # What is wrong with a file's colour is said with an example of one.
    named = {"theme.py", "showcase_maps.py", "plan_finding_words.py"}
    windows = [path for path in WINDOWS if "seat_map" not in path.parts and path.name not in named]
    found = [str(path.relative_to(ROOT)) for path in windows if banned.search(source(path))]
    assert found == []


def test_every_task_has_a_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for call in calls_in(path, "create_task")
        if not any(keyword.arg == "name" for keyword in call.keywords)
    ]
    assert found == []
