"""The console starts again: each state of the journal meets each state of the API (R30, R31, T4)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from app.actions.finish_sale import park_sale
from app.actions.hold_seats import hold_picked
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import toggle_seat
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.actions.sign_in import keep_restoring, restore_session, sign_in, sign_out
from app.core.sale import EndReason, SaleState, UnknownReason
from app.core.session import CredentialStorage
from app.core.store import NoticeCode
from app.devices.fake_terminal import LoseLine
from backend_client.errors import AnswerUnknownError, NotSignedInError, ServiceUnavailableError
from backend_client.testing import Fault
from backend_client.wire import Role
from tests.unit.counter import Counter


async def restart(counter: Counter) -> Counter:
    again = counter.restart(counter.desk.journal)
    await again.open()
    await resume_open_sales(again.desk)
    return again


async def test_held_sale_is_ours_again(counter: Counter) -> None:
    held = await counter.hold(0, 1)
    again = await restart(counter)
    assert again.sale.state is SaleState.HELD
    assert again.sale.picks == held.picks
    assert NoticeCode.SALE_RESUMED in again.notices
    assert (await pay_cash(again.desk, 9000)).state is SaleState.PAID


async def test_hold_that_ended_meanwhile_is_expired(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.pass_time(301)
    again = await restart(counter)
    assert again.sale.end_reason is EndReason.HOLD_ENDED
    assert await again.desk.journal.open_sales() == ()


async def test_hold_whose_answer_died_with_the_console_is_found_by_its_key(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    again = await restart(counter)
    assert again.sale.state is SaleState.HELD
    assert len(again.server.house.holds) == 1


async def test_hold_that_never_reached_the_api_is_not_ours_when_somebody_else_took_it(counter: Counter) -> None:
    counter.server.fail(Fault.REQUEST_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    counter.server.sell_elsewhere(0)
    again = await restart(counter)
    assert again.sale.state is SaleState.PICKING
    assert [seat.seat_no for seat in again.sale.lost_seats] == [0]


async def test_cash_that_the_api_never_heard_of_waits_for_the_clerk(counter: Counter) -> None:
    """The buyer may have gone: nothing is sent by itself."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/payments", times=99)
    await pay_cash(counter.desk, 5000)
    await counter.desk.journal.save_sale(
        replace(counter.sale, state=SaleState.PAYING, unknown_reason=None, unknown_since=None)
    )
    counter.server.heal()
    again = await restart(counter)
    assert again.sale.state is SaleState.HELD
    [order] = again.server.house.orders.values()
    assert order.operations == []
    assert (await pay_cash(again.desk, 6000)).state is SaleState.PAID


async def test_unknown_card_is_asked_about_at_start(counter: Counter) -> None:
    """T4."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    again = await restart(counter)
    assert again.sale.state is SaleState.PAID
    assert again.terminal.payments_asked == 1


async def test_what_cannot_be_cleared_up_stays_unknown_and_in_sight(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=999)
    await pay_card(counter.desk)
    await counter.desk.journal.save_sale(replace(counter.sale, state=SaleState.PAYING))
    again = await restart(counter)
    assert again.sale.state is SaleState.UNKNOWN
    assert again.sale.unknown_reason is UnknownReason.BOOKING_SILENT
    again.server.heal()
    assert (await resolve_unknown(again.desk)).state is SaleState.PAID
    assert again.charged_minor == 4500


async def test_booking_system_that_is_away_at_start_keeps_sales_as_they_are(counter: Counter) -> None:
    await counter.hold(0)
    again = counter.restart(counter.desk.journal)
    await again.open()
    again.server.fail(Fault.UNREACHABLE, "/holds", times=99)
    await resume_open_sales(again.desk)
    assert again.sale.state is SaleState.HELD


async def test_several_open_sales_come_back_the_newest_at_the_counter(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    second = await counter.hold(1)
    again = await restart(counter)
    assert again.sale.sale_id == second.sale_id
    assert [sale.sale_id for sale in again.desk.store.parked] == [first.sale_id]


async def test_picks_that_were_not_held_are_forgotten(counter: Counter) -> None:
    for seat in (0, 1):
        toggle_seat(counter.desk, seat)
    counter.server.sell_elsewhere(1)
    await hold_picked(counter.desk)
    again = await restart(counter)
    assert again.sale.state is SaleState.ABANDONED


async def test_session_is_restored_from_the_keyring_and_its_token_replaced(counter: Counter) -> None:
    """R35: a refresh token is used once; the new one is kept at once."""
    before = counter.vault.kept
    again = counter.restart(counter.desk.journal)
    session = await restore_session(again.desk)
    assert session is not None
    assert session.role is Role.CLERK
    assert again.vault.kept is not None
    assert again.vault.kept != before
    assert again.desk.client.session is not None
    assert again.vault.kept.refresh_token == again.desk.client.session.refresh_token


async def test_background_refresh_replaces_the_kept_token(counter: Counter) -> None:
    counter.server.expire_tokens()
    await counter.desk.client.me()
    await asyncio.gather(*counter.desk.background)
    assert counter.vault.kept is not None
    assert counter.desk.client.session is not None
    assert counter.vault.kept.refresh_token == counter.desk.client.session.refresh_token


async def test_kept_session_that_is_no_longer_valid_is_forgotten(counter: Counter) -> None:
    counter.server.sign_everybody_out()
    again = counter.restart(counter.desk.journal)
    assert await restore_session(again.desk) is None
    assert again.vault.kept is None
    assert await restore_session(again.desk) is None


async def test_kept_session_stays_kept_while_the_system_is_away(counter: Counter) -> None:
    again = counter.restart(counter.desk.journal)
    again.server.fail(Fault.UNREACHABLE, times=9)
    with pytest.raises(ServiceUnavailableError):
        await restore_session(again.desk)
    assert again.vault.kept is not None


async def test_kept_session_is_tried_again_with_growing_pauses_until_the_system_answers(counter: Counter) -> None:
    again = counter.restart(counter.desk.journal)
    again.server.fail(Fault.UNREACHABLE, "/staff/refresh", times=5)
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    again.desk.sleep = pause
    session = await keep_restoring(again.desk)
    assert session is not None
    assert session.name == "carla"
    assert pauses == [0.001, 0.002, 0.004, 0.008, 0.01, 0.01]


async def test_kept_session_is_left_alone_once_somebody_signed_in(counter: Counter) -> None:
    again = counter.restart(counter.desk.journal)

    async def meanwhile(seconds: float) -> None:
        await sign_in(again.desk, "carla", "secret")

    again.desk.sleep = meanwhile
    assert await keep_restoring(again.desk) is None
    assert again.desk.store.session is not None
    assert counter.server.refreshes == 0


async def test_without_a_keyring_the_session_lasts_until_the_end_and_that_is_said(counter: Counter) -> None:
    """D9."""
    again = counter.restart(counter.desk.journal)
    again.vault.storage = CredentialStorage.NO_KEYRING
    session = await sign_in(again.desk, "carla", "secret")
    assert session.storage is CredentialStorage.NO_KEYRING
    [notice] = again.desk.store.notices
    assert (notice.code, notice.detail) == (NoticeCode.SESSION_ONLY, "no-keyring")


async def test_signing_out_forgets_and_is_no_surprise(counter: Counter) -> None:
    await sign_out(counter.desk)
    assert counter.desk.store.session is None
    assert counter.vault.kept is None
    assert NoticeCode.SIGNED_OUT not in counter.notices


async def test_session_that_the_api_ended_is_said(counter: Counter) -> None:
    counter.server.sign_everybody_out()
    with pytest.raises(NotSignedInError):
        await counter.desk.client.me()
    assert counter.desk.store.session is None
    assert NoticeCode.SIGNED_OUT in counter.notices
    await sign_in(counter.desk, "carla", "secret")
    assert NoticeCode.SIGNED_OUT not in counter.notices  # it was for who was here before


async def test_open_sales_wait_for_somebody_who_may_sell(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.staff["omar"] = ("secret", Role.OPS)
    again = counter.restart(counter.desk.journal)
    await sign_in(again.desk, "omar", "secret")
    assert await resume_open_sales(again.desk) == ()
    assert len(await again.desk.journal.open_sales()) == 1


async def test_a_sign_out_that_breaks_off_leaves_no_token_behind(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(counter.desk.client, "sign_out", broken)
    assert await counter.vault.load() is not None
    with pytest.raises(asyncio.CancelledError):
        await sign_out(counter.desk)
    assert await counter.vault.load() is None
    assert counter.desk.store.session is None
