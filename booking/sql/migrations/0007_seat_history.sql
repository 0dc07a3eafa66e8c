-- What one seat has been through, for ever: found by the seat alone, whatever the outbox has forgotten.
--
-- A sale costs nothing more for it: a hold that is open is named by its seat, one that was sold by the lines of its order. Only
-- what no other row can find by seat is written down, when it ends (holds) or is rare (the house).

-- Holds that ended without a sale, by seat. Written by a trigger, so that no way to end a hold can forget it. No foreign keys,
-- as for ga_holds: they would lock holds and seats once more. A UUIDv7 sorts by its time: the newest holds come last.
CREATE TABLE ended_hold_seats (
    event_id integer NOT NULL,
    seat_no  integer NOT NULL,
    hold_id  uuid NOT NULL,
    CONSTRAINT ended_hold_seats_pk PRIMARY KEY (event_id, seat_no, hold_id)
);

-- House holds that a seat has ever been in; house_hold_seats knows the one that it is in now.
CREATE TABLE house_hold_past (
    event_id      integer NOT NULL,
    seat_no       integer NOT NULL,
    house_hold_id uuid NOT NULL,
    CONSTRAINT house_hold_past_pk PRIMARY KEY (event_id, seat_no, house_hold_id),
    CONSTRAINT past_of_house_hold FOREIGN KEY (house_hold_id) REFERENCES house_holds
);

CREATE FUNCTION remember_ended_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ended_hold_seats (event_id, seat_no, hold_id)
    SELECT NEW.event_id, w.seat_no, NEW.hold_id FROM unnest(NEW.seats) AS w (seat_no) ORDER BY 2
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER remember_ended AFTER UPDATE OF status ON holds FOR EACH ROW
    WHEN (NEW.status IN ('RELEASED', 'EXPIRED') AND OLD.status <> NEW.status)
    EXECUTE FUNCTION remember_ended_hold();

CREATE FUNCTION remember_house_seat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO house_hold_past (event_id, seat_no, house_hold_id)
    SELECT n.event_id, n.seat_no, n.house_hold_id FROM new_seats n ORDER BY 2
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER remember_kept AFTER INSERT ON house_hold_seats REFERENCING NEW TABLE AS new_seats
    FOR EACH STATEMENT EXECUTE FUNCTION remember_house_seat();
CREATE TRIGGER remember_taken_over AFTER UPDATE ON house_hold_seats REFERENCING NEW TABLE AS new_seats
    FOR EACH STATEMENT EXECUTE FUNCTION remember_house_seat();

-- What ended before: from the holds themselves, and from who did what to house holds.
INSERT INTO ended_hold_seats (event_id, seat_no, hold_id)
SELECT h.event_id, w.seat_no, h.hold_id FROM holds h CROSS JOIN LATERAL unnest(h.seats) AS w (seat_no)
 WHERE h.status IN ('RELEASED', 'EXPIRED')
    ON CONFLICT DO NOTHING;
INSERT INTO house_hold_past (event_id, seat_no, house_hold_id)
SELECT k.event_id, k.seat_no, k.house_hold_id FROM house_hold_seats k
 UNION
SELECT h.event_id, w.seat_no::integer, h.house_hold_id
  FROM audit_log a
  JOIN house_holds h ON h.house_hold_id::text = a.subject
  CROSS JOIN LATERAL jsonb_array_elements_text(a.detail -> 'seats') AS w (seat_no)
 WHERE a.action = 'house-hold-made';

-- The lines that seat_sold_once does not hold: not confirmed, or refunded. The two together are all lines of a seat, and a
-- line is in one of them at a time, so that a confirmation writes no more index entries than before.
CREATE INDEX order_seats_not_valid ON order_seats (event_id, seat_no) WHERE NOT valid;

-- Tickets that were taken back, beside ticket_issued_once, which has all others.
CREATE INDEX tickets_void ON tickets (order_id, seat_no) WHERE status = 'VOID';

-- Who changed this house hold, this event.
CREATE INDEX audit_log_of_subject ON audit_log (subject);
