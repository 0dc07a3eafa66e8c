"""Evidence keeps what explains a payment and nothing that could be stolen (R43)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.devices.zvt import fields, messages
from app.devices.zvt.codec import Apdu
from app.devices.zvt.redaction import MAX_STEPS, EvidenceLog, describe, redact_text

AT = datetime(2026, 11, 28, tzinfo=UTC)


def test_track_data_shows_its_length_only() -> None:
    track = bytes.fromhex("4761739001010010d251")
    data = fields.encode_fields([(fields.RESULT, b"\x00"), (fields.TRACK_2, track)])
    assert describe(Apdu(messages.STATUS_INFORMATION, data)) == "04 0F 27=00 23=(10 bytes)"


def test_what_cannot_be_read_shows_its_length_only() -> None:
    assert describe(Apdu(messages.STATUS_INFORMATION, bytes.fromhex("04 47 61"))) == "04 0F unreadable (3 bytes)"
    assert describe(Apdu(messages.STATUS_INFORMATION, bytes.fromhex("27 00 FE 47 61"))) == "04 0F 27=00 rest (3 bytes)"


def test_a_reversal_shows_its_receipt_but_not_its_password() -> None:
    assert describe(messages.reverse(987654, 42)) == "06 30 password 87=0042"


@given(st.from_regex(r"[1-9]\d{11,18}", fullmatch=True))
def test_card_numbers_in_text_keep_the_last_four(number: str) -> None:
    spaced = " ".join(number[at : at + 4] for at in range(0, len(number), 4))
    for text in (f"Karte {number}.", f"Karte {spaced}."):
        kept = redact_text(text)
        assert number[:8] not in kept.replace(" ", "")
        assert kept.endswith(f"{number[-4:]}.") or number[-4:] in kept.replace(" ", "")


@pytest.mark.parametrize("text", ["Beleg-Nr. 0042  Trace 000123", "Terminal-ID 52500041", "28.11.2026 19:30"])
def test_numbers_that_are_no_cards_stay(text: str) -> None:
    assert redact_text(text) == text


def test_chatter_yields_to_the_frames_that_decide() -> None:
    log = EvidenceLog()
    for _ in range(1000):
        log.frame(AT, "received", Apdu(messages.INTERMEDIATE_STATUS, b"\x0e"))
        log.frame(AT, "sent", messages.POSITIVE)
    log.frame(AT, "received", Apdu(messages.ABORT, b"\x6c"))
    assert len(log.steps) < MAX_STEPS
    assert log.steps[-1].body == "06 1E 6C"
