"""What a session of the database is doing, in one word: its statement's kind. The text itself is told to nobody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

OTHER: Final = "other"

_KINDS: Final[Mapping[str, str]] = {
    r"hold_seats_|hold_best_block|hold_places_batch|hold_mixed": "hold",
    r"check_out_batch": "checkout",
    r"open_payment_batch|mark_sent|remember_reference": "payment",
    r"record_result_batch": "result",
    r"release_hold": "release",
    r"cancel_order": "cancel",
    r"sweep_|expire_holds": "sweep",
    r"seat_feed|event_feed|consumer_offsets|feed_heartbeat": "sequencer",
    r"insert into tickets|order_seats": "tickets",
    r"claim_due_operations|note_unknown_|settle_": "reconciliation",
    r"refund_tickets|cancel_tickets|money_back": "refund",
    r"change_settings|change_event_status|change_plan|change_tier|keep_seats_back|release_.*house_hold": "control",
    r"admission": "admission",
    r"figures|lock_waits|_alarm|sale_changes": "figures",
    r"^\s*(?:--[^\n]*\n\s*)*(?:vacuum|analyze|reindex|create|alter|drop|cluster|truncate|lock)\b": "maintenance",
    r"^\s*(?:begin|start transaction|commit|end|rollback|savepoint|set|show|reset|discard)\b": "transaction",
    r"^\s*(?:--[^\n]*\n\s*)*(?:select|with|table|values)\b(?!.*\bfor (?:no key )?update\b)": "read",
    r"^\s*(?:--[^\n]*\n\s*)*(?:update|insert|delete|merge|select|with)\b": "write",
}
_PATTERNS: Final = tuple((re.compile(text, re.IGNORECASE | re.DOTALL), kind) for text, kind in _KINDS.items())
KINDS: Final = frozenset({*_KINDS.values(), OTHER})

_LOOKED_AT = 2_000


def kind_of(statement: str | None) -> str:
    """`hold`, `checkout`, …; `read` and `write` of somebody else; `other` for what is unknown or not to be seen."""
    if not statement:
        return OTHER
    start = statement[:_LOOKED_AT]
    return next((kind for pattern, kind in _PATTERNS if pattern.search(start)), OTHER)
