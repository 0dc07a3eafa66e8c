-- The orphan rule (booking/domain/orphans.py says it in words, and does the same for choosing).

-- The first and the last seat of the row part that p_seat is in. A part is a stretch of neighbours.
CREATE OR REPLACE FUNCTION part_of_row(p_plan uuid, p_version integer, p_seat integer, OUT first integer, OUT last integer)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT ps.seat_no INTO first FROM plan_seats ps
     WHERE ps.plan_id = p_plan AND ps.version = p_version AND ps.seat_no <= p_seat AND ps.starts_part
     ORDER BY ps.seat_no DESC LIMIT 1;
    first := coalesce(first, 0);
    SELECT ps.seat_no - 1 INTO last FROM plan_seats ps
     WHERE ps.plan_id = p_plan AND ps.version = p_version AND ps.seat_no > p_seat AND ps.starts_part
     ORDER BY ps.seat_no LIMIT 1;
    IF last IS NULL THEN
        SELECT max(ps.seat_no) INTO last FROM plan_seats ps WHERE ps.plan_id = p_plan AND ps.version = p_version;
    END IF;
END $$;

-- Whether a block of p_size free seats, none of them accessible, could be taken from p_first … p_last without leaving a
-- seat single.
CREATE OR REPLACE FUNCTION has_block_without_orphans(
    p_event events, p_first integer, p_last integer, p_size integer, p_now timestamptz
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_free  boolean[];
    v_alone boolean[];  -- free and not accessible: may be part of a block, and may be left single
    v_count integer := p_last - p_first + 1;
BEGIN
    SELECT array_agg(look.is_free ORDER BY look.seat_no),
           array_agg(look.is_free AND look.flags & 1 = 0 ORDER BY look.seat_no)
      INTO v_free, v_alone
      FROM (SELECT s.seat_no, ps.flags,
                   seat_is_free(s.status, s.hold_expires_at, p_now) AND ps.flags & 8 = 0 AS is_free
              FROM plan_seats ps JOIN seats s ON s.event_id = (p_event).event_id AND s.seat_no = ps.seat_no
             WHERE ps.plan_id = (p_event).plan_id AND ps.version = (p_event).plan_version
               AND ps.seat_no BETWEEN p_first AND p_last) look;
    FOR v_at IN 1 .. v_count - p_size + 1 LOOP
        CONTINUE WHEN false = ANY (v_alone[v_at : v_at + p_size - 1]);
        CONTINUE WHEN v_at > 1 AND v_alone[v_at - 1] AND NOT (v_at > 2 AND v_free[v_at - 2]);
        CONTINUE WHEN v_at + p_size <= v_count AND v_alone[v_at + p_size]
                  AND NOT (v_at + p_size < v_count AND v_free[v_at + p_size + 1]);
        RETURN true;
    END LOOP;
    RETURN false;
END $$;

-- The seats that a hold of p_seats, all of them free, would leave single against the event's rule; none: it may be made.
-- Caller: the locks of these seats and of their neighbours (lock_row_beside). Whoever takes a seat that bears on the
-- answer needs one of those locks too, so two holds cannot leave a seat single between them.
CREATE OR REPLACE FUNCTION orphans_of(p_event integer, p_seats integer[]) RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now     timestamptz := booking_now();
    v_event   events;
    v_orphans integer[];
    v_found   integer[] := '{}';
    v_part    record;
    v_own     integer[];
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event;
    IF v_event.orphan_rule = 'off' OR EXISTS (
        SELECT FROM plan_seats ps WHERE ps.plan_id = v_event.plan_id AND ps.version = v_event.plan_version
                                    AND ps.seat_no = ANY (p_seats) AND ps.flags & 1 = 1) THEN
        RETURN '{}';
    END IF;
    WITH around AS MATERIALIZED (
        SELECT w.seat_no, ps.starts_part, ps.flags & 1 = 1 AS is_accessible, w.seat_no = ANY (p_seats) AS is_wanted,
               seat_is_free(s.status, s.hold_expires_at, v_now) AND ps.flags & 8 = 0
                   AND NOT w.seat_no = ANY (p_seats) AS is_free
          FROM (SELECT DISTINCT p.seat_no + side.step AS seat_no
                  FROM unnest(p_seats) AS p (seat_no) CROSS JOIN generate_series(-2, 2) AS side (step)) w
          JOIN seats s ON s.event_id = p_event AND s.seat_no = w.seat_no
          JOIN plan_seats ps ON ps.plan_id = v_event.plan_id AND ps.version = v_event.plan_version
                            AND ps.seat_no = w.seat_no)
    SELECT array_agg(c.seat_no ORDER BY c.seat_no) INTO v_orphans
      FROM around c
      LEFT JOIN around l ON l.seat_no = c.seat_no - 1 AND NOT c.starts_part
      LEFT JOIN around r ON r.seat_no = c.seat_no + 1 AND NOT r.starts_part
     WHERE c.is_free AND NOT c.is_accessible
       AND NOT coalesce(l.is_free, false) AND NOT coalesce(r.is_free, false)
       AND (coalesce(l.is_wanted, false) OR coalesce(r.is_wanted, false));
    IF v_orphans IS NULL OR v_event.orphan_rule = 'strict' THEN
        RETURN coalesce(v_orphans, '{}');
    END IF;
    FOR v_part IN SELECT DISTINCT p.first, p.last
                    FROM unnest(v_orphans) AS o (seat_no)
                    CROSS JOIN LATERAL part_of_row(v_event.plan_id, v_event.plan_version, o.seat_no) p LOOP
        v_own := ARRAY(SELECT p.seat_no FROM unnest(p_seats) AS p (seat_no)
                        WHERE p.seat_no BETWEEN v_part.first AND v_part.last);
        IF has_block_without_orphans(v_event, v_part.first, v_part.last, cardinality(v_own), v_now) THEN
            v_found := v_found || ARRAY(SELECT o.seat_no FROM unnest(v_orphans) AS o (seat_no)
                                         WHERE o.seat_no BETWEEN v_part.first AND v_part.last);
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT o.seat_no FROM unnest(v_found) AS o (seat_no) ORDER BY o.seat_no);
END $$;
