"""A card, however this counter takes cards: at its own terminal or at a reader that the server drives."""

from __future__ import annotations

from app.actions.desk import CardWay, Desk
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_reader import pay_reader, stop_reader
from app.core.sale import Sale
from backend_client.wire import OperationKind


async def take_card(desk: Desk, *, part_minor: int | None = None) -> Sale:
    """Charge the sale at the counter, or a part of what is left. Ends and raises as `pay_card` and `pay_reader`."""
    if desk.card_way is CardWay.READER:
        return await pay_reader(desk, part_minor=part_minor)
    return await pay_card(desk, part_minor=part_minor)


async def stop_card(desk: Desk) -> None:
    """Wish that the card payment at the counter ends; the truth is still told (T9)."""
    sale = desk.store.sale
    if sale is not None and sale.payment is not None and sale.payment.kind is OperationKind.AUTHORIZE:
        await stop_reader(desk)
    else:
        await abort_card(desk)


def takes_cards(desk: Desk) -> bool:
    """Whether a card can be taken here at all."""
    return desk.card_way is CardWay.READER or desk.terminal is not None
