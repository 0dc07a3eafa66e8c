"""The inbox as the console keeps it: what is shown in which order, what changed, what stays, and its file (I5)."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from time import thread_time
from uuid import UUID

import pytest
from msgspec.structs import replace

from app.core.inbox import ActDraft, Inbox, InboxPart
from app.core.inbox_csv import COLUMN_COUNT, harmless, inbox_csv
from app.core.inbox_filter import InboxFilter, InboxRow, SortBy, SortOrder, arranged, whole_units
from app.core.item_changes import ItemChange, differences
from app.i18n import figures, use_language
from backend_client.wire import (
    AllowedAction,
    ApprovalAsked,
    EventId,
    ItemAction,
    ItemActionRequest,
    ItemDetail,
    ItemId,
    ItemState,
    ReconciliationItem,
    SeatRef,
    TimelineEntry,
    TimelineKind,
)

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def item(number: int, **members: object) -> ReconciliationItem:
    """An item `number` minutes old."""
    plain = ReconciliationItem(
        item_id=ItemId(UUID(int=number)), kind="no-result", state=ItemState.OPEN, version=1,
        opened_at=NOON - timedelta(minutes=number), amount_minor=100 * number, currency="EUR",
    )  # fmt: skip
    return replace(plain, **members)


def row(number: int, **members: object) -> InboxRow:
    made = item(number, **members)
    kinds = {"no-result": "No result from the till"}
    seats = " ".join(f"Row {seat.row} Seat {seat.number}" for seat in made.seats)
    return InboxRow.of(made, kinds.get(made.kind, made.kind), made.provider, seats)


def numbers(rows: list[InboxRow]) -> list[int]:
    return [one.item.item_id.int for one in rows]


def detail(number: int = 1, **members: object) -> ItemDetail:
    plain = ItemDetail(
        item=item(number), timeline=(), actions=(AllowedAction(action=ItemAction.NOTE),), server_time=NOON
    )
    return replace(plain, **members)


# ---------------------------------------------------------------- the list


def test_the_oldest_stands_first_and_the_order_can_be_turned_round() -> None:
    rows = [row(1), row(3), row(2)]
    assert numbers(arranged(rows, InboxFilter(), SortOrder())) == [3, 2, 1]
    assert numbers(arranged(rows, InboxFilter(), SortOrder(SortBy.AGE, descending=True))) == [1, 2, 3]


def test_amounts_of_several_currencies_are_compared_in_whole_units() -> None:
    rows = [
        row(1, amount_minor=1250),
        row(2, amount_minor=980, currency="JPY"),
        row(3, amount_minor=5000, currency="KWD"),
    ]
    assert [one.amount for one in rows] == [Decimal("12.50"), Decimal(980), Decimal("5.000")]
    assert numbers(arranged(rows, InboxFilter(), SortOrder(SortBy.AMOUNT, descending=True))) == [2, 1, 3]
    assert numbers(arranged(rows, InboxFilter(above=Decimal("12.49")), SortOrder())) == [2, 1]
    assert whole_units(1250, "???") == Decimal("12.50")


def test_equal_items_stay_by_age_whatever_the_list_goes_by() -> None:
    rows = [row(number, amount_minor=500, provider="zvt") for number in (2, 5, 1, 4)]
    for by in (SortBy.AMOUNT, SortBy.PROVIDER, SortBy.KIND, SortBy.SEATS, SortBy.EVENT, SortBy.STATE, SortBy.ORDER):
        assert numbers(arranged(rows, InboxFilter(), SortOrder(by))) == [5, 4, 2, 1], by


def test_every_member_of_the_filter_must_hold() -> None:
    seats = (SeatRef(seat_no=1, section="Stalls", row="K", number="12"),)
    rows = [
        row(1, event_id=EventId(7), event_name="La Traviata", provider="stripe", seats=seats, order_number="TQ-41"),
        row(2, kind="provider-only", provider="stripe", state=ItemState.AWAITING_APPROVAL),
        row(3, event_id=EventId(7), provider="zvt"),
    ]

    def shown(**members: object) -> list[int]:
        return numbers(arranged(rows, InboxFilter(**members), SortOrder()))  # type: ignore[arg-type]

    assert shown(kind="no-result") == [3, 1]
    assert shown(event_id=EventId(7), provider="stripe") == [1]
    assert shown(waiting_only=True) == [2]
    assert shown(text="traviata k 12") == [1]
    assert shown(text="row k seat 12") == [1]
    assert shown(text="tq-41 zvt") == []
    assert shown(text="RESULT from the TILL") == [3, 1]
    assert InboxFilter().is_empty
    assert not InboxFilter(text="x").is_empty


def test_a_list_five_times_as_long_costs_hardly_more_than_five_times_as_much() -> None:
    rows = [row(number, event_name=f"Evening {number % 40}", order_number=f"T-{number}") for number in range(1, 5001)]
    wanted, order = InboxFilter(text="evening 7"), SortOrder(SortBy.AMOUNT, descending=True)
    short = min(_cpu_s(rows[:1000], wanted, order) for _attempt in range(7))
    long = min(_cpu_s(rows, wanted, order) for _attempt in range(7))
    assert long / short < 12


def _cpu_s(rows: list[InboxRow], wanted: InboxFilter, order: SortOrder) -> float:
    began = thread_time()
    arranged(rows, wanted, order)
    return thread_time() - began


# ---------------------------------------------------------------- what is kept


def test_a_list_that_cannot_be_read_again_stays_with_its_instant_and_says_why() -> None:
    inbox = Inbox()
    told: list[InboxPart] = []
    inbox.subscribe(told.append)
    inbox.put_items((item(1),), 1, NOON)
    inbox.put_trouble("service-unavailable")
    assert (inbox.items, inbox.as_of, inbox.trouble) == ((item(1),), NOON, "service-unavailable")
    inbox.put_items((item(1),), 1, NOON + timedelta(seconds=5))
    assert inbox.trouble == ""
    assert inbox.as_of == NOON + timedelta(seconds=5)
    inbox.put_items((item(1),), 1, NOON + timedelta(seconds=9))
    assert told[-1] == InboxPart.VIEW, "the same list is not laid out anew"


def test_an_answer_about_another_item_comes_too_late() -> None:
    inbox = Inbox()
    inbox.open(ItemId(UUID(int=2)))
    inbox.put_detail(detail(1))
    assert inbox.detail is None
    inbox.put_detail_trouble(ItemId(UUID(int=1)), "busy")
    assert inbox.detail_trouble == ""


def test_what_is_typed_stays_with_its_item_and_is_not_shown_at_another() -> None:
    inbox = Inbox()
    inbox.open(ItemId(UUID(int=1)))
    inbox.put_draft(ActDraft(ItemAction.NOTE, "called the bank"))
    inbox.open(ItemId(UUID(int=2)))
    assert inbox.draft == ActDraft()
    inbox.open(ItemId(UUID(int=1)))
    assert inbox.draft.reason == "called the bank"
    inbox.put_detail(detail(1))
    inbox.put_detail(detail(1, item=item(1, version=2, amount_minor=50)))
    assert inbox.draft.reason == "called the bank"
    assert [found.what for found in inbox.changes] == [ItemChange.AMOUNT]
    inbox.dismiss_changes()
    assert inbox.changes == ()


def test_ones_own_act_is_no_surprise() -> None:
    inbox = Inbox()
    inbox.open(ItemId(UUID(int=1)))
    inbox.put_detail(detail(1))
    inbox.put_detail(detail(1, item=item(1, version=2, state=ItemState.AWAITING_APPROVAL)), own_act=True)
    assert inbox.changes == ()


@pytest.mark.parametrize("late", [
    detail(1),
    detail(1, item=item(1, version=2, state=ItemState.AWAITING_APPROVAL)),
    detail(1, item=item(1, version=3, state=ItemState.RESOLVED), server_time=NOON - timedelta(seconds=1)),
])  # fmt: skip
def test_a_reading_from_before_the_act_that_comes_after_it_changes_nothing(late: ItemDetail) -> None:
    """It would offer what has just been decided a second time."""
    inbox = Inbox()
    inbox.open(ItemId(UUID(int=1)))
    inbox.put_detail(detail(1, item=item(1, version=2, state=ItemState.AWAITING_APPROVAL)))
    done = detail(1, item=item(1, version=3, state=ItemState.RESOLVED))
    inbox.put_detail(done, own_act=True)
    inbox.put_detail(late)
    assert (inbox.detail, inbox.changes) == (done, ())


def test_nothing_stays_for_the_next_person() -> None:
    inbox = Inbox()
    inbox.put_items((item(1),), 1, NOON)
    inbox.open(ItemId(UUID(int=1)))
    inbox.put_detail(detail(1))
    inbox.put_draft(ActDraft(ItemAction.NOTE, "secret"))
    inbox.look_at(InboxFilter(text="x"))
    inbox.clear()
    assert (inbox.items, inbox.open_count, inbox.item_id, inbox.detail, inbox.drafts) == ((), None, None, None, {})
    assert inbox.view.is_empty


def test_the_same_act_keeps_its_key_until_its_answer_is_known() -> None:
    inbox, made = Inbox(), iter("abcdef")
    one = ItemId(UUID(int=1))
    note = ItemActionRequest(action=ItemAction.NOTE, version=1, reason="seen")
    other = replace(note, reason="seen again")

    def key(request: ItemActionRequest) -> str:
        return inbox.key_for(one, request, lambda: next(made))

    assert [key(note), key(note), key(other), key(other)] == ["a", "a", "b", "b"]
    inbox.settle_key(one)
    assert key(other) == "c"


# ---------------------------------------------------------------- what changed


def test_two_readings_of_the_same_have_no_difference() -> None:
    assert differences(detail(), detail()) == ()


def test_every_kind_of_change_is_told() -> None:
    old = detail()
    asked = ApprovalAsked(action=ItemAction.REFUND, asked_by="Ana", asked_at=NOON, reason="x")
    waiting = detail(item=item(1, version=2, state=ItemState.AWAITING_APPROVAL), approval=asked)
    assert [found.what for found in differences(old, waiting)] == [ItemChange.STATE, ItemChange.ASKED]
    assert [found.what for found in differences(waiting, old)] == [ItemChange.STATE, ItemChange.ANSWERED]
    told = TimelineEntry(at=NOON, kind=TimelineKind.WEBHOOK, title="webhook-received")
    assert [(found.what, found.after) for found in differences(old, detail(timeline=(told, told)))] == [
        (ItemChange.EVIDENCE, "2")
    ]
    settled = detail(item=item(1, state=ItemState.RESOLVED, resolved_at=NOON, resolved_by="Ana", resolution="ref 7"))
    assert [(found.what, found.who, found.after) for found in differences(old, settled)] == [
        (ItemChange.RESOLVED, "Ana", "ref 7")
    ]
    closed = detail(actions=(AllowedAction(action=ItemAction.NOTE, why_not="awaiting-approval"),))
    assert [found.what for found in differences(old, closed)] == [ItemChange.ACTS]


# ---------------------------------------------------------------- the file (I5)


@pytest.mark.parametrize("text", ["=1+1", "@x", "+1", "-1", "\t=1", "\r=1", "＝1"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless_i5(text: str) -> None:
    assert harmless(text) == f"'{text}"


def test_a_text_that_is_only_a_text_is_left_alone_i5() -> None:
    assert [harmless(text) for text in ("La Traviata", "", "1-1", "a=b", "TQ-41")] == [
        "La Traviata",
        "",
        "1-1",
        "a=b",
        "TQ-41",
    ]


def test_the_file_has_harmless_texts_and_amounts_that_are_numbers_i5() -> None:
    rows = [
        row(1, event_name="=1+1", words="x", order_number="@x", amount_minor=-500),
        row(2, event_name='He said "no", twice\nand left', amount_minor=980, currency="JPY",
            seats=(SeatRef(seat_no=1, section="=cmd", row="A", number="1"),)),
    ]  # fmt: skip
    data = inbox_csv([f"head {place}" for place in range(COLUMN_COUNT)], rows, NOON)
    assert data.startswith(b"\xef\xbb\xbf")
    read = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [len(line) for line in read] == [COLUMN_COUNT] * 3
    assert read[1][6:8] == ["'=1+1", "'@x"]
    assert (Decimal(read[1][10]), read[1][11]) == (Decimal("-5.00"), "EUR")
    assert (read[2][6], read[2][10], read[2][12]) == ('He said "no", twice\nand left', "980", "'=cmd A 1")
    assert read[1][4] == "2026-11-30T11:59:00+00:00"
    assert read[1][5] == "60"


def test_a_file_with_a_head_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="heads"):
        inbox_csv(["one"], [], NOON)


# ---------------------------------------------------------------- ages


def test_ages_are_told_in_one_or_two_units_in_every_language() -> None:
    told = [figures().age(seconds) for seconds in (-3, 45, 60, 3_599, 3_600, 7_800, 86_400, 270_000)]
    assert told == ["0 sec", "45 sec", "1 min", "59 min", "1 hr", "2 hr 10 min", "1 day", "3 days 3 hr"]
    try:
        for code in ("ar", "ja", "pt"):
            use_language(code)
            assert figures().age(7_800) not in told
    finally:
        use_language("en")
