"""Keys change while tokens are out: a new one is known before it signs, an old one while a token of it may live."""

from __future__ import annotations

from uuid import UUID

from booking.domain.admission_token import Admission, key_id_of, read, session_digest
from booking.room.key_ring import KEPT_AFTER_S, TAKES_OVER_AFTER_S, KeyRing

NOW = 1_800_000_000.0


def token(ring: KeyRing, now: float) -> str:
    admission = Admission(
        slot_id=UUID(int=1), event_id=1, account_id=UUID(int=2), session=session_digest("s"), generation=1,
        not_before=int(now), expires_at=int(now) + 60, slot_ends_at=int(now) + 60,
    )  # fmt: skip
    return ring.sign(admission, now)


def test_a_new_key_is_published_before_it_signs_and_the_old_one_after_it_signed() -> None:
    ring = KeyRing()
    first = ring.rotate(NOW)[0].key_id
    assert (ring.signs(NOW), set(ring.published(NOW))) == (first, {first})
    second = ring.rotate(NOW + 1000)[0].key_id
    takes_over = NOW + 1000 + TAKES_OVER_AFTER_S
    assert [ring.signs(takes_over - 1), ring.signs(takes_over)] == [first, second]
    assert set(ring.published(NOW + 1000)) == {first, second}
    old = token(ring, takes_over - 1)
    assert key_id_of(old) == first
    assert read(old, ring.published(takes_over + 30), takes_over + 30).generation == 1
    assert set(ring.published(takes_over + KEPT_AFTER_S)) == {second}


def test_after_a_theft_the_old_keys_are_refused_at_once() -> None:
    ring = KeyRing()
    first = ring.rotate(NOW)[0].key_id
    rows = ring.rotate(NOW + 10, at_once=True)
    assert [row.key_id for row in rows if row.retired_at is not None] == [first]
    assert first not in ring.published(NOW + 10)
    assert ring.signs(NOW + 10) == rows[0].key_id


def test_the_ring_is_the_same_from_its_rows() -> None:
    ring = KeyRing()
    rows = ring.rotate(NOW)
    again = KeyRing(rows)
    assert read(token(ring, NOW), again.published(NOW), NOW) == read(token(again, NOW), ring.published(NOW), NOW)
    assert not KeyRing()


def test_each_key_of_ours_is_published_or_retired() -> None:
    ring = KeyRing()
    first = ring.rotate(NOW)[0].key_id
    assert ring.retired(NOW) == frozenset()
    second = ring.rotate(NOW + 1000)[0].key_id
    assert ring.retired(NOW + 1000) == frozenset()
    late = NOW + 1000 + TAKES_OVER_AFTER_S + KEPT_AFTER_S + 1
    assert (set(ring.published(late)), ring.retired(late)) == ({second}, frozenset({first}))
