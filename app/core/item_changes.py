"""What became different about an item while somebody looked at it: codes and values, worded by the screens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backend_client.wire import ItemDetail


class ItemChange(StrEnum):
    """`before` and `after` of a Difference are codes for states and acts, numbers for money and counts."""

    STATE = "state"
    AMOUNT = "amount"
    EVIDENCE = "evidence"
    ASKED = "asked"
    ANSWERED = "answered"
    ACTS = "acts"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that changed; `who` where a person did it."""

    what: ItemChange
    before: str = ""
    after: str = ""
    who: str = ""


def differences(old: ItemDetail, new: ItemDetail) -> tuple[Difference, ...]:
    """What a person who read `old` must know before deciding on `new`. Empty for two readings of the same."""
    found = []
    was, now = old.item, new.item
    if was.state is not now.state:
        if now.resolved_at is not None:
            found.append(Difference(ItemChange.RESOLVED, was.state.value, now.resolution, now.resolved_by))
        else:
            found.append(Difference(ItemChange.STATE, was.state.value, now.state.value))
    if (was.amount_minor, was.currency) != (now.amount_minor, now.currency):
        found.append(Difference(ItemChange.AMOUNT, str(was.amount_minor), str(now.amount_minor)))
    more = len(new.timeline) - len(old.timeline)
    if more > 0:
        found.append(Difference(ItemChange.EVIDENCE, str(len(old.timeline)), str(more)))
    if old.approval != new.approval:
        found += _approval(old, new)
    if [act.action for act in old.actions if not act.why_not] != [act.action for act in new.actions if not act.why_not]:
        found.append(Difference(ItemChange.ACTS))
    return tuple(found)


def _approval(old: ItemDetail, new: ItemDetail) -> list[Difference]:
    if new.approval is not None and (old.approval is None or old.approval.asked_at != new.approval.asked_at):
        return [Difference(ItemChange.ASKED, after=new.approval.action.value, who=new.approval.asked_by)]
    if new.approval is None and old.approval is not None:
        return [Difference(ItemChange.ANSWERED, before=old.approval.action.value, who=old.approval.asked_by)]
    return []
