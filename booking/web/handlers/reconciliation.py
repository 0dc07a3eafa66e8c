"""What only a person can settle: the inbox, one item, what is done with it, its settings."""

from __future__ import annotations

from starlette.responses import Response, StreamingResponse

from backend_client import wire
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemFilter, ItemWish, StateFilter
from booking.domain.model import ResultOutcome
from booking.domain.money_back import RefundWay
from booking.services import choose_provider, item_actions, reconciliation_items, reconciliation_settings
from booking.services.reconciliation_settings import SettingsWish
from booking.web.addresses import version_of
from booking.web.bodies import invalid
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_act = TypedBody(wire.ItemActionRequest)
_decision = TypedBody(wire.ApprovalDecision)
_settings = TypedBody(wire.ReconciliationSettingsChange)


async def list_items(call: Call) -> Response:
    """Items, oldest first."""
    limit = version_of(call.query, "limit")
    found = await reconciliation_items.list_items(
        call.db, _filter_of(call), after=call.query.get("after", ""),
        limit=reconciliation_items.PAGE if limit is None else limit,
    )  # fmt: skip
    return answer(to_wire(found, wire.ItemList))


async def items_csv(call: Call) -> Response:
    """The list as a file, streamed."""
    wanted = _filter_of(call)
    reconciliation_items.check_filter(wanted)
    headers = {"Content-Disposition": 'attachment; filename="reconciliation.csv"'}
    return StreamingResponse(
        reconciliation_items.csv_of_items(call.db, wanted), headers=headers, media_type="text/csv; charset=utf-8"
    )


async def read_item(call: Call) -> Response:
    """One item with its evidence, and what may be done with it."""
    found = await reconciliation_items.read_item(call.db, call.signed_in, call.id("item_id"))
    return answer(to_wire(found, wire.ItemDetail))


async def act(call: Call) -> Response:
    """Do something with an item, or ask a second person for it."""
    body = _act(call)
    wish = ItemWish(
        action=ItemAction(body.action),
        version=body.version,
        reason=body.reason,
        amount_minor=body.amount_minor,
        reference=body.reference,
        order_id=body.order_id,
        outcome=None if body.outcome is None else ResultOutcome(body.outcome),
        seats_to_sale=body.seats_to_sale,
        device_id=body.device_id,
        way=None if body.way is None else RefundWay(body.way),
    )
    outcome = await item_actions.act_on_item(
        call.db, call.signed_in, call.id("item_id"), wish, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.ItemDetail, 200)


async def list_tills(call: Call) -> Response:
    """Tills to which money that is owed can be handed."""
    tills = tuple(to_wire(till, wire.Till) for till in await reconciliation_items.open_tills(call.db))
    return answer(wire.TillList(tills=tills, server_time=await choose_provider.read_time(call.db)))


async def decide(call: Call) -> Response:
    """A second person's word."""
    body = _decision(call)
    outcome = await item_actions.decide_item(
        call.db, call.signed_in, call.id("item_id"), body.version, body.reason, approve=body.approve,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.ItemDetail, 200)


async def read_settings(call: Call) -> Response:
    """How items are dealt with."""
    return answer(to_wire(await reconciliation_settings.read_settings(call.db), wire.ReconciliationSettings))


async def change_settings(call: Call) -> Response:
    """Other settings, from the version that was seen."""
    body = _settings(call)
    wish = SettingsWish(
        second_person_above_minor=body.second_person_above_minor,
        run_at_hour=body.run_at_hour,
        zone=body.zone,
        unknown_after_s=body.unknown_after_s,
        limits_by_currency=body.limits_by_currency,
    )
    outcome = await reconciliation_settings.change_settings(
        call.db, call.signed_in, body.expected_version, wish, body.reason, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.ReconciliationSettings, 200)


def _filter_of(call: Call) -> ItemFilter:
    query = call.query
    try:
        state = StateFilter(query.get("state", ""))
    except ValueError:
        raise invalid("query:state", f"one of {', '.join(one for one in StateFilter if one)}") from None
    return ItemFilter(
        state=state,
        kind=query.get("kind", ""),
        event_id=version_of(query, "event"),
        provider=query.get("provider", ""),
        min_minor=version_of(query, "min_minor"),
        q=query.get("q", "").strip(),
    )
