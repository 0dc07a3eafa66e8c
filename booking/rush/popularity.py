"""Which seats people want: many want the few in front, and friends want seats that overlap."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from random import Random

from booking.crowd import FRIENDS, SIZE_WEIGHTS, SIZES


class SeatPicker:
    """Draws runs of neighbouring seats. `skew` is Zipf's exponent over the seat order: 0 is no preference at all."""

    def __init__(self, seats: int, skew: float, rng: Random, cumulative: list[float] | None = None) -> None:
        self._seats = seats
        self._rng = rng
        self._cumulative = cumulative or list(accumulate((rank + 1) ** -skew for rank in range(seats)))

    def of(self, rng: Random) -> SeatPicker:
        """The same wishes, drawn by somebody else's dice."""
        return SeatPicker(self._seats, 0.0, rng, self._cumulative)

    def size(self) -> int:
        """How many seats somebody wants: 1 to 6, most often two."""
        return min(self._rng.choices(SIZES, SIZE_WEIGHTS)[0], self._seats)

    def popular(self) -> tuple[int, ...]:
        """What somebody tries first."""
        at = bisect_left(self._cumulative, self._rng.random() * self._cumulative[-1])
        return self._run(at, self.size())

    def anywhere(self, size: int) -> tuple[int, ...]:
        """What somebody tries who has lost: anything, as long as they sit together."""
        return self._run(self._rng.randrange(self._seats), size)

    def friends(self) -> list[tuple[int, ...]]:
        """What two to four friends try at the same instant: the same place, each a seat further, in mixed order."""
        first = self.popular()
        wishes = [first]
        for step in range(1, self._rng.choice(FRIENDS)):
            wish = self._run(first[0] + step, len(first))
            wishes.append(wish[::-1] if step % 2 else wish)
        return wishes

    def _run(self, first: int, size: int) -> tuple[int, ...]:
        first = max(0, min(first, self._seats - size))
        return tuple(range(first, first + size))
