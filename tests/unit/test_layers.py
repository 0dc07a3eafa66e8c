"""Each import contract of pyproject.toml catches the break it was written for (planted in a copy)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# contract id: (where the break is planted, the forbidden import)
BREAKS = {
    "console-layers": ("app/core/planted_layers.py", "import app.actions"),
    "qt-free": ("app/devices/planted_qt.py", "import PySide6.QtCore"),
    "asyncio-free": ("widgets/planted_asyncio.py", "import asyncio"),
    "core-pure": ("app/core/planted_socket.py", "import socket"),
    "widgets-dumb": ("widgets/planted_client.py", "import backend_client.wire"),
    "booking-layers": ("booking/domain/planted_layers.py", "import booking.services"),
    "two-programs": ("booking/services/planted_console.py", "import app.core"),
    "two-programs-back": ("backend_client/planted_authority.py", "import booking.domain"),
    "wire-edge": ("booking/services/planted_wire.py", "import backend_client.wire"),
    "client-alone": ("backend_client/planted_console.py", "import app.settings"),
    "end2end-outside": ("tests/end2end/planted_console.py", "import app.settings"),
}


def contracts() -> dict[str, str]:
    """Contract id → name, from the project's own configuration."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What lint-imports says about a copy of the project with one break planted for each contract."""
    copy = tmp_path_factory.mktemp("layers")
    shutil.copy(ROOT / "pyproject.toml", copy)
    for package in ("app", "widgets", "resources", "backend_client", "booking", "tests"):
        for source in (ROOT / package).rglob("*.py"):
            target = copy / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for path, line in BREAKS.values():
        (copy / path).write_text(f"{line}\n", encoding="utf-8")
    tool = Path(sys.executable).with_name("lint-imports")
    environment = {"PYTHONPATH": str(copy), "COLUMNS": "500"}  # names in one line each
    done = subprocess.run([tool, "--no-cache"], cwd=copy, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_every_contract_has_a_planted_break() -> None:
    assert set(BREAKS) == set(contracts())


@pytest.mark.parametrize("contract", BREAKS)
def test_planted_break_is_caught_by_its_contract(report: str, contract: str) -> None:
    name = contracts()[contract]
    planted = BREAKS[contract][0].removesuffix(".py").replace("/", ".")
    assert f"{name} BROKEN" in " ".join(report.split())
    detail = section_about(report, name)
    assert f"{planted} ->" in detail, detail


def section_about(report: str, name: str) -> str:
    """The part of the report below `Broken contracts` that explains one contract."""
    below = report.split("Broken contracts", 1)[1]
    start = below.index(f"\n{name}\n") + 1
    following = [below.find(f"\n{other}\n", start) for other in contracts().values()]
    return below[start : min([place for place in following if place > 0], default=len(below))]


def test_packaging_is_no_package() -> None:
    """`packaging/__init__.py` would shadow the library of that name."""
    assert (ROOT / "packaging").is_dir()
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_every_package_says_what_it_is() -> None:
    import ast

    folders = {path.parent for name in ("app", "widgets", "resources", "backend_client", "booking", "tests")
               for path in (ROOT / name).rglob("*.py")}  # fmt: skip
    silent = []
    for folder in folders:
        init = folder / "__init__.py"
        if not init.exists() or not ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))):
            silent.append(str(folder.relative_to(ROOT)))
    assert silent == []
