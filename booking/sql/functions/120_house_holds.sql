-- Seats that the house keeps back (R9), each BLOCKED with the release time of its house hold as its deadline: a hold that
-- meets a seat whose time has come takes it in its own transaction (seat_is_free), and the sweeper only tidies.
--
-- Locks: house hold → seats, where a sale's order and hold would be. house_hold_seats is changed under the seats' locks; a row
-- counts while its seat is BLOCKED.

-- What an idempotency key of a call about a whole event is spent on.
CREATE OR REPLACE FUNCTION event_subject(p_event integer) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lpad(to_hex(p_event), 32, '0')::uuid
$$;

CREATE OR REPLACE FUNCTION note_change(
    p_principal text, p_action text, p_subject text, p_reason text, p_detail jsonb, p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO audit_log (at, principal, action, subject, reason, detail)
    VALUES (p_now, p_principal, p_action, p_subject, p_reason, p_detail)
$$;

-- Keep free seats back, all or nothing. p_by: who is shown to have done it. Time is taken before the seat locks, as for a
-- hold: one that runs out while we wait is not taken over.
CREATE OR REPLACE FUNCTION keep_seats_back(
    p_principal text, p_staff uuid, p_by text, p_event integer, p_house_hold uuid, p_kind text, p_reason text,
    p_seats integer[], p_release_at timestamptz, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'house-holds', p_key, p_digest, event_subject(p_event));
    v_now    timestamptz := booking_now();
    v_status text;
    v_lost   integer[];
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT e.status INTO v_status FROM events e WHERE e.event_id = p_event;
    IF NOT FOUND THEN
        RETURN refused('event-not-found');
    ELSIF v_status = 'CANCELLED' THEN
        RETURN refused('event-state-conflict', v_status);
    ELSIF p_release_at <= v_now THEN
        RETURN refused('invalid-request', '/release_at');
    END IF;
    PERFORM end_dead_sales(p_event, p_principal, p_seats, v_now);
    PERFORM lock_seats(p_event, p_seats);
    -- The same key may have been here meanwhile.
    v_answer := seen_key(p_principal, 'house-holds', p_key, p_digest, event_subject(p_event));
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_lost := ARRAY(SELECT w.seat_no FROM unnest(p_seats) AS w (seat_no)
                      LEFT JOIN seats s ON s.event_id = p_event AND s.seat_no = w.seat_no
                     WHERE s.seat_no IS NULL ORDER BY 1);
    IF cardinality(v_lost) > 0 THEN
        RETURN refused('seat-unknown', '', v_lost);
    END IF;
    v_lost := ARRAY(SELECT s.seat_no FROM seats s
                     WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats)
                       AND NOT seat_is_free(s.status, s.hold_expires_at, v_now) ORDER BY 1);
    IF cardinality(v_lost) > 0 THEN
        RETURN refused('seats-taken', '', v_lost);
    END IF;

    INSERT INTO house_holds (house_hold_id, event_id, kind, reason, release_at, created_by, created_at)
    VALUES (p_house_hold, p_event, p_kind, p_reason, p_release_at, p_by, v_now);
    INSERT INTO house_hold_seats AS h (event_id, seat_no, house_hold_id)
    SELECT p_event, w.seat_no, p_house_hold FROM unnest(p_seats) AS w (seat_no) ORDER BY 2
        ON CONFLICT ON CONSTRAINT house_hold_seats_pk DO UPDATE SET house_hold_id = excluded.house_hold_id;
    UPDATE seats s
       SET status = 4, holder = 3, hold_id = NULL, hold_expires_at = p_release_at, version = s.version + 1
     WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats);
    PERFORM spend_key(p_principal, 'house-holds', p_key, p_digest, event_subject(p_event), p_house_hold, v_now);
    PERFORM note_change(p_principal, 'house-hold-made', p_house_hold::text, p_reason,
                        jsonb_build_object('event_id', p_event, 'staff_id', p_staff, 'kind', p_kind,
                                           'seats', to_jsonb(p_seats), 'release_at', p_release_at), v_now);
    PERFORM announce_seats(p_event, 'seats-kept-back', p_house_hold, p_seats, p_release_at, v_now);
    RETURN done(p_house_hold);
END $$;

-- The seats that a house hold keeps. Unlocked it is a look; under the locks of the house hold and its seats it is so.
CREATE OR REPLACE FUNCTION seats_of_house_hold(p_house_hold uuid) RETURNS integer[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(s.seat_no ORDER BY s.seat_no), '{}')
      FROM house_hold_seats h JOIN seats s ON s.event_id = h.event_id AND s.seat_no = h.seat_no AND s.status = 4
     WHERE h.house_hold_id = p_house_hold
$$;

-- Give seats of a house hold back to sale: all when none are named. With its last seat it has ended; released again, it
-- is left as it is.
CREATE OR REPLACE FUNCTION release_house_hold(
    p_principal text, p_staff uuid, p_house_hold uuid, p_seats integer[], p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'house-hold-release', p_key, p_digest, p_house_hold);
    v_house  house_holds;
    v_now    timestamptz;
    v_kept   integer[];
    v_others integer[];
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_house FROM house_holds h WHERE h.house_hold_id = p_house_hold FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN refused('house-hold-not-found');
    END IF;
    v_answer := seen_key(p_principal, 'house-hold-release', p_key, p_digest, p_house_hold);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF v_house.released_at IS NOT NULL THEN
        PERFORM spend_key(p_principal, 'house-hold-release', p_key, p_digest, p_house_hold, p_house_hold, booking_now());
        RETURN ROW ('', p_house_hold, true, '', NULL)::sale_answer;
    END IF;
    PERFORM lock_seats(v_house.event_id, seats_of_house_hold(p_house_hold));
    v_now := booking_now();
    v_kept := seats_of_house_hold(p_house_hold);
    v_others := ARRAY(SELECT w.seat_no FROM unnest(p_seats) AS w (seat_no) WHERE w.seat_no <> ALL (v_kept) ORDER BY 1);
    IF cardinality(v_others) > 0 THEN
        RETURN refused('seat-unknown', 'house-hold', v_others);
    END IF;
    PERFORM free_house_seats(v_house, CASE WHEN cardinality(p_seats) = 0 THEN v_kept ELSE p_seats END,
                             p_principal, p_staff, p_reason, v_now);
    PERFORM spend_key(p_principal, 'house-hold-release', p_key, p_digest, p_house_hold, p_house_hold, v_now);
    RETURN done(p_house_hold);
END $$;

-- BLOCKED → AVAILABLE for these seats of a house hold, and its end when none is left. Caller: the house hold and the seats
-- are locked, and the seats are its own.
CREATE OR REPLACE FUNCTION free_house_seats(
    p_house house_holds, p_seats integer[], p_by text, p_staff uuid, p_reason text, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE seats s SET status = 0, holder = 0, hold_expires_at = NULL, version = s.version + 1
     WHERE s.event_id = p_house.event_id AND s.seat_no = ANY (p_seats) AND s.status = 4;
    IF cardinality(seats_of_house_hold(p_house.house_hold_id)) = 0 THEN
        UPDATE house_holds h SET released_at = p_now, released_by = p_by WHERE h.house_hold_id = p_house.house_hold_id;
        DELETE FROM house_hold_seats h WHERE h.house_hold_id = p_house.house_hold_id;
    ELSE
        DELETE FROM house_hold_seats h WHERE h.house_hold_id = p_house.house_hold_id AND h.seat_no = ANY (p_seats);
    END IF;
    PERFORM note_change(p_by, 'house-hold-released', p_house.house_hold_id::text, p_reason,
                        jsonb_build_object('event_id', p_house.event_id, 'staff_id', p_staff, 'kind', p_house.kind,
                                           'seats', to_jsonb(p_seats)), p_now);
    PERFORM announce_seats(p_house.event_id, 'seats-released', p_house.house_hold_id, p_seats, NULL, p_now);
END $$;

-- Tidy house holds whose time has come: up to p_limit of them, waiting for nobody. Returns how many ended.
CREATE OR REPLACE FUNCTION release_due_house_holds(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_house house_holds;
    v_kept  integer[];
    v_ended integer := 0;
BEGIN
    FOR v_house IN
        SELECT h.* FROM house_holds h WHERE h.release_at <= v_now AND h.released_at IS NULL
         ORDER BY h.release_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_kept := seats_of_house_hold(v_house.house_hold_id);
        IF cardinality(v_kept) = (
                SELECT count(*) FROM (SELECT FROM seats s
                 WHERE s.event_id = v_house.event_id AND s.seat_no = ANY (v_kept) AND s.status = 4
                 ORDER BY s.seat_no FOR NO KEY UPDATE SKIP LOCKED) AS locked) THEN
            -- Read again under the locks: another house hold may have taken seats over, and keeps them.
            v_kept := seats_of_house_hold(v_house.house_hold_id);
            PERFORM free_house_seats(v_house, v_kept, 'authority', NULL, 'its time had come', v_now);
            v_ended := v_ended + 1;
        END IF;
    END LOOP;
    RETURN v_ended;
END $$;
