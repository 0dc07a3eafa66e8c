"""What readers of plan files say, in the console's languages: no sentence is left in English, no value is lost (I3)."""

from __future__ import annotations

import string
from collections.abc import Iterator

import pytest

from app.i18n import LANGUAGES, use_language
from app.screens.plan_finding_words import FINDING_WORDS, THING_WORDS, finding_words, place_words
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.sayings import Says, Thing

FAULTY = (
    b'{"taquilla_plan": 1, "name": 7, "sections": [{"name": "A", "rows": [{"label": "1", "seats": [{"x": "left"}]}]}]}'
)
_COUNTS = frozenset({
    "count", "most", "least", "line", "column", "lines", "members", "distinct", "total", "distance", "size",
})  # fmt: skip
TRANSLATED = [language.code for language in LANGUAGES if language.code != "en"]


@pytest.fixture(params=TRANSLATED)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    use_language(request.param)
    yield request.param
    use_language("en")


def placeholders(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def test_the_console_has_words_for_each_sentence_and_for_no_other() -> None:
    assert set(FINDING_WORDS) == {says.key for says in Says}
    assert set(THING_WORDS) == {thing.value for thing in Thing}


@pytest.mark.parametrize("says", Says, ids=lambda says: says.key)
def test_a_sentence_has_the_same_values_in_the_console(says: Says) -> None:
    assert placeholders(FINDING_WORDS[says.key]) == placeholders(says.value)


@pytest.mark.parametrize("says", Says, ids=lambda says: says.key)
def test_a_sentence_is_said_in_every_language(says: Says, language: str) -> None:
    values = {name: 7 if name in _COUNTS else "B-12" for name in placeholders(says.value)}
    said = finding_words(says.key, values, "English")
    assert said != FINDING_WORDS[says.key].format(**values)
    assert "{" not in said
    assert all(str(value) in said for value in values.values())


def test_findings_of_a_file_come_in_the_language_of_the_console(language: str) -> None:
    del language
    reading = read_plan(FAULTY)
    found = [*reading.faults, *reading.warnings]
    assert len(found) >= 4
    for finding in found:
        said = finding_words(finding.saying.says.key, dict(finding.saying.values), finding.message)
        assert finding.message not in said


def test_what_a_newer_server_says_is_shown_as_it_came() -> None:
    assert "over the moon" in finding_words("moon", {}, "over the moon")
    assert "as it came" in finding_words("seat-repeats", {"another": 1}, "as it came")


def test_a_place_is_a_line_and_column_a_pointer_or_the_file() -> None:
    use_language("en")
    assert place_words("12:3") == "Line 12, column 3"
    assert "/sections/0/rows/1" in place_words("/sections/0/rows/1")
    assert place_words("") == "Whole file"
