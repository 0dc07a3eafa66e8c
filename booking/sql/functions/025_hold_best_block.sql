-- Best available in the authority: hold the first of several blocks that is wholly free, in one transaction (R30).
--
-- p_blocks are blocks of p_size seats each, one behind the other, best first; they were chosen from a view that may be
-- late. Each is tried without waiting: its seats (and, where the event has an orphan rule, those beside it) are locked
-- with SKIP LOCKED, all or none, because a try that fails is rolled back with its locks. The hold itself is made by
-- hold_seats_batch, as every hold: key, event, limits, access code and orphan rule are decided there. When no block
-- could be had at once, one is waited for: the best that somebody had locked, or that a dead sale sits in.
--
-- Code: as of hold_seats_batch; 'no-block-left' when every block is lost; 'slow' when the choice has to be made anew,
-- because the event has another plan now. Locks: account → access code → dead sales of the account → seats, as everywhere;
-- nothing is waited for under seat locks.
CREATE OR REPLACE FUNCTION hold_best_block(
    p_event integer, p_principal text, p_channel text, p_key text, p_digest bytea, p_hold uuid, p_device uuid, p_staff uuid,
    p_code text, p_plan uuid, p_plan_version integer, p_size integer, p_blocks integer[]
) RETURNS TABLE (
    request integer, code text, replayed boolean, lost integer[], server_time timestamptz,
    plan_id uuid, plan_version integer,
    hold_id uuid, event_id integer, status text, seats integer[], expires_at timestamptz, grace_used boolean,
    order_id uuid, created_at timestamptz
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_now    timestamptz := booking_now();
    v_event  events;
    v_answer record;
    v_done   boolean := false;
    v_block  integer[];
    v_waited integer[];
    v_wanted integer[];
    v_free   integer;
    v_locked integer;
    v_lost   CONSTANT text[] := '{seats-taken,seat-orphaned,slow}';
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event;
    IF v_event.event_id IS NULL OR v_event.status <> 'ON_SALE' OR v_event.sale_opens_at > v_now
       OR EXISTS (SELECT FROM holds h WHERE h.event_id = p_event AND h.principal = p_principal AND h.idem_key = p_key) THEN
        RETURN QUERY SELECT * FROM hold_one(p_event, p_principal, p_channel, p_key, p_digest, p_hold, p_device, p_staff,
                                            p_code, '{}');
        RETURN;
    END IF;

    IF (v_event.plan_id, v_event.plan_version) = (p_plan, p_plan_version) THEN
        INSERT INTO account_limits (event_id, principal) VALUES (p_event, p_principal) ON CONFLICT DO NOTHING;
        PERFORM FROM account_limits l WHERE l.event_id = p_event AND l.principal = p_principal FOR NO KEY UPDATE;
        -- A code with a number of uses is locked now: hold_one would wait for it under the block's locks.
        PERFORM limit_by_code(p_event, p_principal, p_code, v_now);
        -- So are the orders of the account's own dead sales.
        PERFORM end_dead_sales(p_event, p_principal, '{}', v_now);

        FOR v_at IN 1 .. cardinality(p_blocks) BY p_size LOOP
            v_block := p_blocks[v_at : v_at + p_size - 1];
            -- A look first: most lost blocks cost no lock.
            SELECT count(*) FILTER (WHERE look.is_free),
                   count(*) FILTER (WHERE look.is_free OR look.is_dead)
              INTO v_free, v_locked
              FROM (SELECT seat_is_free(s.status, s.hold_expires_at, v_now) AS is_free,
                           CASE WHEN s.status = 2 AND s.hold_expires_at <= v_now
                                THEN is_dead_sale(s.order_id, s.hold_expires_at, v_now) ELSE false END AS is_dead
                      FROM seats s WHERE s.event_id = p_event AND s.seat_no = ANY (v_block)) look;
            IF v_free < p_size THEN
                v_waited := CASE WHEN v_locked = p_size THEN coalesce(v_waited, v_block) ELSE v_waited END;
                CONTINUE;
            END IF;
            v_wanted := CASE WHEN v_event.orphan_rule = 'off' THEN v_block ELSE ARRAY(
                SELECT s.seat_no FROM seats s
                 WHERE s.event_id = p_event AND s.seat_no BETWEEN v_block[1] - 2 AND v_block[p_size] + 2) END;
            BEGIN
                WITH mine AS MATERIALIZED (
                    SELECT s.seat_no, seat_is_free(s.status, s.hold_expires_at, v_now) AS is_free
                      FROM seats s WHERE s.event_id = p_event AND s.seat_no = ANY (v_wanted)
                     ORDER BY s.seat_no FOR NO KEY UPDATE SKIP LOCKED)
                SELECT count(*), count(*) FILTER (WHERE m.is_free AND m.seat_no = ANY (v_block))
                  INTO v_locked, v_free FROM mine m;
                IF v_locked < cardinality(v_wanted) THEN
                    v_waited := coalesce(v_waited, v_block);
                    RAISE EXCEPTION 'another block' USING ERRCODE = 'TQ001';
                ELSIF v_free < p_size THEN
                    RAISE EXCEPTION 'another block' USING ERRCODE = 'TQ001';
                END IF;
                SELECT * INTO v_answer FROM hold_one(p_event, p_principal, p_channel, p_key, p_digest, p_hold, p_device,
                                                     p_staff, p_code, v_block);
                IF v_answer.code = ANY (v_lost) THEN
                    RAISE EXCEPTION 'another block' USING ERRCODE = 'TQ001';
                END IF;
                v_done := true;
            EXCEPTION WHEN SQLSTATE 'TQ001' THEN
                NULL;  -- its locks are gone
            END;
            EXIT WHEN v_done;
        END LOOP;

        IF NOT v_done AND v_waited IS NOT NULL THEN
            SELECT * INTO v_answer FROM hold_one(p_event, p_principal, p_channel, p_key, p_digest, p_hold, p_device,
                                                 p_staff, p_code, v_waited);
            v_done := v_answer.code <> ALL (v_lost);
        END IF;
    END IF;

    IF v_done THEN
        RETURN QUERY SELECT 1, v_answer.code, v_answer.replayed, v_answer.lost, v_answer.server_time,
                            v_answer.plan_id, v_answer.plan_version, v_answer.hold_id, v_answer.event_id, v_answer.status,
                            v_answer.seats, v_answer.expires_at, v_answer.grace_used, v_answer.order_id,
                            v_answer.created_at;
    ELSE
        RETURN QUERY SELECT 1, CASE WHEN (v_event.plan_id, v_event.plan_version) = (p_plan, p_plan_version)
                                    THEN 'no-block-left' ELSE 'slow' END,
                            false, '{}'::integer[], booking_now(), v_event.plan_id, v_event.plan_version,
                            NULL::uuid, NULL::integer, NULL::text, NULL::integer[], NULL::timestamptz, NULL::boolean,
                            NULL::uuid, NULL::timestamptz;
    END IF;
END $$;

-- One hold through the one place that makes holds, waiting for its locks.
CREATE OR REPLACE FUNCTION hold_one(
    p_event integer, p_principal text, p_channel text, p_key text, p_digest bytea, p_hold uuid, p_device uuid, p_staff uuid,
    p_code text, p_seats integer[]
) RETURNS TABLE (
    request integer, code text, replayed boolean, lost integer[], server_time timestamptz,
    plan_id uuid, plan_version integer,
    hold_id uuid, event_id integer, status text, seats integer[], expires_at timestamptz, grace_used boolean,
    order_id uuid, created_at timestamptz
) LANGUAGE sql AS $$
    SELECT b.request, b.code, b.replayed, b.lost, b.server_time, b.plan_id, b.plan_version, b.hold_id, b.event_id, b.status,
           b.seats, b.expires_at, b.grace_used, b.order_id, b.created_at
      FROM hold_seats_batch(ARRAY[p_event], ARRAY[p_principal], ARRAY[p_channel], ARRAY[p_key], ARRAY[p_digest],
                            ARRAY[p_hold], ARRAY[p_device], ARRAY[p_staff], ARRAY[1], ARRAY[cardinality(p_seats)], p_seats,
                            true, false, p_codes => CASE WHEN p_code = '' THEN NULL ELSE ARRAY[p_code] END) b
$$;
