"""Who waits for news of one room: of his own place, or of all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Waiters:
    """Who waits for news of one room: of his own place, or of all."""

    of_place: dict[int, set[asyncio.Future[None]]] = field(default_factory=dict)
    _count: int = 0
    _is_over: bool = False

    def wait_for(self, number: int) -> asyncio.Future[None]:
        """A future that ends with the next news of this place or of the room; at once when there will be none."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_over:
            future.set_result(None)
            return future
        self.of_place.setdefault(number, set()).add(future)
        self._count += 1
        return future

    def forget(self, number: int, future: asyncio.Future[None]) -> None:
        """Whoever waited is gone."""
        waiting = self.of_place.get(number)
        if waiting is None or future not in waiting:
            return
        waiting.discard(future)
        self._count -= 1
        if not waiting:
            del self.of_place[number]

    def tell(self, numbers: set[int] | None) -> None:
        """Wake those of `numbers`; None wakes all."""
        for number in list(self.of_place) if numbers is None else numbers:
            futures = self.of_place.pop(number, ())
            self._count -= len(futures)
            for future in futures:
                if not future.done():
                    future.set_result(None)

    def end(self) -> None:
        """Wake all: nobody will tell any news."""
        self._is_over = True
        self.tell(None)

    def __len__(self) -> int:
        return self._count
