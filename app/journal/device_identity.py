"""The identity of this counter: made once, kept in the data folder; sessions and payment operations are bound to it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import UUID

from uuid_utils.compat import uuid7

from app.core.errors import JournalDamagedError
from backend_client.wire import DeviceId

FILE_NAME = "device.json"


def read_device_id(folder: Path) -> DeviceId:
    """The id of this counter; made at the first start.

    Raises:
        JournalDamagedError: the file is there and cannot be read. A new id would lose the operations of the old one.
    """
    path = folder / FILE_NAME
    try:
        return DeviceId(UUID(json.loads(path.read_text("utf-8"))["device_id"]))
    except FileNotFoundError:
        return _make(path)
    except (ValueError, KeyError, TypeError) as error:
        raise JournalDamagedError(f"{FILE_NAME} cannot be read") from error


def _make(path: Path) -> DeviceId:
    device_id = DeviceId(uuid7())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(".new")
    with draft.open("w", encoding="utf-8") as file:
        json.dump({"device_id": str(device_id)}, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return device_id
