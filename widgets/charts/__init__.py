"""Charts of what goes on, on one time axis: a strip for each unit, limits drawn in, gaps shown as gaps.

`ChartStack` shows strips (`ChartStrip`) that share their span of time and their cross-hair. It is told what to show by
values: a `ChartTable` of samples, a `Span`, specifications with words in the language in use. Time runs from left to
right in every language, as it does on the paper of recorders.

Drawn by QPainter, not by pyqtgraph: a strip scrolls its picture by whole device pixels and draws the newest samples
alone (tests/bench/ops_charts), names and figures are laid out in the theme's fonts from the side where lines begin, and
nothing is imported at the start that costs three quarters of a second.
"""

from __future__ import annotations

from widgets.charts.series import ChartTable, CurveLook, Limit, Span, StripPlan
from widgets.charts.stack import ChartStack
from widgets.charts.strip import ChartStrip

__all__ = ["ChartStack", "ChartStrip", "ChartTable", "CurveLook", "Limit", "Span", "StripPlan"]
