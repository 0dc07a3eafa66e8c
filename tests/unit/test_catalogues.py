"""The catalogues: every text of the console in each language, with its placeholders, and nothing that is not used."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from app.i18n import LANGUAGES, _, ngettext, use_language
from app.i18n.catalogue import read_catalogue

ROOT = Path(__file__).parents[2]
KEYWORDS = {"_": None, "marked": None, "translate": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
TRANSLATED = [language.code for language in LANGUAGES if language.code != "en"]
PLURALS = {"ar": 6, "ja": 1, "pt": 3}


def used() -> set[str]:
    """The msgids that the code asks for."""
    found = extract_from_dir(str(ROOT / "app"), method_map=[("**.py", "python")], options_map={}, keywords=KEYWORDS)
    return {text[0] if isinstance(text, tuple) else text for _file, _line, text, _notes, _context in found} - {""}


def catalogue(code: str) -> Catalog:
    with (ROOT / "resources" / "translations" / f"{code}.po").open("rb") as file:
        return read_po(file, locale=code)


def messages(code: str) -> list[Message]:
    return [message for message in catalogue(code) if message.id]


def texts_of(value: object) -> list[str]:
    return [str(text) for text in value] if isinstance(value, tuple | list) else [str(value)]


def placeholders(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_text_is_in_the_catalogue_and_no_other(code: str) -> None:
    known = {texts_of(message.id)[0] for message in messages(code)}
    assert used() - known == set()
    assert known - used() == set()
    assert len(known) > 300


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_text_is_translated_in_all_its_forms_and_keeps_its_placeholders(code: str) -> None:
    for message in messages(code):
        wanted = placeholders(texts_of(message.id)[0])
        forms = texts_of(message.string)
        if message.pluralizable:
            assert len(forms) == PLURALS[code], message.id
        for form in forms:
            assert form.strip(), message.id
            assert placeholders(form) == wanted, message.id
        assert not message.fuzzy, message.id


@pytest.mark.parametrize("code", TRANSLATED)
def test_translations_are_in_the_languages_own_letters(code: str) -> None:
    letters = {
        "ar": re.compile("[\u0600-\u06ff]"),
        "ja": re.compile("[\u3040-\u30ff\u4e00-\u9fff]"),
        "pt": re.compile("[a-zà-ú]"),
    }
    for message in messages(code):
        if not any(re.search("[A-Za-z]", re.sub(r"\{\w*\}", "", text)) for text in texts_of(message.id)):
            continue  # signs about values alone
        for form in texts_of(message.string):
            assert letters[code].search(form), message.id


def test_no_text_hides_in_a_formatted_string() -> None:
    """What stands within braces of an f-string is not extracted: it would be English everywhere, and nobody told."""
    hidden = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(part, ast.FormattedValue)
        for call in ast.walk(part)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KEYWORDS
    ]
    assert hidden == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_an_ampersand_for_a_menu_key_is_kept(code: str) -> None:
    for message in messages(code):
        source = texts_of(message.id)[0]
        assert source.count("&") == texts_of(message.string)[0].count("&"), source


def test_counting_follows_each_languages_own_rules() -> None:
    def say(count: int) -> str:
        return ngettext("{count} seat", "{count} seats", count).format(count=count)

    try:
        assert [say(1), say(2)] == ["1 seat", "2 seats"]
        use_language("ar")
        assert len({say(count).replace(str(count), "#") for count in (1, 2, 3, 11)}) == 4
        use_language("ja")
        assert say(1).replace("1", "#") == say(5).replace("5", "#")
        use_language("pt")
        assert [say(1), say(2)] == ["1 lugar", "2 lugares"]
    finally:
        use_language("en")


def test_an_unknown_text_stays_english_rather_than_empty() -> None:
    try:
        use_language("ar")
        assert _("No such text in any catalogue") == "No such text in any catalogue"
    finally:
        use_language("en")


def test_english_needs_no_catalogue() -> None:
    assert read_catalogue(LANGUAGES[0]).gettext("Total") == "Total"
