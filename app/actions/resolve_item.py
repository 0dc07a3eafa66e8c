"""A person's act on an item of the inbox, and a second person's word on it. Nothing here says that money moved.

An act goes along with the version that the person read. When the item is another by now, nothing is done: it is read
again, what changed is shown, and what was typed stays.
"""

from __future__ import annotations

from uuid import UUID

from app.actions.desk import Desk
from app.core.errors import NoSuchOrderError
from app.core.inbox import ActDraft
from app.core.session import Permission, require
from backend_client.errors import AnswerUnknownError, BookingClientError, BookingRefusedError, NotSignedInError
from backend_client.wire import (
    ApprovalDecision,
    ErrorCode,
    ItemAction,
    ItemActionRequest,
    ItemDetail,
    ItemId,
    OrderId,
)

_OF_AN_AMOUNT = frozenset({ItemAction.REFUND, ItemAction.HAND_TO_TILL})
_READ_AGAIN = frozenset({ErrorCode.ITEM_CHANGED, ErrorCode.ACTION_NOT_ALLOWED, ErrorCode.ITEM_NOT_FOUND})


async def act_on_item(desk: Desk, detail: ItemDetail, draft: ActDraft, amount_minor: int | None) -> ItemDetail:
    """Do what the person chose, and show how the item stands then.

    Raises:
        NotAllowedError: the role may not.
        NoSuchOrderError: the typed order is none, or several.
        AnswerUnknownError: nobody knows whether it took effect; the same act again is done once.
        BookingRefusedError: `item-changed`, `action-not-allowed`, …: nothing was done, the item was read again.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    require(desk.store.session, Permission.RECONCILE)
    action, inbox, item_id = draft.action, desk.store.inbox, detail.item.item_id
    if action is None:
        return detail
    request = ItemActionRequest(
        action=action,
        version=detail.item.version,
        reason=draft.reason.strip(),
        amount_minor=amount_minor if action in _OF_AN_AMOUNT else None,
        reference=draft.reference.strip() if action is ItemAction.SETTLED_OUTSIDE else "",
        order_id=await _order_of(desk, draft.order_number) if action is ItemAction.ATTACH else None,
        outcome=draft.outcome if action is ItemAction.SETTLED_OUTSIDE else None,
        seats_to_sale=draft.seats_to_sale or action is not ItemAction.TAKE_BACK,
        device_id=draft.device_id if action is ItemAction.HAND_TO_TILL else None,
        way=draft.way if action is ItemAction.HAND_TO_TILL else None,
    )
    key = inbox.key_for(item_id, request, desk.new_key)
    try:
        answer = await desk.client.act_on_item(item_id, request, key=key)
    except AnswerUnknownError:
        await _read_again(desk, item_id)
        raise
    except BookingRefusedError as error:
        inbox.settle_key(item_id)
        if error.problem.code in _READ_AGAIN:
            await _read_again(desk, item_id)
        raise
    inbox.settle_key(item_id)
    inbox.forget_draft(item_id)
    inbox.put_detail(answer, own_act=True)
    desk.inbox_wake.set()
    return answer


async def load_tills(desk: Desk) -> None:
    """Read which tills can give money back. Trouble is kept in the inbox, with what was read before.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: nobody is signed in any more.
    """
    require(desk.store.session, Permission.RECONCILE)
    try:
        found = await desk.client.tills()
    except NotSignedInError:
        raise
    except BookingClientError as error:
        desk.store.inbox.put_tills_trouble(error.code)
    else:
        desk.store.inbox.put_tills(found.tills)


async def decide_item(desk: Desk, detail: ItemDetail, reason: str, *, approve: bool) -> ItemDetail:
    """Approve what somebody else asked for, or refuse it; who asked takes the wish back so. Raises as `act_on_item`."""
    require(desk.store.session, Permission.RECONCILE)
    item_id = detail.item.item_id
    decision = ApprovalDecision(approve=approve, version=detail.item.version, reason=reason.strip())
    key = desk.store.inbox.key_for(item_id, decision, desk.new_key)
    try:
        answer = await desk.client.decide_item(item_id, decision, key=key)
    except AnswerUnknownError:
        await _read_again(desk, item_id)
        raise
    except BookingRefusedError as error:
        desk.store.inbox.settle_key(item_id)
        if error.problem.code in _READ_AGAIN:
            await _read_again(desk, item_id)
        raise
    desk.store.inbox.settle_key(item_id)
    desk.store.inbox.put_detail(answer, own_act=True)
    desk.inbox_wake.set()
    return answer


async def _read_again(desk: Desk, item_id: ItemId) -> None:
    """Show how the item stands now; when it cannot be read, the reason for reading it again is what is told."""
    try:
        desk.store.inbox.put_detail(await desk.client.item(item_id))
    except BookingClientError as error:
        desk.store.inbox.put_detail_trouble(item_id, error.code)


async def _order_of(desk: Desk, typed: str) -> OrderId:
    """The order that was typed: its id, or its number if exactly one order has it."""
    words = typed.strip()
    try:
        return OrderId(UUID(words))
    except ValueError:
        pass
    found = (await desk.client.orders(q=words)).orders
    exact = [order for order in found if order.number.casefold() == words.casefold()]
    if len(exact) != 1:
        raise NoSuchOrderError(f"{len(exact)} orders have the number {words!r}")
    return exact[0].order_id
