"""What people do with items: only what their state allows, with a reason, and above a limit by two.

The database decides under its locks (`act_on_item`). ASK_AGAIN makes the operation due; the worker asks, outside any
transaction, and the answer waits for it a moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import (
    ActionNotAllowedError,
    BookingError,
    FieldFault,
    ForbiddenError,
    InvalidRequestError,
    ItemChangedError,
    ItemNotFoundError,
    SecondPersonNeededError,
)
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemDetail, ItemState, ItemWish
from booking.domain.model import MAX_AMOUNT_MINOR, PaymentOperation, ResultOutcome
from booking.domain.replay import Outcome
from booking.domain.text import refuse_card_numbers, storable_texts
from booking.services.reconciliation_items import read_item
from booking.services.refusals import key_use, refusal
from booking.store import reconciliation_queries
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer

WAIT_S: Final = 2.5
_LOOK_EVERY_S: Final = 0.1
_MAX_REFERENCE: Final = 200
_OF_AN_AMOUNT: Final = frozenset({ItemAction.REFUND, ItemAction.HAND_TO_TILL})
_WHY_NOT: Final[Mapping[str, str]] = {
    "": "The state of the item does not allow this.",
    "awaiting-approval": "A second person has to decide what was asked first.",
    "nothing-asked": "Nothing waits for a second person here.",
    "attached-already": "This was attached to an order before.",
    "terminal-tells-itself": "Only the till can ask its terminal.",
    "nothing-valid": "Nothing of the order is valid any more.",
    "refund-pending": "Money of the order is on its way back; nobody knows yet whether it arrives.",
    "may-be-captured": "The provider says that it captured the money after all. Settle that first.",
    "under-way": "A payment of the order has no answer yet.",
}
_FAULTS: Final[Mapping[str, str]] = {
    "/outcome": "succeeded or declined, and only where an operation has no answer yet",
    "/order_id": "an order in the same currency, and that of the charge",
    "/device_id": "a till at which somebody is at work",
    "/way": "cash, or the same way where a terminal took the money",
}


async def act_on_item(
    db: Database, caller: Caller, item_id: UUID, wish: ItemWish, *, key: str, digest: bytes, wait_s: float = WAIT_S
) -> Outcome[ItemDetail]:
    """Do what is wanted of an item, or ask a second person for it when it is above the limit.

    Raises:
        InvalidRequestError: naming the member that is missing or wrong.
        ItemNotFoundError: there is none.
        ItemChangedError: it has another version than the one that was seen.
        ActionNotAllowedError: its state does not allow it.
        RefundTooMuchError, OrderNotFoundError, ForbiddenError, KeyReusedError, BusyError: as they say.
    """
    use = key_use(key, digest)
    _check_person(caller)
    reason, reference = _check(wish)
    checked = replace(wish, reason=reason, reference=reference)
    before = await read_item(db, caller, item_id)
    answer = await reconciliation_queries.act_on_item(db, caller, item_id, checked, use)
    _raise(answer)
    after = await read_item(db, caller, item_id)
    if wish.action is ItemAction.ASK_AGAIN and not answer.replayed:
        after = await _when_heard(db, caller, before, after, wait_s)
    return Outcome(after, answer.replayed)


async def decide_item(
    db: Database, caller: Caller, item_id: UUID, version: int, reason: str, *, approve: bool, key: str, digest: bytes
) -> Outcome[ItemDetail]:
    """A second person's word on what was asked. Who asked may only withdraw it.

    Raises:
        SecondPersonNeededError: who asked would approve it himself.
        ActionNotAllowedError: nothing waits, or the item does not allow it any more; then nothing is decided.
        ItemNotFoundError, ItemChangedError, InvalidRequestError, KeyReusedError, BusyError: as for `act_on_item`.
    """
    use = key_use(key, digest)
    _check_person(caller)
    (reason,) = storable_texts({"/reason": reason.strip()})
    if not reason:
        raise _invalid("/reason", "says why")
    answer = await reconciliation_queries.decide_item(db, caller, item_id, version, reason, use, approve=approve)
    _raise(answer)
    return Outcome(await read_item(db, caller, item_id), answer.replayed)


async def _when_heard(db: Database, caller: Caller, before: ItemDetail, after: ItemDetail, wait_s: float) -> ItemDetail:
    """The item once the worker has asked, or as it stands after a moment: it goes on asking by itself.

    An answer is written before the item ends by it: seen between the two, the item would be shown as open beside the
    very answer that settles it. So an operation that had its answer is waited for until the word of it is taken
    (`is_asked_again`), and an item whose cause is gone ends here instead of with the worker's next round.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    operations = [operation.operation_id for operation in after.operations]
    while loop.time() < until:
        is_asked = await reconciliation_queries.is_asked_again(db, operations)
        after = await read_item(db, caller, after.item.item_id)
        if not is_asked and _heard_so_far(after) != _heard_so_far(before):
            break
        await asyncio.sleep(_LOOK_EVERY_S)
    await reconciliation_queries.end_settled_item(db, after.item.item_id)
    return await read_item(db, caller, after.item.item_id)


def _heard_so_far(detail: ItemDetail) -> tuple[ItemState, list[tuple[UUID, datetime, str]], int]:
    """What changes when an answer was recorded: states of operations, and how much was said."""
    said = sum(entry.title in ("answer-received", "ticket-issued") for entry in detail.timeline)
    return detail.item.state, [_seen(operation) for operation in detail.operations], said


def _seen(operation: PaymentOperation) -> tuple[UUID, datetime, str]:
    return operation.operation_id, operation.updated_at, operation.status


def _check_person(caller: Caller) -> None:
    if not caller.acts_for_all or caller.staff_id is None:
        raise ForbiddenError("Items are settled by supervisors and admins.")


def _check(wish: ItemWish) -> tuple[str, str]:
    """Reason and reference as they may be stored."""
    reason, reference = storable_texts({"/reason": wish.reason.strip(), "/reference": wish.reference.strip()})
    refuse_card_numbers({"/reference": wish.reference})
    faults = []
    if not reason:
        faults.append(FieldFault("/reason", "says why"))
    if wish.action is ItemAction.SETTLED_OUTSIDE and not reference:
        faults.append(FieldFault("/reference", "says where it was settled"))
    if len(reference) > _MAX_REFERENCE:
        faults.append(FieldFault("/reference", f"has at most {_MAX_REFERENCE} characters"))
    if (wish.action is ItemAction.ATTACH) != (wish.order_id is not None):
        faults.append(FieldFault("/order_id", "goes with attach, and with nothing else"))
    if wish.amount_minor is not None and (
        wish.action not in _OF_AN_AMOUNT or not 1 <= wish.amount_minor <= MAX_AMOUNT_MINOR
    ):
        faults.append(FieldFault("/amount_minor", "goes with refund and hand-to-till, and is at least 1"))
    faults += _faults_of_a_till(wish)
    if wish.outcome is not None and (
        wish.action is not ItemAction.SETTLED_OUTSIDE
        or wish.outcome not in (ResultOutcome.SUCCEEDED, ResultOutcome.DECLINED)
    ):
        faults.append(FieldFault("/outcome", "goes with settled-outside, and is succeeded or declined"))
    if faults:
        raise InvalidRequestError("This cannot be asked of an item.", fields=tuple(faults))
    return reason, reference


def _faults_of_a_till(wish: ItemWish) -> list[FieldFault]:
    """What goes with one act alone: a till and a way with the one, seats that stay blocked with the other."""
    faults = []
    to_till = wish.action is ItemAction.HAND_TO_TILL
    if to_till != (wish.device_id is not None):
        faults.append(FieldFault("/device_id", "goes with hand-to-till, and with nothing else"))
    if to_till != (wish.way is not None):
        faults.append(FieldFault("/way", "goes with hand-to-till, and with nothing else"))
    if not wish.seats_to_sale and wish.action is not ItemAction.TAKE_BACK:
        faults.append(FieldFault("/seats_to_sale", "goes with take-back, and with nothing else"))
    return faults


def _invalid(pointer: str, words: str) -> InvalidRequestError:
    return InvalidRequestError("This cannot be asked of an item.", fields=(FieldFault(pointer, words),))


def _raise(answer: SaleAnswer) -> None:
    """Raise what the database refuses; nothing when it does not."""
    if answer.code:
        raise _refused(answer)


def _refused(answer: SaleAnswer) -> BookingError:
    match answer.code:
        case "item-not-found":
            return ItemNotFoundError("There is no such item.")
        case "item-changed":
            return ItemChangedError("Somebody else has changed this item meanwhile. Read it again and decide anew.")
        case "action-not-allowed":
            return ActionNotAllowedError(_WHY_NOT.get(answer.detail, f"{_WHY_NOT['']} ({answer.detail})"))
        case "second-person-needed":
            return SecondPersonNeededError("Who asked for this cannot approve it: another person has to.")
        case "invalid-request":
            return _invalid(answer.detail, _FAULTS.get(answer.detail, "is not right"))
        case code:
            return refusal(code, (), answer.detail)
