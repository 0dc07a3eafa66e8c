-- Give a general-admission tier another capacity while it is on sale (R11, B7). Below what is held and sold it is refused,
-- unless the overbooking is accepted by name: then it is stored beside the capacity, shown, and falls with each place that
-- comes back. Nothing is ever below zero.
--
-- What expired holds and dead sales still have does not count: it is given back first, in this same transaction (R5).
-- Locks: the event, then what ends dead sales, then every bucket of the tier, in order: buyers wait here for one step.
CREATE OR REPLACE FUNCTION change_tier(
    p_principal text, p_staff uuid, p_event integer, p_tier integer, p_capacity integer, p_accept boolean, p_reason text,
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_event  events;
    v_answer sale_answer;
    v_now    timestamptz := booking_now();
    v_before integer;
    v_used   integer;
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_event FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'tier', p_key, p_digest, event_subject(p_event));
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF v_event.event_id IS NULL THEN
        RETURN refused('event-not-found');
    ELSIF v_event.status = 'CANCELLED' THEN
        RETURN refused('event-state-conflict', v_event.status);
    ELSIF NOT EXISTS (SELECT FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier) THEN
        RETURN refused('tier-unknown');
    END IF;
    PERFORM end_dead_sales(p_event, p_principal, '{}', v_now, ARRAY[p_tier]);
    PERFORM FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier ORDER BY t.bucket FOR NO KEY UPDATE;
    PERFORM reclaim_places(p_event, p_tier, t.bucket, 2147483647, true, v_now)
       FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier ORDER BY t.bucket;
    SELECT sum(t.capacity), sum(t.held + t.sold) INTO v_before, v_used
      FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier;
    IF p_capacity < v_used AND NOT p_accept THEN
        RETURN refused('capacity-too-small', v_used::text);
    END IF;
    PERFORM spread_capacity(p_event, p_tier, p_capacity);
    INSERT INTO outbox (event_id, type, aggregate_id, payload, created_at)
    VALUES (p_event, 'tier-changed', event_subject(p_event),
            jsonb_build_object('tier_id', p_tier, 'from', v_before, 'to', p_capacity), v_now);
    PERFORM note_change(p_principal, 'tier-changed', p_event::text, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'tier_id', p_tier, 'from', v_before, 'to', p_capacity,
        'overbooked', greatest(0, v_used - p_capacity)), v_now);
    PERFORM spend_key(p_principal, 'tier', p_key, p_digest, event_subject(p_event), event_subject(p_event), v_now);
    RETURN done(event_subject(p_event));
END $$;
