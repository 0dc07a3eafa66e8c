-- Refund and cancel, two acts (R25, R33). A refund gives the money of tickets back and makes them void once the money is on its
-- way for good; a cancel makes tickets void and moves no money. Either way the seats return to sale, or the house keeps them.
--
-- A ticket whose refund is not decided neither scans nor reprints (why_ticket_is_no_good), and is as it was before when the
-- refund is refused (P19). Its seat stays SOLD until then.

-- Whether a ticket's money is on its way back and nobody knows yet whether it arrives.
CREATE OR REPLACE FUNCTION is_refund_pending(p_ticket tickets) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_ticket.money_back_id IS NOT NULL AND EXISTS (
        SELECT FROM money_backs a WHERE a.money_back_id = p_ticket.money_back_id AND a.status = 'PENDING')
$$;

-- Why a ticket lets nobody in, or ''. What a gate and a printer have to ask.
CREATE OR REPLACE FUNCTION why_ticket_is_no_good(p_ticket tickets) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_ticket.status = 'VOID' THEN 'void'
                WHEN is_refund_pending(p_ticket) THEN 'refund-pending'
                WHEN p_ticket.status = 'USED' THEN 'used'
                ELSE '' END
$$;

-- Why the money of a ticket cannot go back, or ''. A cancelled ticket's money can. p_leads: a supervisor asks.
CREATE OR REPLACE FUNCTION why_not_refundable(p_ticket tickets, p_leads boolean) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN is_refund_pending(p_ticket) THEN 'refund-pending'
        WHEN EXISTS (SELECT FROM money_back_lines l
                      WHERE l.order_id = p_ticket.order_id AND l.counts AND l.kind = 'refund'
                        AND (l.seat_no = p_ticket.seat_no OR l.place_no = p_ticket.place_no)) THEN 'refunded'
        WHEN p_ticket.status = 'VOID' AND NOT EXISTS (
             SELECT FROM money_back_lines l WHERE l.order_id = p_ticket.order_id AND l.ticket_id = p_ticket.ticket_id
                AND l.kind = 'cancel') THEN 'void'
        WHEN p_ticket.used_at IS NOT NULL AND NOT p_leads THEN 'used'
        ELSE '' END
$$;

-- Why a ticket cannot be called off, or ''.
CREATE OR REPLACE FUNCTION why_not_cancellable(p_ticket tickets, p_leads boolean) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_ticket.status = 'VOID' THEN 'void'
                WHEN is_refund_pending(p_ticket) THEN 'refund-pending'
                WHEN p_ticket.used_at IS NOT NULL AND NOT p_leads THEN 'used'
                ELSE '' END
$$;

-- Of an order's money, what went back or is on its way, whatever opened it.
CREATE OR REPLACE FUNCTION money_gone_back(p_order uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(m.refunded + m.pending), 0)::bigint FROM money_of_order(p_order) m WHERE m.advice = 'goods-issued'
$$;

-- The lines that an act names, by ticket; without tickets (NULL) all valid lines of the order, ticket or not: take_order_back.
CREATE OR REPLACE FUNCTION lines_of_act(p_act uuid, p_kind text, p_order uuid, p_tickets uuid[])
RETURNS SETOF money_back_lines LANGUAGE sql STABLE AS $$
    SELECT p_act, (row_number() OVER (ORDER BY l.seat_no, l.place_no))::integer, p_order, p_kind, l.ticket_id, l.seat_no,
           l.place_no, l.amount_minor, true
      FROM (SELECT t.ticket_id, t.seat_no, t.place_no, coalesce(s.amount_minor, g.amount_minor) AS amount_minor
              FROM tickets t
              LEFT JOIN order_seats s ON s.order_id = t.order_id AND s.seat_no = t.seat_no
              LEFT JOIN order_places g ON g.order_id = t.order_id AND g.place_no = t.place_no
             WHERE p_tickets IS NOT NULL AND t.order_id = p_order AND t.ticket_id = ANY (p_tickets)
            UNION ALL
            SELECT t.ticket_id, s.seat_no, NULL, s.amount_minor
              FROM order_seats s
              LEFT JOIN tickets t ON t.order_id = s.order_id AND t.seat_no = s.seat_no AND t.status <> 'VOID'
             WHERE p_tickets IS NULL AND s.order_id = p_order AND s.valid
            UNION ALL
            SELECT t.ticket_id, NULL, g.place_no, g.amount_minor
              FROM order_places g
              LEFT JOIN tickets t ON t.order_id = g.order_id AND t.place_no = g.place_no AND t.status <> 'VOID'
             WHERE p_tickets IS NULL AND g.order_id = p_order AND g.valid) l
$$;

-- Give the money of tickets back. p_all: sees every order; p_leads: is bound by no amount, and may refund a used ticket.
-- p_spare: ids for the operations, one for each charge at most. Refusals change nothing:
--   ticket-not-found, ticket-not-refundable (detail: why), amount-mismatch (detail: the sum), forbidden (detail: the limit),
--   refund-too-much (detail: what can still go back so), action-not-allowed (detail: why).
CREATE OR REPLACE FUNCTION refund_tickets(
    p_principal text, p_all boolean, p_leads boolean, p_device uuid, p_staff uuid, p_by text, p_order uuid, p_act uuid,
    p_house uuid, p_tickets uuid[], p_way text, p_expected bigint, p_seats_to_sale boolean, p_reason text, p_spare uuid[],
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_begun  record;
    v_answer sale_answer;
    v_order  orders;
    v_now    timestamptz;
    v_sum    bigint;
    v_why    text;
    v_limit  bigint;
BEGIN
    SELECT * INTO v_begun
      FROM begin_order_act(p_principal, p_all, 'refunds', p_order, 'money', p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    END IF;
    v_order := v_begun.sale;
    v_now := booking_now();
    v_answer := why_not_these_tickets(p_order, p_tickets, p_leads, true);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    SELECT coalesce(sum(l.amount_minor), 0) INTO v_sum FROM lines_of_act(p_act, 'refund', p_order, p_tickets) l;
    IF v_sum <> p_expected THEN
        RETURN refused('amount-mismatch', v_sum::text);
    END IF;
    SELECT e.max_refund_by_clerk_minor INTO v_limit FROM events e WHERE e.event_id = v_order.event_id;
    IF NOT p_leads AND v_sum + money_gone_back(p_order) > v_limit THEN
        RETURN refused('forbidden', v_limit::text);
    END IF;

    INSERT INTO money_backs (money_back_id, order_id, event_id, kind, way, status, amount_minor, seats_to_sale, house_hold_id,
                             reason, principal, device_id, staff_id, created_by, created_at)
    VALUES (p_act, p_order, v_order.event_id, 'refund', p_way, 'PENDING', v_sum, p_seats_to_sale, p_house, p_reason,
            p_principal, p_device, p_staff, p_by, v_now);
    INSERT INTO money_back_lines SELECT * FROM lines_of_act(p_act, 'refund', p_order, p_tickets);
    UPDATE tickets t SET money_back_id = p_act WHERE t.order_id = p_order AND t.ticket_id = ANY (p_tickets);
    v_answer := send_money_back(p_order, v_sum, p_way, p_spare, p_principal, p_device, p_reason, v_now, p_act);
    IF v_answer.code <> '' THEN
        -- All of it is undone: the act was written first so that its operations may name it.
        RAISE EXCEPTION USING ERRCODE = 'TQ001', MESSAGE = v_answer.code, DETAIL = v_answer.detail;
    END IF;
    PERFORM settle_money_back(p_act, v_now);
    PERFORM note_change(p_principal, 'tickets-refunded', p_order::text, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'event_id', v_order.event_id, 'money_back_id', p_act, 'amount_minor', v_sum, 'way', p_way,
        'tickets', to_jsonb(p_tickets), 'seats_to_sale', p_seats_to_sale), v_now);
    PERFORM spend_key(p_principal, 'refunds', p_key, p_digest, p_order, p_act, v_now);
    RETURN done(p_act);
EXCEPTION WHEN SQLSTATE 'TQ001' THEN
    GET STACKED DIAGNOSTICS v_why = PG_EXCEPTION_DETAIL;
    RETURN refused(SQLERRM, v_why);
END $$;

-- Whether these tickets of an order may be refunded, or cancelled; the first that may not says why.
CREATE OR REPLACE FUNCTION why_not_these_tickets(p_order uuid, p_tickets uuid[], p_leads boolean, p_refund boolean)
RETURNS sale_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_found integer;
    v_why   text;
    v_seat  integer;
BEGIN
    SELECT count(*) INTO v_found FROM tickets t WHERE t.order_id = p_order AND t.ticket_id = ANY (p_tickets);
    IF v_found <> cardinality(p_tickets) THEN
        RETURN refused('ticket-not-found');
    END IF;
    SELECT w.why, w.seat_no INTO v_why, v_seat
      FROM (SELECT t.seat_no, t.ticket_id, CASE WHEN p_refund THEN why_not_refundable(t, p_leads)
                                                ELSE why_not_cancellable(t, p_leads) END AS why
              FROM tickets t WHERE t.order_id = p_order AND t.ticket_id = ANY (p_tickets)) w
     WHERE w.why <> '' ORDER BY w.seat_no, w.ticket_id LIMIT 1;
    IF FOUND THEN
        RETURN refused('ticket-not-refundable', v_why, CASE WHEN v_seat IS NOT NULL THEN ARRAY[v_seat] END);
    END IF;
    RETURN done(NULL);
END $$;

-- Divide a sum over the charges that paid an order, newest card first and cash last, or cash first where all of it goes out of the
-- drawer; an operation for each. An authorization that goes back whole before its capture was sent is voided.
CREATE OR REPLACE FUNCTION send_money_back(
    p_order uuid, p_sum bigint, p_way text, p_spare uuid[], p_principal text, p_device uuid, p_reason text,
    p_now timestamptz, p_act uuid
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_charge record;
    v_answer sale_answer;
    v_part   bigint;
    v_left   bigint := p_sum;
    v_most   bigint := 0;
    v_ops    integer := 0;
BEGIN
    FOR v_charge IN
        SELECT m.*, row_number() OVER () AS place FROM money_of_order(p_order) m
         WHERE m.advice = 'goods-issued' AND m.refundable > 0 AND (p_way = 'same' OR m.standing = 'taken')
         ORDER BY CASE WHEN p_way = 'cash' THEN m.kind <> 'cash' END, place
    LOOP
        v_most := v_most + v_charge.refundable;
        CONTINUE WHEN v_left = 0;
        v_part := least(v_left, v_charge.refundable);
        v_ops := v_ops + 1;
        IF v_ops > cardinality(p_spare) THEN
            EXIT;
        END IF;
        v_answer := open_money_back(
            v_charge.operation_id,
            CASE WHEN v_charge.standing = 'authorized' AND v_part = v_charge.charged AND may_be_voided(v_charge.operation_id)
                 THEN 'void' ELSE 'refund' END,
            v_part, p_way, p_spare[v_ops], p_principal, p_device, p_reason, p_now, p_act);
        IF v_answer.code <> '' THEN
            RETURN v_answer;
        END IF;
        v_left := v_left - v_part;
    END LOOP;
    IF v_left > 0 THEN
        RETURN refused('refund-too-much', v_most::text);
    END IF;
    RETURN done(NULL);
END $$;

-- A charge is voided once: after a void that was refused, its money goes back by a refund that waits for the capture.
CREATE OR REPLACE FUNCTION may_be_voided(p_charge uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM follow_ups_of(p_charge) v WHERE v.kind = 'void')
$$;

-- Make tickets void and move no money.
CREATE OR REPLACE FUNCTION cancel_tickets(
    p_principal text, p_all boolean, p_leads boolean, p_device uuid, p_staff uuid, p_by text, p_order uuid, p_act uuid,
    p_house uuid, p_tickets uuid[], p_seats_to_sale boolean, p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_begun  record;
    v_answer sale_answer;
    v_order  orders;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_begun
      FROM begin_order_act(p_principal, p_all, 'cancel-tickets', p_order, 'money', p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    END IF;
    v_order := v_begun.sale;
    v_now := booking_now();
    v_answer := why_not_these_tickets(p_order, p_tickets, p_leads, false);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    INSERT INTO money_backs (money_back_id, order_id, event_id, kind, status, amount_minor, seats_to_sale, house_hold_id,
                             reason, principal, device_id, staff_id, created_by, created_at, decided_at)
    VALUES (p_act, p_order, v_order.event_id, 'cancel', 'ACCEPTED', 0, p_seats_to_sale, p_house, p_reason, p_principal,
            p_device, p_staff, p_by, v_now, v_now);
    INSERT INTO money_back_lines SELECT * FROM lines_of_act(p_act, 'cancel', p_order, p_tickets);
    PERFORM end_lines(p_act, v_now);
    PERFORM note_change(p_principal, 'tickets-cancelled', p_order::text, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'event_id', v_order.event_id, 'money_back_id', p_act, 'tickets', to_jsonb(p_tickets),
        'seats_to_sale', p_seats_to_sale), v_now);
    PERFORM spend_key(p_principal, 'cancel-tickets', p_key, p_digest, p_order, p_act, v_now);
    RETURN done(p_act);
END $$;
