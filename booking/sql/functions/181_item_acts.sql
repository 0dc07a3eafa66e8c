-- What people do with items: only what the situation allows, from the version that they saw, with a reason, and with a second
-- person above the limit. Nothing here says that money moved when it did not: an act opens an operation, or records where
-- it was settled and who says so. A provider is asked by the worker, never in here.

-- Lock what an item is about, then the item; NULL without one. p_order: what it is to be attached to. Lock order as in 180.
CREATE OR REPLACE FUNCTION lock_item(p_item uuid, p_order uuid) RETURNS reconciliation_items LANGUAGE plpgsql AS $$
DECLARE
    v_item reconciliation_items;
BEGIN
    SELECT * INTO v_item FROM reconciliation_items i WHERE i.item_id = p_item;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM lock_order_for_money(o.order_id)
       FROM orders o WHERE o.order_id = coalesce(v_item.order_id, p_order);
    SELECT * INTO v_item FROM reconciliation_items i WHERE i.item_id = p_item FOR NO KEY UPDATE;
    RETURN v_item;
END $$;

-- As begin_order_act, for an item, from the version that the caller saw: `answer` is NULL when the act may go on with `item`.
CREATE OR REPLACE FUNCTION begin_item_act(
    p_principal text, p_route text, p_item uuid, p_order uuid, p_version integer, p_key text, p_digest bytea,
    OUT answer sale_answer, OUT item reconciliation_items
) LANGUAGE plpgsql AS $$
BEGIN
    answer := seen_key(p_principal, p_route, p_key, p_digest, p_item);
    IF answer.code IS NOT NULL THEN
        RETURN;
    END IF;
    item := lock_item(p_item, p_order);
    IF item.item_id IS NULL THEN
        answer := refused('item-not-found');
        RETURN;
    END IF;
    answer := seen_key(p_principal, p_route, p_key, p_digest, p_item);
    IF answer.code IS NULL AND item.version <> p_version THEN
        answer := refused('item-changed', item.version::text);
    END IF;
END $$;

-- An act of an item. p_staff: who; p_amount, p_reference, p_order, p_outcome, p_seats_to_sale, p_device and p_way as the act needs
-- them. p_spare: ids for what it makes. The answer names the item; refusals: item-not-found, item-changed, action-not-allowed,
-- refund-too-much, order-not-found, invalid-request (detail: the field).
DROP FUNCTION IF EXISTS act_on_item(
    text, uuid, uuid, text, integer, text, bigint, text, uuid, text, uuid[], text, bytea);
CREATE OR REPLACE FUNCTION act_on_item(
    p_principal text, p_staff uuid, p_item uuid, p_action text, p_version integer, p_reason text, p_amount bigint,
    p_reference text, p_order uuid, p_outcome text, p_seats_to_sale boolean, p_device uuid, p_way text, p_spare uuid[],
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_begun  record;
    v_answer sale_answer;
    v_item   reconciliation_items;
    v_may    record;
    v_wish   item_approvals;  -- what is wanted, in the form in which it waits for a second person
BEGIN
    SELECT * INTO v_begun
      FROM begin_item_act(p_principal, 'item-acts', p_item, p_order, p_version, p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    END IF;
    v_item := v_begun.item;
    SELECT * INTO v_may FROM actions_of_item(v_item) m WHERE m.action = p_action;
    IF NOT FOUND OR v_may.why_not <> '' THEN
        RETURN refused('action-not-allowed', coalesce(v_may.why_not, ''));
    END IF;
    -- Of all that can go back the amount is kept that this is now: another may be free by the time of an approval.
    v_wish := ROW (p_spare[1], p_item, p_action, p_staff, booking_now(), p_reason,
                   CASE WHEN p_action IN ('refund', 'hand-to-till') THEN coalesce(p_amount, v_may.most_minor) END,
                   p_reference, p_order, p_outcome, '', NULL, NULL, p_seats_to_sale, p_device, p_way)::item_approvals;
    v_answer := why_not_as_asked(v_item, v_may.most_minor, v_may.outcome_needed, v_may.ways, v_wish);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    IF v_may.second_person
       AND measured_amount(v_item, p_action, coalesce(p_amount, v_may.most_minor, v_item.amount_minor))
           > second_person_limit(v_item.currency) THEN
        INSERT INTO item_approvals SELECT (v_wish).*;
        UPDATE reconciliation_items i SET detail = i.detail WHERE i.item_id = p_item;
        PERFORM note_item(p_principal, p_staff, 'item-approval-asked', v_item, p_reason,
                          jsonb_build_object('act', p_action) || told_of_wish(v_wish), v_wish.asked_at);
    ELSE
        v_answer := do_item_act(p_principal, p_staff, v_item, v_wish, p_spare, v_wish.asked_at);
        IF v_answer.code <> '' THEN
            RETURN v_answer;
        END IF;
    END IF;
    PERFORM spend_key(p_principal, 'item-acts', p_key, p_digest, p_item, p_item, v_wish.asked_at);
    RETURN done(p_item);
END $$;

-- What the audit log keeps of an act beside who, when and why.
CREATE OR REPLACE FUNCTION told_of_wish(p_wish item_approvals) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'amount_minor', p_wish.amount_minor, 'reference', nullif(p_wish.reference, ''), 'attach_to', p_wish.order_id,
        'outcome', nullif(p_wish.outcome, ''), 'device_id', p_wish.device_id, 'way', nullif(p_wish.way, ''),
        'seats_to_sale', CASE p_wish.action WHEN 'take-back' THEN p_wish.seats_to_sale END))
$$;

-- A second person's word on what was asked; the one who asked may only withdraw it. Approved, the act is done as it was asked,
-- if the item still allows it.
CREATE OR REPLACE FUNCTION decide_item(
    p_principal text, p_staff uuid, p_item uuid, p_approve boolean, p_version integer, p_reason text, p_spare uuid[],
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_order  CONSTANT uuid := (SELECT a.order_id FROM item_approvals a WHERE a.item_id = p_item AND a.decision = '');
    v_begun  record;
    v_answer sale_answer;
    v_asked  item_approvals;
    v_item   reconciliation_items;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_begun
      FROM begin_item_act(p_principal, 'item-approvals', p_item, v_order, p_version, p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    END IF;
    v_item := v_begun.item;
    SELECT * INTO v_asked FROM item_approvals a WHERE a.item_id = p_item AND a.decision = '';
    IF NOT FOUND THEN
        RETURN refused('action-not-allowed', 'nothing-asked');
    ELSIF p_approve AND v_asked.asked_by = p_staff THEN
        RETURN refused('second-person-needed');
    END IF;
    v_now := booking_now();
    UPDATE item_approvals a
       SET decided_by = p_staff, decided_at = v_now,
           decision = CASE WHEN p_approve THEN 'approved' WHEN a.asked_by = p_staff THEN 'withdrawn' ELSE 'refused' END
     WHERE a.approval_id = v_asked.approval_id;
    IF p_approve THEN
        v_answer := do_approved(p_principal, p_staff, v_item, v_asked, p_spare, v_now);
        IF v_answer.code <> '' THEN
            -- Nothing was done, so nothing was decided: it can be refused, or asked again when it has sense.
            UPDATE item_approvals a SET decided_by = NULL, decided_at = NULL, decision = ''
             WHERE a.approval_id = v_asked.approval_id;
            RETURN v_answer;
        END IF;
    ELSE
        UPDATE reconciliation_items i SET detail = i.detail WHERE i.item_id = p_item;
    END IF;
    PERFORM note_item(p_principal, p_staff,
        CASE WHEN p_approve THEN 'item-approval-given' WHEN v_asked.asked_by = p_staff THEN 'item-approval-withdrawn'
             ELSE 'item-approval-refused' END,
        v_item, p_reason, jsonb_build_object('act', v_asked.action, 'asked_by', v_asked.asked_by), v_now);
    PERFORM spend_key(p_principal, 'item-approvals', p_key, p_digest, p_item, p_item, v_now);
    RETURN done(p_item);
END $$;

-- The act that was asked for, by whom it was asked; its limit is what is allowed now.
CREATE OR REPLACE FUNCTION do_approved(
    p_principal text, p_staff uuid, p_item reconciliation_items, p_asked item_approvals, p_spare uuid[], p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer;
    v_may    record;
BEGIN
    SELECT * INTO v_may FROM actions_of_item(p_item) m WHERE m.action = p_asked.action;
    IF NOT FOUND OR v_may.why_not <> '' THEN
        RETURN refused('action-not-allowed', coalesce(v_may.why_not, ''));
    END IF;
    v_answer := why_not_as_asked(p_item, v_may.most_minor, v_may.outcome_needed, v_may.ways, p_asked);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    RETURN do_item_act(p_principal, p_asked.asked_by, p_item, p_asked, p_spare, p_now);
END $$;

-- What is wrong with the members of an act, as the database sees it; code '' when nothing is.
DROP FUNCTION IF EXISTS why_not_as_asked(reconciliation_items, bigint, boolean, text, bigint, uuid, text);
CREATE OR REPLACE FUNCTION why_not_as_asked(
    p_item reconciliation_items, p_most bigint, p_outcome_needed boolean, p_ways text[], p_wish item_approvals
) RETURNS sale_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_currency text;
BEGIN
    IF p_wish.action = 'settled-outside' AND p_outcome_needed <> (p_wish.outcome <> '') THEN
        RETURN refused('invalid-request', '/outcome');
    ELSIF p_wish.action IN ('refund', 'hand-to-till') AND (p_wish.amount_minor > p_most OR p_most = 0) THEN
        RETURN refused('refund-too-much', p_most::text);
    ELSIF p_wish.action = 'hand-to-till' AND NOT p_wish.way = ANY (p_ways) THEN
        RETURN refused('invalid-request', '/way');
    ELSIF p_wish.action = 'hand-to-till' AND NOT is_open_till(p_wish.device_id) THEN
        RETURN refused('invalid-request', '/device_id');
    ELSIF p_wish.action = 'attach' THEN
        SELECT o.currency INTO v_currency FROM orders o WHERE o.order_id = p_wish.order_id;
        IF NOT FOUND THEN
            RETURN refused('order-not-found');
        ELSIF v_currency <> p_item.currency OR p_item.order_id <> p_wish.order_id THEN
            RETURN refused('invalid-request', '/order_id');
        END IF;
    END IF;
    RETURN done(NULL);
END $$;

-- p_staff: who wished it, and p_principal who does it: another person where two were needed.
DROP FUNCTION IF EXISTS do_item_act(
    text, uuid, reconciliation_items, text, text, bigint, text, uuid, text, uuid[], timestamptz);
CREATE OR REPLACE FUNCTION do_item_act(
    p_principal text, p_staff uuid, p_item reconciliation_items, p_wish item_approvals, p_spare uuid[],
    p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_who    CONSTANT text := 'supervisor:' || p_staff;
    v_before CONSTANT text := situation_of_item(p_item);
    v_answer sale_answer := done(p_item.item_id);
BEGIN
    CASE p_wish.action
        WHEN 'ask-again' THEN
            PERFORM ask_again(p_item, p_now);
        WHEN 'capture' THEN
            PERFORM open_again(p_item, 'capture', p_spare[1], p_now);
        WHEN 'take-back' THEN
            v_answer := take_order_back(p_item, v_who, p_principal, p_staff, p_wish, p_spare, p_now);
        WHEN 'void' THEN
            v_answer := let_charge_go(p_item, v_who, p_principal, p_wish.reason, p_spare, p_now);
        WHEN 'refund' THEN
            PERFORM write_late_capture(p_item, v_who, p_wish.reason, p_spare[2], p_now);
            -- What a refund of tickets still owes is opened as a part of it.
            SELECT b.* INTO v_answer
              FROM payment_operations p CROSS JOIN LATERAL open_money_back(
                   coalesce(p.parent_id, p.operation_id), 'refund', p_wish.amount_minor, 'same', p_spare[1], p_principal,
                   NULL, p_wish.reason, p_now, p.money_back_id) b
             WHERE p.operation_id = p_item.operation_id;
        WHEN 'hand-to-till' THEN
            SELECT b.* INTO v_answer
              FROM payment_operations p CROSS JOIN LATERAL owe_at_till(
                   coalesce(p.parent_id, p.operation_id), p_wish.amount_minor, p_wish.way, p_spare[1], p_wish.device_id,
                   p_principal, p_wish.reason, p_now, p.money_back_id) b
             WHERE p.operation_id = p_item.operation_id;
        WHEN 'attach' THEN
            v_answer := attach_to_order(p_item, v_who, p_principal, p_wish.order_id, p_wish.reason, p_spare, p_now);
        WHEN 'settled-outside' THEN
            PERFORM settle_outside(p_item, v_who, p_wish.reason, p_wish.reference, p_wish.outcome, p_spare, p_now);
        WHEN 'note' THEN NULL;
    END CASE;
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    UPDATE reconciliation_items i SET detail = i.detail WHERE i.item_id = p_item.item_id AND i.version = p_item.version;
    PERFORM note_item(p_principal, p_staff, 'item-' || p_wish.action, p_item, p_wish.reason, jsonb_build_object(
        'from', v_before, 'to', situation_of_item((SELECT i FROM reconciliation_items i WHERE i.item_id = p_item.item_id)))
        || told_of_wish(p_wish), p_now);
    RETURN done(p_item.item_id);
END $$;

-- In the audit log: who did what with an item, and the state before and after.
CREATE OR REPLACE FUNCTION note_item(
    p_principal text, p_staff uuid, p_action text, p_item reconciliation_items, p_reason text, p_detail jsonb,
    p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    SELECT note_change(p_principal, p_action, p_item.item_id::text, p_reason, p_detail || jsonb_build_object(
        'staff_id', p_staff, 'kind', p_item.kind, 'order_id', p_item.order_id, 'operation_id', p_item.operation_id,
        'version', p_item.version + 1), p_now)
$$;

-- Whatever of the item can be asked about is due at once; tickets that wait are announced anew.
CREATE OR REPLACE FUNCTION ask_again(p_item reconciliation_items, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_op payment_operations;
BEGIN
    IF p_item.operation_id IS NULL THEN
        INSERT INTO outbox (event_id, type, aggregate_id, created_at)
        VALUES (p_item.event_id, 'order-settled', p_item.order_id, p_now);
        RETURN;
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_item.operation_id;
    UPDATE payment_operations p SET next_attempt_at = p_now
     WHERE p.operation_id = CASE WHEN v_op.status NOT IN ('SUCCEEDED', 'DECLINED') THEN v_op.operation_id
                                 ELSE coalesce(open_follow_up_of((charge_of(v_op)).operation_id), v_op.operation_id) END;
END $$;

-- Another capture or void of the item's charge, after one that was refused.
CREATE OR REPLACE FUNCTION open_again(
    p_item reconciliation_items, p_kind text, p_id uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_charge payment_operations := charge_of((SELECT p FROM payment_operations p
                                               WHERE p.operation_id = p_item.operation_id));
BEGIN
    PERFORM open_follow_ups(ARRAY[v_charge.operation_id], p_kind, ARRAY[most_of_action(p_item, p_kind)], ARRAY[p_id],
                            p_now, true);
END $$;

-- Let an authorization go. One whose answer named another amount ends as declined first: it is never to pay its order.
CREATE OR REPLACE FUNCTION let_charge_go(
    p_item reconciliation_items, p_who text, p_principal text, p_reason text, p_spare uuid[], p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_charge payment_operations := charge_of((SELECT p FROM payment_operations p
                                               WHERE p.operation_id = p_item.operation_id));
BEGIN
    IF v_charge.status = 'SUCCEEDED' AND (SELECT m.standing <> 'lost' FROM money_of_charge(v_charge.operation_id) m) THEN
        RETURN open_money_back(v_charge.operation_id, 'void', v_charge.amount_minor, 'same', p_spare[1], p_principal,
                               NULL, p_reason, p_now);
    ELSIF v_charge.status NOT IN ('SUCCEEDED', 'DECLINED') THEN
        PERFORM record_result(v_charge.operation_id, NULL, 'declined', 0, '', 'amount-differs', '', '',
                              evidence_of_person(p_reason, '', p_now), p_who, p_spare[2:3]);
    END IF;
    PERFORM open_again(p_item, 'void', p_spare[1], p_now);
    RETURN done(p_item.item_id);
END $$;

CREATE OR REPLACE FUNCTION evidence_of_person(p_reason text, p_reference text, p_now timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_array(jsonb_build_object('at', p_now, 'direction', 'note', 'body',
        CASE p_reference WHEN '' THEN p_reason ELSE format('%s (reference %s)', p_reason, p_reference) END))
$$;

-- It was settled elsewhere: where, and who says so. An operation without an answer gets the one that the person vouches for
-- (UNKNOWN → SUCCEEDED | DECLINED, decided by a supervisor), with all that follows from it.
CREATE OR REPLACE FUNCTION settle_outside(
    p_item reconciliation_items, p_who text, p_reason text, p_reference text, p_outcome text, p_spare uuid[],
    p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_outcome <> '' THEN
        PERFORM record_result(p.operation_id, NULL, p_outcome, CASE p_outcome WHEN 'succeeded' THEN p.amount_minor ELSE 0 END,
                              '', CASE p_outcome WHEN 'declined' THEN 'settled-outside' ELSE '' END, '', '',
                              evidence_of_person(p_reason, p_reference, p_now), p_who, p_spare[2:3])
           FROM payment_operations p WHERE p.operation_id = p_item.operation_id;
    END IF;
    PERFORM end_item(p_item.item_id, p_who, format('settled outside: %s', p_reference), p_reference, p_now);
END $$;

-- End an item; nothing happens to one that has ended.
CREATE OR REPLACE FUNCTION end_item(
    p_item uuid, p_by text, p_resolution text, p_reference text, p_now timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reconciliation_items i
       SET resolved_at = p_now, resolved_by = p_by, resolution = p_resolution, reference = p_reference
     WHERE i.item_id = p_item AND i.resolved_at IS NULL;
    RETURN FOUND;
END $$;

-- Say which order a stray movement of the provider belongs to. A refund is recorded, and nothing more; a charge becomes a
-- charge of the order that pays nothing of it: it can be let go or paid back then, and the item waits for that. Only where
-- the order's own charge brought no money does it stand for that, and settles it.
CREATE OR REPLACE FUNCTION attach_to_order(
    p_item reconciliation_items, p_who text, p_principal text, p_order uuid, p_reason text, p_spare uuid[],
    p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_failed payment_operations;
BEGIN
    IF EXISTS (SELECT FROM payment_operations p WHERE p.idempotency_key = attached_key(p_item)) THEN
        RETURN refused('action-not-allowed', 'attached-already');
    ELSIF p_item.kind = 'refund-provider-only' THEN
        RETURN attach_refund(p_item, p_who, p_principal, p_reason, p_spare, p_now);
    END IF;
    PERFORM write_attached_charge(p_item, p_who, p_principal, p_order, p_spare, p_now);
    UPDATE reconciliation_items i
       SET operation_id = p_spare[1], order_id = p_order,
           event_id = (SELECT o.event_id FROM orders o WHERE o.order_id = p_order)
     WHERE i.item_id = p_item.item_id;
    PERFORM note_evidence(p_spare[1], evidence_of_person(p_reason, p_item.detail ->> 'provider_ref', p_now), p_who);
    SELECT c.* INTO v_failed
      FROM reconciliation_items i JOIN payment_operations c USING (operation_id)
     WHERE i.order_id = p_order AND i.kind = 'capture-failed' AND i.resolved_at IS NULL
       AND c.amount_minor = (p_item.detail ->> 'captured_minor')::bigint
       AND coalesce((p_item.detail ->> 'refunded_minor')::bigint, 0) = 0 LIMIT 1;
    IF FOUND THEN
        PERFORM resolve_items(v_failed.operation_id, 'capture-failed', p_who,
                              format('paid by %s at %s', p_item.detail ->> 'provider_ref', p_item.provider), p_now);
        PERFORM end_item(p_item.item_id, p_who, 'pays the order that it was attached to',  -- stands_for_its_order reads it
                         coalesce(p_item.detail ->> 'provider_ref', ''), p_now);
    END IF;
    RETURN done(p_item.item_id);
END $$;

-- The key of an operation that stands for a stray movement: the same movement is never attached twice.
CREATE OR REPLACE FUNCTION attached_key(p_item reconciliation_items) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_item.kind WHEN 'refund-provider-only' THEN 'attached:' || p_item.subject
                ELSE format('attached:%s:%s', p_item.provider, p_item.detail ->> 'provider_ref') END
$$;

-- A stray charge as an operation of an order, with its capture if there was one, and what of that had gone back before.
CREATE OR REPLACE FUNCTION write_attached_charge(
    p_item reconciliation_items, p_who text, p_principal text, p_order uuid, p_spare uuid[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ref      CONSTANT text := p_item.detail ->> 'provider_ref';
    v_captured CONSTANT bigint := coalesce((p_item.detail ->> 'captured_minor')::bigint, 0);
    v_refunded CONSTANT bigint := coalesce((p_item.detail ->> 'refunded_minor')::bigint, 0);
BEGIN
    INSERT INTO payment_operations (operation_id, order_id, event_id, part, kind, status, provider, principal,
                                    idempotency_key, provider_ref, amount_minor, currency, advice, decided_by,
                                    void_requested, created_at, updated_at)
    SELECT p_spare[1], o.order_id, o.event_id,
           1 + coalesce((SELECT max(p.part) FROM payment_operations p WHERE p.order_id = o.order_id), 0),
           'authorize', 'SUCCEEDED', p_item.provider, p_principal, attached_key(p_item),
           v_ref, coalesce((p_item.detail ->> 'authorized_minor')::bigint, p_item.amount_minor), p_item.currency,
           'reverse', p_who, true, p_now, p_now
      FROM orders o WHERE o.order_id = p_order;
    IF v_captured > 0 THEN
        INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider,
                                        principal, idempotency_key, provider_ref, amount_minor, currency, decided_by,
                                        created_at, updated_at)
        SELECT p_spare[2], p.order_id, p.event_id, p.operation_id, p.part, 'capture', 'SUCCEEDED', p.provider,
               p.principal, p.idempotency_key || ':capture', p.provider_ref, v_captured, p.currency, p_who, p_now, p_now
          FROM payment_operations p WHERE p.operation_id = p_spare[1];
    END IF;
    IF v_captured > 0 AND v_refunded > 0 THEN
        INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider,
                                        principal, idempotency_key, provider_ref, amount_minor, currency, decided_by,
                                        created_at, updated_at)
        SELECT p_spare[3], p.order_id, p.event_id, p.operation_id, p.part, 'refund', 'SUCCEEDED', p.provider,
               p.principal, p.idempotency_key || ':refund', p.provider_ref, v_refunded, p.currency, p_who, p_now, p_now
          FROM payment_operations p WHERE p.operation_id = p_spare[1];
    END IF;
END $$;

-- A refund that somebody made at the provider, as an operation of the charge that it belongs to. Its tickets are decided by
-- people: nobody knows which of them it was for (P17).
CREATE OR REPLACE FUNCTION attach_refund(
    p_item reconciliation_items, p_who text, p_principal text, p_reason text, p_spare uuid[], p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_charge payment_operations := charge_of((SELECT p FROM payment_operations p
                                               WHERE p.operation_id = p_item.operation_id));
    v_most   CONSTANT bigint := (SELECT m.refundable FROM money_of_charge(v_charge.operation_id) m);
BEGIN
    IF p_item.amount_minor > v_most THEN
        RETURN refused('refund-too-much', v_most::text);
    END IF;
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    idempotency_key, provider_ref, amount_minor, currency, created_at, updated_at)
    VALUES (p_spare[1], v_charge.order_id, v_charge.event_id, v_charge.operation_id, v_charge.part, 'refund', 'SENT',
            v_charge.provider, p_principal, attached_key(p_item), v_charge.provider_ref, p_item.amount_minor,
            v_charge.currency, p_now, p_now);
    PERFORM record_result(p_spare[1], NULL, 'succeeded', p_item.amount_minor, '', '', '', '',
                          evidence_of_person(p_reason, p_item.detail ->> 'movement_ref', p_now), p_who, p_spare[2:3]);
    PERFORM end_item(p_item.item_id, p_who, 'recorded as a refund of its charge',
                     coalesce(p_item.detail ->> 'movement_ref', ''), p_now);
    RETURN done(p_item.item_id);
END $$;
