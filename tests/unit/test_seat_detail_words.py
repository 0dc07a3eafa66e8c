"""One seat in words: who has it and since when, in the venue's time and in each language."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from app.i18n import LANGUAGES, use_language
from app.screens.seat_detail_words import SeatFace, actor_words, copied_text, full_face, spoken_face
from backend_client.wire import (
    EventId,
    HouseHoldKind,
    SeatActor,
    SeatActorKind,
    SeatDetail,
    SeatHistoryItem,
    SeatHouseHold,
    SeatPrice,
    SeatRef,
    SeatStatus,
    TicketStatus,
)

NOW = datetime(2026, 12, 4, 19, 30, 5, tzinfo=UTC)
TOKYO = "Asia/Tokyo"
SOFIA = SeatActor(kind=SeatActorKind.TILL, name="Sofia Lindqvist", till="Counter 2")
BUYER = SeatActor(kind=SeatActorKind.FAN, short_id="a41f07")
FREE = SeatDetail(
    event_id=EventId(7), seat=SeatRef(seat_no=3, section="Stalls", row="K", number="12"), category_no=0,
    category_name="Front", currency="JPY", flags=5, status=SeatStatus.AVAILABLE, history=(), server_time=NOW,
    prices=(SeatPrice(price_type_id=1, name="Adult", amount_minor=4500),),
)  # fmt: skip


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def seat(**members: Any) -> SeatDetail:
    return msgspec.structs.replace(FREE, **members)


def facts(face: SeatFace) -> dict[str, str]:
    return {fact.caption: fact.value for fact in face.facts}


def test_a_free_seat_tells_its_name_its_price_and_what_it_is() -> None:
    face = full_face(FREE, TOKYO)
    assert (face.name, face.standing, face.tone) == ("Stalls · Row K · Seat 12", "Free", "success")
    assert facts(face) == {
        "Price": "Adult ¥4,500",
        "Category": "Front",
        "Kind of seat": "Accessible seat · Restricted view",
    }
    assert face.history == ()


def test_a_held_seat_tells_by_whom_and_since_when_in_the_venues_time() -> None:
    since = NOW - timedelta(minutes=2)
    face = full_face(seat(status=SeatStatus.HELD, held_by=SOFIA, since=since, until=NOW + timedelta(minutes=3)), TOKYO)
    assert face.standing == "Held at a counter"
    told = facts(face)
    assert (told["By"], told["Since"], told["Until"]) == ("Sofia Lindqvist · Counter 2", "04:28:05", "04:33:05")
    assert spoken_face(face) == (
        "Stalls · Row K · Seat 12, Held at a counter, By: Sofia Lindqvist · Counter 2, Since: 04:28:05"
    )


def test_another_day_is_named() -> None:
    face = full_face(seat(status=SeatStatus.SOLD, held_by=SOFIA, since=NOW - timedelta(days=2)), TOKYO)
    assert facts(face)["Since"] == "Thu, Dec 3, 2026, 4:30\u202fAM"


def test_a_buyer_is_a_mark_and_nothing_else() -> None:
    face = full_face(seat(status=SeatStatus.HELD, held_by=BUYER), TOKYO)
    assert (face.standing, facts(face)["For"]) == ("Held by a buyer", "Buyer a41f07")
    assert actor_words(SeatActor(kind=SeatActorKind.TILL)) == "A counter"
    assert actor_words(None) == ""


def test_a_sold_seat_tells_its_order_its_ticket_and_what_was_paid() -> None:
    face = full_face(
        seat(
            status=SeatStatus.SOLD, printed=True, used=True, held_by=SOFIA, order_number="TQ-7", amount_minor=4000,
            price_type_name="Child", ticket_status=TicketStatus.USED,
        ),
        TOKYO,
    )  # fmt: skip
    told = facts(face)
    assert face.standing == "Sold · ticket printed · ticket used"
    assert (told["Sold by"], told["Order"], told["Ticket"]) == ("Sofia Lindqvist · Counter 2", "TQ-7", "used")
    assert told["Price"] == "Child · ¥4,000"


def test_a_seat_that_the_house_keeps_tells_for_whom_why_and_until_when() -> None:
    house = SeatHouseHold(
        house_hold_id=UUID(int=1), kind=HouseHoldKind.PRESS, reason="Critics", release_at=NOW, created_at=NOW,
        created_by="Ana Reis",
    )  # fmt: skip
    by = SeatActor(kind=SeatActorKind.HOUSE, name="Ana Reis")
    face = full_face(seat(status=SeatStatus.BLOCKED, house_hold=house, held_by=by, until=NOW), TOKYO)
    told = facts(face)
    assert face.standing == "Kept back by the house"
    assert (told["By"], told["Kept for"], told["Reason"], told["Until"]) == ("Ana Reis", "Press", "Critics", "04:30:05")
    assert full_face(seat(status=SeatStatus.BLOCKED), TOKYO).standing == "Blocked"


def test_the_history_is_newest_first_with_amounts_and_reasons_in_words() -> None:
    history = (
        SeatHistoryItem(at=NOW - timedelta(days=1), kind="held", by=BUYER),
        SeatHistoryItem(
            at=NOW, kind="paying", by=SOFIA, order_number="TQ-7", amount_minor=4500, price_type_name="Adult"
        ),
        SeatHistoryItem(at=NOW, kind="payment-declined", order_number="TQ-7", reason="insufficient-funds"),
        SeatHistoryItem(at=NOW, kind="kept-back", house_kind=HouseHoldKind.SPONSOR, reason="Gala"),
        SeatHistoryItem(at=NOW, kind="printed", by=SOFIA, order_number="TQ-7"),
    )
    face = full_face(seat(history=history, history_complete=False), TOKYO)
    assert [(one.what, one.more) for one in face.history] == [
        ("Ticket printed", "Sofia Lindqvist · Counter 2"),
        ("Kept back by the house", "Sponsor · Gala"),
        ("Payment declined", "TQ-7 · There is not enough money on the account."),
        ("Payment begun", "Sofia Lindqvist · Counter 2 · TQ-7 · Adult · ¥4,500"),
        ("Held", "Buyer a41f07"),
    ]
    assert [one.day for one in face.history][-2:] == ["Sat, Dec 5, 2026", "Fri, Dec 4, 2026"]
    assert face.is_cut


def test_a_kind_that_a_newer_booking_system_knows_is_told_by_its_name() -> None:
    face = full_face(seat(history=(SeatHistoryItem(at=NOW, kind="exchanged", reason="two rows up"),)), TOKYO)
    assert [(one.what, one.more) for one in face.history] == [("exchanged", "two rows up")]


def test_what_is_copied_is_what_is_shown() -> None:
    history = (SeatHistoryItem(at=NOW, kind="held", by=SOFIA),)
    face = full_face(seat(status=SeatStatus.HELD, held_by=SOFIA, since=NOW, history=history), TOKYO)
    assert copied_text(face).splitlines() == [
        "Stalls · Row K · Seat 12",
        "Held at a counter",
        "By: Sofia Lindqvist · Counter 2",
        "Since: 04:30:05",
        "Price: Adult ¥4,500",
        "Category: Front",
        "Kind of seat: Accessible seat · Restricted view",
        "",
        "Sat, Dec 5, 2026 04:30:05 Held · Sofia Lindqvist · Counter 2",
    ]


@pytest.mark.parametrize("code", [language.code for language in LANGUAGES if language.code != "en"])
@pytest.mark.parametrize("status", SeatStatus)
def test_each_state_is_said_in_each_language(code: str, status: SeatStatus) -> None:
    english = full_face(seat(status=status, held_by=SOFIA, since=NOW), TOKYO)
    use_language(code)
    told = full_face(seat(status=status, held_by=SOFIA, since=NOW), TOKYO)
    assert told.standing
    assert told.standing != english.standing
    assert {fact.caption for fact in told.facts}.isdisjoint({fact.caption for fact in english.facts})
