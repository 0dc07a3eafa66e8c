"""What a hand can draw with on a plan canvas."""

from __future__ import annotations

from enum import Enum


class Tool(Enum):
    """What the next gesture does."""

    CHOOSE = "choose"
    ROW = "row"
    ROWS = "rows"
    TABLE = "table"
    BOOTH = "booth"
    STANDING = "standing"
    STAGE = "stage"
    TEXT = "text"
    FOCUS = "focus"


AT_A_POINT = frozenset({Tool.TABLE, Tool.BOOTH, Tool.TEXT, Tool.FOCUS})
"""A click is enough for these."""
FIRST_HEIGHTS = {Tool.ROWS: 0.15, Tool.STANDING: 0.1, Tool.STAGE: 0.05}
"""What Enter draws reaches so far up and down, as a share of the hall's depth."""
