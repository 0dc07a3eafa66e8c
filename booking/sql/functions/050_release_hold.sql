-- Release a hold by its owner (R5). Idempotent: a hold that has ended is left as it ended. An order that waits for a new
-- payment ends with it. A hold that is being paid is not released: its order is cancelled instead.
CREATE OR REPLACE FUNCTION release_hold(
    p_principal text, p_all boolean, p_hold uuid, p_key text DEFAULT NULL, p_digest bytea DEFAULT NULL
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'release', p_key, p_digest, p_hold);
    v_hold   holds;
    v_order  uuid;
    v_sale   orders;
    v_now    timestamptz;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold;
    IF NOT FOUND OR NOT (p_all OR v_hold.principal = p_principal) THEN
        RETURN refused('hold-not-found');
    END IF;
    SELECT oh.order_id INTO v_order FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live;
    IF v_order IS NOT NULL THEN
        v_sale := lock_sale(v_order);
    END IF;
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'release', p_key, p_digest, p_hold);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF v_hold.status IN ('RELEASED', 'EXPIRED') THEN
        PERFORM spend_key(p_principal, 'release', p_key, p_digest, p_hold, p_hold, booking_now());
        RETURN ROW ('', p_hold, true, '', NULL)::sale_answer;
    ELSIF v_hold.status <> 'HELD' THEN
        RETURN refused('hold-not-open', v_hold.status);
    END IF;
    PERFORM lock_seats(v_hold.event_id, v_hold.seats);
    v_now := booking_now();
    IF v_order IS NOT NULL AND v_sale.status = 'PENDING' THEN
        PERFORM end_sale(v_sale, 'CANCELLED', 'RELEASED', 'hold released', v_now);
    ELSE
        PERFORM free_hold(v_hold, 'RELEASED', v_now);
    END IF;
    PERFORM spend_key(p_principal, 'release', p_key, p_digest, p_hold, p_hold, v_now);
    RETURN done(p_hold);
END $$;
