-- What the house decides while an event is on sale: seats that it keeps back, and plans that change (B7, I4).

-- Seats that the house keeps from sale, and for whom. `release_at`: when they return to sale by themselves.
CREATE TABLE house_holds (
    house_hold_id uuid NOT NULL,
    event_id      integer NOT NULL,
    kind          text NOT NULL,
    reason        text NOT NULL,
    release_at    timestamptz,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL,
    released_at   timestamptz,
    released_by   text NOT NULL DEFAULT '',
    CONSTRAINT house_holds_pk PRIMARY KEY (house_hold_id),
    CONSTRAINT house_hold_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT house_hold_kind_known
        CHECK (kind IN ('promoter', 'artist', 'technical', 'accessible', 'press', 'sponsor', 'other')),
    CONSTRAINT house_hold_released_by_somebody CHECK ((released_at IS NULL) = (released_by = ''))
);
CREATE INDEX house_holds_of_event ON house_holds (event_id, created_at);
CREATE INDEX house_holds_due ON house_holds (release_at) WHERE released_at IS NULL AND release_at IS NOT NULL;

-- The house hold that a seat is in. A row counts while its seat is BLOCKED and no longer: a hold that takes a seat whose
-- time has come leaves the row behind, and the next house hold of that seat takes it over.
CREATE TABLE house_hold_seats (
    event_id      integer NOT NULL,
    seat_no       integer NOT NULL,
    house_hold_id uuid NOT NULL,
    CONSTRAINT house_hold_seats_pk PRIMARY KEY (event_id, seat_no),
    CONSTRAINT seat_of_house_hold FOREIGN KEY (house_hold_id) REFERENCES house_holds
);
CREATE INDEX house_hold_seats_of_hold ON house_hold_seats (house_hold_id);

-- hold_expires_at of a BLOCKED seat is its house hold's release_at: a request for it reads no other table (R5).
ALTER TABLE seats DROP CONSTRAINT seat_held_has_hold;
ALTER TABLE seats ADD CONSTRAINT seat_held_has_hold
    CHECK ((status IN (1, 2)) = (hold_id IS NOT NULL) AND (hold_id IS NULL OR hold_expires_at IS NOT NULL)
           AND (hold_expires_at IS NULL OR status IN (1, 2, 4)));

-- Seats that were kept back before there were house holds: one for each event.
WITH kept AS (
    INSERT INTO house_holds (house_hold_id, event_id, kind, reason, created_by, created_at)
    SELECT gen_random_uuid(), s.event_id, 'other', 'kept from sale when the event was made', 'system', booking_now()
      FROM seats s WHERE s.status = 4 GROUP BY s.event_id
    RETURNING house_hold_id, event_id)
INSERT INTO house_hold_seats (event_id, seat_no, house_hold_id)
SELECT s.event_id, s.seat_no, k.house_hold_id FROM kept k JOIN seats s USING (event_id) WHERE s.status = 4;

-- A version of a plan numbers its seats as the versions before it did: a seat that stays keeps its number, and the number of
-- one that is gone is never given again (flags 8 in plan_seats). `source`: the document as it came, where that differs.
ALTER TABLE plans ADD COLUMN source bytea;
