-- Many holds in one transaction, each all or nothing (R3–R8; BACKEND facts §3.1).
--
-- Requests are columns of equal length; their seats are flattened: request r wants the p_counts[r] seats that begin at
-- p_seats[p_firsts[r]], in order. No two requests of a batch share a seat or an account: the lane sees to it, and
-- a shared seat is refused here.
--
-- Code of a request: '' held (or replayed), an error code of the wire, or 'slow': somebody holds a lock that this
-- request needs. With p_wait the function waits for locks; the lanes do not, and send 'slow' requests here alone.
-- With p_look nothing is locked or written: keys and seats are looked up, what is not decided by that is 'slow'; requests
-- may then share seats and accounts. So a crowd that lost one seat is answered in one round trip.
--
-- p_places: general-admission places that the caller's own transaction takes for the same hold; limits count them.
-- p_codes: access codes that raise limits (B17). p_houses: house holds whose seats a till may take. NULL where no request
-- has any; a code that its account has not used yet, a house hold and an event with an orphan rule are decided alone,
-- with p_wait: then there is one request, and these rules cost the others nothing.
--
-- Order: replay, event and a look at the seats (no lock: losers stay cheap and write nothing) → account rows, replay and
-- limits again under them (015) → seats in order, predicate repeated → holds, seats, outbox.
-- A dead sale (PAYING past its deadline, every charge negative) is in nobody's way: it makes a request 'slow', and here,
-- alone, it is ended first, under the account's lock and before limits and seats are looked at (R5).
-- Time is taken before the seat locks: a hold that runs out while we wait is not taken over.
-- A seat that the house keeps back is free from its release time on, tidied or not (seat_is_free).
DROP FUNCTION IF EXISTS hold_seats_batch(
    integer[], text[], text[], text[], bytea[], uuid[], uuid[], uuid[], integer[], integer[], integer[], boolean, boolean);
CREATE OR REPLACE FUNCTION hold_seats_batch(
    p_events integer[], p_principals text[], p_channels text[], p_keys text[], p_digests bytea[],
    p_holds uuid[], p_devices uuid[], p_staff uuid[],
    p_firsts integer[], p_counts integer[], p_seats integer[], p_wait boolean, p_look boolean,
    p_places integer[] DEFAULT NULL, p_codes text[] DEFAULT NULL, p_houses uuid[] DEFAULT NULL
) RETURNS TABLE (
    request integer, code text, replayed boolean, lost integer[], server_time timestamptz,
    plan_id uuid, plan_version integer,
    hold_id uuid, event_id integer, status text, seats integer[], expires_at timestamptz, grace_used boolean,
    order_id uuid, created_at timestamptz
) LANGUAGE plpgsql
-- Every row is found by a key, also in tables that nobody has analysed yet; one plan a session, made for any batch.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_now    timestamptz := booking_now();
    v_codes  text[];
    v_fresh  boolean[];
    v_lost   jsonb := '{}';
    v_won    integer[];
    v_house  integer[] := '{}';
    v_orphans integer[];
BEGIN
    IF p_wait AND p_houses[1] IS NOT NULL THEN
        v_house := seats_of_house_hold(p_events[1], p_houses[1], p_seats);
    END IF;

    -- OFFSET 0 keeps each look-up a look-up by key, whatever the planner believes of a table that was empty just now.
    SELECT array_agg(verdict.code ORDER BY verdict.r), array_agg(verdict.fresh ORDER BY verdict.r),
           -- A refusal for another reason names no seats.
           jsonb_object_agg(verdict.r, CASE WHEN verdict.code IN ('seat-unknown', 'seats-taken') THEN verdict.lost END)
      INTO v_codes, v_fresh, v_lost
      FROM (
        SELECT a.r, l.principal IS NULL AS fresh,
               CASE WHEN h.hold_id IS NOT NULL THEN CASE WHEN h.digest = a.digest THEN 'replay' ELSE 'key-reused' END
                    WHEN e.event_id IS NULL THEN 'event-not-found'
                    WHEN e.status <> 'ON_SALE' OR e.sale_opens_at > v_now THEN 'event-not-on-sale'
                    WHEN look.unknown IS NOT NULL THEN 'seat-unknown'
                    WHEN p_houses[a.r] IS NOT NULL AND NOT p_wait THEN 'slow'
                    WHEN p_houses[a.r] IS NOT NULL AND v_house = '{}' THEN 'house-hold-not-found'
                    WHEN look.taken IS NOT NULL THEN 'seats-taken'
                    WHEN (look.dead OR e.orphan_rule <> 'off' OR code.is_new) AND NOT p_wait THEN 'slow'
                    ELSE '' END AS code,
               coalesce(look.unknown, look.taken) AS lost
          FROM unnest(p_events, p_principals, p_keys, p_digests) WITH ORDINALITY
               AS a (event_id, principal, key, digest, r)
          LEFT JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = a.event_id OFFSET 0) e ON true
          LEFT JOIN LATERAL (SELECT h.hold_id, h.digest FROM holds h
                              WHERE h.event_id = a.event_id AND h.principal = a.principal AND h.idem_key = a.key
                             OFFSET 0) h ON true
          LEFT JOIN LATERAL (SELECT l.principal FROM account_limits l
                              WHERE l.event_id = a.event_id AND l.principal = a.principal OFFSET 0) l ON true
          LEFT JOIN LATERAL (SELECT true AS is_new
                              WHERE p_codes[a.r] <> '' AND NOT has_used_code(a.event_id, a.principal, p_codes[a.r])
                             OFFSET 0) code ON true
          CROSS JOIN LATERAL (
            SELECT array_agg(w.seat_no ORDER BY w.seat_no) FILTER (WHERE s.seat_no IS NULL) AS unknown,
                   array_agg(w.seat_no ORDER BY w.seat_no) FILTER (WHERE s.seat_no IS NOT NULL AND NOT sale.dead
                       AND NOT (seat_is_free(s.status, s.hold_expires_at, v_now)
                                OR s.status = 4 AND s.seat_no = ANY (v_house))) AS taken,
                   coalesce(bool_or(sale.dead), false) AS dead
              FROM unnest(p_seats[p_firsts[a.r] : p_firsts[a.r] + p_counts[a.r] - 1]) AS w (seat_no)
              LEFT JOIN seats s ON s.event_id = a.event_id AND s.seat_no = w.seat_no
              CROSS JOIN LATERAL (SELECT CASE WHEN s.status = 2 AND s.hold_expires_at <= v_now
                                              THEN is_dead_sale(s.order_id, s.hold_expires_at, v_now)
                                              ELSE false END AS dead) sale
          ) look
      ) verdict;

    IF p_look THEN
        v_codes := array_replace(v_codes, '', 'slow');
    ELSIF '' = ANY (v_codes) THEN
        IF (SELECT count(*) <> count(DISTINCT (a.event_id, w.seat_no))
              FROM unnest(p_events, p_firsts, p_counts) AS a (event_id, first, n)
              CROSS JOIN LATERAL unnest(p_seats[a.first : a.first + a.n - 1]) AS w (seat_no)) THEN
            RAISE EXCEPTION 'two requests of one batch share a seat' USING ERRCODE = 'cardinality_violation';
        END IF;

        v_codes := who_may_hold(v_codes, v_fresh, p_events, p_principals, p_channels, p_keys, p_digests,
                                CASE WHEN p_places IS NULL THEN p_counts
                                     ELSE ARRAY(SELECT n + coalesce(p_places[r], 0)
                                                  FROM unnest(p_counts) WITH ORDINALITY AS c (n, r) ORDER BY r) END,
                                p_wait, p_codes[1], p_seats, '{}', v_now);
    END IF;

    IF '' = ANY (v_codes) THEN
        IF p_wait THEN
            PERFORM lock_row_beside(p_events[1], p_seats);
            WITH mine AS MATERIALIZED (
                SELECT a.r
                  FROM unnest(p_events, p_firsts, p_counts) WITH ORDINALITY AS a (event_id, first, n, r)
                  CROSS JOIN LATERAL unnest(p_seats[a.first : a.first + a.n - 1]) AS w (seat_no)
                  JOIN seats s ON s.event_id = a.event_id AND s.seat_no = w.seat_no
                 WHERE v_codes[a.r] = '' AND (seat_is_free(s.status, s.hold_expires_at, v_now)
                                              OR s.status = 4 AND s.seat_no = ANY (v_house))
                 ORDER BY s.event_id, s.seat_no FOR NO KEY UPDATE OF s)
            SELECT array_agg(k.r) INTO v_won
              FROM (SELECT m.r FROM mine m GROUP BY m.r HAVING count(*) = p_counts[m.r]) k;
        ELSE
            WITH mine AS MATERIALIZED (
                SELECT a.r
                  FROM unnest(p_events, p_firsts, p_counts) WITH ORDINALITY AS a (event_id, first, n, r)
                  CROSS JOIN LATERAL unnest(p_seats[a.first : a.first + a.n - 1]) AS w (seat_no)
                  JOIN seats s ON s.event_id = a.event_id AND s.seat_no = w.seat_no
                 WHERE v_codes[a.r] = '' AND seat_is_free(s.status, s.hold_expires_at, v_now)
                 ORDER BY s.event_id, s.seat_no FOR NO KEY UPDATE OF s SKIP LOCKED)
            SELECT array_agg(k.r) INTO v_won
              FROM (SELECT m.r FROM mine m GROUP BY m.r HAVING count(*) = p_counts[m.r]) k;
        END IF;

        IF EXISTS (SELECT FROM unnest(v_codes) WITH ORDINALITY AS c (code, r)
                    WHERE c.code = '' AND NOT c.r = ANY (coalesce(v_won, '{}'))) THEN
            -- Which seats were lost is read anew; none: a lock was in the way, not an owner.
            SELECT array_agg(CASE WHEN c.code <> '' OR c.r = ANY (coalesce(v_won, '{}')) THEN c.code
                                  WHEN look.taken IS NULL THEN 'slow' ELSE 'seats-taken' END ORDER BY c.r),
                   v_lost || coalesce(jsonb_object_agg(c.r, look.taken) FILTER (WHERE look.taken IS NOT NULL), '{}')
              INTO v_codes, v_lost
              FROM unnest(v_codes) WITH ORDINALITY AS c (code, r)
              CROSS JOIN LATERAL (
                SELECT array_agg(w.seat_no ORDER BY w.seat_no) AS taken
                  FROM unnest(p_seats[p_firsts[c.r] : p_firsts[c.r] + p_counts[c.r] - 1]) AS w (seat_no)
                  JOIN seats s ON s.event_id = p_events[c.r] AND s.seat_no = w.seat_no
                 WHERE c.code = '' AND NOT c.r = ANY (coalesce(v_won, '{}'))
                   AND NOT (seat_is_free(s.status, s.hold_expires_at, v_now)
                            OR s.status = 4 AND s.seat_no = ANY (v_house))
              ) look;
        END IF;
    END IF;

    IF p_wait AND v_won IS NOT NULL THEN
        v_orphans := orphans_left(p_events[1], p_seats);
        IF NOT is_kept_by(p_events[1], p_houses[1], v_house) THEN
            v_codes := ARRAY['slow'];  -- the house gave a seat to another claim while we waited for it
            v_won := NULL;
        ELSIF v_orphans <> '{}' THEN
            v_codes := ARRAY['seat-orphaned'];
            v_lost := jsonb_build_object('1', v_orphans);
            v_won := NULL;
        ELSE
            PERFORM note_code_use(p_events[1], p_principals[1], p_codes[1], v_now);
        END IF;
    END IF;

    IF v_won IS NOT NULL THEN
        PERFORM write_holds(v_won, p_holds, p_events, p_principals, p_channels, p_keys, p_digests, p_devices, p_staff,
                            p_firsts, p_counts, p_seats, p_places, v_now);

        WITH changed AS (
            UPDATE seats s
               SET status = 1, holder = holder_of(h.channel), price_version = h.price_version,
                   hold_id = h.hold_id, hold_expires_at = h.expires_at, version = s.version + 1
              FROM unnest(v_won) AS won (r)
              CROSS JOIN LATERAL (SELECT * FROM holds h WHERE h.hold_id = p_holds[won.r] OFFSET 0) h
              CROSS JOIN LATERAL unnest(h.seats) AS w (seat_no)
             WHERE s.event_id = h.event_id AND s.seat_no = w.seat_no
            RETURNING s.event_id, h.hold_id, h.expires_at, s.seat_no, s.version,
                      staff_byte(s.status, s.holder, s.printed, s.used) AS state)
        INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, until, created_at)
        SELECT c.event_id, 'seats-held', c.hold_id, array_agg(c.seat_no ORDER BY c.seat_no),
               array_agg(c.state ORDER BY c.seat_no), array_agg(c.version ORDER BY c.seat_no), c.expires_at, v_now
          FROM changed c
         GROUP BY c.event_id, c.hold_id, c.expires_at
         ORDER BY c.hold_id;
    END IF;

    RETURN QUERY
    SELECT a.r::integer, CASE v_codes[a.r] WHEN 'replay' THEN '' ELSE v_codes[a.r] END, v_codes[a.r] = 'replay',
           ARRAY(SELECT jsonb_array_elements_text(nullif(v_lost -> a.r::text, 'null'))::integer),
           booking_now(), e.plan_id, e.plan_version,
           h.hold_id, h.event_id, h.status, h.seats, h.expires_at, h.grace_used, o.order_id, h.created_at
      FROM unnest(p_events, p_principals, p_keys) WITH ORDINALITY AS a (event_id, principal, key, r)
      LEFT JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = a.event_id OFFSET 0) e ON true
      LEFT JOIN LATERAL (SELECT * FROM holds h
                          WHERE v_codes[a.r] IN ('', 'replay')
                            AND h.event_id = a.event_id AND h.principal = a.principal AND h.idem_key = a.key
                         OFFSET 0) h ON true
      LEFT JOIN LATERAL (SELECT * FROM order_holds o WHERE o.hold_id = h.hold_id AND o.live OFFSET 0) o ON true
     ORDER BY a.r;
END $$;
