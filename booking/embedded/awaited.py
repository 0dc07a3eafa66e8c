"""`temporary_cluster()` for programs that live in an event loop: started and stopped in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from booking.embedded.cluster import Cluster
from booking.embedded.temporary import temporary_cluster

T = TypeVar("T")


@asynccontextmanager
async def awaited_cluster(settings: Mapping[str, str]) -> AsyncIterator[Cluster]:
    """A throw-away cluster with these PostgreSQL settings; gone at the end, also when we are cancelled meanwhile.

    Raises:
        EmbeddedError: it does not start.
    """
    manager = temporary_cluster(settings=settings)
    try:
        yield await to_its_end(manager.__enter__)
    finally:
        await to_its_end(lambda: manager.__exit__(None, None, None))


async def to_its_end(call: Callable[[], T]) -> T:
    """Run a blocking call; when cancelled, wait for it first: half a start cannot be stopped."""
    task = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
