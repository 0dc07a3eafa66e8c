"""An inbox of thousands: what it costs the interface's thread, against a short one in the same run."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

from app.core.hold_clock import ServerClock
from app.core.inbox import Inbox, InboxPart
from app.core.inbox_filter import InboxFilter
from app.core.store import ConsoleStore
from app.screens.inbox_page import InboxPage
from app.showcase_money import many_items
from backend_client.steady_time import steady_seconds
from backend_client.testing import FakeBookingServer
from widgets.theme import Theme


def page_of(theme: Theme, count: int) -> tuple[InboxPage, Inbox]:
    server = FakeBookingServer()
    many_items(server, count)
    store = ConsoleStore(ServerClock(steady_seconds))
    page = InboxPage(theme, store)
    page.resize(1200, 700)
    store.inbox.subscribe(page.show_part)
    entries = sorted((entry.item for entry in server.items.entries.values()), key=lambda item: item.opened_at)
    store.inbox.put_items(tuple(entries), count, server.house.now())
    page.grab()
    return page, store.inbox


def least_s(deed: Callable[[], object], attempts: int = 5) -> float:
    """Thread CPU seconds, the least of a few."""
    costs = []
    for _attempt in range(attempts):
        began = thread_time()
        deed()
        costs.append(thread_time() - began)
    return min(costs)


def test_five_thousand_items_cost_in_proportion_and_drawing_them_costs_no_more(theme: Theme) -> None:
    short, short_inbox = page_of(theme, 500)
    long, long_inbox = page_of(theme, 5_000)

    def anew(page: InboxPage) -> float:
        return least_s(lambda: page.show_part(InboxPart.ITEMS))

    assert anew(long) / anew(short) < 45
    assert least_s(long.grab) / least_s(short.grab) < 3

    def typing(inbox: Inbox) -> float:
        def deed() -> None:
            inbox.look_at(InboxFilter(text="twice"))
            inbox.look_at(InboxFilter())

        return least_s(deed)

    assert typing(long_inbox) / typing(short_inbox) < 45
    assert long.model.rowCount() == 5_000


def test_a_refresh_that_brings_nothing_new_lays_nothing_out(theme: Theme) -> None:
    page, inbox = page_of(theme, 2_000)
    told: list[str] = []
    page.model.modelReset.connect(lambda: told.append("reset"))
    page.model.dataChanged.connect(lambda: told.append("changed"))
    inbox.put_items(tuple(inbox.items), 2_000, inbox.as_of)  # type: ignore[arg-type]  # it was put above
    assert told == []
    inbox.put_items(inbox.items[1:], 1_999, inbox.as_of)  # type: ignore[arg-type]
    assert told == []
    assert page.model.rowCount() == 1_999
