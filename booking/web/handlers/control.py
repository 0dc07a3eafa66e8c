"""What operators do: seats that the house keeps back, an event's settings, status, plan and tiers."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.control import HouseHoldKind, HouseWish, PlanWish, SettingsChange, TierWish
from booking.domain.model import EventStatus, OrphanRule
from booking.services import change_plan as changing_plan
from booking.services import change_tier as changing_tier
from booking.services import control_event, house_holds
from booking.web import addresses
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_house_hold = TypedBody(wire.HouseHoldRequest)
_house_release = TypedBody(wire.HouseHoldRelease)
_settings = TypedBody(wire.EventSettingsChange)
_status = TypedBody(wire.EventStatusChange)
_plan = TypedBody(wire.PlanChange)
_tier = TypedBody(wire.TierChange)


async def list_house_holds(call: Call) -> Response:
    """All house holds of an event, with the seats that each still keeps."""
    return answer(to_wire(await house_holds.list_house_holds(call.db, call.event_id), wire.HouseHoldList))


async def keep_seats_back(call: Call) -> Response:
    """Keep free seats back, all or nothing."""
    body = _house_hold(call)
    wish = HouseWish(HouseHoldKind(body.kind), body.reason, body.seats, body.release_at)
    outcome = await house_holds.keep_seats_back(
        call.db, call.signed_in, call.event_id, wish, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.HouseHold)


async def release_house_hold(call: Call) -> Response:
    """Give seats of a house hold back to sale."""
    body = _house_release(call)
    outcome = await house_holds.release_house_hold(
        call.db, call.signed_in, call.id("house_hold_id"), body.seats, body.reason, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.HouseHold, 200)


async def read_settings(call: Call) -> Response:
    """The settings of an event, and the version that a change names."""
    return answer(to_wire(await control_event.read_settings(call.db, call.event_id), wire.EventSettings))


async def change_settings(call: Call) -> Response:
    """Change the settings that are given."""
    body = _settings(call)
    change = SettingsChange(
        hold_ttl_s=body.hold_ttl_s,
        grace_s=body.grace_s,
        max_per_account=body.max_per_account,
        max_per_card=body.max_per_card,
        max_open_holds_till=body.max_open_holds_till,
        paying_cap=body.paying_cap,
        orphan_rule=None if body.orphan_rule is None else OrphanRule(body.orphan_rule),
        max_refund_by_clerk_minor=body.max_refund_by_clerk_minor,
        admission=body.admission,
    )
    outcome = await control_event.change_settings(
        call.db, call.signed_in, call.event_id, body.expected_version, change, body.reason,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.EventSettings, 200)


async def pause(call: Call) -> Response:
    """No new holds; sales under way may finish."""
    return await _change_status(call, EventStatus.PAUSED)


async def resume(call: Call) -> Response:
    """On sale again."""
    return await _change_status(call, EventStatus.ON_SALE)


async def cancel(call: Call) -> Response:
    """Nothing new; unpaid sales end; confirmed orders stay for their refunds."""
    return await _change_status(call, EventStatus.CANCELLED)


async def change_plan(call: Call) -> Response:
    """Another version of the plan; with `dry_run` only what it would do."""
    body = _plan(call)
    wish = PlanWish(call.event_id, body.expected_version, body.plan_version, body.reason, body.dry_run)
    outcome = await changing_plan.change_plan(call.db, call.signed_in, wish, key=call.key, digest=call.digest)
    return answer_outcome(outcome, wire.PlanChangeReport, 200)


async def change_tier(call: Call) -> Response:
    """Another capacity for a general-admission tier."""
    body = _tier(call)
    tier_id = addresses.tier_id_of(call.path_values)
    wish = TierWish(call.event_id, tier_id, body.capacity, body.reason, body.accept_overbooking)
    outcome = await changing_tier.change_tier(call.db, call.signed_in, wish, key=call.key, digest=call.digest)
    return answer_outcome(outcome, wire.Tier, 200)


async def _change_status(call: Call, status: EventStatus) -> Response:
    body = _status(call)
    outcome = await control_event.change_status(
        call.db, call.signed_in, call.event_id, body.expected_version, status, body.reason,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.EventDetail, 200)
