-- A supervisor takes an order back whose money never came: its capture was refused for good (R25, P26). Its lines end, the
-- authorization is let go, so that nothing can be captured after all, and what other charges of the order took goes back.

-- Whether an order was taken back so. Money of it that comes all the same pays nothing.
CREATE OR REPLACE FUNCTION is_taken_back(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM money_backs a WHERE a.order_id = p_order AND a.item_id IS NOT NULL)
$$;

-- Why an order cannot be taken back now, or ''. 'may-be-captured': its provider says of a capture both that it was refused and that
-- it was done; 'refund-pending': money of it is on its way back, and nobody knows yet whether it arrives.
CREATE OR REPLACE FUNCTION why_not_take_back(p_order uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN NOT has_valid_lines(p_order) THEN 'nothing-valid'
        WHEN EXISTS (SELECT FROM tickets t WHERE t.order_id = p_order AND is_refund_pending(t)) THEN 'refund-pending'
        WHEN EXISTS (SELECT FROM reconciliation_items i JOIN payment_operations p USING (operation_id)
                      WHERE i.order_id = p_order AND i.kind = 'result-conflict' AND i.resolved_at IS NULL
                        AND p.kind = 'capture' AND i.detail ->> 'reported' = 'succeeded') THEN 'may-be-captured'
        WHEN EXISTS (SELECT FROM payment_operations p
                      WHERE p.order_id = p_order AND p.kind IN ('capture', 'void', 'refund') AND NOT p.void_requested
                        AND p.status NOT IN ('SUCCEEDED', 'DECLINED', 'CREATED')) THEN 'under-way'
        ELSE '' END
$$;

-- Caller: lock_item. p_spare: the act, a house hold for seats that stay blocked, and an operation for each charge at most.
CREATE OR REPLACE FUNCTION take_order_back(
    p_item reconciliation_items, p_who text, p_principal text, p_staff uuid, p_wish item_approvals, p_spare uuid[],
    p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_act    CONSTANT uuid := p_spare[1];
    v_answer sale_answer;
    v_sum    bigint;
BEGIN
    INSERT INTO money_backs (money_back_id, order_id, event_id, kind, status, amount_minor, seats_to_sale, house_hold_id,
                             reason, principal, staff_id, created_by, created_at, decided_at, item_id)
    VALUES (v_act, p_item.order_id, p_item.event_id, 'cancel', 'ACCEPTED', 0, p_wish.seats_to_sale, p_spare[2],
            p_wish.reason, p_principal, p_staff, person_name(p_staff::text), p_now, p_now, p_item.item_id);
    INSERT INTO money_back_lines SELECT * FROM lines_of_act(v_act, 'cancel', p_item.order_id, NULL);
    SELECT sum(l.amount_minor) INTO v_sum FROM money_back_lines l WHERE l.money_back_id = v_act;
    PERFORM end_lines(v_act, p_now);
    v_answer := let_charges_go(p_item.order_id, v_sum, p_principal, p_wish.reason, p_spare[3:], p_now);
    IF v_answer.code <> '' THEN
        RAISE EXCEPTION 'order % cannot be taken back: % (%)', p_item.order_id, v_answer.code, v_answer.detail;
    END IF;
    PERFORM end_item(p_item.item_id, p_who, 'taken back: the order is void', '', p_now);
    PERFORM note_change(p_principal, 'order-taken-back', p_item.order_id::text, p_wish.reason, jsonb_build_object(
        'staff_id', p_staff, 'event_id', p_item.event_id, 'money_back_id', v_act, 'item_id', p_item.item_id,
        'seats_to_sale', p_wish.seats_to_sale), p_now);
    RETURN done(p_item.item_id);
END $$;

-- What becomes of the charges of an order that was taken back. An authorization that was not captured is voided, unless its time is
-- over. Of what others took no more goes back than the lines cost: by their provider, or at the till that took it; a till that is
-- silent becomes an item. Caller: lock_order_for_money.
CREATE OR REPLACE FUNCTION let_charges_go(
    p_order uuid, p_sum bigint, p_principal text, p_reason text, p_spare uuid[], p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_charge record;
    v_answer sale_answer;
    v_part   bigint;
    v_left   bigint := p_sum;
    v_ops    integer := 0;
BEGIN
    FOR v_charge IN
        SELECT m.*, p.device_id, p.expires_at, p.amount_minor
          FROM money_of_order(p_order) m JOIN payment_operations p USING (operation_id)
         WHERE m.advice = 'goods-issued' AND (m.standing = 'lost' OR m.refundable > 0)
         ORDER BY m.standing <> 'lost', m.kind = 'cash', p.created_at DESC, p.operation_id DESC
    LOOP
        v_ops := v_ops + 1;
        v_part := least(v_left, v_charge.refundable);
        IF v_charge.standing = 'lost' THEN
            IF coalesce(v_charge.expires_at > p_now, true) THEN
                PERFORM open_follow_ups(ARRAY[v_charge.operation_id], 'void', ARRAY[v_charge.amount_minor],
                                        ARRAY[p_spare[v_ops]], p_now, true);
            END IF;
            CONTINUE;
        END IF;
        CONTINUE WHEN v_part = 0;
        IF v_charge.kind = 'authorize' THEN
            v_answer := open_money_back(
                v_charge.operation_id,
                CASE WHEN v_charge.standing = 'authorized' AND v_part = v_charge.charged
                          AND may_be_voided(v_charge.operation_id) THEN 'void' ELSE 'refund' END,
                v_part, 'same', p_spare[v_ops], p_principal, NULL, p_reason, p_now);
        ELSE
            v_answer := owe_at_till(v_charge.operation_id, v_part, CASE v_charge.kind WHEN 'cash' THEN 'cash' ELSE 'same' END,
                                    p_spare[v_ops], v_charge.device_id, p_principal, p_reason, p_now, NULL);
        END IF;
        IF v_answer.code <> '' THEN
            RETURN v_answer;
        END IF;
        v_left := v_left - v_part;
    END LOOP;
    RETURN done(NULL);
END $$;

-- Whether an item says that a provider has captured after all what it had refused, of an order that was taken back meanwhile.
CREATE OR REPLACE FUNCTION is_late_capture(p_item reconciliation_items, p_op payment_operations)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_item.kind = 'result-conflict' AND p_op.kind = 'capture' AND p_op.status = 'DECLINED'
       AND p_item.detail ->> 'reported' = 'succeeded' AND is_taken_back(p_op.order_id)
       AND NOT has_follow_up(p_op.parent_id, 'capture', 'SUCCEEDED') AND NOT has_follow_up(p_op.parent_id, 'void', 'SUCCEEDED')
$$;

-- Nothing leaves DECLINED: that the money was taken after all is a capture of its own, by the word of the provider and of the person
-- who gives it back. Nothing happens for any other item.
CREATE OR REPLACE FUNCTION write_late_capture(
    p_item reconciliation_items, p_who text, p_reason text, p_id uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    idempotency_key, provider_ref, amount_minor, currency, decided_by, created_at,
                                    updated_at)
    SELECT p_id, p.order_id, p.event_id, p.parent_id, p.part, 'capture', 'SUCCEEDED', p.provider, p.principal,
           late_key(p.idempotency_key), p.provider_ref, (p_item.detail ->> 'reported_minor')::bigint, p.currency, p_who,
           p_now, p_now
      FROM payment_operations p
     WHERE p.operation_id = p_item.operation_id AND is_late_capture(p_item, p);
    IF FOUND THEN
        PERFORM note_evidence(p_id, evidence_of_person(p_reason, p_item.detail ->> 'provider_ref', p_now), p_who);
    END IF;
END $$;
