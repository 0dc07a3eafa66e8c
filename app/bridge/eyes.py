"""A picture as people see it who do not tell all colours apart.

Matrices of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color
Vision Deficiency" (IEEE TVCG 15, 2009), at severity 1.0; they stand for linear sRGB.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

_Floats = npt.NDArray[np.float32]


class Eyes(StrEnum):
    """How somebody sees; the values name the pictures."""

    ALL = "all-colours"
    PROTANOPIA = "protanopia"
    DEUTERANOPIA = "deuteranopia"
    TRITANOPIA = "tritanopia"


MATRICES: Final[dict[Eyes, _Floats]] = {
    Eyes.PROTANOPIA: np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]], np.float32
    ),
    Eyes.DEUTERANOPIA: np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]], np.float32
    ),
    Eyes.TRITANOPIA: np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]], np.float32
    ),
}
_BYTE = np.arange(256, dtype=np.float32) / 255
_LINEAR = np.where(_BYTE <= 0.04045, _BYTE / 12.92, ((_BYTE + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""Linear light of each byte of sRGB."""
_STEPS: Final = 4096
_LIGHT = np.arange(_STEPS, dtype=np.float32) / (_STEPS - 1)
_BYTES = np.round(
    255 * np.where(_LIGHT <= 0.0031308, _LIGHT * 12.92, 1.055 * _LIGHT ** (1 / 2.4) - 0.055)
).astype(np.uint8)  # fmt: skip


def seen_by(image: QImage, eyes: Eyes) -> QImage:
    """A copy of `image` as these eyes see it; its alpha is given up."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    if eyes is Eyes.ALL:
        return plain
    width, height, stride = plain.width(), plain.height(), plain.bytesPerLine()
    lines = np.frombuffer(plain.constBits(), np.uint8).reshape(height, stride)
    colors = seen_colors(lines[:, : 3 * width].reshape(-1, 3), eyes)
    seen = np.zeros((height, stride), np.uint8)
    seen[:, : 3 * width] = colors.reshape(height, 3 * width)
    return QImage(seen.data, width, height, stride, QImage.Format.Format_RGB888).copy()


def seen_colors(colors: npt.NDArray[np.uint8], eyes: Eyes) -> npt.NDArray[np.uint8]:
    """(n, 3) bytes of sRGB → the same as these eyes see them."""
    if eyes is Eyes.ALL:
        return colors.copy()
    # A picture of windows has few colours: each is reckoned once.
    packed = colors[:, 0].astype(np.uint32) << 16 | colors[:, 1].astype(np.uint32) << 8 | colors[:, 2]
    known, places = np.unique(packed, return_inverse=True)
    parts = np.stack([known >> 16 & 0xFF, known >> 8 & 0xFF, known & 0xFF], axis=1)
    light = np.clip(_LINEAR[parts] @ MATRICES[eyes].T, 0, 1)
    seen = _BYTES[np.round(light * (_STEPS - 1)).astype(np.intp)]
    return np.asarray(seen[places.reshape(-1)], np.uint8)
