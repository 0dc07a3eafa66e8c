"""Put an event on sale: prices by category and type, local times made instants, every seat of its plan version.

Everything is checked before anything is written, and all that is wrong is said at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import NoReturn, TypeVar
from uuid import UUID

from booking.domain.currencies import check_price, exponent_of
from booking.domain.errors import FieldFault, InvalidRequestError, NotFoundError
from booking.domain.local_time import instant_of, zone_of
from booking.domain.model import EventId, Price, PriceCategory, PriceType
from booking.domain.seating_plan.document import categories_of_document, standing_of_document
from booking.services.control_event import BOUNDS
from booking.store import plan_queries
from booking.store.connection import JOB_LIMITS, Record
from booking.store.database import Database
from booking.store.plan_queries import NewEvent, NewTier, PriceList

T = TypeVar("T")


MAX_TIERS = 1_000
MAX_PLACES = 10_000_000
MAX_BUCKETS = 64


@dataclass(frozen=True, slots=True)
class TierSpec:
    """A general-admission tier: places at the prices of a category. Buckets share its stock out (R11).

    One bucket serves thousands of buyers a second; more are for tiers that many API processes sell at once.
    """

    name: str
    category: str
    capacity: int
    buckets: int = 1


@dataclass(frozen=True, slots=True)
class EventSpec:
    """What makes an event. Times are local times of `zone`, without offset; `fold` says which of two is meant (W10).

    `prices` maps each category's name to one amount for each of `price_types`, in minor units. `house_seats` are
    seat numbers that the house keeps from sale. `sale_opens` None: at once. Standing areas of the plan are tiers by
    themselves, numbered from 1; `tiers` of the same name say otherwise of them, the others are numbered after them.
    """

    name: str
    plan_id: UUID
    plan_version: int
    starts_at: datetime
    zone: str
    currency: str
    price_types: Sequence[str]
    prices: Mapping[str, Sequence[int]]
    sale_opens: datetime | None = None
    fold: int | None = None
    hold_ttl_s: int = 300
    grace_s: int = 120
    max_per_account: int = 6
    house_seats: Collection[int] = ()
    tiers: Sequence[TierSpec] = ()


async def create_event(db: Database, spec: EventSpec) -> EventId:
    """Create the event in one transaction; nothing is half created.

    Raises:
        InvalidRequestError: Everything that is wrong with the spec, in `fields`.
        NotFoundError: There is no such plan version.
    """
    starts_at, sale_opens_at = _checked_times(spec)
    async with db.transaction(JOB_LIMITS) as connection:
        stored = await plan_queries.read_plan_of_event_spec(connection, spec.plan_id, spec.plan_version)
        if stored is None:
            raise NotFoundError(f"There is no version {spec.plan_version} of plan {spec.plan_id}.")
        spec = _with_standing_areas(spec, bytes(stored["document"]))
        price_list = _checked_prices(spec, stored)
        event = _new_event(spec, stored, starts_at, sale_opens_at)
        event_id = await plan_queries.insert_event(connection, event, price_list, sorted(spec.house_seats))
        await plan_queries.insert_tiers(connection, event_id, _new_tiers(spec, price_list))
        return event_id


def _with_standing_areas(spec: EventSpec, document: bytes) -> EventSpec:
    """The spec with a tier for each standing area of the plan, unless it has one of that name (R11)."""
    named = {tier.name.strip(): tier for tier in spec.tiers}
    if len(named) < len(spec.tiers):
        return spec  # a name stands twice, which is refused
    categories, _ = categories_of_document(document)
    areas = {
        area.name: TierSpec(area.name, categories[area.category_no].name, area.capacity)
        for area in standing_of_document(document)
    }
    tiers = areas | named  # the order of the plan first, and what the spec says where it says something
    return replace(spec, tiers=tuple(tiers.values()))


def _new_event(spec: EventSpec, stored: Record, starts_at: datetime, sale_opens_at: datetime | None) -> NewEvent:
    return NewEvent(
        stored["venue_id"],
        spec.plan_id,
        spec.plan_version,
        spec.name.strip(),
        starts_at,
        spec.zone,
        spec.currency,
        sale_opens_at,
        spec.hold_ttl_s,
        spec.grace_s,
        spec.max_per_account,
    )


def _new_tiers(spec: EventSpec, price_list: PriceList) -> list[NewTier]:
    number_of = {category.name: category.category_no for category in price_list.categories}
    return [
        NewTier(number, tier.name.strip(), number_of[tier.category], tier.capacity, tier.buckets)
        for number, tier in enumerate(spec.tiers, start=1)
    ]


def _checked_times(spec: EventSpec) -> tuple[datetime, datetime | None]:
    """Name, zone, currency and times; the start, and the opening of the sale, as instants."""
    faults: list[FieldFault] = []
    if not spec.name.strip():
        faults.append(FieldFault("/name", "an event has a name"))
    _collect(faults, lambda: exponent_of(spec.currency))
    _collect(faults, lambda: zone_of(spec.zone))
    if faults:
        _refuse(faults)
    starts_at = _collect(faults, lambda: instant_of(spec.starts_at, spec.zone, fold=spec.fold))
    opening = spec.sale_opens
    opens_at = None
    if opening is not None:
        opens_at = _collect(faults, lambda: instant_of(opening, spec.zone, fold=spec.fold, pointer="/sale_opens"))
    if starts_at is None or faults:
        _refuse(faults)
    return starts_at, opens_at


def _checked_prices(spec: EventSpec, stored: Record) -> PriceList:
    """The price list over the plan's categories; a category without seats may go without prices."""
    categories, used = categories_of_document(bytes(stored["document"]))
    types = tuple(PriceType(number, name) for number, name in enumerate(spec.price_types, start=1))
    faults = _spec_faults(spec, [category.name for category in categories], stored["seat_count"])
    prices: list[Price] = []
    for category_no, category in enumerate(categories):
        if category_no in used or category.name in spec.prices:
            prices += _prices_of_category(spec, category_no, category.name, types, faults)
    if faults:
        _refuse(faults)
    numbered = tuple(PriceCategory(number, item.name, item.color) for number, item in enumerate(categories))
    return PriceList(numbered, types, tuple(prices))


def _spec_faults(spec: EventSpec, category_names: Sequence[str], seat_count: int) -> list[FieldFault]:
    faults = [
        FieldFault(f"/prices/{name}", "the plan has no such category")
        for name in spec.prices
        if name not in category_names
    ]
    for setting in ("hold_ttl_s", "grace_s", "max_per_account"):
        least, most = BOUNDS[setting]
        if not least <= getattr(spec, setting) <= most:
            faults.append(FieldFault(f"/{setting}", f"from {least} to {most}"))
    if not spec.price_types or len(set(spec.price_types)) < len(spec.price_types):
        faults.append(FieldFault("/price_types", "one or more price types, each named once"))
    outside = [seat for seat in spec.house_seats if not 0 <= seat < seat_count]
    if outside:
        faults.append(FieldFault("/house_seats", f"the plan has no seat {outside[0]}"))
    return faults + _tier_faults(spec, category_names)


def _tier_faults(spec: EventSpec, category_names: Sequence[str]) -> list[FieldFault]:
    faults: list[FieldFault] = []
    names = [tier.name.strip() for tier in spec.tiers]
    if len(spec.tiers) > MAX_TIERS or len(set(names)) < len(names):
        faults.append(FieldFault("/tiers", f"at most {MAX_TIERS} tiers, each named once"))
    for number, tier in enumerate(spec.tiers):
        if not tier.name.strip():
            faults.append(FieldFault(f"/tiers/{number}/name", "a tier has a name"))
        if tier.category not in category_names:
            faults.append(FieldFault(f"/tiers/{number}/category", "the plan has no such category"))
        elif tier.category not in spec.prices:
            faults.append(FieldFault(f"/tiers/{number}/category", "this category has no prices"))
        if not 0 <= tier.capacity <= MAX_PLACES:
            faults.append(FieldFault(f"/tiers/{number}/capacity", f"0 to {MAX_PLACES} places"))
        if not 1 <= tier.buckets <= MAX_BUCKETS:
            faults.append(FieldFault(f"/tiers/{number}/buckets", f"1 to {MAX_BUCKETS} buckets"))
    return faults


def _prices_of_category(
    spec: EventSpec, category_no: int, name: str, types: Sequence[PriceType], faults: list[FieldFault]
) -> list[Price]:
    amounts = spec.prices.get(name, ())
    if len(amounts) != len(types):
        faults.append(FieldFault(f"/prices/{name}", f"{len(types)} prices are expected, one for each price type"))
        return []
    for price_type, amount in zip(types, amounts, strict=True):
        pointer = f"/prices/{name}/{price_type.name}"
        _collect(faults, partial(check_price, amount, spec.currency, pointer=pointer))
    return [
        Price(category_no, price_type.price_type_id, amount) for price_type, amount in zip(types, amounts, strict=True)
    ]


def _collect(faults: list[FieldFault], check: Callable[[], T]) -> T | None:
    """Run one check; what it refuses joins the other faults."""
    try:
        return check()
    except InvalidRequestError as error:
        faults.extend(error.fields)
        return None


def _refuse(faults: list[FieldFault]) -> NoReturn:
    raise InvalidRequestError("The event cannot be created as described.", fields=tuple(faults))
