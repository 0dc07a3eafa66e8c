"""R43: no card number and no track data is left in a text that is stored, and little else is taken out."""

from __future__ import annotations

import re
from uuid import UUID, uuid4, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.card_data import TRACK_REMOVED, holds_card_data, mask_card_data, passes_luhn

VISA, AMEX, MASTERCARD = "4111111111111111", "371449635398431", "5555555555554444"


def with_check_digit(digits: str) -> str:
    return next(digits + str(check) for check in range(10) if passes_luhn(digits + str(check)))


card_numbers = st.from_regex(r"[1-9][0-9]{11,17}", fullmatch=True).map(with_check_digit)
words = st.text(st.characters(exclude_categories=("Nd", "Cs"), exclude_characters="-\u00a0 \t=^"), max_size=12)
mixed_digits = st.text("0123456789 -=^;?%BDF", max_size=80)


def survivors(text: str) -> list[str]:
    """Stretches of unbroken digits that are card numbers."""
    return [
        run[first : first + length]
        for run in re.findall(r"\d{13,}", text)
        for length in range(13, 20)
        for first in range(len(run) - length + 1)
        if run[first] != "0" and passes_luhn(run[first : first + length])
    ]


@given(words, card_numbers, words)
def test_r43_no_card_number_survives_in_a_text(before: str, number: str, after: str) -> None:
    masked = mask_card_data(before + number + after)
    assert number not in masked
    assert survivors(masked) == []
    assert number[-4:] in masked


@given(card_numbers, st.sampled_from([" ", "-", " - ", "\u00a0", "\u2013"]), st.sampled_from([2, 4]), words, words)
def test_r43_groups_do_not_hide_a_card_number(number: str, gap: str, size: int, before: str, after: str) -> None:
    groups = [number[start : start + size] for start in range(0, len(number), size)]
    masked = mask_card_data(before + gap.join(groups) + after)
    assert sum(letter.isdecimal() for letter in masked) == 4


@given(mixed_digits)
def test_r43_what_was_masked_once_holds_nothing_more(text: str) -> None:
    masked = mask_card_data(text)
    assert survivors(masked) == []
    assert mask_card_data(masked) == masked
    assert not holds_card_data(masked)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (VISA, "************1111"),
        ("card 4111 1111 1111 1111 ok", "card **** **** **** 1111 ok"),
        ("3714-496353-98431", "****-******-*8431"),
        (f"PAN={MASTERCARD};", "PAN=************4444;"),
        (f"1{VISA}9", None),
        ("22 F8 41 11 11 11 11 11 11 11 49 09 78", "22 F8 ** ** ** ** ** ** 11 11 49 09 78"),
        ("37 14 49 63 53 98 43 1F", "** ** ** ** ** *8 43 1F"),
    ],
)
def test_r43_a_card_number_is_masked_to_its_last_four_digits(text: str, stored: str | None) -> None:
    assert holds_card_data(text)
    assert VISA not in mask_card_data(text)
    if stored is not None:
        assert mask_card_data(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        f";{VISA}=25121010000000000000?",
        f"{VISA}=2512101",
        f"%B{VISA}^DOE/JOHN^25121010000000?",
        f"B{AMEX}^DOE/JOHN^2512101",
        f"57 11 {VISA}D25121010000",
        "23 F1 F9 41 11 11 11 11 11 11 11 D2 51 21 01 00 00",
        ";4111111111111112=25121010000?",
    ],
)
def test_r43_track_data_is_dropped_expiry_and_all(text: str) -> None:
    stored = mask_card_data(f"in {text} out")
    assert stored.startswith("in ")
    assert stored.endswith(" out")
    assert TRACK_REMOVED in stored
    assert not re.search("2512|25 12|51 21|DOE|1111", stored)


@given(st.integers(0, 2**128 - 1))
def test_a_uuid_is_no_card_number(number: int) -> None:
    made = uuid5(UUID(int=number), "x")
    for text in (str(made), f"operation {made} 4000 EUR", f"{uuid4()}/{made}"):
        assert mask_card_data(text) == text


def test_a_uuid_of_digits_alone_is_no_card_number() -> None:
    text = "POST /v1/captures 41111111-1111-4111-8111-111111111111 4000 EUR"
    assert mask_card_data(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "AB12-CD34", "T-0001", "52500038/123/4567", "2026-11-30T02:35:10.123456+00:00", "+34 912 345 678",
        "06 0F 00", "04 00 00 00 00 40 00", "04 0F 27 00 04 00 00 00 00 40 00 49 09 78 0B 00 01 23",
        "sent 201 succeeded ch_7 4000", "0000000000000000", "card-approve",
    ],
)  # fmt: skip
def test_amounts_times_references_and_frames_are_left_alone(text: str) -> None:
    assert mask_card_data(text) == text
