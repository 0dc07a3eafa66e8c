"""Making room for the next customer: finishing a sale, parking one that must wait, fetching it back."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.errors import SaleNotReadyError
from app.core.sale import Sale, SaleId, SaleState, SaleStep
from backend_client.wire import PrintJobStatus

_PARKABLE = frozenset({
    SaleState.HELD, SaleState.DECLINED, SaleState.UNKNOWN, SaleState.PAID, SaleState.HOLDING, SaleState.RETURNING,
})  # fmt: skip
PAY = "pay"


async def finish_sale(desk: Desk) -> None:
    """The counter is free for the next customer. A paid sale without printed tickets is finished all the same.

    One whose payment is unknown, or whose print is unclear or not reported, is parked: it stays in sight.

    Raises:
        SaleNotReadyError: the sale is neither paid, nor unknown, nor over.
    """
    with desk.once("finish") as first:
        sale = desk.store.sale
        if not first or sale is None:
            return
        if sale.state is SaleState.UNKNOWN or _print_is_open(sale) or sale.sale_id in desk.resolving:
            _park(desk, sale)
        elif sale.state is SaleState.PAID:
            await desk.keep(sale.after(SaleStep.FINISHED))
            desk.store.put_sale(None)
        elif sale.ended:
            desk.store.put_sale(None)
        else:
            raise SaleNotReadyError("the sale is not over")


def _print_is_open(sale: Sale) -> bool:
    if sale.state is not SaleState.PAID or sale.print_job is None or sale.print_job.reported:
        return sale.print_unclear
    return sale.print_job.status in (PrintJobStatus.CONFIRMED, PrintJobStatus.UNKNOWN)


async def park_sale(desk: Desk) -> None:
    """Set the sale at the counter aside and serve the next customer; it is in the journal and stays in the list.

    A card payment that the terminal works on goes on meanwhile, and is no longer a step of this counter.

    Raises:
        SaleNotReadyError: it is at a step that cannot wait.
    """
    waiting = desk.store.sale
    if waiting is not None and is_charging(desk, waiting):
        _park(desk, waiting)
        desk.set_aside(PAY)
        return
    with desk.once("park") as first:
        sale = desk.store.sale
        if not first or sale is None:
            return
        if sale.state not in _PARKABLE:
            raise SaleNotReadyError("this sale cannot wait")
        _park(desk, sale)


def is_charging(desk: Desk, sale: Sale) -> bool:
    """Whether the card terminal works on this sale."""
    return sale.state is SaleState.PAYING and sale.sale_id in desk.charging


def _park(desk: Desk, sale: Sale) -> None:
    with desk.store.batch():
        desk.store.put_sale(None)
        desk.store.put_parked(sale)
    if sale.state is SaleState.UNKNOWN:
        desk.wake.set()


def next_parked(desk: Desk) -> SaleId | None:
    """The sale that the key for it brings back: unclear payments and money to give back first, then the oldest.

    Pressed again and again it goes through all of them, as the one at the counter is put behind the others.
    """
    urgent = [sale for sale in desk.store.parked if sale.state in (SaleState.UNKNOWN, SaleState.RETURNING)]
    waiting = urgent or list(desk.store.parked)
    return waiting[0].sale_id if waiting else None


async def resume_parked(desk: Desk, sale_id: SaleId) -> Sale:
    """Bring a parked sale back to the counter; one that stands there and can wait is parked in its place.

    Raises:
        SaleNotReadyError: no such sale, or the one at the counter cannot wait.
    """
    shown = desk.store.sale
    if shown is not None and is_charging(desk, shown):
        await park_sale(desk)
    with desk.once("unpark") as first:
        current = desk.store.sale
        wanted = desk.find(sale_id)
        if wanted is None:
            raise SaleNotReadyError("no such sale")
        if not first or wanted is current:
            return wanted
        if current is not None and not current.ended and current.state is not SaleState.PICKING:
            if current.state not in _PARKABLE and not is_charging(desk, current):
                raise SaleNotReadyError("the sale at the counter cannot wait")
            _park(desk, current)
        with desk.store.batch():
            taken = desk.store.take_parked(sale_id) or wanted
            desk.store.put_sale(taken)
        return taken
