"""How often somebody may call (R8): a bucket of tokens for each account, till and address, in this process's memory.

Staff are bound by a bucket of their own till and by no address: a crowd behind the box office's address throttles no
till. Fans are bound by their account and by their address, callers without a token by their address. Calls from this
machine itself have no address. Several processes each give the whole allowance: the database's limits are the ones that
count tickets; these only keep one caller from taking the turns of all.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import Final

from booking.domain.caller import Caller, Role
from booking.domain.errors import RateLimitedError

MAX_BUCKETS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """`burst` calls at once, and `per_s` calls a second after that."""

    per_s: float
    burst: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_s) and self.per_s > 0 and self.burst >= 1):
            raise ValueError("an allowance is a rate above 0 and a burst of 1 or more")


ALLOWANCES: Final[Mapping[str, Allowance]] = MappingProxyType(
    {
        "hold-per-account": Allowance(10, 20),
        "change-per-account": Allowance(20, 60),
        "hold-per-address": Allowance(100, 400),
        "change-per-address": Allowance(200, 800),
        "account-per-address": Allowance(5, 200),  # a mobile network is one address
        "page-secret-per-account": Allowance(0.5, 6),
        "page-secret-per-address": Allowance(20, 100),
        "renewal-per-address": Allowance(5, 100),
        "sign-in-per-address": Allowance(5, 100),
    }
)
"""Far above what people do, below what hurts others. `change` is every call with an idempotency key but holds."""

_KIND_OF_ROUTE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "POST /v1/events/{event_id}/holds": "hold",
        "POST /v1/accounts": "account",
        "POST /v1/renewals": "account",
        "POST /v1/renewals/next": "renewal",
        "POST /v1/renewals/spare": "renewal",
        "POST /v1/renewals/end": "renewal",
        "GET /v1/payments/{operation_id}/page-secret": "page-secret",  # each asks the provider
        "POST /v1/staff/login": "sign-in",
        "POST /v1/staff/refresh": "sign-in",
    }
)


@dataclass(slots=True)
class Buckets:
    """The buckets of one allowance, by whom they belong to; the one that was used longest ago is forgotten first."""

    allowance: Allowance
    _levels: OrderedDict[Hashable, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait_s(self, owner: Hashable, now: float) -> float:
        """Seconds until the owner has a token; 0 when there is one."""
        return max(0.0, (1.0 - self._level(owner, now)) / self.allowance.per_s)

    def take(self, owner: Hashable, now: float) -> None:
        """Take one token."""
        self._levels[owner] = (self._level(owner, now) - 1.0, now)
        self._levels.move_to_end(owner)
        while len(self._levels) > MAX_BUCKETS:
            self._levels.popitem(last=False)

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, owner: Hashable, now: float) -> float:
        level, since = self._levels.get(owner, (float(self.allowance.burst), now))
        # A token that is due at this very instant is there, whatever the arithmetic has lost on the way.
        return min(float(self.allowance.burst), level + (now - since) * self.allowance.per_s + 1e-9)


class RateLimits:
    """All buckets of this process. Used from one event loop."""

    def __init__(
        self, allowances: Mapping[str, Allowance] = ALLOWANCES, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._buckets = {name: Buckets(allowance) for name, allowance in {**ALLOWANCES, **allowances}.items()}
        self._clock = clock
        self.refused = 0

    def admit(self, route: str, changes: bool, caller: Caller | None, address: str | None) -> None:
        """Count a call of `route` (`POST /v1/…`); reads are not counted, but for those that ask others.

        Raises:
            RateLimitedError: one of the caller's buckets is empty; nothing is counted then. It says when to come again.
        """
        kind = _KIND_OF_ROUTE.get(route, "change" if changes else "")
        if not kind:
            return
        now = self._clock()
        owned = [(buckets, owner) for name, owner in self._owners(kind, caller, address)
                 if (buckets := self._buckets.get(name)) is not None]  # fmt: skip
        wait_s = max((buckets.wait_s(owner, now) for buckets, owner in owned), default=0.0)
        if wait_s > 0:
            self.refused += 1
            raise RateLimitedError("Too many requests. Come again in a moment.", retry_after_s=math.ceil(wait_s))
        for buckets, owner in owned:
            buckets.take(owner, now)

    @staticmethod
    def _owners(kind: str, caller: Caller | None, address: str | None) -> list[tuple[str, Hashable]]:
        owners: list[tuple[str, Hashable]] = []
        if caller is not None:
            owners.append((f"{kind}-per-account", caller.principal))
        if address is not None and (caller is None or caller.role is Role.FAN):
            owners.append((f"{kind}-per-address", address))
        return owners


def parse_allowance(text: str) -> tuple[str, Allowance]:
    """`hold-per-account=10/20`: 20 at once, 10 a second after that.

    Raises:
        ValueError: it is of another form, or there is no such allowance.
    """
    name, _, numbers = text.partition("=")
    per_s, _, burst = numbers.partition("/")
    if name not in ALLOWANCES:
        raise ValueError(f"no such allowance: {name}; there are {', '.join(ALLOWANCES)}")
    return name, Allowance(float(per_s), int(burst))
