-- Items that only a person can settle (R27, R33): how they are opened, in what situation each is, and what may be done then.
--
-- Locks: an item comes after everything that it is about (account → order → … → operations → item). Whoever acts on one takes
-- the order's locks first (`lock_item`), so that a result that comes just then finds it settled or unsettled, never between.

-- The money of an item is that of its operation unless its detail says another; its event that of its order.
CREATE OR REPLACE FUNCTION fill_item() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_op payment_operations;
BEGIN
    IF NEW.operation_id IS NOT NULL THEN
        SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = NEW.operation_id;
        NEW.order_id := coalesce(NEW.order_id, v_op.order_id);
        NEW.provider := coalesce(nullif(NEW.provider, ''), v_op.provider);
        NEW.currency := coalesce(nullif(NEW.currency, ''), v_op.currency);
        IF NEW.amount_minor = 0 THEN
            NEW.amount_minor := coalesce((NEW.detail ->> 'amount_minor')::bigint, v_op.amount_minor);
        END IF;
    END IF;
    IF NEW.subject = '' AND NEW.detail ? 'movement_ref' THEN
        NEW.subject := NEW.provider || ':' || (NEW.detail ->> 'movement_ref');
    END IF;
    IF NEW.event_id IS NULL AND NEW.order_id IS NOT NULL THEN
        NEW.event_id := (SELECT o.event_id FROM orders o WHERE o.order_id = NEW.order_id);
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER fill_item BEFORE INSERT ON reconciliation_items FOR EACH ROW EXECUTE FUNCTION fill_item();

-- Every change is a new version: two people never overwrite each other unseen.
CREATE OR REPLACE FUNCTION raise_item_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.version := OLD.version + 1;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER raise_item_version BEFORE UPDATE ON reconciliation_items
    FOR EACH ROW EXECUTE FUNCTION raise_item_version();

-- What was asked of a second person has no sense any more once the item has ended.
CREATE OR REPLACE FUNCTION overtake_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item_approvals a SET decision = 'overtaken', decided_at = NEW.resolved_at
     WHERE a.item_id = NEW.item_id AND a.decision = '';
    IF FOUND THEN
        PERFORM note_change('authority', 'item-approval-overtaken', NEW.item_id::text, NEW.resolution, '{}', NEW.resolved_at);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER overtake_approval AFTER UPDATE OF resolved_at ON reconciliation_items
    FOR EACH ROW WHEN (OLD.resolved_at IS NULL AND NEW.resolved_at IS NOT NULL) EXECUTE FUNCTION overtake_approval();

-- Open an item that may be about no operation of ours. `p_subject` names what it is about: once open it is not opened again,
-- nor after a person has settled that very thing. True when it is new.
CREATE OR REPLACE FUNCTION open_item_about(
    p_item uuid, p_kind text, p_subject text, p_event integer, p_order uuid, p_operation uuid, p_provider text,
    p_amount bigint, p_currency text, p_detail jsonb, p_now timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM reconciliation_items i
                WHERE i.subject = p_subject AND i.kind = p_kind
                  AND (i.resolved_at IS NULL OR i.resolved_by LIKE 'supervisor:%')) THEN
        RETURN false;
    END IF;
    INSERT INTO reconciliation_items (item_id, kind, subject, event_id, order_id, operation_id, provider, amount_minor,
                                      currency, detail, opened_at)
    VALUES (p_item, p_kind, p_subject, p_event, p_order, p_operation, p_provider, p_amount, p_currency, p_detail, p_now)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- The charge that an operation belongs to, itself when it is one.
CREATE OR REPLACE FUNCTION charge_of(p_op payment_operations) RETURNS payment_operations LANGUAGE sql STABLE AS $$
    SELECT p FROM payment_operations p WHERE p.operation_id = coalesce((p_op).parent_id, (p_op).operation_id)
$$;

-- The newest capture, void or refund of a charge that still has no answer; a capture that is parked waits for nobody.
CREATE OR REPLACE FUNCTION open_follow_up_of(p_charge uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT c.operation_id FROM payment_operations c
     WHERE c.order_id = (SELECT p.order_id FROM payment_operations p WHERE p.operation_id = p_charge)
       AND c.parent_id = p_charge AND c.status NOT IN ('SUCCEEDED', 'DECLINED')
       AND NOT (c.kind = 'capture' AND c.void_requested)
     ORDER BY c.created_at DESC, c.operation_id DESC LIMIT 1
$$;

CREATE OR REPLACE FUNCTION has_follow_up(p_charge uuid, p_kind text, p_status text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations c
                    WHERE c.order_id = (SELECT p.order_id FROM payment_operations p WHERE p.operation_id = p_charge)
                      AND c.parent_id = p_charge AND c.kind = p_kind AND c.status = p_status)
$$;

-- The key of a capture that stands for one that was refused, and done after all: a comparison finds it by the provider's word.
CREATE OR REPLACE FUNCTION late_key(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'late:' || p_key $$;

-- In what situation an item is: booking/domain/item_actions.py names them and says what each allows.
CREATE OR REPLACE FUNCTION situation_of_item(p_item reconciliation_items) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_op     payment_operations;
    v_charge payment_operations;
BEGIN
    IF p_item.resolved_at IS NOT NULL THEN
        RETURN 'resolved';
    ELSIF p_item.kind = 'refund-provider-only' THEN
        RETURN CASE WHEN p_item.operation_id IS NULL THEN 'to-be-told' ELSE 'stray-refund' END;
    ELSIF p_item.kind = 'tickets-missing' THEN
        RETURN 'tickets-waiting';
    ELSIF p_item.operation_id IS NULL THEN
        RETURN CASE WHEN p_item.kind IN ('provider-only', 'duplicate-charge') THEN 'stray-charge' ELSE 'to-be-told' END;
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_item.operation_id;
    IF v_op.status NOT IN ('SUCCEEDED', 'DECLINED') THEN
        RETURN CASE WHEN v_op.kind = 'sale' OR v_op.at_till THEN 'at-a-till'
                    WHEN p_item.kind = 'amount-mismatch' AND v_op.kind = 'authorize' AND v_op.provider_ref <> ''
                        THEN 'amount-unclear'
                    ELSE 'asked-of-provider' END;
    END IF;
    v_charge := charge_of(v_op);
    IF open_follow_up_of(v_charge.operation_id) IS NOT NULL THEN
        RETURN 'under-way';
    ELSIF p_item.kind IN ('ours-only', 'amount-differs', 'currency-differs', 'state-differs')
       OR p_item.kind = 'result-conflict' AND v_op.kind <> 'sale' AND v_op.status = 'SUCCEEDED' THEN
        RETURN 'compared';
    ELSIF is_late_capture(p_item, v_op) THEN
        RETURN 'late-capture';
    END IF;
    RETURN situation_of_charge(v_op, v_charge);
END $$;

-- As situation_of_item, of an operation that has its answer and a charge nothing of which is under way.
CREATE OR REPLACE FUNCTION situation_of_charge(p_op payment_operations, p_charge payment_operations)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_captured CONSTANT boolean := has_follow_up(p_charge.operation_id, 'capture', 'SUCCEEDED');
BEGIN
    IF is_owed_at_a_till(p_op, p_charge) THEN
        RETURN 'owed-at-a-till';
    ELSIF p_charge.kind = 'cash' OR p_charge.kind = 'sale' AND p_charge.status <> 'SUCCEEDED' THEN
        RETURN 'to-be-told';
    ELSIF p_charge.kind = 'authorize' AND has_follow_up(p_charge.operation_id, 'void', 'SUCCEEDED') THEN
        RETURN 'to-be-told';
    ELSIF p_op.kind = 'capture' AND p_op.status = 'DECLINED' THEN
        RETURN CASE WHEN v_captured THEN 'to-be-told' WHEN is_taken_back(p_op.order_id) THEN 'to-be-let-go'
                    ELSE 'capture-missing' END;
    ELSIF p_charge.kind = 'authorize' AND NOT v_captured THEN
        RETURN CASE WHEN p_charge.advice = 'goods-issued' AND NOT is_taken_back(p_op.order_id) THEN 'to-be-told'
                    ELSE 'to-be-let-go' END;
    ELSIF p_charge.kind = 'sale' THEN
        RETURN 'to-be-told';  -- a terminal takes its own sale back, or a till pays it out
    ELSIF p_op.money_back_id IS NULL AND p_charge.advice = 'goods-issued' AND p_op.kind <> 'refund' THEN
        RETURN 'to-be-told';
    END IF;
    RETURN CASE WHEN most_to_pay_back(p_op, p_charge) > 0 THEN 'to-be-paid-back' ELSE 'to-be-told' END;
END $$;

-- What an act owes of a part that was refused: nothing once all of it was refused, because its tickets are valid again and go back
-- by another act. Its tickets are void when other money of it went back: then the rest is owed, less what was opened for it since.
-- What the provider says went back after all is not owed: that is another item.
CREATE OR REPLACE FUNCTION owed_by_act(p_op payment_operations) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_op.status = 'DECLINED' AND EXISTS (
                     SELECT FROM money_backs a WHERE a.money_back_id = p_op.money_back_id AND a.status = 'ACCEPTED')
                 AND NOT EXISTS (SELECT FROM reconciliation_items i
                                  WHERE i.operation_id = p_op.operation_id AND i.kind = 'result-conflict')
                THEN greatest(0, p_op.amount_minor - coalesce(sum(b.amount_minor), 0)::bigint) ELSE 0 END
      FROM payment_operations b
     WHERE b.order_id = p_op.order_id AND b.parent_id = p_op.parent_id AND b.money_back_id = p_op.money_back_id
       AND b.status <> 'DECLINED' AND b.created_at > p_op.created_at
$$;

-- What a person may pay back of a charge because of an operation of it: of a refund of tickets what it still owes, else all that
-- can go back.
CREATE OR REPLACE FUNCTION most_to_pay_back(p_op payment_operations, p_charge payment_operations)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_op.money_back_id IS NULL THEN m.refundable ELSE least(m.refundable, owed_by_act(p_op)) END
      FROM money_of_charge((p_charge).operation_id) m
$$;

-- What people have paid back of a charge by acts on items, and not by a refund of tickets: a limit for one person counts it all, so
-- that it is not given in slices.
CREATE OR REPLACE FUNCTION paid_back_by_items(p_charge uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(b.amount_minor), 0)::bigint
      FROM payment_operations b LEFT JOIN money_backs a USING (money_back_id)
     WHERE b.order_id = (SELECT p.order_id FROM payment_operations p WHERE p.operation_id = p_charge)
       AND b.parent_id = p_charge AND b.kind = 'refund' AND b.status <> 'DECLINED'
       AND (a.money_back_id IS NULL OR b.created_at > a.created_at) AND b.idempotency_key NOT LIKE 'attached:%'
$$;

-- The amount by which a limit of one person is measured: that of the act, for money that goes back also what went back so before,
-- and for an order that is taken back all of it.
CREATE OR REPLACE FUNCTION measured_amount(p_item reconciliation_items, p_action text, p_amount bigint)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN p_action = 'take-back'
            THEN (SELECT o.amount_minor FROM orders o WHERE o.order_id = p_item.order_id)
        WHEN p_action NOT IN ('refund', 'hand-to-till') THEN p_amount
        ELSE p_amount + coalesce((
            SELECT paid_back_by_items(coalesce(p.parent_id, p.operation_id)) FROM payment_operations p
             WHERE p.operation_id = p_item.operation_id), 0) END
$$;

-- What a situation allows, in the order in which people are shown it. The same table as in booking/domain/item_actions.py.
CREATE OR REPLACE FUNCTION actions_of_situation(p_situation text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_situation
        WHEN 'resolved'          THEN '{}'
        WHEN 'asked-of-provider' THEN '{ask-again,settled-outside,note}'
        WHEN 'at-a-till'         THEN '{settled-outside,note}'
        WHEN 'amount-unclear'    THEN '{ask-again,void,settled-outside,note}'
        WHEN 'under-way'         THEN '{ask-again,note}'
        WHEN 'capture-missing'   THEN '{capture,take-back,settled-outside,note}'
        WHEN 'late-capture'      THEN '{refund,settled-outside,note}'
        WHEN 'to-be-let-go'      THEN '{void,settled-outside,note}'
        WHEN 'to-be-paid-back'   THEN '{refund,hand-to-till,settled-outside,note}'
        WHEN 'owed-at-a-till'    THEN '{hand-to-till,settled-outside,note}'
        WHEN 'stray-charge'      THEN '{attach,settled-outside,note}'
        WHEN 'stray-refund'      THEN '{attach,settled-outside,note}'
        WHEN 'tickets-waiting'   THEN '{ask-again,settled-outside,note}'
        WHEN 'compared'          THEN '{ask-again,settled-outside,note}'
        WHEN 'to-be-told'        THEN '{settled-outside,note}'
    END::text[]
$$;

-- Whether somebody has to say what became of the operation when it is settled outside: it has no answer yet.
CREATE OR REPLACE FUNCTION needs_outcome(p_situation text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_situation IN ('asked-of-provider', 'at-a-till', 'amount-unclear')
$$;

-- Acts that need a second person above the limit: MOVES_MONEY in booking/domain/item_actions.py.
CREATE OR REPLACE FUNCTION moves_money(p_action text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_action IN ('capture', 'take-back', 'void', 'refund', 'hand-to-till', 'attach', 'settled-outside')
$$;

-- The settings, as somebody has changed them or as they are from the beginning.
CREATE OR REPLACE FUNCTION reconciliation_terms() RETURNS reconciliation_settings LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT s FROM reconciliation_settings s), ROW (true, 50000, '{}', 5, 'UTC', 900, 1)::reconciliation_settings)
$$;

-- The amount above which an act needs a second person; NULL: none does.
CREATE OR REPLACE FUNCTION second_person_limit(p_currency text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.limits_by_currency ? p_currency THEN (s.limits_by_currency ->> p_currency)::bigint
                ELSE s.second_person_above_minor END
      FROM reconciliation_terms() s
$$;

-- The greatest amount of an act of an item, NULL for an act that moves none.
CREATE OR REPLACE FUNCTION most_of_action(p_item reconciliation_items, p_action text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_op     payment_operations;
    v_charge payment_operations;
BEGIN
    IF p_action NOT IN ('capture', 'void', 'refund', 'hand-to-till') THEN
        RETURN NULL;
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_item.operation_id;
    v_charge := charge_of(v_op);
    IF p_action IN ('refund', 'hand-to-till') THEN
        RETURN CASE WHEN is_late_capture(p_item, v_op) THEN (p_item.detail ->> 'reported_minor')::bigint
                    ELSE most_to_pay_back(v_op, v_charge) END;
    END IF;
    RETURN coalesce((p_item.detail ->> 'reported_minor')::bigint, v_charge.amount_minor);
END $$;

-- What may be done with an item now. `why_not`: shown, and refused for now. Order as people are shown it.
-- `ways`: by which money can be given back at a till.
DROP FUNCTION IF EXISTS actions_of_item(reconciliation_items);
CREATE OR REPLACE FUNCTION actions_of_item(p_item reconciliation_items)
RETURNS TABLE (action text, most_minor bigint, second_person boolean, outcome_needed boolean, why_not text, ways text[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_situation CONSTANT text := situation_of_item(p_item);
    v_limit     CONSTANT bigint := second_person_limit(p_item.currency);
    v_waits     CONSTANT boolean := EXISTS (
        SELECT FROM item_approvals a WHERE a.item_id = p_item.item_id AND a.decision = '');
BEGIN
    IF v_situation = 'at-a-till' THEN
        RETURN QUERY SELECT 'ask-again', NULL::bigint, false, false, 'terminal-tells-itself', '{}'::text[];
    END IF;
    RETURN QUERY
    SELECT w.a, m.most, moves_money(w.a)
                        AND coalesce(measured_amount(p_item, w.a, coalesce(m.most, p_item.amount_minor)) > v_limit, false),
           w.a = 'settled-outside' AND needs_outcome(v_situation),
           CASE WHEN v_waits AND w.a <> 'note' THEN 'awaiting-approval'
                WHEN w.a = 'take-back' THEN why_not_take_back(p_item.order_id)
                WHEN w.a = 'ask-again' AND is_under_way_at_a_till(p_item) THEN 'terminal-tells-itself'
                ELSE '' END,
           CASE WHEN w.a = 'hand-to-till' THEN ways_at_a_till(p_item) ELSE '{}' END
      FROM unnest(actions_of_situation(v_situation)) WITH ORDINALITY AS w (a, n)
     CROSS JOIN LATERAL (SELECT most_of_action(p_item, w.a) AS most) m
     ORDER BY w.n;
END $$;
