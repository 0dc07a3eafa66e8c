"""The state of the simulated terminal that all its connections share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from app.devices.zvt.simulator.ledger import Ledger
from app.devices.zvt.simulator.scenes import Delays, FrameMode, Scene, Script


@dataclass(slots=True)
class Machine:
    """`payments_asked` counts every 06 01, played or refused; `phase` is idle, awaiting-card, asking-host, …

    `card_gate` is closed while a test wants to present the card itself. `reverses_last` and `forgets_receipts` are
    faults seen in the field: a reversal that hits the last booking whatever it names, and an empty answer to 06 20.
    """

    ledger: Ledger = field(default_factory=Ledger)
    script: Script = field(default_factory=lambda: Script(Scene()))
    delays: Delays = field(default_factory=Delays)
    frame_mode: FrameMode = FrameMode.WHOLE
    phase: str = "idle"
    occupied: bool = False
    payments_asked: int = 0
    reverses_last: bool = False
    forgets_receipts: bool = False
    card_gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.card_gate.set()
