"""Which store a room has: the options of the command line, and opening what they name."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from booking.room.sqlite_store import SqliteStore
from booking.room.store import RoomStore
from booking.room.store_address import SqliteAddress, StoreAddress, parse_address

STORE_VARIABLE: Final = "TAQUILLA_ROOM_STORE"
PASSWORD_VARIABLE: Final = "TAQUILLA_ROOM_STORE_PASSWORD"


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """A store, and how it is opened. The password is read when it is needed."""

    address: StoreAddress
    password_file: Path | None = None
    accept_loss: bool = False

    async def open(self, *, must_exist: bool = False) -> RoomStore:
        """The store, for this process alone.

        Raises:
            StoreFailedError, OSError: it cannot be had, and why.
        """
        if isinstance(self.address, SqliteAddress):
            if must_exist and not self.address.path.is_file():
                raise FileNotFoundError(f"{self.address}: there is no such file")
            self.address.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return SqliteStore(self.address.path)
        from booking.room.valkey_store import ValkeyStore

        return await ValkeyStore.open(self.address, self._password(), accept_loss=self.accept_loss)

    def _password(self) -> str | None:
        if self.password_file is not None:
            return self.password_file.read_text(encoding="utf-8").strip()
        return os.environ.get(PASSWORD_VARIABLE)


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the store is, and copying one to another."""
    parser.add_argument("--data", type=Path, help="folder of the store in SQLite; made when it is missing")
    parser.add_argument(
        "--store", default=os.environ.get(STORE_VARIABLE, "sqlite"), metavar="ADDRESS",
        help="sqlite, sqlite:FILE, valkey://HOST:PORT/DB?prefix=NAME, valkeys://… or unix:///PATH; "
        f"default: ${STORE_VARIABLE}, or sqlite",
    )  # fmt: skip
    parser.add_argument(
        "--store-password-file", type=Path, metavar="FILE", help=f"password of Valkey; default: ${PASSWORD_VARIABLE}"
    )
    parser.add_argument(
        "--accept-store-loss", action="store_true", help="also a Valkey that may forget what people were told"
    )
    parser.add_argument(
        "--copy-from", metavar="ADDRESS", help="copy this store to --store, which must be empty, and end"
    )
    parser.add_argument(
        "--copy-password-file", type=Path, metavar="FILE", help="password of --copy-from; default: the same variable"
    )
    parser.add_argument(
        "--accept-copied-store", action="store_true", help="start on, or copy, a store that was copied to another one"
    )


def check_store(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """Turn `store` and `copy_from` into choices, or end with what is wrong."""
    store = _address(parser, "--store", chosen.store, chosen.data)
    chosen.store = StoreChoice(store, chosen.store_password_file, chosen.accept_store_loss)
    if chosen.copy_from is not None:
        source = _address(parser, "--copy-from", chosen.copy_from, chosen.data)
        if source == store:
            parser.error("--copy-from and --store are the same store")
        chosen.copy_from = StoreChoice(source, chosen.copy_password_file, accept_loss=True)
    elif chosen.copy_password_file is not None:
        parser.error("--copy-password-file goes with --copy-from")


def _address(parser: argparse.ArgumentParser, option: str, text: str, data: Path | None) -> StoreAddress:
    try:
        return parse_address(text, data)
    except ValueError as error:
        parser.error(f"{option}: {error}")
