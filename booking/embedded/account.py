"""Who runs the server. PostgreSQL refuses root, so root gets a system account of its own for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from booking.embedded.errors import AccountError

ACCOUNT_NAME = "taquilla"
ON_WINDOWS: bool = sys.platform.startswith("win")
ROOT_HOME = Path("/var/lib/taquilla")


class RunAs(TypedDict, total=False):
    """Keyword arguments of `subprocess` that make a child run under the server's account."""

    user: int
    group: int
    extra_groups: list[int]
    umask: int


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """The operating-system account of the server, and ours. `uid` is None where it is simply ourselves."""

    own_name: str
    uid: int | None = None
    gid: int | None = None

    def run_as(self) -> RunAs:
        if self.uid is None or self.gid is None:
            return RunAs() if ON_WINDOWS else RunAs(umask=0o077)
        return RunAs(user=self.uid, group=self.gid, extra_groups=[], umask=0o077)

    def own(self, path: Path) -> None:
        """Give one path of ours to the server's account; parents stay as they are."""
        if not ON_WINDOWS and self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        """Whether the server's account reaches `folder`, or the nearest parent of it that exists.

        A child asks the kernel, so that groups, access lists and odd mounts count as they are.
        """
        if self.uid is None:
            return True
        while not folder.exists():
            folder = folder.parent
        command = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)]
        done = subprocess.run(command, cwd="/", check=False, capture_output=True, **self.run_as())
        return done.returncode == 0

    def can_write(self, folder: Path) -> bool:
        """Whether the server's account may make files in `folder`."""
        if ON_WINDOWS:
            return os.access(folder, os.W_OK)
        command = ["/bin/sh", "-c", '[ -w "$1" ] && [ -x "$1" ]', "sh", str(folder)]
        done = subprocess.run(command, cwd="/", check=False, capture_output=True, **self.run_as())
        return done.returncode == 0

    def can_run(self, program: Path) -> bool:
        """Whether the server's account can really run `program --version`, libraries included."""
        try:
            done = subprocess.run(
                [program, "--version"],
                cwd=program.anchor,
                check=False,
                capture_output=True,
                timeout=30,
                **self.run_as(),
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0


def server_account() -> ServerAccount:
    """The account to run the server under; as root the system user `taquilla`, made when it is missing."""
    if ON_WINDOWS:
        return ServerAccount(own_name=os.environ.get("USERNAME", "user"))
    import pwd

    own_name = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() != 0:
        return ServerAccount(own_name=own_name)
    try:
        entry = pwd.getpwnam(ACCOUNT_NAME)
    except KeyError:
        _add_system_user()
        entry = pwd.getpwnam(ACCOUNT_NAME)
    if entry.pw_uid == 0:
        raise AccountError(f"the user {ACCOUNT_NAME} is root itself; PostgreSQL does not run as root")
    return ServerAccount(own_name=own_name, uid=entry.pw_uid, gid=entry.pw_gid)


def _add_system_user() -> None:
    """Make the account: no password, no shell, no home. Two of us at once is fine."""
    search = os.pathsep.join(["/usr/sbin", "/sbin", os.environ.get("PATH", os.defpath)])
    useradd = shutil.which("useradd", path=search)
    if useradd is None:
        raise AccountError(
            f"PostgreSQL does not run as root, and `useradd` is missing to make the system user {ACCOUNT_NAME}. "
            "Run this as an ordinary user, or make that user first."
        )
    command = [useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    done = subprocess.run(
        [*command, "--shell", "/usr/sbin/nologin", ACCOUNT_NAME], check=False, capture_output=True, text=True
    )
    already_there = 9
    if done.returncode not in {0, already_there}:
        raise AccountError(f"useradd could not make the system user {ACCOUNT_NAME}: {done.stderr.strip()}")
