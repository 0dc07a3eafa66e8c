"""Commands byte for byte, and what is read from the terminal's frames."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.devices.card_terminal import Progress, UnsupportedCurrencyError
from app.devices.zvt import codes, messages
from app.devices.zvt.codec import Apdu, ZvtFormatError

APPROVAL = bytes.fromhex(
    "27 00 04 00 00 00 00 12 50 0B 00 01 23 0C 19 30 05 0D 11 28 22 F0 F8 47 61 73 EE EE EE 11 11"
    "29 52 50 00 41 49 09 78 87 00 42 8A 0A 8B F0 F5 56 69 73 61 00"
)


@pytest.mark.parametrize(
    ("command", "wire"),
    [
        (messages.register(123456, 0x8A, "EUR", with_tlv=False), "06 00 08 12 34 56 8A 09 78 03 00"),
        (
            messages.register(0, 0x8A, "EUR", with_tlv=True),
            "06 00 10 00 00 00 8A 09 78 03 00 06 06 26 04 0A 02 06 D3",
        ),
        (messages.authorize(1250, "EUR"), "06 01 0A 04 00 00 00 00 12 50 49 09 78"),
        (messages.authorize(80, "JPY"), "06 01 0A 04 00 00 00 00 00 80 49 03 92"),
        (messages.authorize(7500, "KWD"), "06 01 0A 04 00 00 00 00 75 00 49 04 14"),
        (messages.reverse(123456, 42), "06 30 06 12 34 56 87 00 42"),
        (messages.repeat_receipt(123456), "06 20 03 12 34 56"),
        (messages.enquire_status(), "05 01 00"),
        (messages.GOODS_NOT_ISSUED, "84 66 00"),
    ],
)
def test_commands_have_exactly_these_bytes(command: Apdu, wire: str) -> None:
    assert command.encode() == bytes.fromhex(wire)


def test_a_currency_without_a_number_is_refused() -> None:
    with pytest.raises(UnsupportedCurrencyError):
        messages.authorize(100, "XTS")


def test_an_approval_is_read_whole() -> None:
    told = messages.read_status_information(APPROVAL)
    assert told.approved
    assert (told.amount_minor, told.currency) == (1250, "EUR")
    assert (told.trace, told.receipt_no, told.original_trace) == (123, 42, None)
    assert (told.card_brand, told.card_last4, told.terminal_id) == ("Visa", "1111", "52500041")
    assert told.clock == (11, 28, 19, 30, 5)


def test_result_00_without_an_amount_is_no_approval() -> None:
    assert not messages.read_status_information(bytes.fromhex("27 00 0B 00 01 23")).approved


def test_an_amount_that_is_no_number_makes_the_frame_malformed() -> None:
    with pytest.raises(ZvtFormatError):
        messages.read_status_information(bytes.fromhex("27 00 04 00 00 00 00 1A 50"))


@pytest.mark.parametrize(
    ("pan", "shown"),
    [
        ("476173eeeeee1111", "1111"),
        ("4761739001010010", "0010"),
        ("eeeeeeeeeeeeee12", ""),
        ("123456789f", "6789"),
        ("", ""),
    ],
)
def test_never_more_than_the_last_four_of_a_card_number(pan: str, shown: str) -> None:
    assert messages.last_four(bytes.fromhex(pan)) == shown


def test_a_card_type_names_the_brand_when_no_name_is_told() -> None:
    assert messages.read_status_information(bytes.fromhex("27 05 8A 06")).card_brand == "Mastercard"


@pytest.mark.parametrize(
    ("now", "clock", "expected"),
    [
        ("2026-11-28T18:31:00+00:00", (11, 28, 19, 30, 5), "2026-11-28T18:30:05+00:00"),
        ("2027-01-01T00:10:00+00:00", (12, 31, 23, 59, 0), "2026-12-31T22:59:00+00:00"),
        ("2026-12-31T22:59:00+00:00", (1, 1, 0, 0, 30), "2026-12-31T23:00:30+00:00"),
    ],
)
def test_the_terminals_clock_has_no_year_and_the_nearest_is_taken(
    now: str, clock: tuple[int, int, int, int, int], expected: str
) -> None:
    moment = messages.booked_at(clock, ZoneInfo("Europe/Berlin"), datetime.fromisoformat(now))
    assert moment == datetime.fromisoformat(expected)


def test_a_clock_that_shows_no_moment_is_ignored() -> None:
    assert messages.booked_at((13, 40, 0, 0, 0), UTC, datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_t10_receipts_are_read_from_lines_and_from_blocks() -> None:
    assert messages.read_print_line(b"\x00Bitte f\x81r R\x81ckfragen") == "Bitte für Rückfragen"
    block = messages.text_block((b"K\x94ln", b"Gr\x94\xe1e"))
    assert messages.read_text_block(block.data) == ("Köln", "Größe")


@pytest.mark.parametrize(
    ("data", "status"), [("00", 0), ("f0f0f753494d2d312e3000", 0), ("f0f0f141dc", 0xDC), ("", None)]
)
def test_the_status_byte_stands_behind_the_software_version(data: str, status: int | None) -> None:
    assert messages.read_terminal_status(bytes.fromhex(data)) == status


@pytest.mark.parametrize(
    ("code", "name"),
    [(0x05, "declined-by-host"), (0x6C, "cancelled-at-terminal"), (0x33, "host-code-51"), (0xEE, "terminal-code-ee")],
)
def test_every_result_code_has_a_kebab_case_name(code: int, name: str) -> None:
    assert codes.result_name(code) == name


def test_an_unknown_progress_code_asks_to_wait() -> None:
    assert codes.progress_of(0xD2) is Progress.PLEASE_WAIT
    assert codes.progress_of(codes.INSERT_CARD) is Progress.PRESENT_CARD
