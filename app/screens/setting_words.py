"""What people read about a setting: its name, what it does, its unit, its choices, and its value in a sentence."""

from __future__ import annotations

from typing import Final

from app.core.setting_specs import GENERAL_LIMIT, LIMIT_OF, SettingGroup, SettingKind, SettingSpec, SettingUnit, Value
from app.i18n import _, current_language, figures, marked, ngettext

_NAMES: Final = {
    "max_refund_by_clerk_minor": marked("A clerk may give back of one order"),
    "hold_ttl_s": marked("A hold lasts"),
    "grace_s": marked("More time while a payment is under way"),
    "max_per_account": marked("Tickets for one account"),
    "max_per_card": marked("Tickets for one card"),
    "max_open_holds_till": marked("Open holds of one till"),
    "paying_cap": marked("Seats being paid for at once"),
    "orphan_rule": marked("Single seats"),
    "admission": marked("Fans come through the waiting room"),
    GENERAL_LIMIT: marked("All other currencies"),
    "run_at_hour": marked("Compare a day from this hour on"),
    "zone": marked("Time zone of business days"),
    "unknown_after_s": marked("A silent provider becomes an item after"),
    "card_way": marked("Cards are taken"),
    "terminal_address": marked("Address of the card terminal"),
    "hand_over_after_s": marked("An unclear payment is a supervisor's after"),
    "hold_warning_s": marked("The countdown warns before a hold ends"),
    "ticket_stock": marked("Paper in the ticket printer"),
    "stock_width_mm": marked("Width of a ticket"),
    "stock_height_mm": marked("Height of a ticket"),
    "printer_dpi": marked("Resolution of the ticket printer"),
}
_WORDS: Final = {
    "max_refund_by_clerk_minor": marked("More needs a supervisor. Zero: clerks give nothing back."),
    "hold_ttl_s": marked("From the hold to the payment. Open holds keep the time they have."),
    "grace_s": marked("Once for each sale, so that no seat is lost while a card is read."),
    "max_per_account": marked("What one account may have of this event, held and sold."),
    "max_per_card": marked("What may be paid with one and the same card."),
    "max_open_holds_till": marked("How many buyers one till may serve at a time."),
    "paying_cap": marked("Above it, further checkouts of fans wait."),
    "orphan_rule": marked("Whether a hold may leave one free seat between others."),
    "admission": marked("Without a turn in the waiting room, a fan can hold nothing. Tills are not concerned."),
    GENERAL_LIMIT: marked("Acts of more than this need a second person, in every currency that is not named here."),
    "run_at_hour": marked("Of the next day, in the time zone of business days."),
    "zone": marked("As in Europe/Lisbon."),
    "unknown_after_s": marked("Until then the payment is asked about, and nobody is bothered."),
    "card_way": marked("At the terminal of this till, or at a reader that the booking system drives."),
    "terminal_address": marked("Empty: this till has no terminal, unless its start names one."),
    "hand_over_after_s": marked("It is asked about all the same; the clerk no longer waits for it."),
    "hold_warning_s": marked("The remaining time turns conspicuous."),
    "ticket_stock": marked("Single tickets, or sheets of A4."),
    "stock_width_mm": marked("Of the paper as it comes out."),
    "stock_height_mm": marked("Of the paper as it comes out."),
    "printer_dpi": marked("As in the printer's manual."),
}
_GROUPS: Final = {
    SettingGroup.MONEY: marked("Money back"),
    SettingGroup.TIME: marked("Time to pay"),
    SettingGroup.LIMITS: marked("How many"),
    SettingGroup.SEATS: marked("Seats and fans"),
    SettingGroup.SECOND_PERSON: marked("When a second person is needed"),
    SettingGroup.RECONCILIATION: marked("Reconciliation by itself"),
    SettingGroup.CARDS: marked("Card payments"),
    SettingGroup.COUNTER: marked("At the counter"),
    SettingGroup.TICKETS: marked("Tickets on paper"),
}
_UNITS: Final = {
    SettingUnit.SECONDS: marked("seconds"),
    SettingUnit.TICKETS: marked("tickets"),
    SettingUnit.HOLDS: marked("holds"),
    SettingUnit.SEATS: marked("seats"),
    SettingUnit.HOUR: marked("o'clock"),
    SettingUnit.MILLIMETRES: marked("millimetres"),
    SettingUnit.DPI: marked("dots per inch"),
    SettingUnit.MINOR: marked("of the smallest coin"),
}
_CHOICES: Final = {
    ("orphan_rule", "strict"): marked("never left over"),
    ("orphan_rule", "lenient"): marked("left over only where it cannot be avoided"),
    ("orphan_rule", "off"): marked("may be left over"),
    ("card_way", "terminal"): marked("at this till's terminal"),
    ("card_way", "reader"): marked("at a reader of the booking system"),
    ("ticket_stock", "stock"): marked("single tickets"),
    ("ticket_stock", "a4"): marked("sheets of A4"),
}


def setting_name(spec: SettingSpec) -> str:
    """What the setting is called."""
    if spec.key.startswith(LIMIT_OF):
        return spec.currency
    return _(_NAMES[spec.key])


def known_setting_name(key: str) -> str:
    """What the setting of that key is called; empty for one that this console does not set."""
    words = _NAMES.get(key)
    return "" if words is None else _(words)


def setting_words(spec: SettingSpec) -> str:
    """What it does; empty for a limit of one currency, which stands among others of its kind."""
    if spec.key.startswith(LIMIT_OF):
        return ""
    words = _(_WORDS[spec.key])
    if not spec.later:
        return words
    later = _("Counts from the next start.")
    return f"{words} {later}"


def group_name(group: SettingGroup) -> str:
    """What stands over settings that belong together."""
    return _(_GROUPS[group])


def unit_words(spec: SettingSpec) -> str:
    """What stands behind the field."""
    if spec.currency:
        return spec.currency
    return _(_UNITS[spec.unit]) if spec.unit else ""


def choice_words(spec: SettingSpec, choice: str) -> str:
    """One of the values of a choice."""
    words = _CHOICES.get((spec.key, choice))
    return choice if words is None else _(words)


def bounds_words(spec: SettingSpec) -> str:
    """From what to what, for a value that is outside."""
    if spec.kind is SettingKind.TEXT:
        return _("At most {count} letters").format(count=figures().number(int(spec.high)))
    return _("From {low} to {high}").format(low=value_words(spec, spec.low), high=value_words(spec, spec.high))


def value_words(spec: SettingSpec, value: Value) -> str:
    """A value in a sentence: `€200.00`, `300 seconds`, `never`."""
    if spec.kind is SettingKind.FLAG:
        return _("yes") if value else _("no")
    if value is None:
        return _("never")
    if spec.kind is SettingKind.CHOICE:
        return choice_words(spec, str(value))
    if isinstance(value, str):
        return value or _("none")
    if spec.currency:
        return figures().money(int(value), spec.currency)
    return _number_words(spec, value)


def _number_words(spec: SettingSpec, value: float) -> str:
    """A number with its unit, in the forms of the language."""
    whole = int(value)
    number = figures().number(whole)
    if spec.unit is SettingUnit.SECONDS:
        return figures().seconds(whole)
    if spec.unit is SettingUnit.MILLIMETRES:
        return figures().millimetres(value)
    if spec.unit is SettingUnit.HOUR:
        return f"{whole:02}:00"
    if spec.unit is SettingUnit.TICKETS:
        return ngettext("{count} ticket", "{count} tickets", whole).format(count=number)
    if spec.unit is SettingUnit.SEATS:
        return ngettext("{count} seat", "{count} seats", whole).format(count=number)
    if spec.unit is SettingUnit.HOLDS:
        return ngettext("{count} hold", "{count} holds", whole).format(count=number)
    return number


def example_words(spec: SettingSpec, value: Value) -> str:
    """What an amount without a currency is in some; empty for everything else."""
    if spec.unit is not SettingUnit.MINOR or not isinstance(value, int) or not spec.choices:
        return ""
    amounts = figures().listed(figures().money(value, currency) for currency in spec.choices)
    return _("For example {amounts}.").format(amounts=amounts)


def change_words(before: str, after: str) -> str:
    """From what to what, in the direction of writing."""
    return f"{before} {'←' if current_language().right_to_left else '→'} {after}"


def others_words() -> str:
    """Of a limit that has no value of its own."""
    return _("as all others")
