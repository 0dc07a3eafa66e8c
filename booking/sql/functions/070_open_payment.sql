-- Open the payment operation of an order: the record exists before anybody is asked for money (R22, R23). Cash is taken
-- and confirmed in this same transaction. A sale is SENT at once: the caller's device drives the terminal. An
-- authorization is CREATED; whoever drives it marks it SENT first. After a decline the seats are HELD: they go to PAYING
-- again, never with more time.
-- p_wait: whether it may wait for a part of the cap of seats being paid; otherwise code 'slow', nothing done.
-- p_in_parts: the amount is a part of what is left to pay; the last part confirms the order. p_instead: a charge of this order
-- that is not decided and not wanted any more: from here on its success can only be given back (design §3). p_spare: of a part,
-- the ids of its capture and of what gives it back. p_countable: what the provider can count, see why_not_countable.
DROP FUNCTION IF EXISTS open_payment(
    text, boolean, uuid, uuid, text, text, uuid, bigint, bigint, text, text, bytea);
DROP FUNCTION IF EXISTS open_payment(
    text, boolean, uuid, uuid, text, text, uuid, bigint, bigint, text, text, bytea, boolean);
CREATE OR REPLACE FUNCTION open_payment(
    p_principal text, p_all boolean, p_order uuid, p_operation uuid, p_kind text, p_provider text, p_device uuid,
    p_amount bigint, p_tendered bigint, p_payment_method text, p_key text, p_digest bytea,
    p_wait boolean DEFAULT true, p_in_parts boolean DEFAULT false, p_instead uuid DEFAULT NULL,
    p_spare uuid[] DEFAULT NULL, p_countable text DEFAULT NULL
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'payments', p_key, p_digest, p_order);
    v_order  orders;
    v_opened record;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_order FROM orders o WHERE o.order_id = p_order;
    IF NOT FOUND OR NOT (p_all OR v_order.principal = p_principal) THEN
        RETURN refused('order-not-found');
    END IF;
    PERFORM lock_account(v_order.event_id, v_order.principal);
    PERFORM lock_sale(p_order);
    SELECT * INTO v_opened FROM decide_payment(
        p_principal, p_all, p_order, p_operation, p_kind, p_provider, p_device, p_amount, p_tendered, p_payment_method,
        p_key, p_digest, p_wait, p_in_parts, p_instead, p_spare, p_countable);
    IF (v_opened.operation).operation_id IS NOT NULL THEN
        PERFORM write_payments(ARRAY[v_opened.operation]);
    END IF;
    RETURN v_opened.answer;
END $$;

-- Whether an order may be paid so, and the operation that is to be written of it; the caller writes it with write_payments,
-- alone or with others. Until then no other payment of that order or account may be decided. The order's seats are PAYING
-- when this ends. Caller: the account, lock_sale.
DROP FUNCTION IF EXISTS decide_payment(
    text, boolean, uuid, uuid, text, text, uuid, bigint, bigint, text, text, bytea, boolean);
CREATE OR REPLACE FUNCTION decide_payment(
    p_principal text, p_all boolean, p_order uuid, p_operation uuid, p_kind text, p_provider text, p_device uuid,
    p_amount bigint, p_tendered bigint, p_payment_method text, p_key text, p_digest bytea, p_wait boolean,
    p_in_parts boolean, p_instead uuid, p_spare uuid[], p_countable text,
    OUT answer sale_answer, OUT operation payment_operations
) LANGUAGE plpgsql AS $$
DECLARE
    v_cash  CONSTANT boolean := p_kind = 'cash';
    v_order orders;
    v_now   timestamptz;
    v_why   text;
    v_taken record;
    v_whole boolean;  -- it pays all that is left
BEGIN
    answer := seen_key(p_principal, 'payments', p_key, p_digest, p_order);
    IF answer.code IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT * INTO v_order FROM orders o WHERE o.order_id = p_order;
    IF NOT FOUND OR NOT (p_all OR v_order.principal = p_principal) THEN
        answer := refused('order-not-found');
        RETURN;
    END IF;
    v_now := booking_now();
    SELECT * INTO v_taken FROM taken_by_parts(p_order);
    v_whole := v_taken.minor + p_amount = v_order.amount_minor;
    answer := why_not_pay(v_order, p_kind, p_amount, p_tendered, v_now, coalesce(p_in_parts, false), p_instead, v_taken.minor);
    IF answer.code = '' THEN
        answer.code := why_not_countable(p_countable, v_order.currency, p_amount);
    END IF;
    IF answer.code <> '' THEN
        RETURN;
    ELSIF v_taken.next_part > 8 THEN
        answer := refused('order-not-payable', 'too-many-parts');
        RETURN;
    ELSIF v_cash AND v_whole AND v_taken.next_part > 1 AND NOT may_cards_of_parts_take(p_order) THEN
        answer := refused('card-limit');
        RETURN;
    END IF;
    answer := take_up_payment(v_order, NOT (v_cash AND v_whole), v_now, p_wait);
    IF answer.code <> '' THEN
        RETURN;
    END IF;
    IF p_instead IS NOT NULL THEN
        PERFORM give_up_charge(p_instead, v_now);
        v_order.status := 'PENDING';
    END IF;
    IF v_cash AND v_whole THEN
        v_why := why_not_confirm(v_order, v_order.amount_minor);
        IF v_why <> '' THEN
            RAISE EXCEPTION 'cash for an order that cannot be confirmed: %', v_why;
        END IF;
    END IF;
    operation.operation_id := p_operation;
    operation.order_id := p_order;
    operation.event_id := v_order.event_id;
    operation.part := v_taken.next_part;
    operation.kind := p_kind;
    operation.status := CASE p_kind WHEN 'cash' THEN 'SUCCEEDED' WHEN 'sale' THEN 'SENT' ELSE 'CREATED' END;
    operation.provider := p_provider;
    operation.principal := p_principal;
    operation.device_id := p_device;
    operation.idempotency_key := p_operation::text;
    operation.payment_method := p_payment_method;
    operation.amount_minor := p_amount;
    operation.currency := v_order.currency;
    operation.tendered_minor := CASE WHEN v_cash THEN p_tendered END;
    operation.change_minor := CASE WHEN v_cash THEN p_tendered - p_amount END;
    operation.advice := CASE WHEN NOT v_cash THEN '' WHEN v_whole THEN 'goods-issued' ELSE 'part' END;
    operation.spare_ids := CASE WHEN NOT v_whole THEN p_spare END;
    operation.decided_by := CASE WHEN v_cash THEN 'drawer:' || p_principal ELSE '' END;
    -- Who opened it drives it; the worker takes over when an API died, a supervisor hears when a till is silent.
    operation.next_attempt_at := CASE p_kind WHEN 'authorize' THEN v_now + interval '5 s'
                                             WHEN 'sale' THEN v_now + interval '5 min' END;
    operation.created_at := v_now;
    PERFORM spend_key(p_principal, 'payments', p_key, p_digest, p_order, p_operation, v_now);
    answer := done(p_operation);
END $$;

-- Write the payments that decide_payment allowed, and confirm what is paid in cash: one statement for each table.
CREATE OR REPLACE FUNCTION write_payments(p_operations payment_operations[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_in_cash uuid[] := ARRAY(SELECT n.order_id FROM unnest(p_operations) AS n WHERE n.advice = 'goods-issued');
BEGIN
    INSERT INTO payment_operations (operation_id, order_id, event_id, part, kind, status, provider, principal, device_id,
                                    idempotency_key, payment_method, amount_minor, currency, tendered_minor,
                                    change_minor, advice, decided_by, spare_ids, next_attempt_at, created_at, updated_at)
    SELECT n.operation_id, n.order_id, n.event_id, n.part, n.kind, n.status, n.provider, n.principal, n.device_id,
           n.idempotency_key, n.payment_method, n.amount_minor, n.currency, n.tendered_minor,
           n.change_minor, n.advice, n.decided_by, n.spare_ids, n.next_attempt_at, n.created_at, n.created_at
      FROM unnest(p_operations) AS n;
    IF v_in_cash <> '{}' THEN
        PERFORM confirm_sales(v_in_cash, booking_now());
        PERFORM settle_parts(array_agg(n.order_id), booking_now())
           FROM unnest(p_operations) AS n WHERE n.advice = 'goods-issued' AND n.part > 1 HAVING count(*) > 0;
    END IF;
END $$;

-- What earlier parts of an order have taken, and the number of the next: numbers of parts are the database's, and with them
-- one_charge_at_a_time. A part that was declined, or is not wanted any more, leaves its number to the next attempt.
CREATE OR REPLACE FUNCTION taken_by_parts(p_order uuid, OUT minor bigint, OUT next_part integer) LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(p.amount_minor) FILTER (WHERE p.advice = 'part'), 0)::bigint, coalesce(max(p.part), 0) + 1
      FROM (SELECT * FROM payment_operations p WHERE p.order_id = p_order OFFSET 0) p
     WHERE p.kind IN ('authorize', 'sale', 'cash') AND p.status = 'SUCCEEDED' AND NOT p.void_requested
$$;

-- Whether the provider can count the amount (P21, P22): '' or an error code. p_countable: for each currency that it takes three
-- letters and, in four digits, of how many minor units an amount has to be a multiple; NULL: nobody counts but us.
CREATE OR REPLACE FUNCTION why_not_countable(p_countable text, p_currency text, p_amount bigint)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_countable IS NULL THEN ''
                WHEN position(p_currency in p_countable) = 0 THEN 'unknown-exponent'
                WHEN p_amount % substr(p_countable, position(p_currency in p_countable) + 3, 4)::integer <> 0
                THEN 'inexact-amount' ELSE '' END
$$;

-- A charge is not wanted any more: never sent, it ends; else its success will be given back, whenever it comes. The order does
-- not wait for it. Caller: lock_sale.
CREATE OR REPLACE FUNCTION give_up_charge(p_charge uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_operations p
       SET status = 'DECLINED', decline_code = 'cancelled', decided_by = 'authority', next_attempt_at = NULL,
           updated_at = p_now
     WHERE p.operation_id = p_charge AND p.status = 'CREATED';
    UPDATE payment_operations p SET void_requested = true, updated_at = p_now
     WHERE p.operation_id = p_charge AND p.status IN ('SENT', 'ACTION_REQUIRED', 'UNKNOWN');
    UPDATE orders o SET status = 'PENDING'
      FROM payment_operations p
     WHERE p.operation_id = p_charge AND o.order_id = p.order_id AND o.status = 'RECONCILING';
END $$;

-- Why a payment cannot begin; code '' when it can. p_taken: by parts before. With p_instead the order is seen as if that charge were
-- given up; cash for all that is left is then taken whatever the time, because the seats are the order's while that charge is
-- not decided. Caller: lock_sale.
DROP FUNCTION IF EXISTS why_not_pay(orders, text, bigint, bigint, timestamptz);
CREATE OR REPLACE FUNCTION why_not_pay(
    p_order orders, p_kind text, p_amount bigint, p_tendered bigint, p_now timestamptz, p_in_parts boolean, p_instead uuid,
    p_taken bigint
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_left       CONSTANT bigint := p_order.amount_minor - p_taken;
    v_least_time CONSTANT interval := (SELECT make_interval(secs => e.min_time_to_pay_s)
                                         FROM events e WHERE e.event_id = p_order.event_id);
    v_deadline   timestamptz := deadline_of_order(p_order.order_id);
    v_lost       integer[];
    v_late       boolean := false;
BEGIN
    IF p_instead IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM payment_operations p
                        WHERE p.operation_id = p_instead AND p.order_id = p_order.order_id
                          AND p.kind IN ('authorize', 'sale')) THEN
            RETURN refused('operation-not-found');
        END IF;
        IF EXISTS (SELECT FROM payment_operations p
                    WHERE p.order_id = p_order.order_id AND p.operation_id <> p_instead
                      AND p.kind IN ('authorize', 'sale', 'cash') AND NOT p.void_requested
                      AND p.status IN ('CREATED', 'SENT', 'ACTION_REQUIRED', 'UNKNOWN')) THEN
            RETURN refused('payment-running');
        END IF;
        v_late := p_kind = 'cash' AND p_amount = v_left AND EXISTS (
            SELECT FROM payment_operations p WHERE p.operation_id = p_instead AND NOT p.void_requested
               AND p.status IN ('SENT', 'ACTION_REQUIRED', 'UNKNOWN'));
        p_order.status := CASE p_order.status WHEN 'RECONCILING' THEN 'PENDING' ELSE p_order.status END;
    ELSIF has_live_charge(p_order.order_id) OR p_order.status = 'RECONCILING' THEN
        RETURN refused('payment-running');
    END IF;
    IF p_order.status <> 'PENDING' THEN
        RETURN refused(CASE p_order.status WHEN 'EXPIRED' THEN 'hold-expired' ELSE 'order-not-payable' END,
                       p_order.status);
    ELSIF p_amount <> v_left AND NOT (p_in_parts AND p_amount BETWEEN 1 AND v_left) THEN
        RETURN refused('amount-mismatch', v_left::text);
    ELSIF p_kind = 'cash' AND p_tendered < p_amount THEN
        RETURN refused('tendered-too-little');
    ELSIF v_deadline IS NULL OR p_now >= v_deadline AND NOT v_late THEN
        RETURN refused('hold-expired');
    ELSIF p_kind <> 'cash' AND v_deadline - p_now < v_least_time THEN
        RETURN refused('too-little-time');
    END IF;
    SELECT array_agg(l.seat_no ORDER BY l.seat_no) INTO v_lost
      FROM order_seats l
      LEFT JOIN seats s ON s.event_id = l.event_id AND s.seat_no = l.seat_no AND s.status IN (1, 2)
           AND s.hold_id IN (SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = l.order_id AND oh.live)
     WHERE l.order_id = p_order.order_id AND s.seat_no IS NULL;
    IF v_lost IS NOT NULL THEN
        RETURN refused('seats-taken', '', v_lost);
    ELSIF places_held_for(p_order.order_id) <> (
            SELECT count(*) FROM order_places l WHERE l.order_id = p_order.order_id) THEN
        RETURN refused('hold-expired');
    END IF;
    RETURN why_not_confirm_after_hold(p_order);
END $$;

-- As why_not_confirm, for an order whose hold may be HELD again after a decline; as an answer to the caller. Whatever
-- the payment is: nobody is asked for money that is known to have to go back.
CREATE OR REPLACE FUNCTION why_not_confirm_after_hold(p_order orders)
RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_event events;
    v_sold  integer;
    v_lines integer;
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_order.event_id;
    SELECT (SELECT count(*) FROM order_seats l WHERE l.order_id = p_order.order_id)
           + (SELECT count(*) FROM order_places l WHERE l.order_id = p_order.order_id) INTO v_lines;
    SELECT coalesce(max(a.sold), 0) INTO v_sold FROM account_limits a
     WHERE a.event_id = p_order.event_id AND a.principal = p_order.principal;
    IF v_event.status = 'CANCELLED' THEN
        RETURN refused('event-not-on-sale');
    ELSIF p_order.channel = 'online' AND v_sold + v_lines > limit_of_account(v_event, p_order.principal) THEN
        RETURN refused('account-limit');
    END IF;
    RETURN done(NULL);
END $$;

-- HELD → PAYING for an order whose last charge was declined; nothing to do when its seats are PAYING. Caller: lock_sale.
-- p_stays: it will be PAYING when the transaction ends (cash is sold by then), so that it needs its part of the cap and is
-- announced. Code 'paying-cap-reached' or 'slow': nothing was changed.
DROP FUNCTION IF EXISTS take_up_payment(orders, timestamptz, boolean);
CREATE OR REPLACE FUNCTION take_up_payment(p_order orders, p_stays boolean, p_now timestamptz, p_wait boolean)
RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_seats  integer[] := seats_of_order(p_order.order_id);
    v_event  events;
    v_places integer;
    v_slot   integer := 0;
BEGIN
    -- OFFSET 0: from the order to its holds, and never from all that is HELD to the order.
    SELECT sum(cardinality(h.seats) + h.places) INTO v_places
      FROM order_holds oh
     CROSS JOIN LATERAL (SELECT * FROM holds h WHERE h.hold_id = oh.hold_id OFFSET 0) h
     WHERE oh.order_id = p_order.order_id AND oh.live AND h.status = 'HELD';
    IF v_places IS NULL THEN
        RETURN done(NULL);
    END IF;
    IF p_stays THEN
        SELECT * INTO v_event FROM events e WHERE e.event_id = p_order.event_id;
        v_slot := claim_paying_slot(v_event, v_places, p_now, p_wait);
    END IF;
    IF v_slot IS NULL OR v_slot < 0 THEN
        RETURN refused(CASE WHEN v_slot IS NULL THEN 'slow' ELSE 'paying-cap-reached' END);
    END IF;
    UPDATE holds h SET status = 'PAYMENT_PENDING', paying_slot = v_slot
      FROM holds_in_status(p_order.order_id, 'HELD') AS n (hold_id) WHERE h.hold_id = n.hold_id;
    UPDATE seats s SET status = 2, order_id = p_order.order_id, version = s.version + 1
     WHERE s.event_id = p_order.event_id AND s.seat_no = ANY (v_seats) AND s.status = 1;
    PERFORM ga_pay(holds_of_order(p_order.order_id), NULL, p_now);
    IF p_stays THEN
        PERFORM announce_seats(p_order.event_id, 'seats-paying', p_order.order_id, v_seats, NULL, p_now);
    END IF;
    RETURN done(NULL);
END $$;

-- CREATED → SENT, committed before the provider is asked (R23). False: somebody else has sent it, it ended, or the time
-- for a new attempt is over; then nobody is asked. Nor while it is parked (a capture whose charge is to be voided instead), after
-- the end of its authorization (P26), and before the capture that a refund has to wait for.
CREATE OR REPLACE FUNCTION mark_sent(p_operation uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM payment_operations p WHERE p.operation_id = p_operation FOR NO KEY UPDATE;
    RETURN p_operation = ANY (mark_locked_as_sent(ARRAY[p_operation]));
END $$;

-- As mark_sent, of operations that the caller has locked: those that are his to send now.
CREATE OR REPLACE FUNCTION mark_locked_as_sent(p_operations uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_now  CONSTANT timestamptz := booking_now();
    v_sent uuid[];
BEGIN
    WITH marked AS (
        UPDATE payment_operations p
           SET status = 'SENT', attempts = p.attempts + 1, next_attempt_at = v_now + interval '15 s', updated_at = v_now
         WHERE p.operation_id = ANY (p_operations) AND p.status = 'CREATED' AND NOT p.void_requested
           AND (p.kind <> 'authorize' OR v_now < deadline_of_order(p.order_id))
           AND (p.kind <> 'capture' OR p.expires_at IS NULL OR v_now < p.expires_at)
           AND (p.kind <> 'refund' OR NOT waits_for_capture(p.parent_id))
        RETURNING p.operation_id)
    SELECT coalesce(array_agg(m.operation_id), '{}') INTO v_sent FROM marked m;
    IF cardinality(v_sent) < cardinality(p_operations) THEN
        -- A refund is asked for again soon after its capture is there, not after the pause of one that a provider left unanswered.
        UPDATE payment_operations p SET next_attempt_at = v_now + spread(5)
         WHERE p.operation_id = ANY (p_operations) AND p.kind = 'refund' AND p.status = 'CREATED';
    END IF;
    RETURN v_sent;
END $$;

-- A refund waits until a capture of its charge has succeeded: nothing is taken before. One that was refused may have been tried
-- again.
CREATE OR REPLACE FUNCTION waits_for_capture(p_charge uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) > 0 AND NOT coalesce(bool_or(k.status = 'SUCCEEDED'), false)
      FROM follow_ups_of(p_charge) k WHERE k.kind = 'capture'
$$;

-- A back-off with jitter: those who failed together do not ask again together.
CREATE OR REPLACE FUNCTION spread(p_seconds double precision) RETURNS interval LANGUAGE sql VOLATILE AS $$
    SELECT make_interval(secs => p_seconds * (0.8 + 0.4 * random()))
$$;

-- Operations that are due to be sent or asked about, each claimed for a while, so that two workers ask once.
CREATE OR REPLACE FUNCTION claim_due_operations(p_limit integer) RETURNS SETOF uuid LANGUAGE sql AS $$
    UPDATE payment_operations p
       SET next_attempt_at = due.now + spread(least(300, 15 * 2 ^ least(p.attempts, 5))),
           attempts = p.attempts + 1
      FROM (SELECT d.operation_id, n.now
              FROM (SELECT booking_now() AS now OFFSET 0) n
              JOIN payment_operations d ON d.next_attempt_at <= n.now AND d.kind <> 'sale' AND NOT d.at_till
             ORDER BY d.next_attempt_at LIMIT p_limit FOR NO KEY UPDATE OF d SKIP LOCKED) due
     WHERE p.operation_id = due.operation_id
    RETURNING p.operation_id
$$;

-- Captures that their provider leaves open although the order is confirmed: a reconciliation item each, once, well before
-- the hour after which `check` asks for one (R25). The worker goes on asking; the item ends with the capture. p_items as
-- for note_silent_devices. Called before the operations that are due are claimed.
CREATE OR REPLACE FUNCTION note_overdue_captures(p_items uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now  timestamptz := booking_now();
    v_op   payment_operations;
    v_done integer := 0;
BEGIN
    FOR v_op IN
        SELECT d.* FROM payment_operations d
         WHERE d.next_attempt_at <= v_now AND d.kind = 'capture' AND d.created_at <= v_now - interval '30 min'
           AND NOT EXISTS (SELECT FROM reconciliation_items i
                            WHERE i.operation_id = d.operation_id AND i.resolved_at IS NULL)
         ORDER BY d.next_attempt_at LIMIT cardinality(p_items) FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_done := v_done + 1;
        PERFORM open_item(p_items[v_done], 'capture-overdue', v_op, jsonb_build_object('status', v_op.status), v_now);
    END LOOP;
    RETURN v_done;
END $$;

-- Tills that have not said for minutes what became of a payment, of a refund at their terminal, or of cash to be paid out: a
-- reconciliation item each, once; and those that were told to reverse a sale that came too late, and have not. p_items: ids for
-- them, and so the number of items at most. The operation stays as it is: its till may still report.
CREATE OR REPLACE FUNCTION note_silent_devices(p_items uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now  timestamptz := booking_now();
    v_op   payment_operations;
    v_done integer := 0;
BEGIN
    FOR v_op IN
        UPDATE payment_operations p SET next_attempt_at = NULL
         WHERE p.operation_id IN (
               SELECT d.operation_id FROM payment_operations d
                WHERE d.next_attempt_at <= v_now AND (d.kind = 'sale' OR d.at_till)
                ORDER BY d.next_attempt_at LIMIT cardinality(p_items) FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING p.*
    LOOP
        v_done := v_done + 1;
        PERFORM open_item(p_items[v_done],
                          CASE WHEN v_op.status = 'SUCCEEDED' THEN 'reversal-overdue' ELSE 'no-result' END, v_op,
                          jsonb_build_object('status', v_op.status, 'kind', v_op.kind, 'provider', v_op.provider), v_now);
    END LOOP;
    RETURN v_done;
END $$;
