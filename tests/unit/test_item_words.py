"""Whatever the booking system can say of an item, an act or a seat has words in every language of the console."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from app.i18n import LANGUAGES, use_language
from app.screens.item_words import act_name, act_words, why_not_words
from app.screens.seat_detail_words import _HAPPENED
from app.screens.timeline_words import _TITLES, evidence_lines, title_words
from backend_client.wire import AllowedAction, ItemAction, TimelineEntry, TimelineKind
from booking import sql
from booking.domain import item_actions
from booking.domain.seat_detail import SeatEventKind
from booking.services.item_actions import _WHY_NOT

CODES = [language.code for language in LANGUAGES]
_AUDIT = {"item-approval-" + word for word in ("asked", "given", "refused", "withdrawn", "overtaken")}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def titles() -> set[str]:
    """Titles that the query of a timeline gives, and what the audit log has of an order."""
    told = set(re.findall(r"'([a-z]+(?:-[a-z]+)+)'", sql.query("read_item_timeline"))) - _AUDIT
    changes = "\n".join(file.text for file in sql.functions())
    of_orders = set(re.findall(r"note_change\([^,]+, '([a-z-]+)', (?:p_order|p_item\.order_id)::text", changes))
    assert {"tickets-refunded", "tickets-cancelled", "order-taken-back"} <= of_orders
    return told | of_orders | {f"act-{action.value}" for action in ItemAction}


def test_the_console_knows_the_acts_of_the_booking_system() -> None:
    assert [action.value for action in ItemAction] == [action.value for action in item_actions.ItemAction]


@pytest.mark.parametrize("code", CODES)
def test_each_act_and_each_reason_against_it_has_words(code: str) -> None:
    use_language(code)
    for action in ItemAction:
        assert act_name(action)
        assert len(act_words(action)) > len(act_name(action))
    reasons = set(_WHY_NOT) - {"", "nothing-asked", "attached-already"}
    assert len(reasons) >= 6
    for reason in reasons:
        said = why_not_words(AllowedAction(action=ItemAction.NOTE, why_not=reason))
        assert said != reason.replace("-", " ").capitalize()


@pytest.mark.parametrize("code", CODES)
def test_each_title_of_a_timeline_has_words(code: str) -> None:
    use_language(code)
    found = titles()
    assert len(found) > 30
    assert found - set(_TITLES) == set()
    assert all(title_words(title) for title in found)


@pytest.mark.parametrize("code", CODES)
def test_each_thing_that_happens_to_a_seat_has_words(code: str) -> None:
    """`ticket-cancelled` among them: a ticket was made void without its money."""
    use_language(code)
    assert {kind.value for kind in SeatEventKind} - set(_HAPPENED) == set()


def test_an_entry_whose_amount_comes_without_a_currency_is_shown() -> None:
    """Seen at the real windows: one act on a charge of nobody, and its evidence could not be opened any more."""
    entry = TimelineEntry(
        at=datetime(2026, 11, 30, 12, tzinfo=UTC), kind=TimelineKind.PERSON, title="act-refund", source="sofia",
        amount_minor=5_000, currency="", body="Nothing was bought for it",
    )  # fmt: skip
    (line,) = evidence_lines([entry], "UTC")
    assert "5,000" in line.more
