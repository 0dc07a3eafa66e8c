"""The floor under every renderer: the same seats projected and stamped by a loop in C, and one copy to the screen.

The loop is compiled when the bench runs. Where there is no C compiler the floor is left out, and said so.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import thread_time

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from tests.bench.seat_map.subjects import SIZE
from widgets.seat_map import SeatMapWidget

_COMPILERS = ("cc", "gcc", "clang")
_SOURCE = r"""
#include <stdint.h>
#include <stddef.h>

void draw(const float *x, const float *y, const uint16_t *key, const uint32_t *color, ptrdiff_t seats,
          float scale, float left, float top, int size, uint32_t *px, int width, int height, uint32_t ground)
{
    for (ptrdiff_t at = 0, all = (ptrdiff_t)width * height; at < all; at++)
        px[at] = ground;
    for (ptrdiff_t seat = 0; seat < seats; seat++) {
        int column = (int)(x[seat] * scale + left), line = (int)(y[seat] * scale + top);
        if (column < 0 || line < 0 || column > width - size || line > height - size)
            continue;
        uint32_t *at = px + (ptrdiff_t)line * width + column;
        uint32_t word = color[key[seat]];
        for (int row = 0; row < size; row++, at += width)
            for (int step = 0; step < size; step++)
                at[step] = word;
    }
}
"""


class Floor:
    """A compiled loop; `frame_ms` draws what a map shows now. Use as a context: the library lies in a folder of it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._draw = library.draw
        pointer, whole, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_float
        self._draw.argtypes = [
            *[pointer] * 4, ctypes.c_ssize_t, real, real, real, whole, pointer, whole, whole, ctypes.c_uint32,
        ]  # fmt: skip
        self._draw.restype = None

    def frame_ms(self, shown: SeatMapWidget, repeats: int) -> float:
        """Least CPU ms of fill, projection and stamps in C and the copy of the picture to another one."""
        renderer, width, height = shown.scene.renderer, *SIZE
        keys = renderer.states.key.astype(np.uint16)
        colors = np.arange(int(keys.max(initial=0)) + 1, dtype=np.uint32) | np.uint32(0xFF000000)
        picture = np.zeros((height, width), np.uint32)
        image = QImage(picture.data.cast("B"), width, height, 4 * width, QImage.Format.Format_RGB32)
        screen = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
        scale, left, top = renderer._transform
        grid, size = renderer.grid, renderer.diameter

        def frame() -> None:
            self._draw(
                grid.x.ctypes.data, grid.y.ctypes.data, keys.ctypes.data, colors.ctypes.data, len(keys), scale,
                left - size / 2, top - size / 2, size, picture.ctypes.data, width, height, 0xFFE6EAF2,
            )  # fmt: skip
            painter = QPainter(screen)
            painter.drawImage(QPointF(0, 0), image)
            painter.end()

        return min(_cpu_ms(frame) for _ in range(max(5, 2 * repeats)))


def compiled_floor() -> Floor | None:
    """The floor, None where there is no C compiler."""
    compiler = next((found for name in _COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "floor.c", Path(folder) / "floor.so"
        source.write_text(_SOURCE)
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        return Floor(ctypes.CDLL(str(library)))


def _cpu_ms(step: Callable[[], None]) -> float:
    start = thread_time()
    step()
    return (thread_time() - start) * 1000
