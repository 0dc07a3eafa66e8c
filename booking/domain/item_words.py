"""An item in one English line, for whoever has no translation of its kind (a list in a terminal, a CSV file)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from booking.domain.currencies import EXPONENTS

Detail = Mapping[str, object]

WORDS: Final[Mapping[str, str]] = {
    "no-result": "The till has not said what became of it at the terminal.",
    "unknown-overdue": "The provider has not said for long what became of it.",
    "amount-mismatch": "The answer names {reported_minor} instead of {amount_minor}.",
    "result-conflict": "It is recorded as {recorded}, and then {reported} was reported.",
    "paid-not-confirmed": "Money was taken, and the order could not be confirmed: {why}.",
    "capture-overdue": "The order is confirmed, and its money is not captured yet.",
    "capture-failed": "The order is confirmed, and its money was refused at the capture: {decline_code}.",
    "void-overdue": "An authorization is not let go yet.",
    "void-failed": "The provider did not let an authorization go: {decline_code}.",
    "refund-overdue": "A refund has no answer yet.",
    "refund-failed": "A refund was refused: {decline_code}.",
    "refund-without-ticket": "Money went back, and no ticket says for what.",
    "reversal-overdue": "The till has not taken a late success back at its terminal.",
    "tickets-missing": "The order is confirmed, and {lines} of its tickets are not issued.",
    "provider-only": "The provider has the charge {provider_ref}, and we have none like it.",
    "ours-only": "We have a {here_kind} as done, and the provider lists none.",
    "amount-differs": "The provider has {there_minor}, and we have {here_minor}.",
    "currency-differs": "The provider has {there_currency}, and we have {here_currency}.",
    "state-differs": "The provider has the {there_kind} as {there}, and we have the {here_kind} as {here}.",
    "refund-provider-only": "The provider gave money back on {provider_ref}, and nobody here asked for it.",
    "duplicate-charge": "The provider has a second charge, {provider_ref}, for one payment.",
    "ticket-without-money": "Tickets for {tickets_minor} are good for entry, and {money_minor} was taken.",
    "money-without-ticket": "Money was taken, and there are no tickets for it.",
    "terminal-total-differs": "Terminal {terminal_id} counted {there_minor}, and we have {here_minor} of it.",
}
"""By kind; what stands in braces is a member of the item's detail."""


def words_of(kind: str, detail: Detail, currency: str) -> str:
    """One line; a kind that nobody described is its own words."""
    template = WORDS.get(kind, kind.replace("-", " ").capitalize() + ".")
    return template.format_map(_Shown(detail, currency))


def major(amount_minor: int, currency: str) -> str:
    """`-5.00`: an amount in major units, as a plain number. A currency that is not known counts in minor units."""
    exponent = EXPONENTS.get(currency, 0)
    sign, digits = ("-" if amount_minor < 0 else ""), str(abs(amount_minor)).rjust(exponent + 1, "0")
    return f"{sign}{digits}" if exponent == 0 else f"{sign}{digits[:-exponent]}.{digits[-exponent:]}"


class _Shown(dict[str, str]):
    """Members as people read them: amounts with their currency, `?` for what is not known."""

    def __init__(self, detail: Detail, currency: str) -> None:
        super().__init__()
        self._detail, self._currency = detail, currency

    def __missing__(self, name: str) -> str:
        value = self._detail.get(name)
        if name.endswith("_minor") and isinstance(value, int):
            currency = self._detail.get(f"{name.removesuffix('_minor')}_currency", self._currency)
            return f"{major(value, str(currency))} {currency}".rstrip()
        return "?" if value in (None, "") else str(value)
