"""Where a room's store is, as operators write it.

    sqlite                                     FOLDER/room.sqlite
    sqlite:FILE                                this file
    valkey://[USER@]HOST[:PORT][,HOST[:PORT]…][/DB][?OPTIONS]     also redis://
    valkeys://…                                the same over TLS, also rediss://
    unix://[USER@]/PATH[?OPTIONS]              a socket of this machine

OPTIONS: `prefix=NAME` (several rooms on one server; default `main`), `db=N`, `replicas=N` (so many replicas have each
batch, too, before anybody is told), and with TLS `ca=FILE`, `certificate=FILE`, `key=FILE`. A password is never part
of it: command lines are everybody's to read.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

DEFAULT_PORT: Final = 6379
_TLS_OF_SCHEME: Final = {"valkey": False, "redis": False, "valkeys": True, "rediss": True, "unix": False}
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_FILES = ("ca", "certificate", "key")
_MOST_DATABASE, _MOST_REPLICAS = 65_535, 16


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A TCP port of a host, or a socket's path."""

    host: str = ""
    port: int = DEFAULT_PORT
    path: str = ""

    def __str__(self) -> str:
        return self.path or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


@dataclass(frozen=True, slots=True)
class Tls:
    """How the server is known, and how we are; without `ca` the system's authorities count."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ValkeyAddress:
    """A store in Valkey. `endpoints`: the first of them that is a primary is used."""

    endpoints: tuple[Endpoint, ...]
    username: str | None = None
    database: int = 0
    prefix: str = "main"
    replicas: int = 0
    tls: Tls | None = None

    def __str__(self) -> str:
        kind = "unix" if self.endpoints[0].path else "valkeys" if self.tls else "valkey"
        where = ",".join(map(str, self.endpoints))
        return f"{kind}://{where}" + ("" if kind == "unix" else f"/{self.database}") + f" (prefix {self.prefix})"


@dataclass(frozen=True, slots=True)
class SqliteAddress:
    """A store in a file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


StoreAddress = SqliteAddress | ValkeyAddress


def parse_address(text: str, data: Path | None = None) -> StoreAddress:
    """What `text` names; `data` is the room's folder.

    Raises:
        ValueError: it names nothing that there can be, and why.
    """
    if text == "sqlite":
        if data is None:
            raise ValueError("the store in SQLite lies in the folder that --data names")
        return SqliteAddress(data / "room.sqlite")
    if text.startswith("sqlite:") and len(text) > len("sqlite:"):
        return SqliteAddress(Path(text.removeprefix("sqlite:")))
    parts = urlsplit(text)
    if parts.scheme not in _TLS_OF_SCHEME:
        raise ValueError("sqlite, sqlite:FILE, valkey://HOST:PORT, valkeys://HOST:PORT or unix:///PATH is needed")
    if parts.fragment:
        raise ValueError(f"nothing can follow #: {parts.fragment}")
    return _valkey(parts)


def _valkey(parts: SplitResult) -> ValkeyAddress:
    user, _, hosts = parts.netloc.rpartition("@")
    if ":" in user:
        raise ValueError("leave the password out of the address; see --store-password-file")
    options = _options(parts.query)
    database = options.get("db", "")
    if parts.scheme == "unix":
        if not hasattr(socket, "AF_UNIX"):
            raise ValueError("this system has no such sockets")
        if hosts or not parts.path.strip("/"):
            raise ValueError("unix:///PATH is needed: a full path, without a host")
        endpoints: tuple[Endpoint, ...] = (Endpoint(path=unquote(parts.path)),)
    else:
        endpoints = tuple(_endpoint(one) for one in hosts.split(","))
        database = parts.path.strip("/") or database
    return ValkeyAddress(
        endpoints,
        unquote(user) or None,
        _number("db", database, _MOST_DATABASE),
        _prefix(options.get("prefix", "main")),
        _number("replicas", options.get("replicas", ""), _MOST_REPLICAS),
        _tls(_TLS_OF_SCHEME[parts.scheme], options),
    )


def _options(query: str) -> Mapping[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    known = {"db", "prefix", "replicas", *_FILES}
    if unknown := sorted(options.keys() - known):
        raise ValueError(f"unknown option {unknown[0]}; there are {', '.join(sorted(known))}")
    if len(options) < len(pairs):
        raise ValueError("an option is named twice")
    return options


def _endpoint(text: str) -> Endpoint:
    parts = urlsplit(f"//{text}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0 or parts.path:
        raise ValueError(f"a host, or host:port, is needed, not {text!r}")
    return Endpoint(host, port or DEFAULT_PORT)


def _number(name: str, text: str, most: int) -> int:
    if not text:
        return 0
    if not text.isascii() or not text.isdigit() or int(text) > most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}, not {text!r}")
    return int(text)


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise ValueError(f"prefix must be 1 to 64 letters, digits, `_`, `.` or `-`, not {text!r}")
    return text


def _tls(is_tls: bool, options: Mapping[str, str]) -> Tls | None:
    files = {name: options[name] for name in _FILES if name in options}
    if not is_tls:
        if files:
            raise ValueError(f"{next(iter(files))} goes with valkeys:// only")
        return None
    for name, path in files.items():
        if not Path(path).is_file():
            raise ValueError(f"{name}: there is no file {path!r}")
    if ("certificate" in files) != ("key" in files):
        raise ValueError("certificate and key go together")
    return Tls(**files)
