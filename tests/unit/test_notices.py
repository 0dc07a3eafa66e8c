"""Which notices are kept, and which one is said first."""

from __future__ import annotations

from app.core.notices import NOTICES_KEPT, Notice, NoticeCode, newest_to_hear, oldest_to_answer, with_notice

CASH = Notice(NoticeCode.CASH_NOT_NEEDED, (), 4500, "EUR")


def told(count: int, notices: tuple[Notice, ...] = ()) -> tuple[Notice, ...]:
    for number in range(count):
        notices = with_notice(notices, Notice(NoticeCode.CARD_GIVEN_BACK, (), number, "EUR"))
    return notices


def test_the_oldest_goes_when_there_are_too_many() -> None:
    notices = told(NOTICES_KEPT + 3)
    assert [notice.amount_minor for notice in notices] == list(range(3, NOTICES_KEPT + 3))
    assert newest_to_hear(notices) is notices[-1]
    assert newest_to_hear(()) is None


def test_one_that_waits_for_an_answer_stays_and_is_said_beside_the_newest() -> None:
    notices = told(2 * NOTICES_KEPT, with_notice((), CASH))
    assert notices[0] is CASH
    assert len(notices) == NOTICES_KEPT
    assert oldest_to_answer(notices) is CASH
    assert newest_to_hear(notices) is notices[-1]
    assert oldest_to_answer(told(3)) is None


def test_however_many_wait_for_an_answer_none_goes() -> None:
    notices: tuple[Notice, ...] = ()
    for number in range(NOTICES_KEPT + 2):
        notices = with_notice(notices, Notice(NoticeCode.CASH_NOT_NEEDED, (), number, "EUR"))
    assert len(notices) == NOTICES_KEPT + 2
