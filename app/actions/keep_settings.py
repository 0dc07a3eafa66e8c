"""Keeping the till's own settings without making anybody wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from app.settings import AnySetting, Scalar, Settings


async def keep_settings(settings: Settings) -> None:
    """Write them as they are by the time the disk takes them.

    Raises:
        OSError: they cannot be written.
    """
    await asyncio.to_thread(settings.write)


async def set_and_keep(settings: Settings, values: Mapping[AnySetting, Scalar]) -> None:
    """Set several and write them: all of them or none.

    Raises:
        ValueError: one of them is of the wrong type or out of bounds.
        OSError: they cannot be written; everything is as before.
    """
    await asyncio.to_thread(settings.set_all, values)
