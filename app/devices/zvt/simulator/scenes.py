"""What the simulated terminal does with the next payment."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum


class SceneName(StrEnum):
    """`line-lost-…` scenes cut the connection: before anything is booked; booked, before 04 0F; after 04 0F; after the
    till's verdict.
    """

    APPROVE = "approve"
    PARTIAL_APPROVAL = "partial-approval"
    DECLINE = "decline"
    CUSTOMER_TIMEOUT = "customer-timeout"
    ABORT_CROSSING_APPROVAL = "abort-crossing-approval"
    MORE_TIME = "more-time"
    LINE_LOST_BEFORE_RESULT = "line-lost-before-result"
    LINE_LOST_AFTER_APPROVAL = "line-lost-after-approval"
    LINE_LOST_AFTER_RESULT = "line-lost-after-result"
    LINE_LOST_AFTER_VERDICT = "line-lost-after-verdict"
    HANG = "hang"
    DEAD = "dead"
    BUSY = "busy"


class ReversalFault(StrEnum):
    """What goes wrong with reversals (06 30): another amount told; the line cut before or after the terminal did it."""

    NONE = "none"
    WRONG_AMOUNT = "wrong-amount"
    LINE_LOST_BEFORE = "line-lost-before"
    LINE_LOST_AFTER = "line-lost-after"


class DayFault(StrEnum):
    """What goes wrong with ends of day (06 50): refused; the line cut before or after it was made; no totals told."""

    NONE = "none"
    REFUSED = "refused"
    LINE_LOST_BEFORE = "line-lost-before"
    LINE_LOST_AFTER = "line-lost-after"
    SILENT = "silent"


class FrameMode(StrEnum):
    """How frames are put on the wire: one write each, in small pieces, or several in one write."""

    WHOLE = "whole"
    SPLIT = "split"
    GLUED = "glued"


@dataclass(frozen=True, slots=True)
class Scene:
    """One payment's course.

    `amount_minor` is what a partial approval books (None: half); `result_code` the reason of a decline; `repeats` and
    `interval_s` how often and how fast `more-time` asks; `auto_reverse` makes the terminal take back what it booked
    when the till never acknowledged the result.
    """

    name: SceneName = SceneName.APPROVE
    amount_minor: int | None = None
    result_code: int = 0x05
    repeats: int = 3
    interval_s: float = 0.02
    auto_reverse: bool = False


@dataclass(slots=True)
class Delays:
    """Seconds that a person and the bank take."""

    card_s: float = 0.7
    host_s: float = 0.6
    receipt_s: float = 0.2

    def scale_to(self, total_s: float) -> None:
        """Spread `total_s` over the steps in the usual proportions."""
        self.card_s, self.host_s, self.receipt_s = (total_s * share / 15 for share in (7, 6, 2))


class Script:
    """Scenes queued for the next payments, then a standing one."""

    def __init__(self, standing: Scene) -> None:
        self.standing = standing
        self._queue: deque[Scene] = deque()

    def queue(self, scene: Scene, times: int) -> None:
        """Play `scene` for the next `times` payments."""
        self._queue.extend([scene] * times)

    def clear(self) -> None:
        """Forget what is queued."""
        self._queue.clear()

    def next(self) -> Scene:
        """The scene of the payment that begins now."""
        return self._queue.popleft() if self._queue else self.standing

    @property
    def queued(self) -> int:
        return len(self._queue)
