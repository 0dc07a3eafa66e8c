"""Why admission is as it is, from the codes of the wire, in the language in use (R20, R32)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
import pytest

from app.i18n import LANGUAGES, use_language
from app.screens.ops_cause_words import cause_words, worded
from app.screens.ops_words import action_words, change_words, exact_words, figure_name, subject_words
from backend_client.wire import Cause, CauseCode, EventId, OpsAlarmRule, OpsLogChange, OpsLogEntry, OpsLogKind
from booking.domain import admission_causes
from booking.domain.alarms import RULES
from booking.room.settings import Settings as RoomSettings

NUMBERS = {
    "value": 940.0, "limit": 300.0, "strain": 3.1, "goal_per_minute": 1200.0, "cap_per_minute": 900.0,
    "active_shoppers": 2000.0, "most": 1500.0, "seats_free": 40.0, "age_s": 12.4, "manual_per_minute": 300.0,
    "silent_s": 5.2, "status": 503.0, "within_s": 2.0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def cause(code: str, **more: float) -> Cause:
    return Cause(code=code, figure="hold_p99_ms", numbers={**NUMBERS, **more})


@pytest.mark.parametrize(("code", "words"), [
    ("over-limit", "Hold answers, 99 of 100: 940 ms, limit 300 ms"),
    ("back-towards", "Back towards 1,200 a minute, which went well"),
    ("at-cap", "All is calm: at the cap of 900 a minute"), ("set-by-hand", "Set by hand to 300 a minute"),
    ("shoppers-at-limit", "2,000 shoppers inside, 1,500 may be"),
    ("few-seats-left", "2,000 shoppers inside for 40 free seats"),
    ("figures-missing", "No figures for 12 sec: nobody is let in"), ("authority-silent", "Not heard for 5 sec"),
    ("room-refused", "It answered 503"), ("room-no-answer", "No answer within 2 sec"),
    ("tries-more", "Calm: a little more is tried"), ("paused", "Paused: nobody is let in"),
])  # fmt: skip
def test_a_cause_is_said_with_its_numbers(code: str, words: str) -> None:
    assert cause_words(cause(code), "in English") == words


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_each_cause_has_words_in_each_language(language: str) -> None:
    use_language("en")
    english = {code: cause_words(cause(code), "") for code in CauseCode}
    assert all(english.values())
    use_language(language)
    told = {code: cause_words(cause(code), "") for code in CauseCode}
    assert all(told.values())
    if language != "en":
        assert not [code for code in CauseCode if told[code] == english[code]]


def test_what_is_not_known_here_is_said_in_the_words_of_the_booking_system() -> None:
    assert cause_words(None, "A reason of a person") == "A reason of a person"
    assert cause_words(cause("comet-seen"), "a comet was seen") == "a comet was seen"
    without = Cause(code="at-cap", numbers={})
    assert cause_words(without, "all is calm: ops' cap") == "all is calm: ops' cap"


def test_the_codes_are_those_of_the_booking_system() -> None:
    assert {code.value for code in CauseCode} == {code.value for code in admission_causes.CauseCode}


def entry(**members: object) -> OpsLogEntry:
    known = {
        "entry_id": "audit:1", "at": datetime(2026, 11, 30, tzinfo=UTC), "kind": OpsLogKind.ADMISSION,
        "action": "admission-steered", "who": "controller", "subject": "event:1", "reason": "in English",
    }  # fmt: skip
    return OpsLogEntry(**{**known, **members})  # type: ignore[arg-type]  # members of an entry


def test_an_entry_that_is_saved_says_what_is_shown() -> None:
    assert worded(entry(cause=cause("at-cap"))).reason == "All is calm: at the cap of 900 a minute"
    plain = entry()
    assert worded(plain) is plain


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_every_act_and_every_alarm_has_words_and_no_code(language: str) -> None:
    use_language(language)
    acts = ("admission-steered", "room-made", "room-settings", "room-codes-added", "room-keys-rotated",
            "alarm-rule-changed", "channel-providers-changed", "device-reader-changed")  # fmt: skip
    for action in acts:
        assert action_words(entry(action=action)) != action.replace("-", " ")
    for rule in RULES.values():
        assert figure_name(rule.figure) != rule.figure.replace("_", " ")
        assert subject_words(entry(subject=rule.rule), []) == rule.rule


@pytest.mark.parametrize(("subject", "words"), [
    ("event:1", "La Traviata"), ("event:2", "Event 2"), ("session:psql", "psql"), ("room", "All rooms"),
    ("payments-fail", "Payments that fail"), ("Row: C", "Row: C"),
])  # fmt: skip
def test_what_an_act_was_done_to_is_named(subject: str, words: str) -> None:
    rules = [msgspec.convert(rule, OpsAlarmRule, from_attributes=True) for rule in RULES.values()]
    assert subject_words(entry(subject=subject), rules, {EventId(1): "La Traviata"}) == words


@pytest.mark.parametrize(("name", "was", "now", "words"), [
    ("raise_at", "0.1", "0.075", "Alarm from: 10% → 7.5%"),
    ("raise_after_s", "0", "90", "Alarm after: at once → 1 min 30 sec"),
    ("severity", "warning", "critical", "How loud: Warning → Critical"), ("enabled", "true", "false", "On: yes → no"),
    ("clear_at", "", "unheard of", "Over at: – → unheard of"), ("state", "calm", "warning", "State: Calm → Warning"),
    ("value", "0.123456", "", "Figure: 12% → –"),
])  # fmt: skip
def test_a_change_of_a_limit_is_said_in_the_unit_of_its_figure(name: str, was: str, now: str, words: str) -> None:
    assert change_words(OpsLogChange(name=name, was=was, now=now), "payment_error_share") == words


@pytest.mark.parametrize(("name", "was", "now", "words"), [
    ("", "ON_SALE", "PAUSED", "On sale → Sale paused"), ("", "", "25", "– → 25"),
    ("hold_ttl_s", "300", "240", "A hold lasts: 5 min → 4 min"),
    ("queueing", "random", "fifo", "Order of the line: By lot → As they came"),
    ("token_life_s", "120", "90", "A token lasts: 2 min → 1 min 30 sec"),
    ("bot_check", "false", "true", "Machines are kept out: no → yes"),
    ("new_thing", "a", "b", "new thing: a → b"),
])  # fmt: skip
def test_a_change_of_an_event_or_a_room_is_said_by_the_name_of_its_setting(
    name: str, was: str, now: str, words: str
) -> None:
    assert change_words(OpsLogChange(name=name, was=was, now=now)) == words


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_every_setting_of_a_room_has_a_name(language: str) -> None:
    use_language(language)
    for name in set(RoomSettings.__struct_fields__) - {"version"}:
        assert not change_words(OpsLogChange(name=name, was="1", now="2")).startswith(name.replace("_", " "))


@pytest.mark.parametrize(("name", "value", "words"), [
    ("x_share", 1.5, "150%"), ("x_share", 0.075, "7.5%"), ("x_ms", 1234.5, "1,234.5 ms"), ("x_s", 0.5, "0.5 sec"),
    ("x_s", 90.0, "1 min 30 sec"), ("x_s", 1e6, "1,000,000 sec"), ("x_per_s", 0.05, "0.05"), ("x", 25.0, "25"),
])  # fmt: skip
def test_a_value_that_was_set_keeps_all_its_digits(name: str, value: float, words: str) -> None:
    assert exact_words(name, value) == words
