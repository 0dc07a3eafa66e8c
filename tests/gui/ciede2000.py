"""How far two colours are apart to the eye: CIEDE2000 after Sharma, Wu and Dalal (2005). About 1 is just seen."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from tests.gui.test_theme import linear

Floats = npt.NDArray[np.float64]
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(color: QColor, eyes: Floats | None = None) -> Floats:
    """CIELAB (D65) of a colour, as eyes with this matrix in linear light see it."""
    light = linear(color.name())
    if eyes is not None:
        light = np.clip(eyes @ light, 0, 1)
    part = _XYZ @ light / _WHITE
    root = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def difference(one: Floats, other: Floats) -> float:
    """CIEDE2000 between two colours in CIELAB."""
    grey = 0.5 * (1 - math.sqrt(_seventh((math.hypot(*one[1:]) + math.hypot(*other[1:])) / 2)))
    first, second = _chroma_hue(one, grey), _chroma_hue(other, grey)
    chromatic = first[0] * second[0] != 0
    d_light, d_chroma = float(other[0] - one[0]), second[0] - first[0]
    turn = (second[1] - first[1] + 180) % 360 - 180 if chromatic else 0.0
    d_hue = 2 * math.sqrt(first[0] * second[0]) * math.sin(math.radians(turn / 2))
    light, chroma = float(one[0] + other[0]) / 2, (first[0] + second[0]) / 2
    hue = (first[1] + turn / 2) % 360 if chromatic else first[1] + second[1]
    s_light = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    s_chroma, s_hue = 1 + 0.045 * chroma, 1 + 0.015 * chroma * _hue_weight(hue)
    bend = -2 * math.sqrt(_seventh(chroma)) * math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    parts = d_light / s_light, d_chroma / s_chroma, d_hue / s_hue
    return math.sqrt(sum(part * part for part in parts) + bend * parts[1] * parts[2])


def _seventh(chroma: float) -> float:
    return chroma**7 / (chroma**7 + 25.0**7)


def _chroma_hue(color: Floats, grey: float) -> tuple[float, float]:
    a, b = float(color[1]) * (1 + grey), float(color[2])
    return math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def _hue_weight(hue: float) -> float:
    parts = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63))
    return 1 + sum(weight * math.cos(math.radians(times * hue + shift)) for weight, times, shift in parts)
