"""Evidence without secrets (R43): frames as words, built from what is known to be harmless, never by cutting out.

Only fields on the list below show their bytes; all others, and whatever could not be read, show their length. Digits
in free text that could be a card number keep the last four.
"""

from __future__ import annotations

import re
from datetime import datetime

from app.devices.card_terminal import EvidenceStep
from app.devices.zvt import fields, messages
from app.devices.zvt.codec import Apdu, ZvtFormatError

MAX_STEPS = 150
MAX_BODY = 4000
_SHOWN = {
    fields.AMOUNT, fields.TRACE, fields.TIME, fields.DATE, fields.RESULT, fields.TERMINAL_ID, fields.ORIGINAL_TRACE,
    fields.CURRENCY, fields.RECEIPT, fields.CARD_TYPE, fields.PAYMENT_TYPE, fields.TOTALS,
}  # fmt: skip
_WITH_PASSWORD = {
    messages.REGISTRATION, messages.REVERSAL, messages.REFUND, messages.END_OF_DAY, messages.REPEAT_RECEIPT,
    messages.STATUS_ENQUIRY,
}  # fmt: skip
_PASSWORD_THEN_FIELDS = {messages.REVERSAL, messages.REFUND}
_WITH_FIELDS = {messages.STATUS_INFORMATION, messages.AUTHORIZATION}
_CHATTER = {messages.INTERMEDIATE_STATUS, messages.PRINT_LINE, messages.PRINT_TEXT_BLOCK}
_CARD_NUMBER = re.compile(r"(?:\d[ -]?){8,}(\d{4})(?!\d)")


def redact_text(text: str) -> str:
    """`text` with every run of twelve or more digits cut to its last four."""
    return _CARD_NUMBER.sub(r"****\1", text)


def describe(apdu: Apdu) -> str:
    """A frame in words: control field, harmless fields in hex, the length of everything else."""
    head = f"{apdu.control >> 8:02X} {apdu.control & 0xFF:02X}"
    data = apdu.data
    if not data:
        return head
    if apdu.control in _WITH_FIELDS:
        return f"{head} {_describe_fields(data)}"
    if apdu.control in _WITH_PASSWORD:
        positional = data[3:]
        tail = _describe_fields(positional) if apdu.control in _PASSWORD_THEN_FIELDS else f"({len(positional)} bytes)"
        return f"{head} password {tail}"
    if len(data) == 1:
        return f"{head} {data[0]:02X}"
    return f"{head} ({len(data)} bytes)"


def _describe_fields(data: bytes) -> str:
    try:
        told = fields.decode_fields(data)
    except ZvtFormatError:
        return f"unreadable ({len(data)} bytes)"
    words = [_describe_field(tag, value) for tag, value in told.values.items()]
    if told.unread:
        words.append(f"rest ({len(told.unread)} bytes)")
    return " ".join(words)


def _describe_field(tag: int, value: bytes) -> str:
    if tag in _SHOWN:
        return f"{tag:02X}={value.hex()}"
    if tag == fields.PAN:
        return f"{tag:02X}=…{messages.last_four(value)}"
    return f"{tag:02X}=({len(value)} bytes)"


class EvidenceLog:
    """The steps of one conversation. Chatter (progress, receipt lines, plain acknowledgements) yields to the rest."""

    def __init__(self) -> None:
        self._steps: list[EvidenceStep] = []

    @property
    def steps(self) -> tuple[EvidenceStep, ...]:
        return tuple(self._steps)

    def frame(self, at: datetime, direction: str, apdu: Apdu) -> None:
        """Keep a frame that was `sent` or `received`."""
        if apdu == messages.POSITIVE and direction == "sent":
            previous = self._steps[-1].body if self._steps else ""
            if previous[:5] in {"04 FF", "06 D1", "06 D3"}:
                return
        if len(self._steps) < MAX_STEPS - 20 or apdu.control not in _CHATTER:
            self._keep(EvidenceStep(at, direction, describe(apdu)))

    def note(self, at: datetime, body: str) -> None:
        """Keep something that is not a frame: a time-out, a lost line, a verdict."""
        self._keep(EvidenceStep(at, "note", redact_text(body)[:MAX_BODY]))

    def _keep(self, step: EvidenceStep) -> None:
        if len(self._steps) < MAX_STEPS:
            self._steps.append(step)
