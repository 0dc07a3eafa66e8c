"""Message catalogues: gettext, read from the `.po` files at start, so that there is nothing to compile.

English is the source language: its words stand in the code. `_()` translates where a text is shown; `marked()` marks a
text that stands in a table and is translated later by `_()`.
"""

from __future__ import annotations

import gettext
import io
from dataclasses import dataclass
from importlib import resources
from typing import Final

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


@dataclass(frozen=True, slots=True)
class Language:
    """One language of the console; `native_name` is how its speakers call it."""

    code: str
    native_name: str

    @property
    def locale(self) -> Locale:
        return Locale.parse(self.code)

    @property
    def right_to_left(self) -> bool:
        return bool(self.locale.text_direction == "rtl")


LANGUAGES: Final = (
    Language("en", "English"),
    Language("ar", "العربية"),
    Language("ja", "日本語"),
    Language("pt", "Português"),
)
SOURCE_LANGUAGE: Final = LANGUAGES[0]


class _Current:
    """The language in use; one for the whole program, as there is one person at a counter."""

    language: Language = SOURCE_LANGUAGE
    words: gettext.NullTranslations = gettext.NullTranslations()


def language_of(code: str) -> Language:
    """The language for a code such as `pt`, `pt_BR` or `ja-JP`; English for one that has no catalogue."""
    wanted = code.replace("-", "_").split("_")[0].lower()
    return next((language for language in LANGUAGES if language.code == wanted), SOURCE_LANGUAGE)


def read_catalogue(language: Language) -> gettext.NullTranslations:
    """Read the catalogue of `language`; an empty one for the source language."""
    if language == SOURCE_LANGUAGE:
        return gettext.NullTranslations()
    source = resources.files("resources") / "translations" / f"{language.code}.po"
    with source.open("rb") as file:
        catalogue = read_po(file, locale=language.code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def use_language(code: str) -> Language:
    """Switch the language of everything translated from now on."""
    language = language_of(code)
    if language != _Current.language:
        _Current.words = read_catalogue(language)
        _Current.language = language
    return language


def current_language() -> Language:
    """The language in use."""
    return _Current.language


def _(message: str) -> str:
    """Translate `message`."""
    return _Current.words.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Translate a message that counts; both forms use `{count}` and are formatted by the caller."""
    return _Current.words.ngettext(one, many, count)


def pgettext(context: str, message: str) -> str:
    """Translate a word that means different things in different places."""
    return _Current.words.pgettext(context, message)


def marked(message: str) -> str:
    """Mark a text for the catalogues without translating it yet."""
    return message
