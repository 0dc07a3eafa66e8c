"""The waiting room: joining, waiting, the turn; and what operators read and set there (R16–R21)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from backend_client.wire.base import EventId, Instant, Message, RequestMessage, ShortText

ADMISSION_TOKEN_HEADER = "Admission-Token"
ADMISSION_SESSION_HEADER = "Admission-Session"
"""The secret of the browser's session: 16 to 128 letters, digits, `-` and `_`, made by the browser."""


class QueueState(StrEnum):
    """Where somebody stands. AWAY: he no longer asked and was passed over; asking again puts him back."""

    WAITING = "waiting"
    AWAY = "away"
    ADMITTED = "admitted"
    BOUGHT = "bought"
    LEFT = "left"
    OVER = "over"


class RoomPhase(StrEnum):
    """EARLY: people may join, nobody is let in. CLOSED: the sale is over."""

    EARLY = "early"
    OPEN = "open"
    CLOSED = "closed"


class RoomAvailability(StrEnum):
    """MAY_COME_BACK: all that is left is in holds."""

    AVAILABLE = "available"
    MAY_COME_BACK = "may-come-back"
    SOLD_OUT = "sold-out"


class Queueing(StrEnum):
    """RANDOM: those who came before the opening by lot, everybody after them in the order of arrival."""

    FIFO = "fifo"
    RANDOM = "random"


class EstimateBasis(StrEnum):
    """MEASURED: from how fast people were let in; SET: from the rate that is set, because nothing was measured yet."""

    MEASURED = "measured"
    SET = "set"


class QueueJoin(RequestMessage, frozen=True, kw_only=True):
    """Join the queue of an event, or find the account's place in it. `bot_proof`: what the page's bot check gave."""

    registration_code: Annotated[str, Meta(max_length=64)] = ""
    bot_proof: Annotated[str, Meta(max_length=2048)] = ""


class QueueEstimate(Message, frozen=True, kw_only=True):
    """Seconds until the turn: eight of ten wait between `low_s` and `high_s`."""

    expected_s: int
    low_s: int
    high_s: int
    basis: EstimateBasis


class QueueStatus(Message, frozen=True, kw_only=True):
    """How it stands for the caller. `ahead` is absent before the lot is drawn, `estimate` while nobody can know.

    `admission_token` is this session's turn; `is_elsewhere`: another session of the account has it. `is_letting_in`:
    whether people are let in just now. Ask again after `retry_after_s`, or with `wait`.
    """

    event_id: EventId
    state: QueueState
    phase: RoomPhase
    availability: RoomAvailability
    is_letting_in: bool
    waiting: int
    opens_at: datetime
    retry_after_s: int
    server_time: datetime
    ahead: int | None = None
    estimate: QueueEstimate | None = None
    admission_token: str = ""
    token_expires_at: datetime | None = None
    slot_ends_at: datetime | None = None
    is_elsewhere: bool = False


class RoomNotice(Message, frozen=True, kw_only=True):
    """What everybody may read of a room. `lot_seed` (hexadecimal) is told at the opening; its SHA-256 before it."""

    event_id: EventId
    queueing: Queueing
    phase: RoomPhase
    availability: RoomAvailability
    opens_at: datetime
    waiting: int
    registration_required: bool
    bot_check: bool
    lot_commitment: str
    server_time: datetime
    lot_seed: str = ""
    lot_places: int = 0


class RoomSettings(Message, frozen=True, kw_only=True):
    """What operators set of a room; `version` rises with each change, and a change names the one it was made from."""

    version: int
    queueing: Queueing
    total_active_users: int
    new_users_per_minute: int
    session_duration_s: int
    collect_within_s: int
    away_after_s: int
    token_life_s: int
    session_renewal: bool
    revoke_after_purchase: bool
    registration_required: bool
    bot_check: bool
    paused: bool


class RoomSettingsChange(RequestMessage, frozen=True, kw_only=True):
    """Members left out stay as they are. `queueing` is fixed once people have come."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    queueing: Queueing | None = None
    total_active_users: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    new_users_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    session_duration_s: Annotated[int, Meta(ge=30, le=3600)] | None = None
    collect_within_s: Annotated[int, Meta(ge=10, le=600)] | None = None
    away_after_s: Annotated[int, Meta(ge=30, le=3600)] | None = None
    token_life_s: Annotated[int, Meta(ge=15, le=900)] | None = None
    session_renewal: bool | None = None
    revoke_after_purchase: bool | None = None
    registration_required: bool | None = None
    bot_check: bool | None = None
    paused: bool | None = None


class RoomOpening(RequestMessage, frozen=True, kw_only=True):
    """A waiting room for an event. `opens_at` is corrected by booking as soon as it is heard."""

    opens_at: Instant
    reason: ShortText
    queueing: Queueing = Queueing.RANDOM


class RoomFigures(Message, frozen=True, kw_only=True):
    """One room as operators see it. `let_in_per_minute` is measured; `authority_is_there`: booking was heard lately."""

    event_id: EventId
    phase: RoomPhase
    availability: RoomAvailability
    opens_at: datetime
    places: int
    waiting: int
    active: int
    let_in_per_minute: float
    is_letting_in: bool
    authority_is_there: bool
    registration_codes: int
    settings: RoomSettings
    server_time: datetime


class RoomList(Message, frozen=True, kw_only=True):
    """All rooms of this process."""

    rooms: tuple[RoomFigures, ...]


class RegistrationCodes(RequestMessage, frozen=True, kw_only=True):
    """Codes of those who have registered; each lets one account join. Known ones stay as they are."""

    codes: Annotated[
        tuple[Annotated[str, Meta(min_length=6, max_length=64)], ...], Meta(min_length=1, max_length=10_000)
    ]
    reason: ShortText


class RegistrationCodeCount(Message, frozen=True, kw_only=True):
    """How many codes the room has now."""

    event_id: EventId
    codes: int


class RoomChange(Message, frozen=True, kw_only=True):
    """One change: who, when, from, to, why."""

    at: datetime
    who: str
    what: str
    was: str
    now: str
    reason: str


class RoomChangeList(Message, frozen=True, kw_only=True):
    """The newest changes of a room, newest first."""

    event_id: EventId
    changes: tuple[RoomChange, ...]


class KeyRotation(RequestMessage, frozen=True, kw_only=True):
    """A new signing key. `at_once` retires the others now, as after a theft: tokens that are out are refused."""

    reason: ShortText
    at_once: bool = False


class AdmissionKeys(Message, frozen=True, kw_only=True):
    """Public keys of admission tokens by key id (Ed25519, hexadecimal)."""

    keys: dict[str, str]
    signs: str
