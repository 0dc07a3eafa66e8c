"""This counter's name towards the booking system: a device id, made once and kept in the data folder.

Card operations belong to the device that began them: under another id they could never be reported. So the id is made
at the first start alone. A file that is there and cannot be read, or that is gone from beside a journal with sales in
it, is for a person to put right.
"""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

from uuid_utils.compat import uuid7

from app.core.errors import DeviceFileDamagedError, DeviceFileGoneError, DeviceFileNotWrittenError
from app.whole_file import write_whole
from backend_client.wire import DeviceId

FILE_NAME = "device.json"


def device_of(path: Path, *, may_make: bool) -> DeviceId:
    """Read the device id; make one where there is no file yet and `may_make` says that nothing was sold here.

    Raises:
        DeviceFileDamagedError: the file is there and cannot be read.
        DeviceFileNotWrittenError: a new one cannot be written.
        DeviceFileGoneError: the file is missing, and sales were made under its id.
    """
    try:
        return DeviceId(UUID(json.loads(path.read_text("utf-8"))["device_id"]))
    except FileNotFoundError as error:
        if not may_make:
            raise DeviceFileGoneError(path) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DeviceFileDamagedError(path) from error
    try:
        return _make(path)
    except OSError as error:
        raise DeviceFileNotWrittenError(path) from error


def _make(path: Path) -> DeviceId:
    """Written as a whole and synced: a power cut leaves no half of a file that would then be refused."""
    device_id = DeviceId(uuid7())
    write_whole(path, json.dumps({"device_id": str(device_id)}).encode())
    return device_id
