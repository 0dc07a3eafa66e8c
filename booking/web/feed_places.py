"""How many feeds may be open at once, here and from one address: each costs about 175 kB, and nobody else counts them.

The server's own bound is of connections that are not upgraded. Most of the memory is the read buffer of a socket, which
the server makes; what the feed itself keeps of a client is some kB. Staff have their place whatever the crowd does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from booking.domain.caller import Caller, Role
from booking.domain.errors import BusyError, RateLimitedError

MOST_FEEDS = 5_000
MOST_FEEDS_OF_ADDRESS = 200
"""Many people may share one address of a mobile network; one program that opens feeds has no use for as many."""
_RETRY_AFTER_S = 10


class FeedPlaces:
    """The feeds of fans and of callers without a token. Used from one event loop."""

    def __init__(self, most: int = MOST_FEEDS, most_of_address: int = MOST_FEEDS_OF_ADDRESS) -> None:
        if min(most, most_of_address) < 1:
            raise ValueError("at least one feed has a place")
        self._most, self._most_of_address = most, most_of_address
        self._of_address: Counter[str] = Counter()
        self.taken = 0

    @contextmanager
    def taking(self, caller: Caller | None, address: str | None) -> Iterator[None]:
        """A place for one feed, as long as this lasts. `address` is None for this machine itself.

        Raises:
            RateLimitedError: the address has as many as it may.
            BusyError: this process has as many as it may; another one, or a moment later, has room.
        """
        if caller is not None and caller.role is not Role.FAN:
            yield
            return
        if address is not None and self._of_address[address] >= self._most_of_address:
            raise RateLimitedError("Too many maps are open at this address.", retry_after_s=_RETRY_AFTER_S)
        if self.taken >= self._most:
            raise BusyError("Too many maps are open here. Read the snapshot meanwhile.", retry_after_s=_RETRY_AFTER_S)
        self.taken += 1
        if address is not None:
            self._of_address[address] += 1
        try:
            yield
        finally:
            self.taken -= 1
            if address is not None:
                self._of_address[address] -= 1
                if not self._of_address[address]:
                    del self._of_address[address]
