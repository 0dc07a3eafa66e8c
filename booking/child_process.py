"""Child processes of ours: `python -m MODULE`, in a session of their own, asked to stop before they are ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import booking

LONGEST_LINE: Final = 16 * 1024 * 1024
_CODE = Path(booking.__file__).parents[1]


async def spawn(
    module: Sequence[str],
    *,
    stdout: int,
    stderr: int | None,
    stdin: int = asyncio.subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
) -> asyncio.subprocess.Process:
    """`python -m MODULE …` with our code; `environment` is added to ours. Ctrl-C at the terminal is ours to hear."""
    own = {**os.environ, **(environment or {})}
    own["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_CODE), own.get("PYTHONPATH")]))
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", *module,
        stdin=stdin, stdout=stdout, stderr=stderr, env=own, start_new_session=True, limit=LONGEST_LINE,
    )  # fmt: skip


async def end(process: asyncio.subprocess.Process, within_s: float) -> bool:
    """Ask it to stop; end it and its whole group when it does not. Returns whether it stopped by itself."""
    if process.returncode is not None:
        return True
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(within_s):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        await process.wait()
        return False
    return True
