"""Keeping the till's own settings without making anybody wait for the disk."""

from __future__ import annotations

import asyncio

from app.settings import Settings


async def keep_settings(settings: Settings) -> None:
    """Write them as they are by the time the disk takes them.

    Raises:
        OSError: they cannot be written.
    """
    await asyncio.to_thread(settings.write)
