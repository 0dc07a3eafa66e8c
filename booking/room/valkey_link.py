"""The one connection of a room's store to its Valkey: found, made anew when it is lost, and what its refusals mean.

Nothing is repeated here. What was sent when the connection went is `LinkLostError`: done or not, nobody knows; the
store asks again with the same number of the batch and so finds out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from valkey.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from valkey.exceptions import (
    AuthenticationError,
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    ResponseError,
    ValkeyError,
)
from valkey.exceptions import ConnectionError as GoneError
from valkey.exceptions import TimeoutError as SlowError

from booking.room.store import StoreFailedError
from booking.room.store_address import Endpoint, ValkeyAddress
from booking.room.valkey_script import ALL

ANSWERS_WITHIN_S: Final = 6.0
_CONNECTS_WITHIN_S = 3.0
_MOST_HOPS = 5
_PASSES = ("LOADING", "BUSY", "TRYAGAIN", "ASK", "MOVED", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS")
"""Refusals after which the same may be accepted a little later, or by another server; nothing was done."""

Command = tuple[bytes | str | int, ...]


class LinkLostError(Exception):
    """There is no answer now; whether what was asked for was done is not known. Asking again may help."""


class ValkeyLink:
    """A connection to the primary that keeps `key`, made when it is needed."""

    def __init__(self, address: ValkeyAddress, key: str, password: str | None) -> None:
        self._address, self._key, self._password = address, key, password
        self._connection: AbstractConnection | None = None

    async def ask(self, *commands: Command) -> list[Any]:
        """The answers to commands that are sent at once.

        Raises:
            LinkLostError: no answer, or one that says "later".
            StoreFailedError: the server refuses.
        """
        try:
            connection = self._connection or await self._connect()
            return await _ask(connection, commands)
        except (ValkeyError, OSError, RuntimeError) as error:
            failure = _failure(error)
            if isinstance(failure, LinkLostError):
                await self.close()
            raise failure from error

    async def optional(self, *command: bytes | str | int) -> Any:  # noqa: ANN401 - what the command gives
        """The answer to a command that a server may not know or not allow: None then."""
        try:
            return (await self.ask(command))[0]
        except StoreFailedError as error:
            if isinstance(error.__cause__, NoPermissionError) or "unknown command" in str(error).lower():
                return None
            raise

    async def close(self) -> None:
        """Hang up."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await _hang_up(connection)

    # ------------------------------------------------------------ finding the server

    async def _connect(self) -> AbstractConnection:
        """The first endpoint that is, or leads to, the primary.

        Raises:
            ValkeyError, OSError, LinkLostError, StoreFailedError: there is none.
        """
        problem: Exception = LinkLostError("there is no address")
        for endpoint in self._address.endpoints:
            try:
                self._connection = await self._at(endpoint)
            except (LinkLostError, ValkeyError, OSError, RuntimeError) as error:
                # A replica whose primary has gone says MASTERDOWN, a node without its cluster CLUSTERDOWN: the next
                # endpoint may be the primary now. What will not pass is said at once.
                problem = error if isinstance(error, LinkLostError) else _failure(error)
                if not isinstance(problem, LinkLostError):
                    raise
            else:
                return self._connection
        raise problem

    async def _at(self, endpoint: Endpoint) -> AbstractConnection:
        for _ in range(_MOST_HOPS):
            connection = self._made(endpoint)
            try:
                await _dial(connection)
                moved = await self._greet(connection, endpoint)
            except BaseException:
                await _hang_up(connection)
                raise
            if moved is None:
                return connection
            await _hang_up(connection)
            endpoint = moved
        raise LinkLostError(f"{endpoint}: the cluster sends us round in circles")

    async def _greet(self, connection: AbstractConnection, endpoint: Endpoint) -> Endpoint | None:
        """Learn what server it is, and leave the scripts there. Returns where it sends us."""
        try:
            await _ask(connection, [("EXISTS", self._key)])
        except ResponseError as error:
            if str(error).startswith("MOVED "):
                host, _, port = str(error).split()[2].rpartition(":")
                return Endpoint(host or endpoint.host, int(port))
            raise
        (info,) = await _ask(connection, [("INFO",)])
        role = facts_of_info(info).get("role", "master")
        if role != "master":
            raise LinkLostError(f"{endpoint} is a read-only replica (role {role}), not the primary")
        await _ask(connection, [("SCRIPT", "LOAD", script) for script in ALL])
        return None

    def _made(self, endpoint: Endpoint) -> AbstractConnection:
        known: dict[str, Any] = {
            "db": self._address.database, "username": self._address.username, "password": self._password,
            "socket_timeout": ANSWERS_WITHIN_S, "socket_connect_timeout": _CONNECTS_WITHIN_S,
            "client_name": "taquilla-room",
        }  # fmt: skip
        if endpoint.path:
            return UnixDomainSocketConnection(path=endpoint.path, **known)
        known |= {"host": endpoint.host, "port": endpoint.port, "socket_keepalive": True}
        tls = self._address.tls
        if tls is None:
            return Connection(**known)
        return SSLConnection(
            ssl_ca_certs=tls.ca, ssl_certfile=tls.certificate, ssl_keyfile=tls.key, ssl_check_hostname=True, **known
        )


async def _dial(connection: AbstractConnection) -> None:
    """Connect and sign in; the library wraps what the server says to that."""
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
    except GoneError as error:
        if isinstance(error.__cause__, ValkeyError):
            raise error.__cause__ from None
        raise


async def _ask(connection: AbstractConnection, commands: Sequence[Command]) -> list[Any]:
    """All answers are read before the first refusal is raised: the connection stays in step."""
    await connection.send_packed_command(connection.pack_commands(commands))
    answers: list[Any] = []
    for _ in commands:
        try:
            answers.append(await connection.read_response(disable_decoding=True))
        except ResponseError as error:
            answers.append(error)
    for answer in answers:
        if isinstance(answer, ResponseError):
            raise answer
    return answers


async def _hang_up(connection: AbstractConnection) -> None:
    with suppress(ValkeyError, OSError, asyncio.TimeoutError):
        await connection.disconnect(nowait=True)


def _failure(error: Exception) -> LinkLostError | StoreFailedError:
    """What an error of the library means to us."""
    text = str(error) or type(error).__name__
    if isinstance(error, AuthenticationError):
        return StoreFailedError(f"the server does not let us in: {text}")
    # RuntimeError: what uvloop says of a connection that has just gone.
    if isinstance(error, (GoneError, SlowError, OSError, RuntimeError, NoScriptError, ReadOnlyError)):
        return LinkLostError(text)
    if isinstance(error, ResponseError) and text.split(" ", 1)[0] in _PASSES:
        return LinkLostError(text)
    return StoreFailedError(text)


def facts_of_info(info: bytes) -> Mapping[str, str]:
    """The answer to INFO by its names."""
    pairs = (line.partition(":") for line in info.decode(errors="replace").splitlines())
    return {name: value for name, separator, value in pairs if separator and not name.startswith("#")}
