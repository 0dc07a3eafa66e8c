"""Following the inbox, acting on its items and giving money back: the actions over a booking system in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace as put
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from app.actions.follow_inbox import count_inbox, follow_inbox, load_inbox, load_item
from app.actions.resolve_item import act_on_item, decide_item
from app.actions.run_reconciliation import follow_runs, load_runs, start_run
from app.actions.sign_in import sign_in, sign_out
from app.core.errors import NoSuchOrderError, NotAllowedError
from app.core.inbox import ActDraft
from backend_client.errors import AnswerUnknownError, BookingRefusedError, ForbiddenError
from backend_client.testing import Fault
from backend_client.testing_items import ItemEntry
from backend_client.wire import (
    AllowedAction,
    ItemAction,
    ItemId,
    ItemState,
    ReconciliationItem,
    Role,
    RunState,
)
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until

QUICK = put(FAST, inbox_s=0.01, inbox_idle_s=0.02, inbox_longest_s=0.05, run_s=0.001)


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    """A supervisor at a counter, with seven items in the inbox."""
    journal = open_journal(tmp_path)
    made = make_counter(journal, patience=QUICK)
    made.server.staff |= {"sofia": ("secret", Role.SUPERVISOR), "ana": ("secret", Role.SUPERVISOR)}
    for number in range(1, 8):
        item = ReconciliationItem(
            item_id=ItemId(UUID(int=number)), kind="no-result", state=ItemState.OPEN, version=1,
            opened_at=made.server.house.now() - timedelta(minutes=number), amount_minor=1_000, currency="EUR",
        )  # fmt: skip
        actions = tuple(AllowedAction(action=action) for action in ItemAction)
        made.server.items.add(ItemEntry(item, actions=actions))
    await sign_in(made.desk, "sofia", "secret")
    yield made
    await made.desk.client.close()
    await journal.close()


ONE = ItemId(UUID(int=1))


async def opened(counter: Counter, draft: ActDraft) -> None:
    counter.desk.store.inbox.open(ONE)
    await load_item(counter.desk, ONE)
    counter.desk.store.inbox.put_draft(draft)


async def act(counter: Counter, amount_minor: int | None = None) -> None:
    detail = counter.desk.store.inbox.detail
    assert detail is not None
    await act_on_item(counter.desk, detail, counter.desk.store.inbox.draft, amount_minor)


async def test_the_list_is_read_page_by_page_to_its_end(counter: Counter) -> None:
    counter.server.items.page = 3
    await load_inbox(counter.desk)
    inbox = counter.desk.store.inbox
    assert [item.item_id.int for item in inbox.items] == [7, 6, 5, 4, 3, 2, 1]
    assert (inbox.open_count, inbox.is_cut) == (7, False)
    assert sum(call.path.endswith("/items") for call in counter.server.calls) == 3


async def test_a_person_who_signs_out_between_two_pages_leaves_nothing(counter: Counter) -> None:
    counter.server.items.page = 3
    counter.server.delay("/items", 0.05, times=3)
    task = asyncio.get_running_loop().create_task(load_inbox(counter.desk))
    await until(lambda: any(call.path.endswith("/items") for call in counter.server.calls))
    counter.desk.store.put_session(None)
    await task
    assert counter.desk.store.inbox.items == ()


async def test_nobody_reads_or_acts_whose_role_may_not(counter: Counter) -> None:
    await sign_out(counter.desk)
    await sign_in(counter.desk, "carla", "secret")
    before = len(counter.server.calls)
    for deed in (
        load_inbox(counter.desk),
        count_inbox(counter.desk),
        load_item(counter.desk, ONE),
        load_runs(counter.desk),
    ):
        with pytest.raises(NotAllowedError):
            await deed
    assert len(counter.server.calls) == before


async def test_following_outlives_a_server_that_is_away_and_wakes_when_it_is_told(counter: Counter) -> None:
    inbox = counter.desk.store.inbox
    task = asyncio.get_running_loop().create_task(follow_inbox(counter.desk, lambda: True))
    await until(lambda: len(inbox.items) == 7)
    counter.server.fail(Fault.UNREACHABLE, "/items", times=40)
    await until(lambda: inbox.trouble == "service-unavailable")
    assert len(inbox.items) == 7
    counter.server.heal()
    counter.desk.inbox_wake.set()
    await until(lambda: not inbox.trouble)
    counter.server.items.change(ONE, state=ItemState.RESOLVED)
    await until(lambda: len(inbox.items) == 6)
    task.cancel()


async def test_while_nobody_looks_only_the_count_is_read(counter: Counter) -> None:
    task = asyncio.get_running_loop().create_task(follow_inbox(counter.desk, lambda: False))
    await until(lambda: counter.desk.store.inbox.open_count == 7)
    assert counter.desk.store.inbox.items == ()
    task.cancel()


@pytest.mark.parametrize("turns", [0, 1, 2])
async def test_following_ends_though_it_is_woken_in_the_same_moment(counter: Counter, turns: int) -> None:
    """Whoever acts and signs out wakes and ends it at once; one that stays reads for ever beside the next one."""
    for _round in range(5):
        counter.desk.store.inbox.put_count(0)
        task = asyncio.get_running_loop().create_task(follow_inbox(counter.desk, lambda: False))
        await until(lambda: counter.desk.store.inbox.open_count == 7)
        await asyncio.sleep(0)
        counter.desk.inbox_wake.set()
        for _turn in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=1)
        if not done:
            task.cancel()
        assert done, "it was told to end"
        assert task.cancelled()


async def test_following_ends_when_the_role_is_taken_away(counter: Counter) -> None:
    session = next(iter(counter.server._sessions))
    counter.server._sessions[session] = (counter.server._sessions[session][0], Role.CLERK)
    with pytest.raises(ForbiddenError):
        await follow_inbox(counter.desk, lambda: True)


async def test_an_open_item_that_somebody_changes_is_read_again_with_what_changed(counter: Counter) -> None:
    inbox = counter.desk.store.inbox
    await opened(counter, ActDraft(ItemAction.NOTE, "half"))
    task = asyncio.get_running_loop().create_task(follow_inbox(counter.desk, lambda: True))
    await until(lambda: len(inbox.items) == 7)
    counter.server.items.change(ONE, amount_minor=5)
    await until(lambda: bool(inbox.changes))
    assert inbox.draft.reason == "half"
    task.cancel()


async def test_an_act_that_was_done_and_not_answered_is_done_once(counter: Counter) -> None:
    await opened(counter, ActDraft(ItemAction.NOTE, "seen"))
    counter.server.fail(Fault.ANSWER_LOST, "/actions", times=3)
    with pytest.raises(AnswerUnknownError):
        await act(counter)
    assert len(counter.server.items.acted) == 1
    inbox = counter.desk.store.inbox
    assert inbox.detail is not None
    assert inbox.detail.item.version == 2, "it was read again: the person sees how it stands"
    assert inbox.draft.reason == "seen"


async def test_what_the_other_act_needs_is_not_sent_along(counter: Counter) -> None:
    draft = ActDraft(ItemAction.NOTE, "only words", "5.00", "TR-1", "T-9")
    await opened(counter, draft)
    await act(counter, 500)
    sent = counter.server.items.acted[-1][1]
    assert (sent.amount_minor, sent.reference, sent.order_id) == (None, "", None)


async def test_an_order_that_nobody_has_is_refused_before_anything_is_sent(counter: Counter) -> None:
    await opened(counter, ActDraft(ItemAction.ATTACH, "belongs there", order_number="T-404"))
    with pytest.raises(NoSuchOrderError):
        await act(counter)
    assert counter.server.items.acted == []
    by_id = UUID(int=99)
    counter.desk.store.inbox.put_draft(ActDraft(ItemAction.ATTACH, "belongs there", order_number=f" {by_id} "))
    await act(counter)
    assert counter.server.items.acted[-1][1].order_id == by_id


async def test_a_changed_item_is_refused_read_again_and_nothing_is_done(counter: Counter) -> None:
    await opened(counter, ActDraft(ItemAction.REFUND, "twice"))
    counter.server.items.change(ONE, amount_minor=5)
    with pytest.raises(BookingRefusedError):
        await act(counter)
    assert counter.server.items.acted == []
    assert counter.desk.store.inbox.changes
    await act(counter)
    assert len(counter.server.items.acted) == 1


async def test_the_asker_cannot_approve_and_the_other_person_can(counter: Counter) -> None:
    counter.server.items.second_person_above = 500
    await opened(counter, ActDraft(ItemAction.REFUND, "twice"))
    await act(counter)
    inbox = counter.desk.store.inbox
    assert inbox.detail is not None
    assert inbox.detail.item.state is ItemState.AWAITING_APPROVAL
    with pytest.raises(BookingRefusedError) as refused:
        await decide_item(counter.desk, inbox.detail, "fine", approve=True)
    assert refused.value.code == "second-person-needed"
    await sign_out(counter.desk)
    await sign_in(counter.desk, "ana", "secret")
    inbox.open(ONE)
    await load_item(counter.desk, ONE)
    await decide_item(counter.desk, inbox.detail, "fine", approve=True)
    assert [done[2] for done in counter.server.items.acted] == ["sofia"]


async def test_a_comparison_is_followed_to_its_end_and_wakes_the_inbox(counter: Counter) -> None:
    run = await start_run(counter.desk, "stripe", counter.server.house.now().date())
    again = await start_run(counter.desk, "stripe", counter.server.house.now().date())
    assert again.run_id == run.run_id
    task = asyncio.get_running_loop().create_task(follow_runs(counter.desk))
    counter.server.items.advance_run(run.run_id, read=10)
    await until(lambda: counter.desk.store.inbox.runs[0].read == 10)
    counter.server.items.advance_run(run.run_id, state=RunState.DONE, differences={"ours-only": 2})
    await task
    assert counter.desk.store.inbox.runs[0].differences == {"ours-only": 2}
    assert counter.desk.inbox_wake.is_set()
    await load_runs(counter.desk)
    assert len(counter.desk.store.inbox.runs) == 1
