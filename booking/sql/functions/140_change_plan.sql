-- Put an event on another version of its plan while it is on sale (B7, I4).
--
-- All versions of a plan number their seats alike (seating_plan/numbering.py): a guid has one number in all of them, and the
-- number of a seat that is gone is marked so (flags 8). So a change touches only seats that go, come back, come new or change
-- their category; sales of all others go on beside it, under the numbers that they have, and need not know.
--
-- Locks: the event, then what ends dead sales, then the seats that change, in order; the feed's row last. A hold that wants
-- one of those seats waits or goes the slow path, and then finds it BLOCKED or free.

-- What is between two versions of a plan for an event: by seat number, which guid, and what becomes of the seat: 'goes',
-- 'comes' (back, or new), 'recategorised', 'stays'. Numbers beyond the new version's end go.
CREATE OR REPLACE FUNCTION compare_plans(p_plan uuid, p_old integer, p_new integer)
RETURNS TABLE (seat_no integer, change text, misnumbered boolean, relabelled boolean, category_no integer)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(o.seat_no, n.seat_no),
           CASE WHEN n.seat_no IS NULL OR n.flags & 8 <> 0
                     THEN CASE WHEN o.seat_no IS NULL OR o.flags & 8 <> 0 AND n.seat_no IS NOT NULL THEN 'stays' ELSE 'goes' END
                WHEN o.seat_no IS NULL OR o.flags & 8 <> 0 THEN 'comes'
                WHEN o.category_no <> n.category_no THEN 'recategorised'
                ELSE 'stays' END,
           coalesce(o.guid <> n.guid, false),
           coalesce((o.section, o.row_kind, o.row_label, o.number) <> (n.section, n.row_kind, n.row_label, n.number), false),
           n.category_no
      FROM (SELECT * FROM plan_seats WHERE plan_id = p_plan AND version = p_old) o
      FULL JOIN (SELECT * FROM plan_seats WHERE plan_id = p_plan AND version = p_new) n USING (seat_no)
$$;

-- Change the plan, or with p_dry_run say what it would do. Detail of the answer: the report as JSON (kept, added, removed,
-- relabelled: numbers of taken seats), after a refusal with 'plan-conflict' what is in the way of the seats that it names.
CREATE OR REPLACE FUNCTION change_plan(
    p_principal text, p_staff uuid, p_event integer, p_expected integer, p_version integer, p_reason text,
    p_dry_run boolean, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_event    events;
    v_answer   sale_answer;
    v_now      timestamptz := booking_now();
    v_goes     integer[];
    v_comes    integer[];
    v_moved    integer[];
    v_report   jsonb;
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'plan', p_key, p_digest, event_subject(p_event));
    IF v_answer.code = '' THEN
        v_answer.detail := (SELECT a.detail ->> 'report' FROM audit_log a
                             WHERE a.action = 'plan-changed' AND a.subject = p_event::text
                               AND a.principal = p_principal AND a.detail ->> 'key' = p_key);
    END IF;
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_answer := why_not_change(v_event, p_expected);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    ELSIF NOT EXISTS (SELECT FROM plans p WHERE p.plan_id = v_event.plan_id AND p.version = p_version) THEN
        RETURN refused('invalid-request', '/plan_version');
    END IF;

    DROP TABLE IF EXISTS pg_temp.plan_difference;
    CREATE TEMP TABLE plan_difference ON COMMIT DROP AS
    SELECT * FROM compare_plans(v_event.plan_id, v_event.plan_version, p_version);
    v_goes := ARRAY(SELECT d.seat_no FROM plan_difference d WHERE d.change = 'goes' ORDER BY 1);
    v_comes := ARRAY(SELECT d.seat_no FROM plan_difference d WHERE d.change = 'comes' ORDER BY 1);
    v_moved := ARRAY(SELECT d.seat_no FROM plan_difference d WHERE d.change = 'recategorised' ORDER BY 1);
    PERFORM end_dead_sales(p_event, p_principal, v_goes || v_comes || v_moved, v_now);
    PERFORM lock_seats(p_event, v_goes || v_comes || v_moved);
    v_answer := why_not_change_plan(v_event, p_version, v_goes, v_moved, v_now);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;

    SELECT jsonb_build_object(
               'kept', count(*) FILTER (WHERE d.change = 'recategorised' OR d.change = 'stays' AND NOT d.is_gone),
               'added', cardinality(v_comes),
               'removed', cardinality(v_goes) - count(*) FILTER (WHERE d.change = 'goes' AND d.is_gone),
               'relabelled', coalesce(jsonb_agg(d.seat_no ORDER BY d.seat_no) FILTER (WHERE d.relabelled AND d.is_taken), '[]'))
      INTO v_report
      FROM (SELECT p.change, p.seat_no, p.relabelled, s.status = 4 AND s.holder = 0 AS is_gone,
                   NOT seat_is_free(s.status, s.hold_expires_at, v_now) AND NOT (s.status = 4 AND s.holder = 0) AS is_taken
              FROM plan_difference p LEFT JOIN seats s ON s.event_id = p_event AND s.seat_no = p.seat_no) d;
    IF NOT p_dry_run THEN
        PERFORM put_on_plan(v_event, p_version, v_goes, v_comes, v_now);
        PERFORM note_change(p_principal, 'plan-changed', p_event::text, p_reason, jsonb_build_object(
            'staff_id', p_staff, 'version', p_expected + 1, 'from', v_event.plan_version, 'to', p_version,
            'key', p_key, 'report', v_report), v_now);
        PERFORM spend_key(p_principal, 'plan', p_key, p_digest, event_subject(p_event), event_subject(p_event), v_now);
    END IF;
    RETURN ROW ('', event_subject(p_event), false, v_report::text, NULL)::sale_answer;
END $$;

-- What is in the way of a change; code '' when nothing is. Caller: the seats that change are locked, plan_difference is made.
-- A seat that goes must be free; one that changes its category must not be in a sale, because its price would change. A
-- number that an older version has no column for goes with its row, so no order may ever have named it.
CREATE OR REPLACE FUNCTION why_not_change_plan(
    p_event events, p_version integer, p_goes integer[], p_moved integer[], p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_seats integer[];
BEGIN
    v_seats := ARRAY(SELECT d.seat_no FROM plan_difference d WHERE d.misnumbered ORDER BY 1);
    IF cardinality(v_seats) > 0 THEN
        RETURN refused('plan-conflict', 'misnumbered', v_seats);
    END IF;
    v_seats := ARRAY(SELECT s.seat_no FROM seats s
                      WHERE s.event_id = p_event.event_id AND s.seat_no = ANY (p_goes)
                        AND NOT seat_is_free(s.status, s.hold_expires_at, p_now) AND NOT (s.status = 4 AND s.holder = 0)
                      ORDER BY 1);
    IF cardinality(v_seats) > 0 THEN
        RETURN refused('plan-conflict', 'taken', v_seats);
    END IF;
    v_seats := ARRAY(SELECT w.seat_no FROM unnest(p_goes) AS w (seat_no)
                      WHERE w.seat_no >= (SELECT p.seat_count FROM plans p
                                           WHERE p.plan_id = p_event.plan_id AND p.version = p_version)
                        AND EXISTS (SELECT FROM order_seats l
                                     WHERE l.event_id = p_event.event_id AND l.seat_no = w.seat_no) ORDER BY 1);
    IF cardinality(v_seats) > 0 THEN
        RETURN refused('plan-conflict', 'in-orders', v_seats);
    END IF;
    v_seats := ARRAY(SELECT s.seat_no FROM seats s
                      WHERE s.event_id = p_event.event_id AND s.seat_no = ANY (p_moved)
                        AND NOT seat_is_free(s.status, s.hold_expires_at, p_now) AND s.status <> 4 ORDER BY 1);
    IF cardinality(v_seats) > 0 THEN
        RETURN refused('plan-conflict', 'recategorised', v_seats);
    END IF;
    v_seats := ARRAY(SELECT d.seat_no FROM plan_difference d
                      WHERE d.change IN ('comes', 'recategorised')
                        AND NOT EXISTS (SELECT FROM prices p
                                         WHERE p.event_id = p_event.event_id AND p.price_version = p_event.price_version
                                           AND p.category_no = d.category_no) ORDER BY 1);
    IF cardinality(v_seats) > 0 THEN
        RETURN refused('plan-conflict', 'unpriced', v_seats);
    END IF;
    RETURN done(NULL);
END $$;

-- Do it. Numbers that the new version has no column for (an older one has fewer) lose their row. Caller: as
-- why_not_change_plan, which said ''.
CREATE OR REPLACE FUNCTION put_on_plan(
    p_event events, p_version integer, p_goes integer[], p_comes integer[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count integer := (SELECT p.seat_count FROM plans p WHERE p.plan_id = p_event.plan_id AND p.version = p_version);
BEGIN
    DELETE FROM house_hold_seats h WHERE h.event_id = p_event.event_id AND h.seat_no = ANY (p_goes);
    DELETE FROM seats s WHERE s.event_id = p_event.event_id AND s.seat_no >= v_count AND s.seat_no = ANY (p_goes);
    UPDATE seats s
       SET status = 4, holder = 0, hold_id = NULL, hold_expires_at = NULL, version = s.version + 1
     WHERE s.event_id = p_event.event_id AND s.seat_no = ANY (p_goes) AND NOT (s.status = 4 AND s.holder = 0);
    UPDATE seats s SET status = 0, version = s.version + 1
     WHERE s.event_id = p_event.event_id AND s.seat_no = ANY (p_comes);
    INSERT INTO seats (event_id, seat_no, version)
    SELECT p_event.event_id, d.seat_no, 1 FROM plan_difference d
     WHERE NOT EXISTS (SELECT FROM seats s WHERE s.event_id = p_event.event_id AND s.seat_no = d.seat_no)
       AND d.seat_no < v_count
     ORDER BY d.seat_no;
    -- A number that came with its seat already gone: from another version in between.
    UPDATE seats s SET status = 4
      FROM plan_seats n
     WHERE n.plan_id = p_event.plan_id AND n.version = p_version AND n.flags & 8 <> 0
       AND s.event_id = p_event.event_id AND s.seat_no = n.seat_no AND s.status = 0;
    UPDATE events e SET plan_version = p_version, settings_version = e.settings_version + 1
     WHERE e.event_id = p_event.event_id;
    -- Every map is loaded anew, with the plan that it is of.
    PERFORM announce_seats(p_event.event_id, 'plan-changed', event_subject(p_event.event_id),
                           ARRAY(SELECT d.seat_no FROM plan_difference d WHERE d.change <> 'stays'), NULL, p_now);
    UPDATE event_feed f SET epoch = f.epoch + 1 WHERE f.event_id = p_event.event_id;
END $$;
