"""What Wireshark's ZVT dissector reads in a capture file: a decoder that nobody here wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_FIELDS = (
    "tcp.srcport", "tcp.dstport", "zvt.control_field", "zvt.ccrc", "zvt.amount", "zvt.cc", "zvt.result_code",
    "zvt.trace_number", "zvt.terminal_id", "zvt.int_status", "_ws.expert.severity", "_ws.expert.message",
    "_ws.malformed", "zvt.card_number",
)  # fmt: skip
_WARNING = 0x600000
_OF_THE_KERNEL = "D-SACK Sequence"
"""What a live capture's TCP may be told of; it is not ours to answer for."""


def tshark() -> str:
    """Its path. Without it a machine of CI fails, any other one skips."""
    found = shutil.which("tshark")
    if found is None:
        reason = "tshark is not installed (Debian package tshark): the referee of ZVT frames cannot speak"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass(slots=True)
class Reading:
    """One connection as the dissector reads it, in order of the wire; (from the till?, …) where it matters."""

    controls: list[tuple[bool, int]] = field(default_factory=list)
    amounts: list[tuple[bool, int]] = field(default_factory=list)
    currencies: set[int] = field(default_factory=set)
    result_codes: list[int] = field(default_factory=list)
    traces: list[int] = field(default_factory=list)
    terminal_ids: set[str] = field(default_factory=set)
    statuses: list[int] = field(default_factory=list)
    card_numbers: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)


def read_capture(path: Path, terminal_port: int) -> Mapping[int, Reading]:
    """Every connection to `terminal_port`, by the till's port. Raises when tshark fails."""
    words: Sequence[str] = [
        tshark(), "-r", str(path), "-d", f"tcp.port=={terminal_port},zvt", "-T", "fields", "-E", "separator=|",
        "-E", "occurrence=a", "-E", "aggregator=,", *(word for name in _FIELDS for word in ("-e", name)),
    ]  # fmt: skip
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in {0, 2}, ended.stderr  # 2: a live capture's last packet is not whole yet
    readings: dict[int, Reading] = {}
    for line in ended.stdout.splitlines():
        told = dict(zip(_FIELDS, line.split("|"), strict=True))
        from_till = told["tcp.dstport"] == str(terminal_port)
        port = told["tcp.srcport"] if from_till else told["tcp.dstport"]
        _note(readings.setdefault(int(port), Reading()), told, from_till=from_till)
    return readings


def _note(reading: Reading, told: Mapping[str, str], *, from_till: bool) -> None:
    def numbers(name: str) -> list[int]:
        return [int(value, 0) for value in told[name].split(",") if value]

    # A frame has a control field or, when it answers one, the class of the answer (80, 84).
    reading.controls += [(from_till, control) for control in numbers("zvt.control_field")]
    reading.controls += [(from_till, answer << 8) for answer in numbers("zvt.ccrc")]
    reading.amounts += [(from_till, amount) for amount in numbers("zvt.amount")]
    reading.currencies |= set(numbers("zvt.cc"))
    reading.result_codes += numbers("zvt.result_code")
    reading.traces += [int(trace) for trace in told["zvt.trace_number"].split(",") if trace]
    reading.terminal_ids |= {value for value in told["zvt.terminal_id"].split(",") if value}
    reading.statuses += numbers("zvt.int_status")
    reading.card_numbers |= {value for value in told["zvt.card_number"].split(",") if value}
    if told["_ws.malformed"]:
        reading.complaints.append("malformed")
    said = told["_ws.expert.message"].split(",")
    severities = numbers("_ws.expert.severity")
    if any(severity >= _WARNING for severity in severities) and said != [_OF_THE_KERNEL]:
        reading.complaints.append(told["_ws.expert.message"])
