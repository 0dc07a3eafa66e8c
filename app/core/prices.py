"""Prices and totals in minor units; one function adds up, for the screen, the payment and the lines (P23, P24)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.core.errors import TenderedTooLittleError
from backend_client.wire import EventDetail, PriceType


def whole_minor(amount_minor: object) -> int:
    """`amount_minor` itself when it is a whole number of minor units.

    Raises:
        TypeError: a float, a bool or anything else that is no int (P23).
    """
    if type(amount_minor) is not int:
        raise TypeError(f"money is an int of minor units, not {type(amount_minor).__name__}")
    return amount_minor


def total_minor(amounts: Iterable[int]) -> int:
    """The sum of `amounts`; the only place where the console adds up money (P24)."""
    return sum(whole_minor(amount) for amount in amounts)


def change_minor(total: int, tendered: int) -> int:
    """What goes back to a buyer who handed over `tendered`.

    Raises:
        TenderedTooLittleError: less than the total was handed over.
    """
    change = whole_minor(tendered) - whole_minor(total)
    if change < 0:
        raise TenderedTooLittleError(-change)
    return change


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices of one event at one `price_version`, by (category_no, price_type_id)."""

    currency: str
    price_version: int
    price_types: tuple[PriceType, ...]
    amounts: Mapping[tuple[int, int], int]

    @classmethod
    def of_event(cls, event: EventDetail) -> PriceTable:
        """The table of an event as the API told it."""
        amounts = {(price.category_no, price.price_type_id): whole_minor(price.amount_minor) for price in event.prices}
        return cls(event.currency, event.price_version, event.price_types, amounts)

    def amount_minor(self, category_no: int, price_type_id: int) -> int | None:
        """The price of a seat of this category at this price type; None when it is not sold so."""
        return self.amounts.get((category_no, price_type_id))

    def types_of(self, category_no: int) -> tuple[PriceType, ...]:
        """The price types at which a seat of this category is sold, in the event's order."""
        return tuple(kind for kind in self.price_types if (category_no, kind.price_type_id) in self.amounts)

    def usual_type(self, category_no: int) -> int | None:
        """The price type that a new pick starts with: the first at which the category is sold."""
        types = self.types_of(category_no)
        return types[0].price_type_id if types else None
