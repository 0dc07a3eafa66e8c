"""The card-terminal simulator as a process of its own. Exit codes: 0 stopped, 2 wrong use, 3 a port is taken."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from app.devices.zvt.simulator.ledger import Ledger
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import Delays, FrameMode, Scene, SceneName, Script
from app.devices.zvt.simulator.server import SimulatedTerminal

DEMO_DELAY_S = 1.5
_PARENT_CHECK_S = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM, SIGINT or the parent's end."""
    options = _parse(arguments)
    try:
        return asyncio.run(_run(options))
    except OSError as error:
        sys.stderr.write(f"terminal-simulator: {error}\n")
        return 3


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla terminal-simulator", description="A simulated ZVT card terminal.")
    parser.add_argument("--port", type=int, default=0, help="where tills connect (loopback; 0: a free one)")
    parser.add_argument("--control-port", type=int, default=0, help="where scenarios are set (loopback; 0: a free one)")
    parser.add_argument("--scenario", choices=[name.value for name in SceneName], default=SceneName.APPROVE.value)
    parser.add_argument("--frames", choices=[mode.value for mode in FrameMode], default=FrameMode.WHOLE.value)
    parser.add_argument("--delay", type=float, default=DEMO_DELAY_S, metavar="S", help="seconds a payment takes")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep stored transactions here over restarts")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="JSON with the ports, once both listen")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="stop when this process is gone")
    return parser.parse_args(arguments)


async def _run(options: argparse.Namespace) -> int:
    delays = Delays()
    delays.scale_to(options.delay)
    terminal = SimulatedTerminal(
        Machine(
            ledger=Ledger.load(options.state),
            script=Script(Scene(SceneName(options.scenario))),
            delays=delays,
            frame_mode=FrameMode(options.frames),
        )
    )
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(end.set))
    await terminal.start(options.port, options.control_port)
    sys.stderr.write(f"card terminal on 127.0.0.1:{terminal.port}, control on 127.0.0.1:{terminal.control_port}\n")
    if options.ready_file is not None:
        facts = {"pid": os.getpid(), "port": terminal.port, "control_port": terminal.control_port}
        _write_whole(options.ready_file, json.dumps(facts))
    watch = asyncio.create_task(_end_with_parent(options.parent_pid, end), name="parent-watch")
    await end.wait()
    watch.cancel()
    await terminal.close()
    return 0


async def _end_with_parent(parent_pid: int | None, end: asyncio.Event) -> None:
    if parent_pid is None:
        return
    try:
        parent = psutil.Process(parent_pid)
        while parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PARENT_CHECK_S):
                    await end.wait()
                    return
    except psutil.NoSuchProcess:
        pass
    end.set()


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
