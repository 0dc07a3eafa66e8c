"""Who waits for news of one room: of his own place, or of all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Waiters:
    """Who waits for news of one room: of his own place, or of all."""

    of_place: dict[int, set[asyncio.Future[None]]] = field(default_factory=dict)

    def wait_for(self, number: int) -> asyncio.Future[None]:
        """A future that ends with the next news of this place or of the room."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.of_place.setdefault(number, set()).add(future)
        return future

    def forget(self, number: int, future: asyncio.Future[None]) -> None:
        """Whoever waited is gone."""
        waiting = self.of_place.get(number)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self.of_place[number]

    def tell(self, numbers: set[int] | None) -> None:
        """Wake those of `numbers`; None wakes all."""
        for number in list(self.of_place) if numbers is None else numbers:
            for future in self.of_place.pop(number, ()):
                if not future.done():
                    future.set_result(None)

    def __len__(self) -> int:
        return sum(map(len, self.of_place.values()))
