"""Seats that the console proposes: the best available and the next best, what is left after a loss, and undo.

A proposal becomes the pick at once, so that the sale shows its seats and its total, and the hold asks for exactly
what is shown. The database decides there (R14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.actions.desk import Desk
from app.actions.pick_seats import free_for_party, party_at, picking_sale, put_picks
from app.core.best_blocks import Block
from app.core.errors import NoBlockLeftError, SaleNotReadyError
from app.core.orphan_seats import without_orphans
from app.core.picking import BestShown, OfferKind, Picking, Picks, SeatOffer
from app.core.sale import Sale, SaleState
from app.core.store import Notice, NoticeCode
from backend_client.plan_names import seat_ref
from backend_client.wire import MAX_SEATS_PER_HOLD, OrphanRule, SeatRef


def set_together(desk: Desk, count: int) -> None:
    """How many seats a click takes, and best available is asked for: 1–6."""
    together = min(max(count, 1), MAX_SEATS_PER_HOLD)
    desk.store.put_picking(replace(desk.store.picking, together=together, best=None))


def look_in(desk: Desk, *, sections: Sequence[int] | None = None, categories: Sequence[int] | None = None) -> None:
    """Where best available looks; empty means everywhere, None leaves it as it is."""
    picking = desk.store.picking
    wanted = picking.sections if sections is None else tuple(sorted(sections))
    kinds = picking.categories if categories is None else tuple(sorted(categories))
    if (wanted, kinds) != (picking.sections, picking.categories):
        desk.store.put_picking(replace(picking, sections=wanted, categories=kinds, best=None))


def block_under(desk: Desk, seat_no: int) -> Block:
    """The seats that a click on this one takes; () when it takes none, or no so many together."""
    finder, sale, event = desk.store.block_finder, desk.store.sale, desk.store.event
    if finder is None or event is None or (sale is not None and not sale.ended and sale.state is not SaleState.PICKING):
        return ()
    picks = () if sale is None or sale.ended else sale.picks
    return finder.under(free_for_party(desk, picks), seat_no, desk.store.picking.together, event.orphan_rule)


def run_at(desk: Desk, seat_no: int) -> int:
    """How many free seats sit together with this one."""
    finder = desk.store.block_finder
    return 0 if finder is None else finder.run_at(free_for_party(desk, ()), seat_no)


def show_best(desk: Desk, *, back: bool = False) -> BestShown:
    """Pick the best block of as many seats as sit together; again the next best, and after the last the best again.

    `back` goes to the one before. Blocks are ranked anew each time, as the map stands now. Raises as `toggle_seat`, and

    Raises:
        NoBlockLeftError: so many seats are not free beside each other where it was asked to look.
    """
    before = picking_sale(desk)
    finder, event, picking = desk.store.block_finder, desk.store.event, desk.store.picking
    if finder is None or event is None:
        raise SaleNotReadyError("no event is open")
    free = free_for_party(desk, before.picks)
    blocks = finder.best(free, picking.wish, event.orphan_rule)
    if not blocks:
        raise NoBlockLeftError(picking.wish.count, finder.most(free, picking.wish, event.orphan_rule))
    shown = _turned(picking, blocks, back=back)
    sale = party_at(desk, before, shown.block)
    with desk.store.batch():
        desk.store.put_picking(replace(picking, best=shown))
        put_picks(desk, before, sale)
    return shown


def _turned(picking: Picking, blocks: Sequence[Block], *, back: bool) -> BestShown:
    """The block after the one on show, of those that were not shown yet; `back`: the one that was shown before it."""
    wish, before, total = picking.wish, picking.best, len(blocks)
    if before is None:
        return BestShown(wish, blocks[0], 1, total)
    if back:
        earlier = [block for block in before.seen if block in blocks]
        block = earlier[-1] if earlier else before.block if before.block in blocks else blocks[0]
        return BestShown(wish, block, blocks.index(block) + 1, total, tuple(earlier[:-1]))
    seen = (*before.seen, before.block)
    for rank, block in enumerate(blocks, start=1):
        if block not in seen:
            return BestShown(wish, block, rank, total, seen)
    return BestShown(wish, blocks[0], 1, total)


# ---------------------------------------------------------------- undo and redo


def undo_pick(desk: Desk) -> bool:
    """Take back the last step of picking; False when there is none. Seats taken meanwhile stay away."""
    return _go(desk, back=True)


def redo_pick(desk: Desk) -> bool:
    """Do again what undo took back."""
    return _go(desk, back=False)


def _go(desk: Desk, *, back: bool) -> bool:
    before = picking_sale(desk)
    history = desk.store.picking.history
    step = history.back(before.picks) if back else history.forth(before.picks)
    if step is None:
        return False
    picks, history = step
    kept = _still_free(desk, before, picks)
    with desk.store.batch():
        put_picks(desk, before, replace(before, picks=kept) if kept else None)
        desk.store.put_picking(replace(desk.store.picking, history=history))
    return True


def _still_free(desk: Desk, before: Sale, picks: Picks) -> Picks:
    """Those picks that can be had; one that is in the sale now keeps the price type that it has there."""
    own = {(pick.seat_no, pick.tier_id): pick for pick in before.picks}
    seat_map = desk.store.seat_map
    left = {tier.tier_id: tier.available for tier in (desk.store.event.tiers if desk.store.event else ())}
    kept = []
    for pick in picks:
        if pick.tier_id is not None:
            left[pick.tier_id] = left.get(pick.tier_id, 0) - 1
            free = left[pick.tier_id] >= 0
        else:
            free = seat_map is not None and seat_map.is_pickable(pick.seat_no)
        if free or (pick.seat_no, pick.tier_id) in own:
            kept.append(own.get((pick.seat_no, pick.tier_id), pick))
    return tuple(kept)


# ---------------------------------------------------------------- offers


def offer_after_loss(desk: Desk, lost: Sequence[int], wanted: Sequence[int], told: Sequence[int] = ()) -> SeatOffer:
    """What to offer to people whose seats are gone: what the booking system `told`, else the nearest as large block."""
    return SeatOffer(OfferKind.LOST, tuple(lost), tuple(told) or _nearest(desk, lost, wanted), refused=bool(told))


def offer_after_orphans(desk: Desk, orphans: Sequence[int], picks: Picks, told: Sequence[int] = ()) -> SeatOffer:
    """What to offer when a hold was refused for the seats that it leaves single: a shift, else what was `told`."""
    finder, event = desk.store.block_finder, desk.store.event
    instead: Block = ()
    if finder is not None and event is not None:
        rule = OrphanRule.STRICT if event.orphan_rule is OrphanRule.OFF else event.orphan_rule
        seats = [pick.seat_no for pick in picks if pick.tier_id is None]
        instead = without_orphans(rule, finder.rows, free_for_party(desk, picks), seats)
    return SeatOffer(OfferKind.ORPHAN, tuple(orphans), instead or tuple(told), refused=True)


def _nearest(desk: Desk, lost: Sequence[int], wanted: Sequence[int]) -> Block:
    finder, event, seat_map = desk.store.block_finder, desk.store.event, desk.store.seat_map
    if finder is None or event is None or seat_map is None:
        return ()
    free = free_for_party(desk, ())
    free[[seat for seat in wanted if seat not in lost]] = True
    free[list(lost)] = False
    return finder.nearest(free, wanted, event.orphan_rule)


def take_offer(desk: Desk) -> Sale | None:
    """Pick what is offered instead; None when nothing is. Raises as `toggle_seat`; the offer is then over."""
    offer = desk.store.picking.offer
    if offer is None or not offer.instead:
        return None
    before = picking_sale(desk)
    desk.store.put_picking(replace(desk.store.picking, offer=None))
    return put_picks(desk, before, party_at(desk, before, offer.instead))


def dismiss_offer(desk: Desk) -> None:
    """The person has read it and goes on otherwise."""
    desk.store.put_picking(replace(desk.store.picking, offer=None))


def lose_taken_picks(desk: Desk) -> tuple[SeatRef, ...]:
    """Call it when the map has changed: picks that somebody else took meanwhile leave the sale, with an offer.

    Only while seats are being picked: a hold that is asked for, or won, is the booking system's to judge.
    """
    store, sale = desk.store, desk.store.sale
    if sale is None or sale.state is not SaleState.PICKING or store.event is None or store.plan is None:
        return ()
    if store.seat_map is None or not store.seat_map.loaded or sale.event_id != store.event.event_id:
        return ()
    lost = [pick.seat_no for pick in sale.seat_picks if not store.seat_map.is_pickable(pick.seat_no)]
    if not lost:
        return ()
    names = tuple(seat_ref(store.plan, seat_no) for seat_no in lost)
    wanted = [pick.seat_no for pick in sale.seat_picks]
    with store.batch():
        left = put_picks(desk, sale, sale.without_seats(frozenset(lost)))
        store.put_sale(replace(left, lost_seats=names))
        store.put_picking(replace(store.picking, offer=offer_after_loss(desk, lost, wanted)))
        store.post(Notice(NoticeCode.SEATS_LOST, seats=names, sale_id=sale.sale_id))
    return names
