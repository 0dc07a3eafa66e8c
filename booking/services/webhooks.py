"""Events that providers send by themselves: signed, stored once, applied in any order, parked when early (R26).

An event is stored before anything is done because of it, and its id makes the second one of it harmless (P11). A
definite one is recorded like an answer; a hint has the provider asked. What it is about may not be here yet: then it
waits (P8).
Recording is idempotent and knows no order (P10, P14, P15): nothing leaves SUCCEEDED or DECLINED, and what contradicts
them is an item for a supervisor.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import msgspec

from booking.domain.card_data import mask_card_data
from booking.domain.errors import ResultConflictError, UnavailableError, WebhookRefusedError
from booking.domain.model import MAX_AMOUNT_MINOR, OperationResult, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus
from booking.domain.text import is_storable
from booking.payments.events import PROVIDERS_OF_ENDPOINT, NoEventError, ProviderEvent, WebhookEndpoint
from booking.payments.signatures import TOLERANCE_S, BadSignatureError, signed_at
from booking.services import take_payment
from booking.store import provider_queries
from booking.store.database import Database

APPLIED, IGNORED, PARKED, SEEN = "applied", "ignored", "parked", "seen"
PARKED_DAYS = 3
BATCH = 50
PAUSE_S = 0.5
_DEFINITE = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})

_FOLLOW_UPS = frozenset({OperationKind.CAPTURE, OperationKind.VOID})

log = logging.getLogger(__name__)


@dataclass(slots=True)
class WebhookFigures:
    """What became of the events that this process received."""

    applied: int = 0
    ignored: int = 0
    parked: int = 0
    seen: int = 0
    refused: int = 0


class Webhooks:
    """Takes the events of the endpoints that this process knows the secrets of."""

    def __init__(self, db: Database, endpoints: Mapping[str, WebhookEndpoint]) -> None:
        self.figures = WebhookFigures()
        self._db, self._endpoints = db, endpoints

    def header_of(self, name: str) -> bytes:
        """The header that carries the signature.

        Raises:
            WebhookRefusedError: no events of this provider are taken here.
        """
        return self._endpoint(name).header

    async def receive(self, name: str, body: bytes, signature: str) -> str:
        """Store one event and apply it. Returns what became of it; each is an answer that ends the provider's tries.

        Raises:
            WebhookRefusedError: not signed by the provider, too late, or no event (P12, P31).
            UnavailableError: the database is away: the provider tries again (P12).
        """
        endpoint = self._endpoint(name)
        try:
            at = signed_at(body, signature, endpoint.secrets)
            event = _storable(endpoint.parse(body))
        except (BadSignatureError, NoEventError) as error:
            raise self._refused(name, str(error)) from error
        facts = msgspec.json.encode(event).decode()
        told = await provider_queries.note_event(self._db, name, event.event_ref, at, TOLERANCE_S, facts)
        if told == "late":
            raise self._refused(name, f"signed more than {TOLERANCE_S} s ago")
        became = SEEN if told == SEEN else await apply_event(self._db, name, event)
        setattr(self.figures, became, getattr(self.figures, became) + 1)
        return became

    def _endpoint(self, name: str) -> WebhookEndpoint:
        endpoint = self._endpoints.get(name)
        if endpoint is None:
            raise self._refused(name, "no events of this provider are taken here")
        return endpoint

    def _refused(self, name: str, why: str) -> WebhookRefusedError:
        self.figures.refused += 1
        log.warning("an event for %r was refused: %s", name if name in self._endpoints else "?", why)
        return WebhookRefusedError(f"The event was not taken: {why}.")


async def apply_event(db: Database, name: str, event: ProviderEvent) -> str:
    """Do what a stored event says; safe to repeat. Returns applied, ignored or parked."""
    if event.kind is None:
        await provider_queries.settle_event(db, name, event.event_ref, IGNORED, None, "")
        return IGNORED
    found = await _find(db, name, event)
    if found.charge_id is None and found.operation_id is None:
        await provider_queries.park_event(db, name, event.event_ref, PARKED_DAYS)
        return PARKED
    if event.kind is OperationKind.CAPTURE and event.outcome is ResultOutcome.SUCCEEDED and found.charge_id is not None:
        await _settle_charge_first(db, found.charge_id, event)
        found = await _find(db, name, event)
    about = found.operation_id or found.charge_id
    if found.operation_id is not None and event.outcome is not None and not _moved_nothing_by_hand(event):
        await _record(db, found.operation_id, event)
    elif event.kind is OperationKind.REFUND and event.outcome is not None and found.charge_id is not None:
        await _note_by_hand(db, name, found.charge_id, event)
    elif about is not None:
        await provider_queries.ask_now(db, about)
    await provider_queries.settle_event(db, name, event.event_ref, APPLIED, about, event.evidence)
    if event.kind is OperationKind.AUTHORIZE and event.provider_ref:
        await provider_queries.wake_events(db, name, event.provider_ref)
    return APPLIED


async def run(db: Database) -> None:
    """Apply what waits, until cancelled: parked events, and those whose process died on the way."""
    while True:
        if await apply_waiting(db) == 0:
            await asyncio.sleep(PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret


async def apply_waiting(db: Database) -> int:
    """Apply the events that are due; how many those were. One that cannot be applied never stops the others (P32)."""
    due = await provider_queries.claim_events(db, BATCH)
    for stored in due:
        try:
            await apply_event(db, stored.provider, msgspec.json.decode(stored.facts, type=ProviderEvent))
        except UnavailableError as error:
            log.warning("event %s of %s waits: %s", stored.event_ref, stored.provider, error.code)
        except Exception:
            log.exception("event %s of %s could not be applied", stored.event_ref, stored.provider)
            # Later and later, and for some days only: what nobody can apply is a stray, and no state waits for ever.
            await provider_queries.park_event(db, stored.provider, stored.event_ref, PARKED_DAYS)
    return len(due)


async def _find(db: Database, name: str, event: ProviderEvent) -> provider_queries.AboutOperation:
    return await provider_queries.find_operation(
        db,
        PROVIDERS_OF_ENDPOINT[name],
        str(event.kind),
        key=event.key,
        charge_key=event.charge_key,
        reference=event.provider_ref,
    )


def _moved_nothing_by_hand(event: ProviderEvent) -> bool:
    """A capture or void without a key of ours that was declined: who tried it there in vain says nothing of ours."""
    return not event.key and event.outcome is ResultOutcome.DECLINED and event.kind in _FOLLOW_UPS


async def _settle_charge_first(db: Database, charge_id: UUID, event: ProviderEvent) -> None:
    """Money that was captured was authorized before, whichever event came first."""
    charge = await take_payment.read_operation(db, charge_id)
    if charge.kind is OperationKind.AUTHORIZE and charge.status not in _DEFINITE:
        await _record(db, charge_id, event)


async def _record(db: Database, operation_id: UUID, event: ProviderEvent) -> None:
    operation = await take_payment.read_operation(db, operation_id)
    if not _speaks_of(operation, event):
        log.warning("event %s names another currency than operation %s", event.event_ref, operation_id)
        await provider_queries.ask_now(db, operation_id)
        return
    declined = event.outcome is ResultOutcome.DECLINED
    result = OperationResult(
        ResultOutcome.DECLINED if declined else ResultOutcome.SUCCEEDED,
        0 if declined else event.amount_minor,
        provider_ref=event.provider_ref,
        decline_code=event.decline_code,
        card_brand=event.card_brand,
        card_fingerprint=event.card_fingerprint,
    )
    try:
        await take_payment.record_result(db, operation_id, result, source=f"provider:{operation.provider}")
    except ResultConflictError:
        log.warning("event %s contradicts operation %s; an item is open", event.event_ref, operation_id)


def _speaks_of(operation: PaymentOperation, event: ProviderEvent) -> bool:
    return event.outcome is ResultOutcome.DECLINED or event.currency == operation.currency


async def _note_by_hand(db: Database, name: str, charge_id: UUID, event: ProviderEvent) -> None:
    """A refund that no operation of ours asked for. One that was declined moved nothing."""
    if event.outcome is not ResultOutcome.SUCCEEDED:
        return
    detail = {
        "provider_ref": event.provider_ref,
        "movement_ref": event.movement_ref,
        "amount_minor": event.amount_minor,
        "currency": event.currency,
        "source": f"webhook:{name}",
    }
    await provider_queries.note_refund_by_hand(
        db,
        charge_id,
        # As a comparison of days names it (`differences_of_movements`): heard both ways it is one refund.
        event.movement_ref or f"{event.provider_ref}:refund:{event.event_ref}",
        event.amount_minor,
        event.currency,
        msgspec.json.encode(detail).decode(),
    )


def _storable(event: ProviderEvent) -> ProviderEvent:
    """Without card data; what PostgreSQL cannot keep makes it no event, because its id is to be stored."""
    texts = (event.event_ref, event.key, event.charge_key, event.provider_ref, event.movement_ref, event.currency)
    if not all(map(is_storable, (*texts, event.decline_code, event.card_brand, event.card_fingerprint))):
        raise NoEventError("it holds what cannot be stored")
    evidence = event.evidence if is_storable(event.evidence) else ""
    if not 0 <= event.amount_minor <= MAX_AMOUNT_MINOR:  # no money of ours: a hint, and the provider is asked
        event = msgspec.structs.replace(event, amount_minor=0, outcome=None)
    return msgspec.structs.replace(
        event,
        decline_code=mask_card_data(event.decline_code),
        card_brand=mask_card_data(event.card_brand),
        evidence=mask_card_data(evidence),
    )
