"""What stands on seats and rows: each scheme of the editor, and that no label comes twice (R13, I3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.plan_numbering import CONFUSED_LETTERS, MAX_START, Counting, Numbering, letters_of, numbering_of

NUMBERINGS = st.builds(
    Numbering,
    st.sampled_from(Counting),
    st.integers(0, 5_000),
    st.booleans(),
    st.text(alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZio", max_size=26),
)


@pytest.mark.parametrize(
    ("numbering", "labels"),
    [
        (Numbering(), "1 2 3 4 5"),
        (Numbering(start=11), "11 12 13 14 15"),
        (Numbering(backwards=True), "5 4 3 2 1"),
        (Numbering(Counting.ODD), "1 3 5 7 9"),
        (Numbering(Counting.ODD, start=4), "5 7 9 11 13"),
        (Numbering(Counting.EVEN), "2 4 6 8 10"),
        (Numbering(Counting.EVEN, backwards=True), "10 8 6 4 2"),
        (Numbering(Counting.FROM_MIDDLE), "5 3 1 2 4"),
        (Numbering(Counting.LETTERS), "A B C D E"),
        (Numbering(Counting.LETTERS, start=7, skipped=CONFUSED_LETTERS), "G H J K L"),
        (Numbering(Counting.LETTERS, start=23, skipped=CONFUSED_LETTERS), "Y Z AA AB AC"),
    ],
)
def test_a_scheme_gives_the_labels_of_the_field(numbering: Numbering, labels: str) -> None:
    assert " ".join(numbering.labels(5)) == labels


def test_letters_go_on_as_columns_of_a_sheet_do() -> None:
    assert [letters_of(number) for number in (1, 26, 27, 52, 53, 702, 703)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


@given(NUMBERINGS, st.integers(0, 300))
def test_no_label_comes_twice_and_each_seat_has_one(numbering: Numbering, count: int) -> None:
    labels = numbering.labels(count)
    assert len(labels) == count
    assert len(set(labels)) == count
    assert all(labels)


@given(NUMBERINGS, st.integers(1, 80))
def test_skipped_letters_stand_on_no_seat(numbering: Numbering, count: int) -> None:
    if numbering.counting is not Counting.LETTERS or len(set(numbering.skipped.upper())) == 26:
        return
    assert not set("".join(numbering.labels(count))) & set(numbering.skipped.upper())


@given(NUMBERINGS, st.integers(1, 60))
def test_a_scheme_is_known_again_by_its_labels(numbering: Numbering, count: int) -> None:
    if set(numbering.skipped.upper()) not in (set(), set(CONFUSED_LETTERS)):
        return
    labels = numbering.labels(count)
    found = numbering_of(labels)
    assert found is not None
    assert found.labels(count) == labels


@pytest.mark.parametrize("labels", [("1", "2", "4"), ("a", "b"), ("1", "2bis"), ("12", str(10 * MAX_START)), ()])
def test_labels_given_by_hand_belong_to_no_scheme(labels: tuple[str, ...]) -> None:
    assert numbering_of(labels) is None
