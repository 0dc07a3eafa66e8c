"""The simulator's two listeners, for a process of its own (`__main__`) or inside a test's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from app.devices.zvt.simulator.control import Control
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.session import Session

_LOOPBACK = "127.0.0.1"


class SimulatedTerminal:
    """Listens on loopback from `start` to `close`; `port` and `control_port` are known then."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.port = 0
        self.control_port = 0
        self._servers: list[asyncio.Server] = []
        self._lines: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, port: int = 0, control_port: int = 0) -> None:
        """Listen; raises `OSError` when a port is taken."""
        control = Control(self.machine)

        async def serve_till(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._tracked(writer, Session(self.machine, reader, writer).serve())

        async def serve_control(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._tracked(writer, control.serve(reader, writer))

        for handler, wanted in ((serve_till, port), (serve_control, control_port)):
            self._servers.append(await asyncio.start_server(handler, _LOOPBACK, wanted))
        self.port, self.control_port = (server.sockets[0].getsockname()[1] for server in self._servers)

    async def _tracked(self, writer: asyncio.StreamWriter, work: Awaitable[None]) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._lines[task] = writer
            task.add_done_callback(self._lines.pop)
        await work

    async def close(self) -> None:
        """Stop listening and drop every connection; each conversation ends as with a cut line."""
        for server in self._servers:
            server.close()
        for writer in self._lines.values():
            writer.transport.abort()
        if self._lines:
            await asyncio.wait(list(self._lines), timeout=2)
