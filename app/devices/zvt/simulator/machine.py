"""The state of the simulated terminal that all its connections share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from app.devices.zvt.simulator.ledger import Ledger
from app.devices.zvt.simulator.scenes import DayFault, Delays, FrameMode, ReversalFault, Scene, Script


@dataclass(slots=True)
class Machine:
    """`phase` is idle, awaiting-card, asking-host, … `card_gate` is closed while a test presents the card itself.

    `payments_asked`, `refunds_asked` and `reversals_asked` count every 06 01, 06 31 and 06 30, played or refused.
    Faults seen in the field: `reverses_last`, a reversal that hits the last booking whatever it names;
    `forgets_receipts`, an empty answer to 06 20; `refuses_tlv`, a registration with a TLV container gets 84 9A.
    """

    ledger: Ledger = field(default_factory=Ledger)
    script: Script = field(default_factory=lambda: Script(Scene()))
    delays: Delays = field(default_factory=Delays)
    frame_mode: FrameMode = FrameMode.WHOLE
    phase: str = "idle"
    occupied: bool = False
    payments_asked: int = 0
    refunds_asked: int = 0
    reversals_asked: int = 0
    reverses_last: bool = False
    forgets_receipts: bool = False
    refuses_tlv: bool = False
    reversal_fault: ReversalFault = ReversalFault.NONE
    day_fault: DayFault = DayFault.NONE
    card_gate: asyncio.Event = field(default_factory=asyncio.Event)

    lines: set[asyncio.StreamWriter] = field(default_factory=set)
    """Of the tills that are connected."""

    def drop_lines(self) -> None:
        """Cut every till off, as a power cut does."""
        for writer in tuple(self.lines):
            writer.transport.abort()

    def __post_init__(self) -> None:
        self.card_gate.set()
