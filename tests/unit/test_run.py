"""run.py: the set-up that must work on a machine with Python and nothing else."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from booking.__main__ import VERBS

ROOT = Path(__file__).parents[2]
RUN = ROOT / "run.py"

# Stands for `.venv/bin/python`: writes its arguments down, speaks as pip would, and fails when told to.
FAKE_PYTHON = """#!/bin/sh
printf '%s\\n' "$*" >> "{calls}"
case "$*" in
  *"-c "*) echo "{version}";;
  *"pip install"*)
    if read -r _; then echo "standard input is open" >&2; exit 9; fi
    echo "Collecting numpy==2.4.6"
    echo "Installing collected packages: numpy"
    if [ -e "{fail}" ]; then echo "ERROR: no network"; exit 1; fi;;
  *pytest*) echo "1 passed"; exit "$(cat "{pytest}" 2>/dev/null || echo 0)";;
  *) echo "ran $* with $PYTHONPATH"; exit 7;;
esac
"""


def load(path: Path = RUN) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_under_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Checkout:
    """A copy of run.py with locks of its own and, on demand, an environment of stand-in programs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.calls_file, self.fail, self.pytest_code = folder / "calls", folder / "fail", folder / "pytest-code"
        (folder / "packaging").mkdir()
        (folder / "run.py").write_bytes(RUN.read_bytes())
        self.write_lock("numpy==2.4.6 \\\n    --hash=sha256:00\n")
        self.run = load(folder / "run.py")

    def write_lock(self, text: str) -> None:
        (self.root / "packaging" / "requirements.lock").write_text(text)
        (self.root / "packaging" / "requirements-test.lock").write_text(
            text + "pytest==9.0.0 \\\n    --hash=sha256:11\n"
        )

    def plant_environment(self, *, tools: dict[str, int] | None = None) -> None:
        scripts = self.root / ".venv" / "bin"
        scripts.mkdir(parents=True)
        (self.root / ".venv" / "pyvenv.cfg").write_text("")
        version = "{}.{}.{} {}".format(*sys.version_info[:3], sys.base_prefix)
        files = {"python": FAKE_PYTHON.format(
            calls=self.calls_file, fail=self.fail, pytest=self.pytest_code, version=version)}  # fmt: skip
        files |= {name: f'#!/bin/sh\necho "{name} speaks"\nexit {code}\n' for name, code in (tools or {}).items()}
        for name, text in files.items():
            (scripts / name).write_text(text)
            (scripts / name).chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def start(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.root / "run.py"), *words]
        environment = {**os.environ, "PYTHONPATH": "", "PIP_INDEX_URL": "kept"}
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=cwd or self.root, env=environment, timeout=60
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def run() -> ModuleType:
    return load()


# ---------------------------------------------------------------- words


def test_file_parses_on_an_old_python_to_say_which_one_is_needed() -> None:
    source = RUN.read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    names = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    names |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "__future__" not in names, "annotations are unknown to the future of 3.6"
    assert names <= set(sys.stdlib_module_names)
    assert source.isascii(), "Python 2 would stop at a letter instead of the version"


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (3, 15, 0)])
def test_other_pythons_are_refused_with_the_versions_that_do(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(run.sys, "version_info", version)
    monkeypatch.setattr(run.shutil, "which", lambda name: "/usr/bin/python3.12" if name == "python3.12" else None)
    assert run.main(["serve"]) == 3
    said = capsys.readouterr().err
    assert "Python 3.11 to 3.14 is needed" in said
    assert "Try: python3.12 run.py" in said


def test_verbs_are_those_of_the_command_line(run: ModuleType) -> None:
    assert set(run.VERBS) == set(VERBS) | {"test"}
    assert {verb: words for verb, (words, _, _) in run.VERBS.items() if verb != "test"} == {
        verb: found.words for verb, found in VERBS.items()
    }


def test_help_lists_the_verbs_and_no_verb_is_wrong_use(checkout: Checkout) -> None:
    helped, empty = checkout.start("--help"), checkout.start()
    assert helped.returncode == 0
    assert "  demo " in helped.stdout
    assert empty.returncode == 2


def test_misspelt_verb_is_wrong_use_and_sets_nothing_up(checkout: Checkout) -> None:
    done = checkout.start("tset")
    assert done.returncode == 2
    assert "Did you mean 'test'?" in done.stderr
    assert not (checkout.root / ".venv").exists()


# ---------------------------------------------------------------- the environment


def test_install_checks_hashes_takes_wheels_only_and_asks_nobody(checkout: Checkout) -> None:
    checkout.plant_environment()
    done = checkout.start("serve", "--port", "0")
    install = next(call for call in checkout.calls if "pip install" in call)
    assert "--require-hashes --only-binary :all:" in install
    assert "--no-input" in install
    assert "index" not in install, "where packages come from is the machine's business"
    assert "1/1 numpy==2.4.6" in done.stderr
    assert done.returncode == 7, "the program's own exit code comes back"


def test_program_gets_its_words_and_finds_our_modules_from_any_folder(checkout: Checkout, tmp_path: Path) -> None:
    checkout.plant_environment()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = checkout.start("plan", "check", "a file.json", cwd=elsewhere)
    assert f"ran -P -m booking plan check a file.json with {checkout.root}" in done.stdout


def test_second_start_installs_nothing(checkout: Checkout) -> None:
    checkout.plant_environment()
    checkout.start("serve")
    before = len(checkout.calls)
    done = checkout.start("serve")
    assert checkout.calls[before:] == ["-P -m booking serve"]
    assert done.stderr == ""


def test_changed_lock_is_installed(checkout: Checkout) -> None:
    checkout.plant_environment()
    checkout.start("serve")
    checkout.write_lock("numpy==2.4.7 \\\n    --hash=sha256:22\n")
    assert not checkout.run.is_current("requirements.lock")
    checkout.start("serve")
    assert checkout.run.is_current("requirements.lock")
    assert sum("pip install" in call for call in checkout.calls) == 2


def test_environment_for_tests_serves_the_programs_too(checkout: Checkout) -> None:
    checkout.plant_environment()
    checkout.run.ensure_venv("requirements-test.lock")
    assert checkout.run.is_current("requirements.lock")
    assert checkout.run.is_current("requirements-test.lock")


def test_environment_of_another_python_is_not_current(checkout: Checkout) -> None:
    checkout.plant_environment()
    checkout.run.ensure_venv("requirements.lock")
    stamp = json.loads(checkout.run.STAMP.read_text())
    checkout.run.STAMP.write_text(json.dumps({**stamp, "python": "3.10.1 somewhere"}))
    assert not checkout.run.is_current("requirements.lock")


def test_failed_install_exits_3_with_pip_s_last_words_and_is_taken_up_again(checkout: Checkout) -> None:
    checkout.plant_environment()
    checkout.fail.touch()
    done = checkout.start("serve")
    assert done.returncode == 3
    assert "ERROR: no network" in done.stderr
    assert not checkout.run.is_current("requirements.lock")
    assert checkout.run.is_usable_venv(), "what is installed stays"
    checkout.fail.unlink()
    assert checkout.start("serve").returncode == 7


def test_install_that_was_killed_is_made_anew(checkout: Checkout) -> None:
    checkout.plant_environment()
    assert checkout.run.is_usable_venv()
    checkout.run.UNFINISHED.touch()
    assert not checkout.run.is_usable_venv()


def test_folder_that_is_no_environment_is_left_alone(checkout: Checkout) -> None:
    (checkout.root / ".venv").mkdir()
    (checkout.root / ".venv" / "letter.txt").write_text("dear all")
    done = checkout.start("serve")
    assert done.returncode == 3
    assert "no virtual environment" in done.stderr
    assert (checkout.root / ".venv" / "letter.txt").exists()


def test_second_run_waits_for_the_first_set_up(checkout: Checkout) -> None:
    checkout.plant_environment()
    with checkout.run.only_one_of_us():
        command = [sys.executable, str(checkout.root / "run.py"), "serve"]
        waiting = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr is not None
        assert "waiting" in waiting.stderr.readline()
        assert not any("pip install" in call for call in checkout.calls)
    with waiting:
        assert waiting.wait(30) == 7
    assert sum("pip install" in call for call in checkout.calls) == 1


def test_missing_ensurepip_is_named_together_with_the_libraries(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[list[str]]] = []
    monkeypatch.setattr(checkout.run, "can_make_venvs", lambda: False)
    monkeypatch.setattr(checkout.run, "missing_libraries", lambda _names: ["libEGL.so.1"])
    monkeypatch.setattr(checkout.run, "has_fonts", lambda _folder: True)
    monkeypatch.setattr(checkout.run, "install_packages", asked.append)
    monkeypatch.setattr(checkout.run.sys, "base_prefix", "/usr")
    monkeypatch.setattr(checkout.run.sys, "platform", "linux")
    checkout.run.ensure_system_packages("demo")
    assert asked == [[["libegl1"], ["python{}.{}-venv".format(*sys.version_info[:2]), "python3-venv"]]]
    assert "missing on this system: libEGL.so.1, Python's ensurepip" in capsys.readouterr().err


def test_verb_that_draws_nothing_needs_no_library(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout.run, "can_make_venvs", lambda: True)
    monkeypatch.setattr(checkout.run, "missing_libraries", lambda _names: ["libEGL.so.1"])
    monkeypatch.setattr(checkout.run, "install_packages", lambda _choices: pytest.fail("nothing is to install"))
    checkout.run.ensure_system_packages("serve")


# ---------------------------------------------------------------- system libraries


def test_missing_library_is_found_by_asking_the_loader(run: ModuleType) -> None:
    assert run.missing_libraries(["libc.so.6", "libno-such-thing.so.1"]) == ["libno-such-thing.so.1"]


def test_ordinary_user_is_given_the_exact_command(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(run.shutil, "which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(run.Path, "exists", lambda _path: True)
    with pytest.raises(run.SetUpError, match=r"sudo apt-get install -y --no-install-recommends libegl1 libglib2\.0-0"):
        run.install_packages([["libglib2.0-0t64", "libglib2.0-0"], ["libegl1"]])


def test_other_systems_are_given_the_names(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.shutil, "which", lambda _name: None)
    with pytest.raises(run.SetUpError, match=r"package manager.*libegl1"):
        run.install_packages([["libegl1"]])


def test_root_on_debian_installs_without_a_question(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[list[str], dict[str, str]]] = []

    def record(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
        calls.append((command, environment))
        return 0, ""

    monkeypatch.setattr(run.os, "geteuid", lambda: 0)
    monkeypatch.setattr(run.shutil, "which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(run.Path, "exists", lambda _path: True)
    monkeypatch.setattr(run, "run_quietly", record)
    run.install_packages([["libglib2.0-0t64", "libglib2.0-0"], ["libegl1"]])
    apt = [(command, environment) for command, environment in calls if command[0] == "apt-get"]
    assert [command[-1] for command, _ in apt] == ["update", "libglib2.0-0t64"]
    assert {"-y", "--no-install-recommends"} <= set(apt[1][0])
    assert all(environment["DEBIAN_FRONTEND"] == "noninteractive" for _, environment in apt)
    assert "installing Debian packages as root" in capsys.readouterr().err


def test_older_release_gets_the_older_package_name(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_quietly", lambda command, _environment: (int("t64" in command[-1]), ""))
    assert run.first_known(["libglib2.0-0t64", "libglib2.0-0"]) == "libglib2.0-0"


def test_tool_that_asks_gets_no_answer_and_ends(run: ModuleType) -> None:
    assert run.run_quietly(["sh", "-c", "read -r answer || echo nobody"], dict(os.environ)) == (0, "nobody\n")


# ---------------------------------------------------------------- tests


TOOLS = {"ruff": 0, "mypy": 0, "lint-imports": 0}


@pytest.mark.parametrize(
    ("tools", "pytest_code", "expected"),
    [(TOOLS, 0, 0), (TOOLS, 1, 1), ({**TOOLS, "mypy": 1}, 0, 1), ({**TOOLS, "ruff": 1}, 1, 1), (TOOLS, 4, 2)],
)
def test_everything_runs_and_any_failure_counts(
    checkout: Checkout, tools: dict[str, int], pytest_code: int, expected: int
) -> None:
    checkout.plant_environment(tools=tools)
    checkout.pytest_code.write_text(str(pytest_code))
    done = checkout.start("test", "-k", "word")
    assert done.returncode == expected
    assert done.stdout.rstrip().endswith("1 passed"), "pytest speaks last"
    assert checkout.calls[-1].startswith("-m pytest --numprocesses ")
    assert checkout.calls[-1].endswith(" --dist loadfile -k word"), "a file's tests stay together"
    for name in ("ruff check", "ruff format", "mypy", "layers"):
        assert f"== {name}: " in done.stdout
    assert ("mypy speaks" in done.stdout) == (tools["mypy"] != 0), "a tool's words are shown when it fails"


def test_linters_are_skipped_when_told_so(checkout: Checkout) -> None:
    checkout.plant_environment(tools={**TOOLS, "ruff": 1})
    done = checkout.start("test", "--skip-linters", "tests/unit/test_run.py")
    assert done.returncode == 0
    assert checkout.calls[-1].endswith(" tests/unit/test_run.py")
    assert "--skip-linters" not in checkout.calls[-1]


@pytest.mark.parametrize("word", ["-n0", "--numprocesses=3", "--pdb", "-s", "--collect-only"])
def test_number_of_processes_is_left_to_who_names_it_or_needs_the_terminal(checkout: Checkout, word: str) -> None:
    checkout.plant_environment(tools=TOOLS)
    assert checkout.start("test", "--skip-linters", word).returncode == 0
    assert checkout.calls[-1] == f"-m pytest {word}"


def test_ci_is_the_same_command_with_nobody_at_the_keyboard() -> None:
    script = ROOT / ".ci" / "run"
    text = script.read_text()
    assert os.access(script, os.X_OK)
    assert 'exec python3 run.py test "$@" </dev/null' in text
    assert "export CI=true" in text


# ---------------------------------------------------------------- the locks


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_lock_names_no_address_and_every_package_has_hashes(name: str) -> None:
    text = (ROOT / "packaging" / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if "==" in entry]
    assert len(entries) > 10
    assert all("--hash=sha256:" in entry for entry in entries)


def test_lock_of_the_tests_holds_the_lock_of_the_programs() -> None:
    """That is why an environment made for tests serves the programs too."""
    pins = [
        set(re.findall(r"^\S+==\S+", (ROOT / "packaging" / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "requirements-test.lock")
    ]
    assert pins[0] <= pins[1]
