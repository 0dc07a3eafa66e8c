-- What operators do to an event as a whole: its settings, pause, resume, cancel. Each names the version that it was made from,
-- and leaves who, when, from, to and why in the audit log.
--
-- Locks: the event's row comes before everything else. Sales read it and never lock it: it stays cold. A sale that began
-- before a change may still end after it; whoever pauses or cancels waits those out (sales_begun_before), they take
-- seconds at most.

-- Lock an event for a change; a refusal when there is none, it is cancelled, or it was changed since p_expected.
CREATE OR REPLACE FUNCTION why_not_change(p_event events, p_expected integer) RETURNS sale_answer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_event.event_id IS NULL THEN refused('event-not-found')
                WHEN p_event.settings_version <> p_expected
                    THEN refused('settings-changed', p_event.settings_version::text)
                WHEN p_event.status = 'CANCELLED' THEN refused('event-state-conflict', p_event.status)
                ELSE done(NULL) END
$$;

-- New settings by column name; what is missing stays. Open holds keep the deadlines they have (R4).
CREATE OR REPLACE FUNCTION change_settings(
    p_principal text, p_staff uuid, p_event integer, p_expected integer, p_settings jsonb, p_reason text,
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_event  events;
    v_new    events;
    v_answer sale_answer;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'settings', p_key, p_digest, event_subject(p_event));
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_answer := why_not_change(v_event, p_expected);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    v_now := booking_now();
    v_new := jsonb_populate_record(v_event, p_settings);
    UPDATE events e
       SET hold_ttl_s = v_new.hold_ttl_s, grace_s = v_new.grace_s, max_per_account = v_new.max_per_account,
           max_per_card = v_new.max_per_card, max_open_holds_till = v_new.max_open_holds_till,
           paying_cap = v_new.paying_cap, orphan_rule = v_new.orphan_rule,
           max_refund_by_clerk_minor = v_new.max_refund_by_clerk_minor, admission = v_new.admission,
           settings_version = e.settings_version + 1
     WHERE e.event_id = p_event;
    PERFORM note_change(p_principal, 'settings-changed', p_event::text, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'version', p_expected + 1, 'to', p_settings,
        'from', (SELECT jsonb_object_agg(k, to_jsonb(v_event) -> k) FROM jsonb_object_keys(p_settings) AS k)), v_now);
    PERFORM spend_key(p_principal, 'settings', p_key, p_digest, event_subject(p_event), event_subject(p_event), v_now);
    RETURN done(event_subject(p_event));
END $$;

-- ON_SALE ⇄ PAUSED, and both → CANCELLED, which nothing leaves.
CREATE OR REPLACE FUNCTION change_event_status(
    p_principal text, p_staff uuid, p_event integer, p_expected integer, p_status text, p_reason text,
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_event  events;
    v_answer sale_answer;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'event-status', p_key, p_digest, event_subject(p_event));
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_answer := why_not_change(v_event, p_expected);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    ELSIF v_event.status = p_status THEN
        RETURN refused('event-state-conflict', v_event.status);
    END IF;
    v_now := booking_now();
    UPDATE events e SET status = p_status, settings_version = e.settings_version + 1 WHERE e.event_id = p_event;
    INSERT INTO outbox (event_id, type, aggregate_id, payload, created_at)
    VALUES (p_event, 'event-status-changed', event_subject(p_event),
            jsonb_build_object('from', v_event.status, 'to', p_status), v_now);
    PERFORM note_change(p_principal, 'event-status-changed', p_event::text, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'version', p_expected + 1, 'from', v_event.status, 'to', p_status), v_now);
    PERFORM spend_key(p_principal, 'event-status', p_key, p_digest, event_subject(p_event), event_subject(p_event), v_now);
    RETURN done(event_subject(p_event));
END $$;

-- How many transactions of this database began before an instant of the server's clock and are still running: only they can
-- have read what was committed away by then. Older ones than p_within are no sales: those end by their own limits.
CREATE OR REPLACE FUNCTION sales_begun_before(p_instant timestamptz, p_within interval) RETURNS integer
LANGUAGE sql VOLATILE AS $$
    SELECT count(*)::integer FROM pg_stat_activity a
     WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
       AND a.xact_start <= p_instant AND a.xact_start > p_instant - p_within
$$;

-- End what is unpaid in a cancelled event: holds, and orders none of whose charges may have taken money (a charge that was
-- never sent ends with its order). Waits for nobody, as the sweeper. An order with a charge under way is left to its
-- result: a success is given back (R25), a decline leaves a hold that nobody can pay and that ends with its time.
-- Returns how many ended and how many are left for another time.
CREATE OR REPLACE FUNCTION end_cancelled_sales(p_event integer, p_limit integer, OUT ended integer, OUT remaining integer)
LANGUAGE plpgsql AS $$
DECLARE
    v_now  timestamptz := booking_now();
    v_hold uuid;
BEGIN
    ended := 0;
    remaining := 0;
    IF NOT EXISTS (SELECT FROM events e WHERE e.event_id = p_event AND e.status = 'CANCELLED') THEN
        RETURN;
    END IF;
    FOR v_hold IN
        SELECT h.hold_id FROM holds h
         WHERE h.event_id = p_event AND h.ended_at IS NULL
           AND NOT EXISTS (SELECT FROM order_holds oh JOIN payment_operations p USING (order_id)
                            WHERE oh.hold_id = h.hold_id AND oh.live AND p.kind IN ('authorize', 'sale', 'cash')
                              AND p.status NOT IN ('CREATED', 'DECLINED') AND p.advice <> 'part'
                              AND NOT p.void_requested)
         LIMIT p_limit
    LOOP
        IF end_cancelled_hold(v_hold, v_now) THEN
            ended := ended + 1;
        ELSE
            remaining := remaining + 1;
        END IF;
    END LOOP;
END $$;

-- End one hold of a cancelled event with its order. False when somebody holds one of its locks, or a charge was sent meanwhile.
CREATE OR REPLACE FUNCTION end_cancelled_hold(p_hold uuid, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_order_id uuid;
    v_order    orders;
    v_hold     holds;
BEGIN
    SELECT oh.order_id INTO v_order_id FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live;
    IF v_order_id IS NOT NULL THEN
        SELECT * INTO v_order FROM orders o WHERE o.order_id = v_order_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold AND h.ended_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR NOT try_lock_seats_of_hold(v_hold) OR NOT try_lock_places_of_hold(v_hold)
       OR v_order_id IS DISTINCT FROM (SELECT oh.order_id FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live) THEN
        RETURN false;
    ELSIF v_order_id IS NULL THEN
        PERFORM free_hold(v_hold, 'RELEASED', p_now);
        RETURN true;
    END IF;
    -- The charges are locked first: from here on none of them is sent.
    PERFORM FROM payment_operations p WHERE p.order_id = v_order_id ORDER BY p.operation_id FOR NO KEY UPDATE;
    IF v_order.status NOT IN ('PENDING', 'RECONCILING')
       OR EXISTS (SELECT FROM payment_operations p
                   WHERE p.order_id = v_order_id AND p.kind IN ('authorize', 'sale', 'cash')
                     AND p.status NOT IN ('CREATED', 'DECLINED') AND p.advice <> 'part' AND NOT p.void_requested) THEN
        RETURN false;
    END IF;
    UPDATE payment_operations p
       SET status = 'DECLINED', decline_code = 'cancelled', decided_by = 'authority', next_attempt_at = NULL,
           updated_at = p_now
     WHERE p.order_id = v_order_id AND p.kind IN ('authorize', 'sale') AND p.status = 'CREATED';  -- never a void
    PERFORM end_sale(v_order, 'CANCELLED', 'RELEASED', 'event cancelled', p_now);
    RETURN true;
END $$;
