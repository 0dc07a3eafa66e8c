-- One seat: how it stands, and everything that it has been through. Read only; every row is found by a key of the seat, so that
-- it costs the same in a house that has sold out ten times over.

-- Whoever did something, for staff: the person and the till; a buyer only as a mark that is the same within an event and says
-- nothing beyond it. NULL for the authority itself.
CREATE OR REPLACE FUNCTION seat_actor(p_event integer, p_principal text, p_device uuid, p_staff uuid)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN p_principal LIKE 'device:%' OR p_device IS NOT NULL OR p_staff IS NOT NULL THEN jsonb_build_object(
            'kind', 'till',
            'name', coalesce((SELECT s.display_name FROM staff s WHERE s.staff_id = p_staff), ''),
            'till', coalesce((SELECT d.name FROM devices d
                               WHERE d.device_id = coalesce(p_device, CASE WHEN p_principal ~ '^device:[0-9a-f-]{36}$'
                                                                           THEN substr(p_principal, 8)::uuid END)), ''))
        WHEN p_principal LIKE 'account:%' THEN jsonb_build_object(
            'kind', 'fan',
            'short_id', left(encode(sha256(convert_to(p_event || ' ' || p_principal, 'UTF8')), 'hex'), 6))
    END
$$;

-- The newest p_limit orders that this seat was ever a line of, with the line.
CREATE OR REPLACE FUNCTION lines_of_seat(p_event integer, p_seat integer, p_limit integer)
RETURNS TABLE (order_id uuid, price_type_id integer, amount_minor bigint, valid boolean) LANGUAGE sql STABLE AS $$
    SELECT * FROM (
        SELECT l.order_id, l.price_type_id, l.amount_minor, l.valid FROM order_seats l
         WHERE l.event_id = p_event AND l.seat_no = p_seat AND l.valid
         UNION ALL
        SELECT l.order_id, l.price_type_id, l.amount_minor, l.valid FROM order_seats l
         WHERE l.event_id = p_event AND l.seat_no = p_seat AND NOT l.valid) AS lines
     ORDER BY 1 DESC LIMIT p_limit
$$;

-- The newest p_limit holds of this seat: the one that it is in, those that ended, those of its orders.
CREATE OR REPLACE FUNCTION holds_of_seat(p_event integer, p_seat integer, p_limit integer)
RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    SELECT * FROM (
        SELECT s.hold_id FROM seats s
         WHERE s.event_id = p_event AND s.seat_no = p_seat AND s.hold_id IS NOT NULL
         UNION
        (SELECT e.hold_id FROM ended_hold_seats e
          WHERE e.event_id = p_event AND e.seat_no = p_seat ORDER BY e.hold_id DESC LIMIT p_limit)
         UNION
        SELECT oh.hold_id
          FROM lines_of_seat(p_event, p_seat, p_limit) l
          JOIN order_holds oh USING (order_id)
          JOIN holds h ON h.hold_id = oh.hold_id AND p_seat = ANY (h.seats)) AS found
     ORDER BY 1 DESC LIMIT p_limit
$$;

-- The tickets that a line of an order has, or had; each of the two looks into an index of its own.
CREATE OR REPLACE FUNCTION tickets_of_line(p_order uuid, p_seat integer) RETURNS SETOF tickets LANGUAGE sql STABLE AS $$
    SELECT * FROM tickets t WHERE t.order_id = p_order AND t.seat_no = p_seat AND t.status <> 'VOID'
     UNION ALL
    SELECT * FROM tickets t WHERE t.order_id = p_order AND t.seat_no = p_seat AND t.status = 'VOID'
$$;

-- Everything that happened to a seat: no more than p_limit of each source, and of those the newest. `rank` orders what
-- happened in one instant; `more` says who it was (`by`) where that is no principal. Not found here: who released a hold by
-- hand, and prints that no print job tells of.
DROP FUNCTION IF EXISTS seat_history(integer, integer, integer);
CREATE OR REPLACE FUNCTION seat_history(p_event integer, p_seat integer, p_limit integer)
RETURNS TABLE (at timestamptz, rank integer, kind text, principal text, device_id uuid, staff_id uuid, hold_id uuid,
               order_id uuid, more jsonb)
LANGUAGE plpgsql STABLE
-- Every row is found by a key, also in tables that nobody has analysed yet.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_holds  uuid[] := ARRAY(SELECT * FROM holds_of_seat(p_event, p_seat, p_limit));
    v_orders uuid[] := ARRAY(SELECT l.order_id FROM lines_of_seat(p_event, p_seat, p_limit) l);
    v_houses uuid[] := ARRAY(SELECT k.house_hold_id FROM house_hold_past k
                              WHERE k.event_id = p_event AND k.seat_no = p_seat
                              ORDER BY k.house_hold_id DESC LIMIT p_limit);
    v_plan   uuid := (SELECT e.plan_id FROM events e WHERE e.event_id = p_event);
BEGIN
    RETURN QUERY
    SELECT h.created_at, 2, 'held', h.principal, h.device_id, h.staff_id, h.hold_id, NULL::uuid, '{}'::jsonb
      FROM holds h WHERE h.hold_id = ANY (v_holds)
     UNION ALL
    SELECT h.ended_at, 1, CASE h.status WHEN 'RELEASED' THEN 'released' ELSE 'expired' END, NULL, NULL, NULL, h.hold_id,
           NULL, '{}'
      FROM holds h WHERE h.hold_id = ANY (v_holds) AND h.status IN ('RELEASED', 'EXPIRED');

    RETURN QUERY
    WITH sale AS MATERIALIZED (
        SELECT o.*, l.price_type_id, l.amount_minor AS line_minor, l.valid,
               (SELECT oh.hold_id FROM order_holds oh JOIN holds h USING (hold_id)
                 WHERE oh.order_id = o.order_id AND p_seat = ANY (h.seats) LIMIT 1) AS in_hold,
               jsonb_build_object(
                   'order_number', o.number, 'amount_minor', l.amount_minor,
                   'price_type_name', (SELECT t.name FROM price_types t
                                        WHERE t.event_id = p_event AND t.price_type_id = l.price_type_id)) AS told
          FROM orders o JOIN order_seats l ON l.order_id = o.order_id AND l.seat_no = p_seat
         WHERE o.order_id = ANY (v_orders))
    SELECT s.created_at, 3, 'paying', s.principal, s.device_id, s.staff_id, s.in_hold, s.order_id, s.told FROM sale s
     UNION ALL
    SELECT s.confirmed_at, 5, 'sold', s.principal, s.device_id, s.staff_id, s.in_hold, s.order_id, s.told
      FROM sale s WHERE s.confirmed_at IS NOT NULL
     UNION ALL
    SELECT s.ended_at, 0, CASE s.status WHEN 'EXPIRED' THEN 'order-expired' ELSE 'order-cancelled' END, NULL, NULL, NULL,
           s.in_hold, s.order_id, jsonb_build_object('order_number', s.number, 'reason', s.end_reason)
      FROM sale s WHERE s.ended_at IS NOT NULL AND s.status IN ('EXPIRED', 'CANCELLED')
     UNION ALL
    SELECT p.updated_at, 4, CASE p.kind WHEN 'void' THEN 'payment-voided' ELSE 'payment-declined' END,
           CASE WHEN p.kind IN ('authorize', 'sale', 'cash') THEN p.principal END, NULL, NULL, s.in_hold, s.order_id,
           jsonb_build_object('order_number', s.number, 'amount_minor', p.amount_minor, 'reason', p.decline_code)
      FROM sale s JOIN payment_operations p ON p.order_id = s.order_id
     WHERE p.kind IN ('authorize', 'sale', 'cash') AND p.status = 'DECLINED'
        OR p.kind = 'void' AND p.status = 'SUCCEEDED' AND p.money_back_id IS NULL
     UNION ALL
    SELECT a.decided_at, 4, CASE a.kind WHEN 'refund' THEN 'refunded' ELSE 'ticket-cancelled' END, a.principal, a.device_id,
           a.staff_id, s.in_hold, s.order_id,
           jsonb_build_object('order_number', s.number, 'amount_minor', CASE a.kind WHEN 'refund' THEN b.amount_minor END,
                              'reason', a.reason)
      FROM sale s
      JOIN money_back_lines b ON b.order_id = s.order_id AND b.seat_no = p_seat
      JOIN money_backs a USING (money_back_id)
     WHERE a.status = 'ACCEPTED'
     UNION ALL
    SELECT t.issued_at, 6, 'ticket-issued', NULL, NULL, NULL, NULL, t.order_id, jsonb_build_object('order_number', s.number)
      FROM sale s CROSS JOIN LATERAL tickets_of_line(s.order_id, p_seat) t
     UNION ALL
    SELECT j.updated_at, 7, CASE j.status WHEN 'CONFIRMED' THEN 'printed' WHEN 'FAILED' THEN 'print-failed'
                                          ELSE 'print-unclear' END,
           j.principal, j.device_id, NULL, NULL, j.order_id,
           jsonb_build_object('order_number', s.number, 'reason', j.detail)
      FROM sale s JOIN print_jobs j ON j.order_id = s.order_id
     WHERE j.status IN ('CONFIRMED', 'FAILED', 'UNKNOWN')
       AND EXISTS (SELECT FROM tickets_of_line(s.order_id, p_seat) t WHERE t.ticket_id = ANY (j.ticket_ids))
     UNION ALL
    SELECT t.used_at, 8, 'used', NULL, NULL, NULL, NULL, t.order_id, jsonb_build_object('order_number', s.number)
      FROM sale s CROSS JOIN LATERAL tickets_of_line(s.order_id, p_seat) t WHERE t.used_at IS NOT NULL;

    RETURN QUERY
    SELECT h.created_at, 2, 'kept-back', NULL, NULL::uuid, NULL::uuid, NULL::uuid, NULL::uuid,
           jsonb_build_object('by', jsonb_build_object('kind', 'house', 'name', h.created_by), 'reason', h.reason,
                              'house_kind', h.kind, 'until', h.release_at)
      FROM house_holds h WHERE h.house_hold_id = ANY (v_houses)
     UNION ALL
    SELECT a.at, 1, 'given-back', a.principal, NULL, (a.detail ->> 'staff_id')::uuid, NULL, NULL,
           jsonb_build_object('reason', a.reason, 'house_kind', h.kind)
      FROM house_holds h
      JOIN audit_log a ON a.subject = h.house_hold_id::text
     WHERE h.house_hold_id = ANY (v_houses) AND a.action = 'house-hold-released'
       AND a.detail -> 'seats' @> to_jsonb(p_seat);

    RETURN QUERY
    SELECT a.at, 0, 'plan-changed', a.principal, NULL::uuid, (a.detail ->> 'staff_id')::uuid, NULL::uuid, NULL::uuid,
           jsonb_build_object('reason', a.reason)
      FROM audit_log a
      LEFT JOIN plan_seats f ON f.plan_id = v_plan AND f.version = (a.detail ->> 'from')::integer AND f.seat_no = p_seat
      LEFT JOIN plan_seats t ON t.plan_id = v_plan AND t.version = (a.detail ->> 'to')::integer AND t.seat_no = p_seat
     WHERE a.subject = p_event::text AND a.action = 'plan-changed'
       AND (f.section, f.row_kind, f.row_label, f.number, f.category_no, f.flags)
           IS DISTINCT FROM (t.section, t.row_kind, t.row_label, t.number, t.category_no, t.flags);
END $$;
