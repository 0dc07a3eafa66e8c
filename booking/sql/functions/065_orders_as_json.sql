-- Orders as they stand, each as one JSON text: lines, holds and operations of one snapshot, so that an order is never older
-- than what its operations tell of. Used alone by the reads and inside the sale steps that answer with an order. A line is
-- [seat_no, price_type_id, price type's name, amount_minor]; seats get their labels in the API, which keeps them.
-- Everything by key: a read may be one of 64 in a statement, and ten thousand of them in a second.
CREATE OR REPLACE FUNCTION orders_as_json(p_orders uuid[])
RETURNS TABLE (order_id uuid, principal text, picture text) LANGUAGE sql STABLE AS $$
    SELECT o.order_id, o.principal, json_build_object(
               'order_id', o.order_id, 'event_id', o.event_id, 'number', o.number, 'status', o.status,
               'amount_minor', o.amount_minor, 'currency', o.currency, 'price_version', o.price_version,
               'created_at', o.created_at, 'server_time', booking_now(),
               'plan_id', e.plan_id, 'plan_version', e.plan_version,
               'pay_until', CASE WHEN o.status IN ('PENDING', 'RECONCILING') THEN h.deadline END,
               'hold_ids', h.ids, 'lines', l.lines, 'places', g.places, 'operations', p.operations,
               'paid_minor', p.paid)::text
      FROM unnest(p_orders) AS wanted (id)
     CROSS JOIN LATERAL (SELECT * FROM orders o WHERE o.order_id = wanted.id OFFSET 0) o
     CROSS JOIN LATERAL (SELECT e.plan_id, e.plan_version FROM events e WHERE e.event_id = o.event_id OFFSET 0) e
     CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(oh.hold_id ORDER BY oh.hold_id), '[]') AS ids,
               min(h.expires_at) FILTER (WHERE oh.live) AS deadline
          FROM order_holds oh
         CROSS JOIN LATERAL (SELECT h.expires_at FROM holds h WHERE h.hold_id = oh.hold_id OFFSET 0) h
         WHERE oh.order_id = o.order_id) h
     CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_array(s.seat_no, s.price_type_id, coalesce(pt.name, ''), s.amount_minor)
                                 ORDER BY s.seat_no), '[]') AS lines
          FROM order_seats s
          LEFT JOIN LATERAL (SELECT pt.name FROM price_types pt
                              WHERE pt.event_id = s.event_id AND pt.price_type_id = s.price_type_id OFFSET 0) pt ON true
         WHERE s.order_id = o.order_id) l
     CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_array(p.tier_id, p.price_type_id, p.name, p.quantity, p.amount_minor)
                                 ORDER BY p.tier_id, p.price_type_id), '[]') AS places
          FROM (SELECT s.tier_id, s.price_type_id, coalesce(min(pt.name), '') AS name, count(*) AS quantity,
                       sum(s.amount_minor) AS amount_minor
                  FROM order_places s
                  LEFT JOIN LATERAL (SELECT pt.name FROM price_types pt
                                      WHERE pt.event_id = s.event_id AND pt.price_type_id = s.price_type_id
                                     OFFSET 0) pt ON true
                 WHERE s.order_id = o.order_id GROUP BY 1, 2) p) g
     CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_object(
                   'operation_id', p.operation_id, 'order_id', p.order_id, 'part', p.part, 'kind', p.kind,
                   'status', p.status, 'provider', p.provider, 'amount_minor', p.amount_minor, 'currency', p.currency,
                   'device_id', p.device_id, 'provider_ref', p.provider_ref, 'decline_code', p.decline_code,
                   'next_action', p.next_action, 'tendered_minor', p.tendered_minor, 'change_minor', p.change_minor,
                   'created_at', p.created_at, 'updated_at', p.updated_at, 'parent_id', p.parent_id,
                   'idempotency_key', p.idempotency_key, 'payment_method', p.payment_method, 'attempts', p.attempts,
                   'card_brand', p.card_brand, 'void_requested', p.void_requested)
                   ORDER BY p.created_at, p.operation_id), '[]') AS operations,
               -- Charges alone are advised so.
               coalesce(sum(p.amount_minor) FILTER (WHERE p.advice IN ('goods-issued', 'part')), 0) AS paid
          FROM (SELECT * FROM payment_operations p WHERE p.order_id = o.order_id OFFSET 0) p) p
$$;

-- The reads' own form: one plan a session for any number of orders, by key whatever the statistics say. Planned anew each
-- time, a read of one order cost five times as much as its execution.
CREATE OR REPLACE FUNCTION read_orders(p_orders uuid[])
RETURNS TABLE (order_id uuid, principal text, picture text) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT j.order_id, j.principal, j.picture FROM orders_as_json(p_orders) j;
END $$;
