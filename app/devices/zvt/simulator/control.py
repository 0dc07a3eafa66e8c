"""The control port: one JSON object a line in, one out. Loopback only; for demos and tests.

    {"do": "scenario", "name": "decline", "times": 1, "result_code": 5}   for the next payments (times 0: from now on)
    {"do": "clear"}                     forget queued scenarios
    {"do": "delays", "total_s": 0}
    {"do": "frames", "mode": "split"}   whole, split, glued
    {"do": "hold-card", "on": true}     wait with the card until {"do": "present-card"}
    {"do": "faults", "reverses_last": true, "forgets_receipts": false, "refuses_tlv": false,
     "reversal": "wrong-amount", "end_of_day": "line-lost-after"}          those not named are off
    {"do": "restart"}                   power cut: every line is lost, what is stored stays
    {"do": "transactions"}              all that is stored: bookings, and ends of day
    {"do": "status"}                    phase, payments_asked, refunds_asked, reversals_asked, queued

Answers are {"ok": true, …} or {"ok": false, "error": "…"}.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import fields as dataclass_fields
from typing import Any

from app.devices.zvt.simulator.ledger import Ledger
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import DayFault, FrameMode, ReversalFault, Scene, SceneName

Request = dict[str, Any]
Answer = dict[str, Any]
_SCENE_OPTIONS = {field.name for field in dataclass_fields(Scene)} - {"name"}


class Control:
    """Carries out control requests on a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._actions: dict[str, Callable[[Request], Answer]] = {
            "scenario": self._scenario,
            "clear": self._clear,
            "delays": self._delays,
            "frames": self._frames,
            "hold-card": self._hold_card,
            "present-card": self._present_card,
            "faults": self._faults,
            "restart": self._restart,
            "transactions": self._transactions,
            "status": self._status,
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer lines until the other side hangs up."""
        try:
            while line := await reader.readline():
                writer.write(json.dumps(self.carry_out(line)).encode() + b"\n")
                await writer.drain()
        except OSError:
            return
        finally:
            writer.close()

    def carry_out(self, line: bytes) -> Answer:
        """One request; what is wrong with it comes back as `error`."""
        try:
            request = json.loads(line)
            return {"ok": True} | self._actions[request["do"]](request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}

    def _scenario(self, request: Request) -> Answer:
        options = {name: request[name] for name in _SCENE_OPTIONS & request.keys()}
        scene = Scene(SceneName(request["name"]), **options)
        times = int(request.get("times", 1))
        if times:
            self._machine.script.queue(scene, times)
        else:
            self._machine.script.standing = scene
        return {}

    def _clear(self, _request: Request) -> Answer:
        self._machine.script.clear()
        return {}

    def _delays(self, request: Request) -> Answer:
        self._machine.delays.scale_to(float(request["total_s"]))
        return {}

    def _frames(self, request: Request) -> Answer:
        self._machine.frame_mode = FrameMode(request["mode"])
        return {}

    def _hold_card(self, request: Request) -> Answer:
        if request["on"]:
            self._machine.card_gate.clear()
        else:
            self._machine.card_gate.set()
        return {}

    def _present_card(self, _request: Request) -> Answer:
        self._machine.card_gate.set()
        return {}

    def _faults(self, request: Request) -> Answer:
        self._machine.reverses_last = bool(request.get("reverses_last", False))
        machine = self._machine
        reversal = ReversalFault(request.get("reversal", ReversalFault.NONE))
        day = DayFault(request.get("end_of_day", DayFault.NONE))
        machine.forgets_receipts = bool(request.get("forgets_receipts", False))
        machine.refuses_tlv = bool(request.get("refuses_tlv", False))
        machine.reversal_fault, machine.day_fault = reversal, day
        return {}

    def _restart(self, _request: Request) -> Answer:
        self._machine.ledger = (
            Ledger.load(self._machine.ledger.path) if self._machine.ledger.path else (self._machine.ledger)
        )
        self._machine.drop_lines()
        return {}

    def _transactions(self, _request: Request) -> Answer:
        ledger = self._machine.ledger
        return {"transactions": ledger.rows(), "closings": ledger.closing_rows()}

    def _status(self, _request: Request) -> Answer:
        machine = self._machine
        return {
            "phase": machine.phase,
            "payments_asked": machine.payments_asked,
            "refunds_asked": machine.refunds_asked,
            "reversals_asked": machine.reversals_asked,
            "queued": machine.script.queued,
        }
