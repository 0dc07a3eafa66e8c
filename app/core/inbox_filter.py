"""Which items of the inbox are shown, and in which order: plain functions over what the wire gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from app.i18n import MoneyTextError, exponent_of
from backend_client.wire import EventId, ItemState, ReconciliationItem


class SortBy(StrEnum):
    """What the list goes by. Age counts from the opening: the oldest first is the order of work."""

    AGE = "age"
    AMOUNT = "amount"
    SEATS = "seats"
    KIND = "kind"
    EVENT = "event"
    ORDER = "order"
    PROVIDER = "provider"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class SortOrder:
    """`descending` turns the order round; items that are equal stay by age."""

    by: SortBy = SortBy.AGE
    descending: bool = False


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Empty members let everything pass. `above` is in whole units of each item's own currency (12.50, not 1250)."""

    text: str = ""
    kind: str = ""
    event_id: EventId | None = None
    provider: str = ""
    above: Decimal | None = None
    waiting_only: bool = False

    @property
    def is_empty(self) -> bool:
        """True when everything passes."""
        return self == InboxFilter()


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An item with what is computed of it once: the text that is searched and the amount in whole units."""

    item: ReconciliationItem
    kind_words: str
    provider_words: str
    searched: str
    amount: Decimal

    @classmethod
    def of(cls, item: ReconciliationItem, kind_words: str, provider_words: str, seat_words: str) -> InboxRow:
        """`kind_words`, `provider_words` and `seat_words` are what people read; they are searched beside the codes."""
        seats = " ".join(f"{seat.section} {seat.row} {seat.number}" for seat in item.seats)
        parts = (
            kind_words, item.kind, item.event_name, item.order_number, provider_words, item.provider, seat_words, seats,
            item.words, item.asked_by, str(item.item_id), str(item.operation_id or ""),
        )  # fmt: skip
        amount = whole_units(item.amount_minor, item.currency)
        return cls(item, kind_words, provider_words, " ".join(parts).casefold(), amount)


def whole_units(amount_minor: int, currency: str) -> Decimal:
    """`1250, "EUR"` → 12.50; an unknown currency counts as one of two decimals, which orders well enough."""
    try:
        exponent = exponent_of(currency)
    except MoneyTextError:
        exponent = 2
    return Decimal(amount_minor).scaleb(-exponent)


def passes(row: InboxRow, wanted: InboxFilter) -> bool:
    """Whether an item is shown: every member of the filter must hold, and each word must stand somewhere."""
    item = row.item
    return (
        (not wanted.kind or item.kind == wanted.kind)
        and (wanted.event_id is None or item.event_id == wanted.event_id)
        and (not wanted.provider or item.provider == wanted.provider)
        and (wanted.above is None or row.amount > wanted.above)
        and (not wanted.waiting_only or item.state is ItemState.AWAITING_APPROVAL)
        and all(word in row.searched for word in wanted.text.casefold().split())
    )


def arranged(rows: Iterable[InboxRow], wanted: InboxFilter, order: SortOrder) -> list[InboxRow]:
    """The items that pass, in order. Equal ones are by age and id, so that a refresh moves nothing."""
    kept = [row for row in rows if passes(row, wanted)]
    kept.sort(key=_age)
    if order.by is not SortBy.AGE:
        kept.sort(key=_KEYS[order.by], reverse=order.descending)
    elif order.descending:
        kept.reverse()
    return kept


def _age(row: InboxRow) -> tuple[float, int]:
    return row.item.opened_at.timestamp(), row.item.item_id.int


_KEYS = {
    SortBy.AMOUNT: lambda row: (row.amount, row.item.currency),
    SortBy.SEATS: lambda row: (len(row.item.seats), ""),
    SortBy.KIND: lambda row: (0, row.kind_words.casefold()),
    SortBy.EVENT: lambda row: (0, row.item.event_name.casefold()),
    SortBy.ORDER: lambda row: (0, row.item.order_number),
    SortBy.PROVIDER: lambda row: (0, row.provider_words.casefold()),
    SortBy.STATE: lambda row: (0, row.item.state.value),
}
