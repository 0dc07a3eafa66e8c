"""This counter's name towards the booking system: a device id, made once and kept in the data folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import UUID

from uuid_utils.compat import uuid7

from backend_client.wire import DeviceId


def device_of(path: Path) -> DeviceId:
    """Read the device id, or make one. A file that cannot be read as one is replaced: it only loses a name."""
    try:
        return DeviceId(UUID(json.loads(path.read_text("utf-8"))["device_id"]))
    except (OSError, ValueError, KeyError, TypeError):
        device_id = DeviceId(uuid7())
    fresh = path.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({"device_id": str(device_id)}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return device_id
