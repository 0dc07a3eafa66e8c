#!/usr/bin/env python3
"""Set-up and front door: `python3 run.py VERB ...`, with nothing but Python and its standard library.

It makes `.venv`, installs the locked dependencies into it (checked by hash, wheels only), makes sure of the system
libraries that Qt needs, and becomes the verb's program. When nothing changed since the last time it only looks.
It still parses on Python 3.6, to say there which Python is needed: hence the quoted annotations.

Exit codes: 0 done, 1 found something wrong, 2 wrong use, 3 could not reach what it needs. Progress: standard error.
"""

import contextlib
import ctypes
import difflib
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "taquilla-stamp.json"
UNFINISHED = VENV / "taquilla-unfinished"
ON_WINDOWS = os.name == "nt"
SCRIPTS = VENV / ("Scripts" if ON_WINDOWS else "bin")
PYTHON = SCRIPTS / ("python.exe" if ON_WINDOWS else "python")
RUN_LOCK, TEST_LOCK = "requirements.lock", "requirements-test.lock"
OLDEST, TOO_NEW = (3, 11), (3, 15)

DONE, FOUND_WRONG, WRONG_USE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130

# verb: (what it does, module and first words, whether it draws)
VERBS: "dict[str, tuple[str, list[str], bool]]" = {
    "demo": ("everything embedded, then the console; --headless gives the tour", ["booking", "demo"], True),
    "test": ("linters, types, layers, then pytest with the arguments given", [], True),
    "console": ("the console alone, against a running API", ["app"], True),
    "serve": ("the API", ["booking", "serve"], False),
    "room": ("the waiting room: joins, turns, admission tokens", ["booking", "room"], False),
    "work": (
        "the workers: sequencer, sweeper, expiry, tickets, payments, webhooks, reconciliation, retention",
        ["booking", "work"],
        False,
    ),
    "migrate": ("bring a database to the newest schema", ["booking", "migrate"], False),
    "check": ("the invariants on a live database", ["booking", "check"], False),
    "lab": ("the documents' experiments on a PostgreSQL, beside our own functions", ["booking", "lab"], False),
    "reconcile": ("compare a provider's or a terminal's day with our ledger", ["booking", "reconcile"], False),
    "rush": ("opening-minute load against an API: open loop, bounded, with a report", ["booking", "rush"], False),
    "simulate": (
        "an opening of two million visitors, the laws of admission, a rush predicted",
        ["booking", "simulate"],
        False,
    ),
    "bench": ("the measured tables: holds, payments, admission, feed, seat-map", ["tests.bench"], True),
    "plan": ("check, import and export seating plans", ["booking", "plan"], False),
    "sandbox": ("the payment sandbox", ["booking", "sandbox"], False),
    "terminal-simulator": ("the card-terminal simulator", ["app.devices.zvt.simulator"], False),
    "screenshots": ("every screen with demo data, one picture each", ["app", "screenshots"], True),
}

# Shared library: Debian packages that bring it, the first one that this release has (t64 names since 2024).
QT_LIBRARIES = {
    "libglib-2.0.so.0": ["libglib2.0-0t64", "libglib2.0-0"],
    "libgthread-2.0.so.0": ["libglib2.0-0t64", "libglib2.0-0"],
    "libdbus-1.so.3": ["libdbus-1-3"],
    "libEGL.so.1": ["libegl1"],
    "libGL.so.1": ["libgl1"],
    "libfontconfig.so.1": ["libfontconfig1"],
    "libfreetype.so.6": ["libfreetype6"],
    "libxkbcommon.so.0": ["libxkbcommon0"],
    "libX11.so.6": ["libx11-6"],
    "libbrotlidec.so.1": ["libbrotli1"],
}
X11_LIBRARIES = {
    "libxcb-cursor.so.0": ["libxcb-cursor0"],
    "libxcb-icccm.so.4": ["libxcb-icccm4"],
    "libxcb-image.so.0": ["libxcb-image0"],
    "libxcb-keysyms.so.1": ["libxcb-keysyms1"],
    "libxcb-randr.so.0": ["libxcb-randr0"],
    "libxcb-render-util.so.0": ["libxcb-render-util0"],
    "libxcb-shape.so.0": ["libxcb-shape0"],
    "libxcb-xkb.so.1": ["libxcb-xkb1"],
    "libxkbcommon-x11.so.0": ["libxkbcommon-x11-0"],
    "libX11-xcb.so.1": ["libx11-xcb1"],
}
WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": ["libwayland-client0"],
    "libwayland-cursor.so.0": ["libwayland-cursor0"],
}
# What judges the tests from outside, wanted where CI is set: a file that shows it is there, and its package.
REFEREES = {
    "/usr/bin/tshark": ["tshark"],
    "/usr/bin/Xvfb": ["xvfb"],
    "/usr/bin/xauth": ["xauth"],
    "/usr/bin/dbus-run-session": ["dbus-daemon", "dbus"],
    "/usr/libexec/at-spi-bus-launcher": ["at-spi2-core"],
    "/usr/lib/python3/dist-packages/gi/__init__.py": ["python3-gi"],
    "/usr/lib/*/girepository-1.0/Atspi-2.0.typelib": ["gir1.2-atspi-2.0"],
    "/usr/bin/chromium": ["chromium"],
    "/usr/bin/chromedriver": ["chromium-driver"],
}
# Published as source only: built by pip from the locked archive. A test referee; nothing that users install is.
SOURCE_ONLY = ["localstripe"]
FONT_FOLDERS = ["/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts"]


class SetUpError(Exception):
    """The set-up cannot go on; the text says what the person can do."""


def main(arguments: "list[str]") -> int:
    """Set up what the verb needs and run it. Returns an exit code, or never returns."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return DONE if arguments else WRONG_USE
    verb, rest = arguments[0], arguments[1:]
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        say(f"there is no verb '{verb}'.{hint} --help lists them all.")
        return WRONG_USE
    try:
        refuse_other_pythons()
        ensure_system_packages(verb)
        ensure_venv(TEST_LOCK if verb == "test" else RUN_LOCK)
    except SetUpError as error:
        say(str(error))
        return UNREACHABLE
    if verb == "test":
        return run_tests(rest)
    return become([*VERBS[verb][1], *rest])


def usage() -> str:
    """The verbs, one a line."""
    lines = ["usage: python3 run.py VERB [options]     (VERB --help says more)", ""]
    lines += [f"  {verb:<20}{words}" for verb, (words, _, _) in VERBS.items()]
    lines += ["", "test takes --skip-linters, then pytest's own arguments."]
    return "\n".join(lines)


def say(text: str) -> None:
    """One line for the person, on standard error."""
    sys.stderr.write(f"run.py: {text}\n")
    sys.stderr.flush()


# ---------------------------------------------------------------- Python


def refuse_other_pythons() -> None:
    """Say which Python is needed, and name one that is here already."""
    if OLDEST <= sys.version_info[:2] < TOO_NEW:
        return
    found = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    hint = " Try: {} run.py {}".format(found[0], " ".join(sys.argv[1:])) if found else ""
    text = "Python {}.{} to {}.{} is needed, this is Python {} ({}).{}"
    values = (*OLDEST, TOO_NEW[0], TOO_NEW[1] - 1, platform.python_version(), sys.executable, hint)
    raise SetUpError(text.format(*values))


# ---------------------------------------------------------------- system libraries


def ensure_system_packages(verb: str) -> None:
    """Install what the system lacks for the verb, all at once, or say how to."""
    missing, choices = [], []
    if sys.platform.startswith("linux") and VERBS[verb][2]:
        wanted = dict(QT_LIBRARIES)
        if os.environ.get("CI" if verb == "test" else "DISPLAY"):
            wanted.update(X11_LIBRARIES)
        if verb != "test" and os.environ.get("WAYLAND_DISPLAY"):
            wanted.update(WAYLAND_LIBRARIES)
        missing = missing_libraries(list(wanted))
        choices = [wanted[name] for name in missing]
        if not any(has_fonts(folder) for folder in FONT_FOLDERS):
            missing.append("a font")
            choices.append(["fonts-dejavu-core"])
    if verb == "test" and os.environ.get("CI") and Path("/etc/debian_version").exists():
        absent = [name for name in REFEREES if not any(Path("/").glob(name[1:]))]
        missing += absent
        choices += [REFEREES[name] for name in absent]
    if not PYTHON.exists() and not can_make_venvs():
        if not sys.base_prefix.startswith("/usr"):
            raise SetUpError(f"install a complete Python: the one at {sys.base_prefix} lacks ensurepip")
        missing.append("Python's ensurepip")
        choices.append(["python{}.{}-venv".format(*sys.version_info[:2]), "python3-venv"])
    if choices:
        say("missing on this system: {}".format(", ".join(missing)))
        install_packages(choices)
        importlib.invalidate_caches()


def can_make_venvs() -> bool:
    """Debian keeps a part of the standard library in a package of its own."""
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def missing_libraries(names: "list[str]") -> "list[str]":
    """Those of the shared libraries that the loader does not find: its cache first, then a real try."""
    known = ""
    for tool in ("ldconfig", "/sbin/ldconfig"):
        with contextlib.suppress(OSError):
            known = subprocess.check_output([tool, "-p"], stderr=subprocess.DEVNULL).decode(errors="replace")
            break
    cached = set(re.findall(r"^\s+(\S+) \(", known, re.MULTILINE))
    return [name for name in names if name not in cached and not can_load(name)]


def can_load(library: str) -> bool:
    """Whether the loader finds it, wherever it looks."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def has_fonts(folder: str) -> bool:
    """Whether a folder holds any font at all."""
    endings = (".ttf", ".otf", ".ttc", ".pfb", ".otb")
    return any(name.endswith(endings) for _, _, names in os.walk(str(Path(folder).expanduser())) for name in names)


def install_packages(choices: "list[list[str]]") -> None:
    """apt-get install one package of each choice, as root on Debian and its kin; otherwise name the command."""
    plain = sorted({choice[-1] for choice in choices})
    command = "apt-get install -y --no-install-recommends {}".format(" ".join(plain))
    if not (shutil.which("apt-get") and Path("/etc/debian_version").exists()):
        raise SetUpError("install these with your system's package manager (Debian's names): " + " ".join(plain))
    if os.geteuid() != 0:
        raise SetUpError("run this, then start again:\n    sudo " + command)
    say("installing Debian packages as root: {}".format(" ".join(plain)))
    apt_get(["update"])
    chosen = sorted({first_known(choice) for choice in choices})
    apt_get(["install", "-y", "--no-install-recommends", *chosen])


def first_known(choice: "list[str]") -> str:
    """The first package name of a choice that this release has."""
    for name in choice[:-1]:
        if run_quietly(["apt-cache", "show", name], dict(os.environ))[0] == 0:
            return name
    return choice[-1]


def apt_get(words: "list[str]") -> None:
    """Run apt-get so that it never asks, waits a while for another apt, and speaks only when it fails."""
    command = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0", *words]
    code, output = run_quietly(command, dict(os.environ, DEBIAN_FRONTEND="noninteractive", NEEDRESTART_MODE="a"))
    if code != 0:
        sys.stderr.write(tail(output))
        raise SetUpError("this failed: " + " ".join(command))


# ---------------------------------------------------------------- the virtual environment


def ensure_venv(lock_name: str) -> None:
    """Make `.venv` hold exactly what the lock file says, unless its stamp says that it does already."""
    if is_current(lock_name):
        return
    with only_one_of_us():
        if is_current(lock_name):  # the one before us did it
            return
        started = time.time()
        forget_stamp()
        if not is_usable_venv():
            make_venv()
        install(lock_name)
        write_stamp(lock_name)
        say(f"the environment is ready ({time.time() - started:.0f} s)")


def is_current(lock_name: str) -> bool:
    """Whether the last finished install was of this Python and of this lock (or of the larger one for tests)."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not PYTHON.exists() or stamp.get("python") != python_mark():
        return False
    names = [lock_name, TEST_LOCK] if lock_name == RUN_LOCK else [lock_name]
    return any(stamp.get("lock") == [name, digest_of(name)] for name in names)


def python_mark() -> str:
    """What an environment is bound to: the Python that made it."""
    return f"{platform.python_version()} {platform.machine()} {sys.base_prefix}"


def lock_path(lock_name: str) -> Path:
    """Where a lock lies."""
    return ROOT / "packaging" / lock_name


def digest_of(lock_name: str) -> str:
    """What an install is bound to: the lock's content."""
    return hashlib.sha256(lock_path(lock_name).read_bytes()).hexdigest()


def forget_stamp() -> None:
    """From here on the environment counts as unfinished."""
    with contextlib.suppress(FileNotFoundError):
        STAMP.unlink()


def write_stamp(lock_name: str) -> None:
    """Last of all and in one step: an install that was cut short leaves no stamp."""
    unfinished = STAMP.with_suffix(".new")
    text = json.dumps({"python": python_mark(), "lock": [lock_name, digest_of(lock_name)]})
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(STAMP)


def is_usable_venv() -> bool:
    """Whether `.venv` is of this Python and has a working pip, so that an install can go on in it.

    A pip that was killed may have left half a package that counts as installed: such a `.venv` is made anew.
    """
    if not PYTHON.exists() or UNFINISHED.exists():
        return False
    probe = "import sys, pip; print('{}.{}.{} {}'.format(*sys.version_info[:3], sys.base_prefix))"
    expected = "{}.{}.{} {}".format(*sys.version_info[:3], sys.base_prefix)
    try:
        code, output = run_quietly([str(PYTHON), "-c", probe], dict(os.environ))
    except OSError:
        return False
    return code == 0 and output.strip() == expected


def make_venv() -> None:
    """A new `.venv`. An old one is dropped only when it is one."""
    if VENV.is_symlink():
        raise SetUpError(f"{VENV} is a link; remove it and start again")
    if VENV.exists():
        if any(VENV.iterdir()) and not (VENV / "pyvenv.cfg").exists():
            raise SetUpError(f"{VENV} is no virtual environment; move it away and start again")
        shutil.rmtree(VENV)
    say(f"making .venv with Python {platform.python_version()}")
    code, output = run_quietly([sys.executable, "-m", "venv", str(VENV)], dict(os.environ))
    if code != 0:
        sys.stderr.write(tail(output))
        raise SetUpError(f"making {VENV} failed")


def install(lock_name: str) -> None:
    """pip install from the lock, one progress line for each package."""
    path = lock_path(lock_name)
    total = len(re.findall(r"^\S+==", path.read_text(encoding="utf-8"), re.MULTILINE))
    say(f"installing {total} locked packages from packaging/{lock_name}")
    command = [str(PYTHON), "-m", "pip", "install", "--require-hashes", "--only-binary", ":all:"]
    command += ["--no-binary", ",".join(SOURCE_ONLY), "--requirement", str(path)]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    UNFINISHED.touch()
    spoken, collected = [], []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as pip:
        for raw in pip.stdout or []:
            line = raw.decode(errors="replace").rstrip()
            spoken.append(line)
            if line.startswith(("Collecting ", "Processing ")):
                collected.append(line.split()[1].rsplit("/", 1)[-1])
                say(f"  {len(collected)}/{total} {collected[-1]}")
            elif line.startswith("Installing collected packages"):
                say("  unpacking")
    code = pip.returncode
    UNFINISHED.unlink()
    if code != 0:
        sys.stderr.write(tail("\n".join(spoken)))
        raise SetUpError("the dependencies could not be installed; pip's last words are above")


def run_quietly(command: "list[str]", environment: "dict[str, str]") -> "tuple[int, str]":
    """Run a tool that must not wait for anyone: its exit code and what it said."""
    done = subprocess.run(
        command,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def tail(text: str) -> str:
    """The last words of a failed tool."""
    return "\n".join(text.strip().splitlines()[-15:]) + "\n"


@contextlib.contextmanager
def only_one_of_us() -> "Iterator[None]":
    """Hold the set-up of this folder alone. The lock ends with the process, however it ends."""
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"taquilla-setup-{mark}.lock" if ON_WINDOWS else ROOT
    handle = os.open(path, os.O_RDWR | os.O_CREAT if ON_WINDOWS else os.O_RDONLY)
    try:
        if not try_lock(handle):
            say("another run.py is setting up this folder; waiting for it")
            while not try_lock(handle):
                time.sleep(0.2)
        yield
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Take the lock if it is free."""
    try:
        if ON_WINDOWS:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# ---------------------------------------------------------------- running


def program_environment() -> "dict[str, str]":
    """The verb's environment: our modules are found from any working folder."""
    others = os.environ.get("PYTHONPATH")
    return dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), others]) if others else str(ROOT))


def become(words: "list[str]") -> int:
    """Turn into `python -m WORDS` in the environment; on Windows, wait for it."""
    command = [str(PYTHON), "-P", "-m", *words]
    sys.stdout.flush()
    sys.stderr.flush()
    if not ON_WINDOWS:
        os.execve(command[0], command, program_environment())  # noqa: S606 -- never returns
    return subprocess.call(command, env=program_environment())


# Arguments of pytest that say how many processes, or that need the terminal for themselves.
ONE_AFTER_ANOTHER = ("-n", "--numprocesses", "--pdb", "--trace", "-s", "--capture=no", "--collect-only", "--co")

LINTERS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "layers": ["lint-imports"],
}


def run_tests(arguments: "list[str]") -> int:
    """Linters, types and layers side by side, then pytest, whatever they said. Any failure counts."""
    environment = program_environment()
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    skip = "--skip-linters" in arguments
    failed = [] if skip else run_linters(environment)
    words = [word for word in arguments if word != "--skip-linters"]
    if not any(word.startswith(ONE_AFTER_ANOTHER) for word in words):
        # A file's tests stay together: they share servers that take seconds to start.
        words = ["--numprocesses", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile", *words]
    sys.stdout.flush()
    status = subprocess.call([str(PYTHON), "-m", "pytest", *words], cwd=str(ROOT), env=environment)
    if failed:
        say("also failed, see above: {}".format(", ".join(failed)))
    usage_error = 4
    if status == usage_error:
        return WRONG_USE
    return FOUND_WRONG if status != 0 or failed else DONE


def run_linters(environment: "dict[str, str]") -> "list[str]":
    """Run them at once, show each one's words in order, and return the names of those that failed."""
    ending = ".exe" if ON_WINDOWS else ""
    started = {}
    for name, (tool, *words) in LINTERS.items():
        command = [str(SCRIPTS / (tool + ending)), *words]
        started[name] = subprocess.Popen(
            command, cwd=str(ROOT), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    failed = []
    for name, process in started.items():
        output = process.communicate()[0].decode(errors="replace")
        print("== {}: {}".format(name, "ok" if process.returncode == 0 else "FAILED"))
        if process.returncode != 0:
            failed.append(name)
            print(output)
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(INTERRUPTED)
