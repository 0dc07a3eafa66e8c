"""Where a cluster lives, where its socket lives, and who holds it.

Layout: `lock`, `postgres.log`, `data/` (0700, the server's), `socket/` (0700, the server's).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from booking.embedded.account import ON_WINDOWS, ROOT_HOME, ServerAccount
from booking.embedded.errors import DiskFullError, FolderError

SOCKET_NAME = ".s.PGSQL.5432"
# sockaddr_un holds 108 bytes on Linux and 104 on the BSDs and macOS, the closing zero included.
SOCKET_PATH_LIMIT = 103 if sys.platform == "darwin" else 107
MOVED_NOTE = "database-is-elsewhere.txt"


@dataclass(frozen=True, slots=True)
class ClusterFolders:
    """The paths of one cluster. All are absolute."""

    home: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @property
    def lock(self) -> Path:
        return self.home / "lock"

    @property
    def passwords(self) -> Path:
        """Only where there are no peers (Windows): a libpq password file."""
        return self.home / "passwords"


def cluster_folders(wanted: Path, account: ServerAccount, *, root_home: Path = ROOT_HOME) -> ClusterFolders:
    """Make the cluster's folder, at `wanted` where the server's account can go there.

    Otherwise it is made below /var/lib/taquilla under a name that belongs to `wanted`, and a note is left there:
    opening up the parents would let every other account in as well.
    """
    wanted = wanted.absolute()
    make_folder(wanted, mode=0o711)
    if account.can_enter(wanted):
        return ClusterFolders(wanted)
    name = hashlib.sha256(os.fsencode(wanted.resolve())).hexdigest()[:20]
    home = root_home / "clusters" / name
    make_folder(home, mode=0o711)
    if not account.can_enter(home):
        raise FolderError(f"the server's account can enter neither {wanted} nor {home}")
    note = f"The database of this folder lives in {home}\nbecause its account may not enter {wanted}.\n"
    (wanted / MOVED_NOTE).write_text(note, encoding="utf-8")
    return ClusterFolders(home)


def make_folder(folder: Path, *, mode: int) -> None:
    """Make a folder and what is missing above it. What is there already keeps its mode."""
    try:
        for missing in reversed([path for path in [folder, *folder.parents] if not path.exists()]):
            missing.mkdir(mode=mode if missing == folder else 0o755, exist_ok=True)
    except OSError as error:
        if error.errno in {28, 122}:  # ENOSPC, EDQUOT
            raise DiskFullError(f"cannot make {folder}: {error.strerror}") from error
        raise FolderError(f"cannot make {folder}: {error.strerror}") from error
    if not folder.is_dir():
        raise FolderError(f"{folder} is not a folder")


def fresh_socket_folder(folders: ClusterFolders, account: ServerAccount) -> Path:
    """An empty, private folder for the socket whose full path is short enough.

    Call it only while holding the cluster's lock and after its servers are gone: what lies in it is stale.
    """
    for folder in _socket_candidates(folders, account):
        if len(os.fsencode(folder / SOCKET_NAME)) > SOCKET_PATH_LIMIT:
            continue
        if folder.is_symlink() or (folder.exists() and not _is_private(folder, account)):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder, mode=0o700)
        account.own(folder)
        return folder
    raise FolderError(
        f"no private folder with a short enough path for the socket of {folders.home}; set TMPDIR to a short path"
    )


def _socket_candidates(folders: ClusterFolders, account: ServerAccount) -> list[Path]:
    """Beside the data at best; with a long path, a name that belongs to this cluster in a short place."""
    name = "taquilla-" + hashlib.sha256(os.fsencode(folders.home)).hexdigest()[:12]
    # /tmp as well as the temporary folder: TMPDIR may be the very path that is too long.
    names = (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp")  # noqa: S108
    short = [Path(place) for place in names if place]
    places = [place / name for place in short if place.is_dir() and os.access(place, os.W_OK)]
    return [folders.home / "socket", *[place for place in places if account.can_enter(place.parent)]]


def _is_private(folder: Path, account: ServerAccount) -> bool:
    """Whether the folder is ours (or the server's) and closed to everybody else: /tmp is anyone's."""
    found = folder.stat()
    owners = {os.geteuid(), account.uid} if not ON_WINDOWS else {found.st_uid}
    return found.st_uid in owners and (ON_WINDOWS or stat.S_IMODE(found.st_mode) & 0o077 == 0)
