"""Settings as people type them: every kind, every bound, currencies of 0, 2 and 3 decimals, four languages."""

from __future__ import annotations

import pytest

from app.core.setting_specs import (
    GENERAL_LIMIT,
    LIMIT_OF,
    SettingKind,
    SettingSpec,
    Value,
    event_specs,
    house_specs,
    till_specs,
)
from app.core.settings_desk import Seen, Subject
from app.i18n import LANGUAGES, use_language
from app.screens.setting_text import (
    NEVER,
    OTHERS,
    AsOthers,
    SettingTextError,
    read_setting,
    read_typed,
    standing_text,
    write_setting,
)
from app.screens.setting_words import bounds_words, change_words, example_words, setting_name, value_words
from app.settings import ALL_SETTINGS
from backend_client.wire import EventSettingsChange, ReconciliationSettingsChange

SPECS = (*event_specs("EUR"), *house_specs(["EUR", "JPY", "KWD"]), *till_specs())


def spec_of(key: str, currency: str = "EUR") -> SettingSpec:
    found = [*event_specs(currency), *house_specs(["EUR", "JPY", "KWD"]), *till_specs()]
    return next(spec for spec in found if spec.key == key)


@pytest.mark.parametrize(
    ("currency", "text", "minor"),
    [("EUR", "350", 35_000), ("EUR", "350,5", 35_050), ("JPY", "20000", 20_000), ("JPY", "20,000", 20_000),
     ("KWD", "12.5", 12_500), ("KWD", "12.345", 12_345), ("EUR", "٣٥٠", 35_000)],
)  # fmt: skip
def test_money_is_read_in_the_currency_of_the_event(currency: str, text: str, minor: int) -> None:
    assert read_setting(spec_of("max_refund_by_clerk_minor", currency), text) == minor


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [
        ("max_refund_by_clerk_minor", "", "amount-empty"),
        ("max_refund_by_clerk_minor", "12.345", "amount-too-fine"),
        ("max_refund_by_clerk_minor", "-3", "amount-unreadable"),
        ("hold_ttl_s", "", "setting-empty"),
        ("hold_ttl_s", "5 min", "setting-unreadable"),
        ("hold_ttl_s", "1.5", "setting-unreadable"),
        ("hold_ttl_s", "-1", "setting-unreadable"),
        ("hold_ttl_s", "0", "setting-outside"),
        ("hold_ttl_s", "901", "setting-outside"),
        ("zone", "", "setting-empty"),
        ("zone", "Lisbon", "setting-zone"),
        ("zone", "../../etc/passwd", "setting-zone"),
        ("terminal_address", "10.0.0.7", "setting-address"),
        ("stock_width_mm", "82.55", "setting-unreadable"),
        ("stock_width_mm", "301", "setting-outside"),
    ],
)
def test_what_is_no_value_is_refused_by_name(key: str, text: str, code: str) -> None:
    with pytest.raises(SettingTextError) as caught:
        read_setting(spec_of(key), text)
    assert caught.value.code == code


def test_a_limit_is_an_amount_or_never_or_as_all_others() -> None:
    limit = spec_of(f"{LIMIT_OF}KWD")
    assert read_setting(limit, "1.5") == 1_500
    assert read_setting(limit, NEVER) is None
    with pytest.raises(AsOthers):
        read_setting(limit, OTHERS)
    assert read_setting(spec_of(GENERAL_LIMIT), "50000") == 50_000
    assert read_setting(spec_of("terminal_address"), "") == ""
    assert read_setting(spec_of("stock_width_mm"), "82,5") == 82.5


def test_what_stands_there_is_no_change_and_a_limit_may_lose_its_own_value() -> None:
    specs = house_specs(["EUR", "KWD"])
    values: dict[str, Value] = {
        GENERAL_LIMIT: 500,
        f"{LIMIT_OF}EUR": 100,
        "run_at_hour": 4,
        "zone": "UTC",
        "unknown_after_s": 900,
    }
    subject = Subject(seen=Seen(specs, values, 3))
    subject.typed = {GENERAL_LIMIT: " 500 ", f"{LIMIT_OF}EUR": OTHERS, f"{LIMIT_OF}KWD": OTHERS, "run_at_hour": "24"}
    typing = read_typed(subject)
    assert not typing.values
    assert typing.dropped == {f"{LIMIT_OF}EUR"}
    assert typing.faults == {"run_at_hour": "setting-outside"}
    assert standing_text(subject, specs[1]) == OTHERS
    subject.typed = {f"{LIMIT_OF}KWD": NEVER}
    assert read_typed(subject).values == {f"{LIMIT_OF}KWD": None}, "never is a value of its own"


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_every_setting_has_words_and_reads_back_what_it_writes(language: str) -> None:
    use_language(language)
    try:
        for spec in SPECS:
            assert setting_name(spec)
            value: int | float | str | bool = int(spec.low)
            if spec.kind is SettingKind.LENGTH:
                value = 82.5
            elif spec.kind is SettingKind.CHOICE:
                value = spec.choices[-1]
            elif spec.kind is SettingKind.FLAG:
                value = True
            elif spec.kind is SettingKind.TEXT:
                value = "Europe/Lisbon" if spec.key == "zone" else "10.0.0.7:20007"
            assert read_setting(spec, write_setting(spec, value)) == value, spec.key
            assert value_words(spec, value)
            if spec.high:
                assert bounds_words(spec)
        example = example_words(spec_of(GENERAL_LIMIT), 50_000)
        assert any(written in example for written in ("50,000", "50.000"))
        assert "500" in example
        assert change_words("1", "2") in {"1 → 2", "1 ← 2"}
    finally:
        use_language("en")


def test_the_console_offers_all_that_can_be_set() -> None:
    """A setting that the wire gets later is missed here, and not by a manager."""
    event = set(EventSettingsChange.__struct_fields__) - {"expected_version", "reason"}
    assert {spec.key for spec in event_specs("EUR")} == event
    house = set(ReconciliationSettingsChange.__struct_fields__) - {"expected_version", "reason", "limits_by_currency"}
    assert {spec.key for spec in house_specs([])} == house
    elsewhere = {
        "server_url",
        "language",
        "theme",
        "motion",
        "patterns",
        "sign_in_name",
        "last_event",
    }
    assert {spec.key for spec in till_specs()} == {setting.key for setting in ALL_SETTINGS} - elsewhere


def test_bounds_are_those_of_the_wire() -> None:
    import msgspec

    for spec in event_specs("EUR"):
        if spec.kind not in {SettingKind.WHOLE, SettingKind.MONEY}:
            continue
        for value, fits in ((spec.low, True), (spec.high, True), (spec.low - 1, False), (spec.high + 1, False)):
            body = {"expected_version": 1, "reason": "x", spec.key: int(value)}
            try:
                msgspec.convert(body, EventSettingsChange)
                taken = True
            except msgspec.ValidationError:
                taken = False
            assert taken is fits, (spec.key, value)
