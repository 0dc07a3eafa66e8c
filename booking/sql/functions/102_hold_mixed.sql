-- Seats and places of tiers in one hold and one transaction, all or nothing (R3, R11): hold_seats_batch, then the claim.
-- It runs alone and waits for locks, in the one order: account → access code → (dead sales) → seats → counters. When either
-- part is lost everything is undone, and the answer names what was lost of both.
DROP FUNCTION IF EXISTS hold_mixed(
    integer, text, text, text, bytea, uuid, uuid, uuid, integer[], integer[], integer[], text, uuid);
CREATE FUNCTION hold_mixed(
    p_event integer, p_principal text, p_channel text, p_key text, p_digest bytea, p_hold uuid, p_device uuid,
    p_staff uuid, p_seats integer[], p_tiers integer[], p_quantities integer[], p_code text, p_house uuid
) RETURNS TABLE (
    code text, replayed boolean, lost integer[], lost_tiers integer[], server_time timestamptz,
    plan_id uuid, plan_version integer,
    hold_id uuid, event_id integer, status text, seats integer[], expires_at timestamptz, grace_used boolean,
    order_id uuid, created_at timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now   timestamptz := booking_now();
    v_hold  record;
    v_claim claimed_places;
    v_code  text;
    v_tiers integer[] := '{}';
BEGIN
    BEGIN
        -- Those in the way of either part are ended together: their locks are taken in one order.
        IF EXISTS (SELECT FROM unnest(p_tiers) AS t (id) CROSS JOIN LATERAL tier_standing(p_event, t.id, v_now) s
                    WHERE s.dead > 0) THEN
            PERFORM lock_account(p_event, p_principal);
            PERFORM limit_by_code(p_event, p_principal, p_code, v_now);  -- its lock comes before those of sales
            PERFORM end_dead_sales(p_event, p_principal, p_seats, v_now, p_tiers);
        END IF;
        SELECT * INTO v_hold
          FROM hold_seats_batch(
            ARRAY[p_event], ARRAY[p_principal], ARRAY[p_channel], ARRAY[p_key], ARRAY[p_digest], ARRAY[p_hold],
            ARRAY[p_device], ARRAY[p_staff], ARRAY[1], ARRAY[cardinality(p_seats)], p_seats, true, false,
            p_places => ARRAY[(SELECT sum(q)::int FROM unnest(p_quantities) AS q)], p_codes => ARRAY[p_code],
            p_houses => ARRAY[p_house]) b;
        v_code := v_hold.code;
        IF v_code IN ('', 'seats-taken') AND NOT v_hold.replayed THEN
            v_tiers := ARRAY(SELECT t.id FROM unnest(p_tiers) AS t (id) WHERE category_of_tier(p_event, t.id) IS NULL);
            IF v_tiers <> '{}' THEN
                v_code := 'tier-unknown';
            ELSIF v_code <> '' THEN
                v_tiers := short_tiers(p_event, p_tiers, p_quantities, v_now);
            ELSE
                v_claim := claim_places(ARRAY[p_event], ARRAY[''], ARRAY[1], ARRAY[cardinality(p_tiers)], p_tiers,
                                        p_quantities, true, v_now);
                IF v_claim.codes[1] <> '' THEN
                    v_code := why_short(p_event, p_tiers, p_quantities, v_now);
                    v_tiers := short_tiers(p_event, p_tiers, p_quantities, v_now);
                ELSE
                    PERFORM write_claim(ARRAY[p_event], ARRAY[p_hold], v_claim, v_now);
                END IF;
            END IF;
        END IF;
        IF v_code <> '' THEN
            RAISE EXCEPTION 'refused: %', v_code USING ERRCODE = 'TQ001';
        END IF;
    EXCEPTION WHEN SQLSTATE 'TQ001' THEN
        NULL;  -- nothing of it has happened; why is in the variables
    END;
    IF v_code <> '' THEN
        RETURN QUERY SELECT v_code, false, v_hold.lost, v_tiers, booking_now(), v_hold.plan_id, v_hold.plan_version,
                            NULL::uuid, NULL::integer, NULL::text, NULL::integer[], NULL::timestamptz, NULL::boolean,
                            NULL::uuid, NULL::timestamptz;
    ELSE
        RETURN QUERY SELECT '', v_hold.replayed, '{}'::integer[], '{}'::integer[], v_hold.server_time, v_hold.plan_id,
                            v_hold.plan_version, v_hold.hold_id, v_hold.event_id, v_hold.status, v_hold.seats,
                            v_hold.expires_at, v_hold.grace_used, v_hold.order_id, v_hold.created_at;
    END IF;
END $$;
