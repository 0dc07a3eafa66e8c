"""How to reach and treat a ZVT terminal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo


@dataclass(frozen=True, slots=True)
class ZvtSettings:
    """How to reach and treat a terminal. Times in seconds.

    `config` is the config byte of the registration: 02 payment receipts by the till, 08 intermediate statuses, 80
    receipts line by line (10 and 20 make some terminals answer 06 20 with nothing). `zone` is that of the terminal's
    clock, None for this machine's.
    """

    host: str
    port: int = 20007
    password: int = 0
    config: int = 0x8A
    currency: str = "EUR"
    zone: tzinfo | None = None
    connect_s: float = 3.0
    t3_s: float = 5.0
    t4_s: float = 180.0
    busy_limit_s: float = 600.0
    registration_s: float = 8.0
    enquiry_s: float = 20.0
    verdict_s: float = 3.0
