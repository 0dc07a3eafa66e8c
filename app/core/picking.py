"""How seats are being picked at the counter: how many together, what was shown as best, what is offered, and undo.

It is the person's own scratch paper. It is never written down, begins anew with each event, and what it remembers of
picks ends when they are held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.core.best_blocks import Block, BlockWish
from app.core.sale import Pick

HISTORY_KEPT = 50
Picks = tuple[Pick, ...]


class OfferKind(StrEnum):
    LOST = "lost"
    """Somebody else took seats of the pick."""
    ORPHAN = "orphan"
    """The pick would leave seats single."""


@dataclass(frozen=True, slots=True)
class SeatOffer:
    """`about`: the seats lost, or left single. `instead`: all seats that the sale could have; () when there are none.

    `refused` tells that the booking system has said no already; otherwise it is a warning before the hold.
    """

    kind: OfferKind
    about: tuple[int, ...]
    instead: tuple[int, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class BestShown:
    """The block on show, the `rank`-th of `total` (from 1), and those that were shown before it."""

    wish: BlockWish
    block: Block
    rank: int
    total: int
    seen: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class PickHistory:
    """Picks as they were before each step, the newest last, and those that undo took back."""

    past: tuple[Picks, ...] = ()
    future: tuple[Picks, ...] = ()

    def after(self, before: Picks, now: Picks) -> PickHistory:
        """The history once `before` has become `now`; a change of price types alone is no step."""
        if _taken(before) == _taken(now):
            return self
        return PickHistory((*self.past, before)[-HISTORY_KEPT:])

    def back(self, now: Picks) -> tuple[Picks, PickHistory] | None:
        """The picks before the last step; None when there is none."""
        if not self.past:
            return None
        return self.past[-1], PickHistory(self.past[:-1], (*self.future, now))

    def forth(self, now: Picks) -> tuple[Picks, PickHistory] | None:
        """The picks that the last undo took back; None when there are none."""
        if not self.future:
            return None
        return self.future[-1], PickHistory((*self.past, now), self.future[:-1])


def _taken(picks: Picks) -> tuple[tuple[int, int | None], ...]:
    return tuple((pick.seat_no, pick.tier_id) for pick in picks)


@dataclass(frozen=True, slots=True)
class Picking:
    """`together`: how many seats a click takes, 1–6. `sections` and `categories`: where best available looks."""

    together: int = 1
    sections: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()
    best: BestShown | None = None
    offer: SeatOffer | None = None
    history: PickHistory = PickHistory()

    @property
    def wish(self) -> BlockWish:
        """What best available is asked for."""
        return BlockWish(self.together, self.categories, self.sections)

    def begun_anew(self) -> Picking:
        """For the next pick: where to look and how many stay, the rest is over."""
        return replace(self, best=None, offer=None, history=PickHistory())
