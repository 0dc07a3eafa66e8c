"""Pictures under a plan: read from the bytes that came with the plan, never from anywhere else, and of bounded size."""

from __future__ import annotations

import logging
from functools import lru_cache

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize
from PySide6.QtGui import QImage, QImageReader

from widgets.seat_map.plan import MapImage

MOST_BYTES = 8_000_000
MOST_SIDE_PX = 4096
_FORMATS = (b"png", b"jpeg")
_LOG = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def _read(data: bytes) -> QImage | None:
    if len(data) > MOST_BYTES:
        _LOG.warning("the picture of a plan is left out: %d bytes are more than %d", len(data), MOST_BYTES)
        return None
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()) not in _FORMATS:
        _LOG.warning("the picture of a plan is left out: it is neither PNG nor JPEG")
        return None
    size = reader.size()
    if max(size.width(), size.height()) > MOST_SIDE_PX:
        reader.setScaledSize(_shrunk(size))
    image = reader.read()
    if image.isNull():
        _LOG.warning("the picture of a plan is left out: %s", reader.errorString())
        return None
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def picture_of(image: MapImage) -> QImage | None:
    """The picture, at most `MOST_SIDE_PX` wide and high; None when its bytes are too many or no PNG or JPEG."""
    return _read(image.data)


def _shrunk(size: QSize) -> QSize:
    share = MOST_SIDE_PX / max(size.width(), size.height())
    return QSize(max(1, int(size.width() * share)), max(1, int(size.height() * share)))
