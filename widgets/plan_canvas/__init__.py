"""A drawing of a hall that is being planned: rows, seats, shapes; choosing, dragging, bending, drawing new ones.

It changes nothing by itself: what a hand does becomes a wish (a signal in plan units), and whoever keeps the plan shows
the next scene.
"""

from widgets.plan_canvas.canvas import PlanCanvas
from widgets.plan_canvas.scene import (
    CanvasFocus,
    CanvasPicture,
    CanvasRow,
    CanvasScene,
    CanvasSeat,
    CanvasShape,
    Chosen,
)
from widgets.plan_canvas.tools import Tool

__all__ = [
    "CanvasFocus",
    "CanvasPicture",
    "CanvasRow",
    "CanvasScene",
    "CanvasSeat",
    "CanvasShape",
    "Chosen",
    "PlanCanvas",
    "Tool",
]
