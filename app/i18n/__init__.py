"""Words and figures in the person's language: catalogues, money, dates, numbers, direction of writing."""

from app.i18n.catalogue import LANGUAGES, Language, _, current_language, marked, ngettext, pgettext, use_language
from app.i18n.figures import Figures, figures
from app.i18n.money import EXPONENTS, MoneyTextError, exponent_of, parse_money

__all__ = [
    "EXPONENTS",
    "LANGUAGES",
    "Figures",
    "Language",
    "MoneyTextError",
    "_",
    "current_language",
    "exponent_of",
    "figures",
    "marked",
    "ngettext",
    "parse_money",
    "pgettext",
    "use_language",
]
