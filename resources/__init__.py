"""Files that ship with the programs: fonts, styles, translations, icons, sample venues.

Read them here and nowhere else: `importlib.resources` finds them in a checkout, in a wheel and in a frozen build alike.
Names are relative with forward slashes, for example `styles/theme.toml`.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any


class ResourceMissingError(LookupError):
    """A file that ships with the program is not where it belongs: the installation is damaged."""

    code = "resource-missing"


def resource(name: str) -> Traversable:
    """Name → the file.

    Raises:
        ResourceMissingError: no such file ships with the program, or the name points outside.
    """
    parts = name.split("/")
    found = files(__name__).joinpath(*parts)
    if ".." in parts or not found.is_file():
        raise ResourceMissingError(f"this installation lacks its file {name}; install the program again")
    return found


def read_bytes(name: str) -> bytes:
    """The file's bytes; raises ResourceMissingError."""
    return resource(name).read_bytes()


def read_text(name: str) -> str:
    """The file's text (UTF-8); raises ResourceMissingError."""
    return resource(name).read_text(encoding="utf-8")


def read_toml(name: str) -> dict[str, Any]:
    """The file's TOML as a dict; raises ResourceMissingError."""
    return tomllib.loads(read_text(name))


def list_names(folder: str, suffix: str) -> tuple[str, ...]:
    """Names of the files in a folder that end with `suffix`, sorted; empty when there is no such folder."""
    found = files(__name__).joinpath(*folder.split("/"))
    if not found.is_dir():
        return ()
    return tuple(sorted(f"{folder}/{entry.name}" for entry in found.iterdir() if entry.name.endswith(suffix)))
